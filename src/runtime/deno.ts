/**
 * Listening on Deno.
 *
 * @module
 */
import { type Address, type FetchHandler, isAnswerable, type RuntimeServer } from "./adapter.ts";

/** Listens with `Deno.serve`, which closes WebSockets by itself when it stops. */
export function listenOnDeno(fetch: FetchHandler, { hostname, port }: Address): RuntimeServer {
  const abort = new AbortController();
  const gaveUp = Promise.withResolvers<void>();
  let stopping = false;
  const options = { hostname, port, signal: abort.signal, onListen() {} };
  const server = Deno.serve(options, (request, info) => {
    if (!isAnswerable(request)) return new Response(null, { status: 400 });
    return fetch(request, info);
  });
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
