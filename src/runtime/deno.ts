/**
 * Listening on Deno.
 *
 * @module
 */
import type { Address, FetchHandler, RuntimeServer } from "./adapter.ts";

/** Listens with `Deno.serve`, which closes WebSockets by itself when it stops. */
export function listenOnDeno(fetch: FetchHandler, { hostname, port }: Address): RuntimeServer {
  const abort = new AbortController();
  const gaveUp = Promise.withResolvers<void>();
  let stopping = false;
  const server = Deno.serve({ hostname, port, signal: abort.signal, onListen() {} }, fetch);
  return {
    port: server.addr.port,
    stop() {
      stopping = true;
      return Promise.race([server.shutdown(), gaveUp.promise]);
    },
    cut() {
      // Deno cannot cut what a graceful shutdown has left over: that ends with the process.
      if (stopping) gaveUp.resolve();
      else abort.abort();
      return stopping ? gaveUp.promise : server.finished;
    },
  };
}
