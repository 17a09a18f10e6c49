/**
 * The bodies of requests of which a handler has read nothing, or only the beginning.
 *
 * @module
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { within } from "../platform/time_limit.ts";

/**
 * How much of a body that no handler has read is skipped at most, and for how long, so that the
 * connection can be used again, or is closed without a reset, by which the client could lose its
 * response (RFC 9112 §9.6): 64 MiB in 10 s.
 */
const SKIPPED = { bytes: 64 * 1024 * 1024, ms: 10_000 } as const;

/** How often the progress of a skipped body is checked, in milliseconds. */
const CHECK_MS = 500;

/**
 * How long a response waits for the next part of a body that no handler has read, in milliseconds:
 * its client may wait for the response.
 */
const PAUSE_MS = 1_000;

/** The status of a response to a body that does not arrive in time. */
const TOO_SLOW = 408;

/** A response, and the request that its handler has received. */
export interface AnsweredResponse extends ServerResponse {
  /** Missing if the request was refused before. */
  received?: Request;
}

/**
 * Skips the rest of the body of an answered request, up to {@linkcode SKIPPED}; after that, the
 * connection is destroyed. A handler that reads it still can go on, unless it pauses for 0.5 s: its
 * stream fails then, as does that of one that begins now. Calls `onEnd` when the body or the
 * connection has ended.
 */
export function skipRest({ req, received }: AnsweredResponse, onEnd: () => void): void {
  const { socket } = req;
  const startBytes = socket.bytesRead;
  let lastBytes = startBytes;
  let checks = 0;
  const timer = setInterval(() => {
    const { bytesRead } = socket; // Node emits no `data` of a body that nobody has read
    checks++;
    if (bytesRead - startBytes > SKIPPED.bytes || checks * CHECK_MS >= SKIPPED.ms) socket.destroy();
    else if (bytesRead === lastBytes && req.isPaused()) discard(req);
    lastBytes = bytesRead;
  }, CHECK_MS);
  const abort = () => req.destroy(); // Node does so only before the response
  socket.once("close", abort);
  req.once("close", () => {
    socket.off("close", abort);
    clearInterval(timer);
    onEnd();
  });
  if (!received?.bodyUsed) discard(req);
}

/** Discards what arrives of a body. */
function discard(request: IncomingMessage): void {
  // a stream of it would end as if it were complete
  if (request.listenerCount("error") > 0) request.emit("error", new Error("The body is skipped"));
  request.removeAllListeners("data").resume();
}

/** Checks whether a body is too long to be skipped, and has not arrived. */
export function isTooLong({ complete, headers }: IncomingMessage): boolean {
  return !complete && Number(headers["content-length"]) > SKIPPED.bytes;
}

/** A source of the reader of a body; of none if it is locked. */
type Rest = () => ReadableStreamDefaultReader<Uint8Array> | undefined;

/**
 * Separates a body in chunks from its reader: Bun discards a body that is cancelled, such as one
 * over its limit, so that the rest could not be read.
 */
export function separateReader(request: Request): Rest {
  const source = request.body;
  let reader: ReturnType<Rest>;
  const rest = () => reader ??= source?.locked ? undefined : source?.getReader();
  const body = source && new ReadableStream({
    async pull(controller) {
      const { done, value } = await rest()!.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
  }, { highWaterMark: 0 });
  Object.defineProperty(request, "body", { value: body });
  return rest;
}

/**
 * Sends the last response of a connection when the rest of its request has arrived, up to
 * {@linkcode SKIPPED}: Bun resets a connection that it closes before.
 */
export function answerAfterBody(
  response: Response,
  request: Request,
  rest: Rest | undefined,
): Response | Promise<Response> {
  if (!rest && (request.bodyUsed || request.body?.locked !== false)) return response; // it is read
  const isAfterBody = (isLast(response) || isLast(request)) && response.status !== TOO_SLOW;
  const reader = isAfterBody ? rest ? rest() : request.body?.getReader() : undefined;
  return reader ? readRest(reader).then(() => response) : response;
}

function isLast({ headers }: Request | Response): boolean {
  return /\bclose\b/i.test(headers.get("connection") ?? "");
}

async function readRest(reader: NonNullable<ReturnType<Rest>>): Promise<void> {
  const endMs = performance.now() + SKIPPED.ms;
  let bytes = 0;
  while (bytes <= SKIPPED.bytes && performance.now() < endMs) {
    const reading = reader.read().catch(() => ({ done: true, value: undefined }));
    if (!await within(reading, PAUSE_MS)) return;
    const { done, value } = await reading;
    if (done) return;
    bytes += value?.byteLength ?? 0;
  }
}
