/**
 * A server on the loopback interface, on a free port.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A request, with its body. */
export interface LoopbackRequest {
  readonly method: string;
  /** The decoded path, without a query. */
  readonly path: string;
  /** The origin of the server. */
  readonly origin: string;
  readonly body: Uint8Array;
}

/** Handles a request: returns bytes or JSON text, or undefined for 404. */
export type LoopbackHandler = (request: LoopbackRequest) => Uint8Array | string | undefined;

/** A listening server; disposing it closes it. */
export interface Loopback extends AsyncDisposable {
  readonly origin: string;
}

/** Starts listening. */
export async function serveOnLoopback(handler: LoopbackHandler): Promise<Loopback> {
  const server = createServer(async (request, response) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method = "", url = "" } = request;
    const path = decodeURIComponent(new URL(url, origin).pathname);
    const answer = handler({ method, path, origin, body: Buffer.concat(chunks) });
    const json = answer === undefined ? '{"code":"notFound","message":"Not found"}' : answer;
    const type = typeof json === "string" ? "application/json" : "application/octet-stream";
    response.writeHead(answer === undefined ? 404 : 200, { "content-type": type }).end(json);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
