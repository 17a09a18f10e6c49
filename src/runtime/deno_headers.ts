/**
 * The headers of the requests that Deno receives.
 *
 * @module
 */
import { setHeaderReader } from "../platform/request_header.ts";
import { symbolOf } from "./light_responses.ts";

/**
 * Makes `headerOf()` read one header of a received request: creating its `Headers` takes a tenth of
 * the time of a small request.
 */
export function readSingleHeaders(): void {
  const symbol = symbolOf(new Request("http://localhost"), "request");
  if (symbol === undefined) return;
  setHeaderReader((request, name) => {
    const received: ReceivedRequest | undefined = Reflect.get(request, symbol);
    return received?.header ? received.header(name) : request.headers.get(name);
  });
}

/** What Deno keeps of a request that it has received. */
interface ReceivedRequest {
  header?(name: string): string | null;
}
