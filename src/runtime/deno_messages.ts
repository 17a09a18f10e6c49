/**
 * What Deno keeps of the requests that it receives, and of the responses that it sends.
 *
 * @module
 */
import { setBytesReader } from "../platform/request_body.ts";
import { setHeaderReader } from "../platform/request_header.ts";
import { type ResponseParts, symbolOf } from "./light_responses.ts";

/** A header: its name and its value. */
type Header = readonly [name: string, value: string];

/** A body, as Deno keeps it. */
interface InnerBody {
  /** A stream, or the whole body: bytes, or the text of a message that the process has created. */
  readonly streamOrStatic?: { readonly body?: Uint8Array | string };
  /** Marks the body as read. */
  consume(): unknown;
}

/** What Deno keeps of a request or a response. */
interface Inner {
  readonly body?: InnerBody | null;
  readonly headerList?: readonly Header[];
  header?(name: string): string | null;
}

/** The light responses of Deno: those made of a text or of JSON alone. */
export const DENO_PARTS: ResponseParts = {
  property: "lazy static body",
  areSendable: (text) => typeof text === "string",
  // the getter of the body makes a stream of a text
  hasBody: (response, text) =>
    typeof text === "string" || ((innerResponse(response) ?? response).body ?? null) !== null,
};

const REQUEST = symbolOf(new Request("http://localhost"), "request");
const RESPONSE = symbolOf(new Response(null), "response");

/**
 * Makes `headerOf()` read one header of a received request: creating its `Headers` takes a tenth of
 * the time of a small request.
 */
export function readSingleHeaders(): void {
  if (REQUEST === undefined) return;
  setHeaderReader((request, name) => {
    const received = innerRequest(request);
    return received?.header ? received.header(name) : request.headers.get(name);
  });
}

/**
 * Makes `readBytes()` return a body at once that has arrived with the head of its request, as most
 * small ones have: a promise of it, and those that follow, take a fifth of the time of the request.
 */
export function readArrivedBodies(): void {
  if (REQUEST === undefined) return;
  setBytesReader((request) => {
    // of a request that was answered, only `bodyUsed` can be read
    const body = request.bodyUsed ? undefined : innerRequest(request)?.body;
    const whole = body?.streamOrStatic?.body;
    if (!(whole instanceof Uint8Array)) return request.arrayBuffer();
    body?.consume();
    return whole;
  });
}

/**
 * Returns the headers of a response, as Deno keeps them, without a usual content type: once the
 * `Headers` of a response are created, it is sent in a slower way.
 */
export function headerListOf(response: Response): readonly Header[] {
  return innerResponse(response)?.headerList ?? [...response.headers];
}

/** Checks whether a response is sent at once: it has no stream, whose source may be a request. */
export function isSentAtOnce(response: Response): boolean {
  const body = innerResponse(response)?.body;
  if (body === undefined) return false; // another version of Deno
  return body === null || body.streamOrStatic?.body !== undefined;
}

function innerRequest(request: Request): Inner | undefined {
  return REQUEST && Reflect.get(request, REQUEST);
}

function innerResponse(response: Response): Inner | undefined {
  return RESPONSE && Reflect.get(response, RESPONSE);
}
