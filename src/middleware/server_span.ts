/**
 * The OpenTelemetry span of a request.
 *
 * @module
 */
import {
  context,
  createTraceState,
  INVALID_TRACEID,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import type { Context } from "../core/http/context.ts";
import { clientIp } from "./client_ip.ts";
import { knownMethod } from "./request_labels.ts";

/** The result of a request. */
export interface RequestResult {
  /** The pattern of the route that answered; `undefined` if no route matches. */
  readonly route: string | undefined;
  /** The status of the response. */
  readonly status: number;
  /** The error that was thrown, if any. */
  readonly error: unknown;
}

/** A request's span. */
export interface ServerSpan {
  /** The id of the trace that the request belongs to, if any. */
  readonly traceId: string | undefined;
  /** Runs a part of the request with the span active. */
  readonly run: <T>(work: () => T) => T;
  /** Completes the span. */
  readonly end: (result: RequestResult) => void;
}

const UNTRACED: ServerSpan = { traceId: undefined, run: (work) => work(), end() {} };

/**
 * Returns the span that the runtime or its instrumentation has already started. Otherwise, if
 * the application has registered a tracer provider, starts one as a child of the request's
 * `traceparent`. The attributes are those of the HTTP semantic conventions 1.x; `path`
 * becomes `url.path`.
 */
export function serverSpan(c: Context, path: string): ServerSpan {
  const active = trace.getActiveSpan();
  return active ? joined(c, active) : started(c, path);
}

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
 * Parses a `traceparent` header (W3C Trace Context §3.2) of version 00, or the part of a later
 * version that is compatible with it. Returns `undefined` if it is malformed: the request
 * starts a new trace.
 */
export function parseTraceparent(header: string | undefined): TraceParent | undefined {
  const [, version, traceId, spanId, flags, rest] = TRACEPARENT.exec(header ?? "") ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  if (version === "ff" || (version === "00" && rest !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, traceFlags: parseInt(flags, 16) & 1 ? 1 : 0 };
}

/** The owner of an active span sets everything but the route, and ends it. */
function joined(c: Context, span: Span): ServerSpan {
  return {
    traceId: span.spanContext().traceId,
    run: (work) => work(),
    end: ({ route }) => nameAfter(route, { c, span }),
  };
}

function started(c: Context, path: string): ServerSpan {
  const parent = remoteContext(c);
  const attributes = {
    "http.request.method": knownMethod(c.req.method),
    "url.path": path,
    "url.scheme": c.req.url.slice(0, c.req.url.indexOf(":")),
  };
  const options = { kind: SpanKind.SERVER, attributes };
  const span = trace.getTracer("@fw/fw").startSpan(spanName(c), options, parent);
  const { traceId } = span.spanContext();
  if (traceId === INVALID_TRACEID) return UNTRACED;
  return {
    traceId,
    run: (work) => context.with(trace.setSpan(parent, span), work),
    end({ route, status, error }) {
      nameAfter(route, { c, span });
      span.setAttributes({ "http.response.status_code": status, "client.address": clientIp(c) });
      if (status >= 500) fail(span, { status, error });
      span.end();
    },
  };
}

function remoteContext(c: Context): ReturnType<typeof context.active> {
  const remote = parseTraceparent(c.req.header("traceparent"));
  if (!remote) return context.active();
  const tracestate = c.req.header("tracestate");
  return trace.setSpanContext(context.active(), {
    ...remote,
    isRemote: true,
    ...(tracestate && { traceState: createTraceState(tracestate) }),
  });
}

function nameAfter(
  route: string | undefined,
  { c, span }: { readonly c: Context; readonly span: Span },
): void {
  if (route === undefined) return;
  span.setAttribute("http.route", route);
  span.updateName(`${spanName(c)} ${route}`);
}

function spanName(c: Context): string {
  const method = knownMethod(c.req.method);
  return method === "_OTHER" ? "HTTP" : method;
}

function fail(span: Span, { status, error }: Omit<RequestResult, "route">): void {
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.setAttribute("error.type", error instanceof Error ? error.name : String(status));
  if (error !== undefined) span.recordException(error instanceof Error ? error : String(error));
}
