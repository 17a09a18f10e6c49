/**
 * Listening on Deno.
 *
 * @module
 */
import {
  type AdapterOptions,
  type Address,
  type FetchHandler,
  isAnswerable,
  type RuntimeServer,
} from "./adapter.ts";
import { abortingOnlyEarly, overHttp } from "./deno_request.ts";

/** Listens with `Deno.serve`, which closes WebSockets by itself when it stops. */
export function listenOnDeno(
  fetch: FetchHandler,
  address: Address,
  { tls }: AdapterOptions,
): RuntimeServer {
  const abort = new AbortController();
  const gaveUp = Promise.withResolvers<void>();
  let stopping = false;
  const handle = (request: Request, info: Deno.ServeHandlerInfo) => {
    if (!isAnswerable(request)) return new Response(null, { status: 400 });
    return fetch(abortingOnlyEarly(request, info), info);
  };
  const common = { signal: abort.signal, onListen() {} };
  const server = "path" in address
    ? Deno.serve(
      { ...common, path: address.path },
      (request, info) => handle(overHttp(request), info),
    )
    : Deno.serve({ ...common, ...address, ...tls }, handle);
  return {
    port: "port" in server.addr ? server.addr.port : 0,
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
