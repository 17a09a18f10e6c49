/**
 * Limits the time in which a body arrives, while it is read.
 *
 * @module
 */
import { boundedStream } from "../../platform/bounded_stream.ts";
import { within } from "../../platform/time_limit.ts";
import { type Context, type Slot, slot } from "./context.ts";
import { BadRequestException, HttpException, RequestTimeoutException } from "./http_exception.ts";

/**
 * The time limit of the request's body in milliseconds, from when it is read; default 30 000. A
 * body gets one more second for every 4 KB of it: of its `Content-Length` if it is read as a whole
 * and has at most 1 MiB, otherwise of what has arrived. So an upload of any size succeeds at
 * 4 KB/s, and a client that sends a byte now and then is refused with 408. Middleware, guards and
 * handlers set another limit before the body is read, or `Infinity`, such as for a request that
 * streams for as long as its client wants. To set anything but a number of 0 or more, such as `NaN`
 * from a missing variable of the environment, is a `RangeError`.
 *
 * @example
 * ```ts
 * import { bodyTimeout, FwFactory, module } from "@fw/fw";
 *
 * const app = await FwFactory.create(module({}));
 * app.use("/sensors/*", (c, next) => {
 *   bodyTimeout.set(c, 120_000);
 *   return next();
 * });
 * ```
 */
export const bodyTimeout: Slot<number> = checked(slot("bodyTimeout"));

/** The error of a body that exceeded its limit in size or time, or did not arrive whole. */
export const bodyErrorSlot: Slot<HttpException> = slot("bodyError");

/**
 * What refuses a body: the rest of it stays unread, so the connection cannot be used again
 * (RFC 9112 §9.3).
 */
export const LAST = { headers: { connection: "close" } } as const;

const DEFAULT_MS = 30_000;
const BYTES_PER_MS = 4;

/**
 * The native methods that read a whole body. `bytes` calls `arrayBuffer`: requests of
 * `@hono/node-server` do not have it.
 */
const READS = ["arrayBuffer", "blob", "json", "text"] as const;

/** Waits for a part of a body after the first `bytes` of it; see {@linkcode partsInTime}. */
export type WaitForPart = <T>(part: Promise<T>, bytes: number) => Promise<T>;

/**
 * Returns a function that waits for the parts of a body. The time between them, in which the
 * application does not read, does not count.
 */
export function partsInTime(c: Context): WaitForPart {
  let waitedMs = 0;
  return async (part, bytes) => {
    const startMs = performance.now() - waitedMs;
    try {
      await inTime(part, { limitMs: bodyTimeout.get(c), bytes, waitedMs });
    } catch (error) {
      // the runtimes and `fetch` report the failure of a stream as an error of their own, and a
      // body that middleware has replaced has failed before
      if (error instanceof HttpException && !bodyErrorSlot.get(c)) bodyErrorSlot.set(c, error);
      throw error;
    }
    waitedMs = performance.now() - startMs;
    return part;
  };
}

const LIMIT = Symbol("fw.readLimit");

/** A request whose body is limited in time. */
interface LimitedRequest extends Request {
  [LIMIT]: {
    readonly c: Context;
    /** The length of the body. */
    readonly bytes: number;
    body?: ReadableStream | null;
    isRead?: boolean;
  };
}

/** Checks whether the reads of a request are limited in time, as by an outer application. */
export function hasLimitedReads(request: Request): boolean {
  return LIMIT in request;
}

/**
 * Limits the time of reading the body of a request, which has `bytes`. If an outer application has
 * limited the same request, its limit applies alone.
 */
export function limitReads(c: Context, bytes: number): void {
  if (!hasLimitedReads(c.req.raw)) limit(c.req.raw, { c, bytes });
}

function limit(request: Request, { c, bytes }: LimitedRequest[typeof LIMIT]): Request {
  (request as LimitedRequest)[LIMIT] = { c, bytes }; // a private symbol
  return Object.setPrototypeOf(request, limitedPrototype(Object.getPrototypeOf(request)));
}

