/**
 * The responses of Node, whose bodies have the length that their heads announce.
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { rawPath } from "../core/http/raw_path.ts";
import { isTooLong } from "./unread_body.ts";

/** The class of responses, for requests of any class. */
type ResponseClass = new (request: IncomingMessage) => ServerResponse;

/**
 * Returns a class of responses whose bodies have the length of `Content-Length`: a client would
 * read the rest of a longer one as the next response, and the next response as the rest of a
 * shorter one (RFC 9112 §6.3). Of a longer one, such as of a file that has grown, the beginning is
 * sent, as on the other runtimes; a shorter one closes its connection. Both are logged.
 */
export function strictResponse(base: ResponseClass): typeof ServerResponse {
  return class StrictResponse extends base {
    /** The announced length. */
    #length = 0;
    /** How much of a stream was sent. */
    #sent = 0;

    override writeHead(...args: never[]): this {
      if (this.req.httpVersion === "1.0") args.push(forHttp10(args.pop()));
      const length = this.getHeader("content-length") ?? lengthIn(args.at(-1));
      // unless `strictContentLength` is set, Node sends a head and its only chunk in one write
      this.strictContentLength = length !== undefined;
      if (isTooLong(this.req)) this.shouldKeepAlive = false;
      this.#length = Number(length);
      return super.writeHead(...args as unknown as Parameters<ServerResponse["writeHead"]>);
    }

    override write(chunk: never, ...args: never[]): boolean {
      if (this.writableEnded) return false; // it was too long
      try {
        const isFlowing = super.write(chunk, ...args);
        if (this.strictContentLength) this.#sent += bytesOf(chunk).length;
        return isFlowing;
      } catch (error) {
        this.#fail(error, chunk);
        return false;
      }
    }

    override end(...args: never[]): this {
      try {
        return super.end(...args);
      } catch (error) {
        this.#fail(error, args[0]);
        return this;
      }
    }

    /**
     * The end of a connection would complete a body without a length or chunks, as in HTTP/1.0: it
     * is reset, unless it is one of TLS or a Unix socket, which have no resets.
     */
    override destroy(error?: Error): this {
      const { socket } = this;
      const isDelimited = this.chunkedEncoding || this.strictContentLength || this.writableEnded;
      const isTcp = socket?.remotePort !== undefined && !("encrypted" in socket);
      if (this.headersSent && !isDelimited && isTcp) socket.resetAndDestroy();
      return super.destroy(error);
    }

    #fail(error: unknown, chunk: Chunk = ""): void {
      const { code } = error as { readonly code?: unknown };
      if (code !== "ERR_HTTP_CONTENT_LENGTH_MISMATCH") throw error;
      if (this.destroyed) return; // its client has left, or its stream has failed
      logFailure(this.req, error);
      const last = bytesOf(chunk).subarray(0, this.#length - this.#sent);
      if (this.#sent + last.length === this.#length) super.end(last);
      else this.destroy();
    }
  } as unknown as typeof ServerResponse; // which is generic
}

/** The fields of HTTP/1.1 that helpers for streams set for every client (RFC 9112 §6.1). */
const HTTP_11 = /^(?:connection|keep-alive|transfer-encoding)$/i;

/** Returns the last argument of `writeHead` for HTTP/1.0, where a stream ends its connection. */
function forHttp10(headers: unknown): never {
  const isObject = typeof headers === "object" && headers !== null;
  if (!isObject) return headers as never;
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !HTTP_11.test(name)),
  ) as never;
}

/** A part of a body. */
type Chunk = string | Uint8Array;

function bytesOf(chunk: Chunk): Uint8Array {
  return typeof chunk === "string" ? new TextEncoder().encode(chunk) : chunk;
}

/** Returns the length that headers announce; one that Node sets itself is right. */
function lengthIn(headers: OutgoingHttpHeaders | undefined): OutgoingHttpHeaders[string] {
  for (const name in headers) {
    if (name.length === 14 && name.toLowerCase() === "content-length") return headers[name];
  }
  return undefined;
}

function logFailure({ method, url = "" }: IncomingMessage, error: unknown): void {
  getLogger(["fw", "http"]).error("{method} {path} failed while it was sent: {error}", {
    method,
    path: rawPath(url),
    error,
  });
}
