/**
 * Answers as they are stored.
 *
 * @module
 */
import { dropBody, IS_BUN } from "../../core/http/sendable.ts";
import { EVENTS } from "../../core/module/idempotent_routes.ts";
import { boundedStream, StreamTooLongError } from "../../platform/bounded_stream.ts";

/** An answer as it is stored. */
export interface StoredAnswer {
  /** The status. */
  readonly status: number;
  /** The headers, without those of one connection, and without cookies. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The body, which may be empty. */
  readonly body: Uint8Array;
}

/** How an answer is stored. */
export interface StoringOptions {
  /** The headers that middleware has set before the route: they belong to one request. */
  readonly before: Headers;
  /** The largest body in bytes. */
  readonly maxBytes: number;
  /** The name of the route, for errors. */
  readonly route: string;
}

/**
 * Headers that are not stored: cookies, which may be those of a session, and those of one message
 * or connection (RFC 9110 §7.6.1).
 */
const NOT_STORED: readonly string[] = [
  ...["set-cookie", "date", "age", "content-length", "transfer-encoding", "trailer"],
  ...["connection", "keep-alive", "proxy-connection", "te", "upgrade"],
];

/**
 * Reads a response whole.
 *
 * @throws {TypeError} if it is a stream of events, which does not end
 * @throws {RangeError} if its body is too large
 */
export async function storedAnswer(
  response: Response,
  { before, maxBytes, route }: StoringOptions,
): Promise<StoredAnswer> {
  const type = response.headers.get("content-type");
  const refusal = `Cannot store the answer of ${route}`;
  if (type?.startsWith(EVENTS)) {
    dropBody(response);
    throw new TypeError(`${refusal}: it is a stream of events`);
  }
  // Bun shows the type of a text only once it is read
  const copy = IS_BUN && type === null && response.body ? response.clone() : undefined;
  const body = await wholeBody(response, maxBytes).catch((error) => {
    if (!(error instanceof StreamTooLongError)) throw error;
    if (copy) dropBody(copy);
    throw new RangeError(`${refusal}: its body has more than ${maxBytes} bytes`, { cause: error });
  });
  const textType = (await copy?.blob())?.type;
  return {
    status: response.status,
    headers: [
      ...[...response.headers].filter(([name, value]) =>
        !NOT_STORED.includes(name) && before.get(name) !== value
      ),
      ...textType ? [["content-type", textType] as const] : [],
    ],
    body,
  };
}

/** Returns the response of an answer, with the headers that middleware has set before the route. */
export function responseOf({ status, headers, body }: StoredAnswer, before: Headers): Response {
  const all = new Headers(before);
  for (const [name, value] of headers) all.set(name, value);
  // a status such as 204 allows no body, not even an empty one
  const content = body.byteLength === 0 ? null : body as Uint8Array<ArrayBuffer>;
  return new Response(content, { status, headers: all });
}

async function wholeBody({ body }: Response, maxBytes: number): Promise<Uint8Array> {
  if (!body) return new Uint8Array();
  return new Uint8Array(await new Response(boundedStream(body, maxBytes)).arrayBuffer());
}
