/**
 * The responses of Node, whose bodies have the length that their heads announce.
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { rawPath } from "../core/http/raw_path.ts";

/** The class of responses, for requests of any class. */
type ResponseClass = new (request: IncomingMessage) => ServerResponse;

/**
 * Returns a class of responses that close their connection, and log an error, where the body is
 * longer or shorter than `Content-Length`: a client would read the rest of it as the next response,
 * or the next response as the rest of it (RFC 9112 §6.3).
 */
export function strictResponse(base: ResponseClass): typeof ServerResponse {
  return class StrictResponse extends base {
    override writeHead(...args: never[]): this {
      const headers: OutgoingHttpHeaders | undefined = args.at(-1);
      // unless `strictContentLength` is set, Node sends a head and its only chunk in one write
      this.strictContentLength = this.hasHeader("content-length") || hasLength(headers);
      return super.writeHead(...args as unknown as Parameters<ServerResponse["writeHead"]>);
    }

    override write(...args: never[]): boolean {
      try {
        return super.write(...args as unknown as Parameters<ServerResponse["write"]>);
      } catch (error) {
        close(this, error);
        return false;
      }
    }

    override end(...args: never[]): this {
      try {
        return super.end(...args);
      } catch (error) {
        close(this, error);
        return this;
      }
    }
  } as typeof ServerResponse;
}

/** Checks whether headers announce a length; one that Node sets itself is right. */
function hasLength(headers: OutgoingHttpHeaders | undefined): boolean {
  for (const name in headers) {
    if (name.length === 14 && name.toLowerCase() === "content-length") return true;
  }
  return false;
}

function close(response: ServerResponse, error: unknown): void {
  const { code } = error as { readonly code?: unknown };
  if (code !== "ERR_HTTP_CONTENT_LENGTH_MISMATCH") throw error;
  if (response.destroyed) return; // its client has left, or its stream has failed
  const { method, url = "" } = response.req;
  getLogger(["fw", "http"]).error("{method} {path} failed while it was sent: {error}", {
    method,
    path: rawPath(url),
    error,
  });
  response.destroy();
}
