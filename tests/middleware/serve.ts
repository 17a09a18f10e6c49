/** A real server on the runtime that the test runs on. */
import type { AddressInfo } from "node:net";
import { serve as serveNode } from "@hono/node-server";
import type { Hono } from "hono";

export interface Server {
  readonly port: number;
  close(): Promise<void>;
}

/** The part of Bun that is used; its types are not installed. */
interface BunRuntime {
  serve(options: { port: number; hostname: string; fetch: Hono["fetch"] }): {
    readonly port: number;
    stop(now: boolean): Promise<void>;
  };
}

export async function serve(app: Hono, { hostname = "127.0.0.1" } = {}): Promise<Server> {
  if ("Deno" in globalThis) {
    const server = Deno.serve({ port: 0, hostname, onListen() {} }, app.fetch);
    return { port: server.addr.port, close: () => server.shutdown() };
  }
  const { Bun } = globalThis as { Bun?: BunRuntime };
  if (Bun) {
    const server = Bun.serve({ port: 0, hostname, fetch: app.fetch });
    return { port: server.port, close: () => server.stop(true) };
  }
  return await new Promise((resolve) => {
    const server = serveNode({ port: 0, hostname, fetch: app.fetch }, ({ port }: AddressInfo) => {
      const close = () => new Promise<void>((closed) => void server.close(() => closed()));
      resolve({ port, close });
    });
  });
}
