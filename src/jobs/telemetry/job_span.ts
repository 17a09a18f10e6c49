/**
 * The spans of jobs: a run continues the trace in which its job was enqueued.
 *
 * @module
 */
import { context, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import type { JobInfo, TraceParent } from "../engine.ts";
import { RunEnding } from "../run_ending.ts";

/** Returns the active span, to be stored with the job; `undefined` without one. */
export function activeParent(): TraceParent | undefined {
  const span = trace.getActiveSpan()?.spanContext();
  if (!span) return undefined;
  const { traceId, spanId, traceFlags } = span;
  return { traceId, spanId, traceFlags };
}

/**
 * Runs a handler inside a span of its own, a child of the one that has enqueued the job. Its
 * attributes are those of the messaging conventions of OpenTelemetry.
 */
export async function inRunSpan<T>(info: JobInfo, run: () => Promise<T>): Promise<T> {
  const root = context.active();
  const parent = info.trace;
  const outer = parent ? trace.setSpanContext(root, { ...parent, isRemote: true }) : root;
  const attributes = {
    "messaging.operation.type": "process",
    "messaging.operation.name": "process",
    "messaging.system": "fw",
    "messaging.destination.name": info.name,
    "messaging.message.id": info.id,
  };
  const options = { kind: SpanKind.CONSUMER, attributes };
  const span = trace.getTracer("@fw/fw").startSpan(`process ${info.name}`, options, outer);
  try {
    return await context.with(trace.setSpan(outer, span), run);
  } catch (error) {
    const failure = error instanceof RunEnding ? error.failure : error;
    if (error instanceof RunEnding && !failure) throw error;
    span.setStatus({ code: SpanStatusCode.ERROR });
    span.setAttribute("error.type", failure instanceof Error ? failure.name : typeof failure);
    throw error;
  } finally {
    span.end();
  }
}
