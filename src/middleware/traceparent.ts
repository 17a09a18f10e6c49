/**
 * Reads the trace that a request belongs to.
 *
 * @module
 */

/** The position of the caller in its trace. */
export interface TraceParent {
  /** 32 hexadecimal digits, not all zero. */
  readonly traceId: string;
  /** The caller's span: 16 hexadecimal digits, not all zero. */
  readonly spanId: string;
  /** 1 if the caller records the trace, else 0. */
  readonly traceFlags: 0 | 1;
}

const TRACEPARENT = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/;

/**
 * Reads a `traceparent` header (W3C Trace Context §3.2), of version 00 or what a later version must
 * keep of it. Anything malformed gives `undefined`, and starts a new trace.
 */
export function parseTraceparent(header: string | undefined): TraceParent | undefined {
  const [, version, traceId, spanId, flags, rest] = TRACEPARENT.exec(header ?? "") ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  if (version === "ff" || (version === "00" && rest !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, traceFlags: parseInt(flags, 16) & 1 ? 1 : 0 };
}