/** The prototypes of limited requests, by those of their runtime. */
const prototypes = new WeakMap<object, object>();

/** Returns the prototype with limited reads; to define them on each request would cost more. */
function limitedPrototype(native: object): object {
  const known = prototypes.get(native);
  if (known) return known;
  const limited: object = Object.create(native, {
    body: {
      configurable: true,
      get(this: LimitedRequest) {
        const limit = this[LIMIT];
        const body: ReadableStream | null = Reflect.get(native, "body", this);
        return limit.body ??= body &&
          boundedStream(body, limit.bytes, { wait: partsInTime(limit.c) });
      },
    },
    bytes: {
      configurable: true,
      writable: true,
      async value(this: LimitedRequest) {
        return new Uint8Array(await this.arrayBuffer());
      },
    },
    formData: { configurable: true, writable: true, value: countedFormData },
    clone: {
      configurable: true,
      writable: true,
      value(this: LimitedRequest) {
        return limit(Reflect.get(native, "clone").call(this), this[LIMIT]);
      },
    },
  });
  for (const read of READS) {
    const isParsed = read === "json";
    const value = function (this: LimitedRequest) {
      const { c, bytes, body, isRead } = this[LIMIT];
      const reading = Reflect.get(native, read).call(this);
      if (isRead || body) return reading; // rejects: a body is read once
      this[LIMIT].isRead = true;
      return inTime(reading, { limitMs: bodyTimeout.get(c), bytes, isParsed });
    };
    Object.defineProperty(limited, read, { value, configurable: true, writable: true });
  }
  prototypes.set(native, limited);
  return limited;
}

/** Reads a form whose fields are counted first: Node takes seconds for ten thousands of them. */
async function countedFormData(this: Request): Promise<FormData> {
  const bytes = await this.arrayBuffer();
  const { parseForm } = await import("./body_formats.ts"); // most bodies are not forms
  return await parseForm(this.headers.get("content-type") ?? undefined, bytes);
}

/** Makes a request whose body is a bounded stream count the fields of its form, and its clones. */
export function countFields(request: Request): Request {
  const native = request.clone;
  const clone = () => countFields(native.call(request));
  return Object.defineProperties(request, {
    formData: { value: countedFormData },
    clone: { value: clone },
  });
}

/** The part that {@linkcode inTime} waits for. */
export interface Wait {
  /** The limit of the request, {@linkcode bodyTimeout}; default 30 000. */
  readonly limitMs?: number | undefined;
  /** How many bytes of the body lengthen the limit of the request. */
  readonly bytes: number;
  /** How long parts before it have been waited for, in milliseconds. */
  readonly waitedMs?: number;
  /** Whether it is parsed, which can fail for another reason. */
  readonly isParsed?: boolean;
}

/**
 * Waits for a part of a body.
 *
 * @throws {RequestTimeoutException} 408 if it does not arrive in time
 * @throws {BadRequestException} 400 if the client disconnects, or its framing is invalid
 */
export async function inTime<T>(
  part: Promise<T>,
  { limitMs = DEFAULT_MS, bytes, waitedMs = 0, isParsed = false }: Wait,
): Promise<T> {
  let isDone: boolean;
  try {
    isDone = await within(part, limitMs + bytes / BYTES_PER_MS - waitedMs);
  } catch (cause) {
    if (isParsed || cause instanceof HttpException) throw cause;
    throw new BadRequestException("The body is incomplete", { ...LAST, cause });
  }
  if (!isDone) throw new RequestTimeoutException("The body is too slow", LAST);
  return await part;
}

/** Returns a slot that takes only times: no body would reach `NaN`. */
function checked(limit: Slot<number>): Slot<number> {
  return {
    get: limit.get,
    set(c, limitMs) {
      const isLimit = limitMs === undefined || (typeof limitMs === "number" && limitMs >= 0);
      if (!isLimit) throw new RangeError(`Cannot limit the body: bodyTimeout is ${limitMs} ms`);
      limit.set(c, limitMs);
    },
  };
}
