/**
 * The headers of the requests that Deno receives, and of the responses that it sends.
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

/** A header: its name and its value. */
type Header = readonly [name: string, value: string];

let inner: symbol | undefined;

/**
 * Returns the headers of a response, as Deno keeps them: once the `Headers` of a response are
 * created, it is sent in a slower way.
 */
export function headerListOf(response: Response): readonly Header[] {
  inner ??= symbolOf(response, "response");
  const { headerList }: { readonly headerList?: readonly Header[] } = inner === undefined
    ? {}
    : Reflect.get(response, inner) ?? {};
  return headerList ?? [...response.headers];
}

/** What Deno keeps of a request that it has received. */
interface ReceivedRequest {
  header?(name: string): string | null;
}
