import assert from "node:assert/strict";
import { SpanKind, trace } from "@opentelemetry/api";
import { job } from "../../src/jobs/mod.ts";
import { withOpenTelemetry } from "../support/open_telemetry.ts";
import { test } from "../support/test.ts";
import { jobsApp } from "./support/jobs_app.ts";

const Sweep = job("sweep");
const Fail = job("fail", { retries: 0 });

test("the span of a run is a child of the one that has enqueued the job", async () => {
  await withOpenTelemetry(async (spans) => {
    const inside: (string | undefined)[] = [];
    const handlers = {
      sweep: Sweep.handle(() => void inside.push(trace.getActiveSpan()?.spanContext().spanId)),
      fail: Fail.handle(() => Promise.reject(new RangeError("no"))),
    };
    await using app = await jobsApp("sqlite::memory:", { handlers });
    const tracer = trace.getTracer("test");
    const ids = await tracer.startActiveSpan("place", async (span) => {
      const ids = [await Sweep.enqueue(), await Fail.enqueue()];
      span.end();
      return ids;
    });
    await app.jobs.drain();
    const placed = spans().find(({ name }) => name === "place")!.spanContext();
    const runs = spans().filter(({ name }) => name.startsWith("process "));
    assert.deepEqual(
      runs.map(({ name, kind, attributes, parentSpanContext }) => ({
        name,
        kind,
        id: attributes["messaging.message.id"],
        error: attributes["error.type"],
        trace: parentSpanContext?.traceId,
        parent: parentSpanContext?.spanId,
      })),
      [["process sweep", undefined], ["process fail", "RangeError"]].map((
        [name, error],
        index,
      ) => ({
        name,
        kind: SpanKind.CONSUMER,
        id: ids[index],
        error,
        trace: placed.traceId,
        parent: placed.spanId,
      })),
    );
    assert.deepEqual(inside, [runs[0]!.spanContext().spanId]);
  });
});
