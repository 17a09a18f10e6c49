/** A real SDK of OpenTelemetry. */
import { context, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  type Sampler,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";

/** Registers a real SDK while the body runs, and passes it the spans that have ended. */
export async function withOpenTelemetry(
  body: (spans: () => readonly ReadableSpan[]) => Promise<void>,
  sampler?: Sampler,
): Promise<void> {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({
    spanProcessors: [new SimpleSpanProcessor(exporter)],
    ...(sampler && { sampler }),
  });
  trace.setGlobalTracerProvider(provider);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  try {
    await body(() => exporter.getFinishedSpans());
  } finally {
    context.disable();
    trace.disable();
    await provider.shutdown();
    await new Promise((resolve) => setTimeout(resolve)); // the exporter calls back by timer
  }
}
