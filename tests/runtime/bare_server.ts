/**
 * The server of each runtime, as a program without `app.listen` starts it, and Hono's helpers of
 * WebSockets.
 *
 * @module
 */
import { createAdaptorServer, upgradeWebSocket as upgradeOnNode } from "@hono/node-server";
import type { UpgradeWebSocket } from "hono/ws";
import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { FetchHandler } from "../../src/runtime/adapter.ts";
import { RUNTIME } from "./runtime_name.ts";

/** A listening server. */
export interface BareServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
}

/** The part of Bun that is used here. */
interface Bun {
  serve(options: object): { readonly port: number; stop(isAtOnce: boolean): Promise<void> };
}

/** Serves a handler. */
export async function serveBare(fetch: FetchHandler): Promise<BareServer> {
  const { port, close } = await start(fetch);
  return { port, url: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: close };
}

/** Returns Hono's helper for this runtime. */
export async function helper(): Promise<UpgradeWebSocket> {
  switch (RUNTIME) {
    case "deno":
      return (await import("hono/deno")).upgradeWebSocket as UpgradeWebSocket;
    case "bun":
      return (await import("hono/bun")).upgradeWebSocket as UpgradeWebSocket;
    default:
      return upgradeOnNode as UpgradeWebSocket;
  }
}

async function start(
  fetch: FetchHandler,
): Promise<{ readonly port: number; readonly close: () => Promise<void> }> {
  const hostname = "127.0.0.1";
  if (RUNTIME === "deno") {
    const server = Deno.serve({ port: 0, hostname, onListen() {} }, fetch);
    return { port: server.addr.port, close: () => server.shutdown() };
  }
  if (RUNTIME === "bun") {
    const { websocket } = await import("hono/bun");
    const { Bun } = globalThis as unknown as { readonly Bun: Bun };
    const server = Bun.serve({ port: 0, hostname, fetch, websocket });
    return { port: server.port, close: () => server.stop(true) };
  }
  const { WebSocketServer } = await import("ws");
  const webSockets = new WebSocketServer({ noServer: true });
  const server = createAdaptorServer({ fetch, websocket: { server: webSockets } }) as Server;
  server.listen(0, hostname);
  await once(server, "listening");
  const close = async () => {
    for (const client of webSockets.clients) client.terminate();
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  };
  return { port: (server.address() as AddressInfo).port, close };
}
