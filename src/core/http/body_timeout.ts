/**
 * Limits the time in which a body arrives, while it is read.
 *
 * @module
 */
import { boundedStream } from "../../platform/bounded_stream.ts";
import { within } from "../../platform/time_limit.ts";
import { type Context, type Slot, slot } from "./context.ts";
import { RequestTimeoutException } from "./http_exception.ts";

/**
 * The time limit of the request's body in milliseconds, from when it is read; default 30 000. A
 * body gets one more second for every 4 KB of it: of its `Content-Length` if it is read as a whole
 * and has at most 1 MiB, otherwise of what has arrived. So an upload of any size succeeds at
 * 4 KB/s, and a client that sends a byte now and then is refused with 408. Middleware, guards and
 * handlers set another limit before the body is read, or `Infinity`, such as for a request that
 * streams for as long as its client wants.
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
export const bodyTimeout: Slot<number> = slot("bodyTimeout");

/**
 * What refuses a body: the rest of it stays unread, so the connection cannot be used again
 * (RFC 9112 §9.3).
 */
export const LAST = { headers: { connection: "close" } } as const;

const DEFAULT_MS = 30_000;
const BYTES_PER_MS = 4;

/** The methods of a request that read its whole body, besides `bytes`. */
const READS = ["arrayBuffer", "blob", "formData", "json", "text"] as const;

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
    await inTime(c, part, bytes / BYTES_PER_MS - waitedMs);
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
  };
}

/**
 * Limits the time of reading the body of a request, which has `bytes`. If an outer application has
 * limited the same request, its limit applies alone.
 */
export function limitReads(c: Context, bytes: number): void {
  const { raw } = c.req;
  if (LIMIT in raw) return;
  (raw as LimitedRequest)[LIMIT] = { c, bytes }; // a private symbol
  Object.setPrototypeOf(raw, limitedPrototype(Object.getPrototypeOf(raw)));
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
      async value(this: LimitedRequest) { // which `@hono/node-server` does not have
        return new Uint8Array(await this.arrayBuffer());
      },
    },
  });
  for (const read of READS) {
    const value = function (this: LimitedRequest) {
      const { c, bytes } = this[LIMIT];
      return inTime(c, Reflect.get(native, read).call(this), bytes / BYTES_PER_MS);
    };
    Object.defineProperty(limited, read, { value, configurable: true, writable: true });
  }
  prototypes.set(native, limited);
  return limited;
}

/** Waits for a part of a body, for the limit of the request and `moreMs`. */
async function inTime<T>(c: Context, part: Promise<T>, moreMs: number): Promise<T> {
  if (await within(part, (bodyTimeout.get(c) ?? DEFAULT_MS) + moreMs)) return await part;
  throw new RequestTimeoutException("The body is too slow", LAST);
}
