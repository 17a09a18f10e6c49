/**
 * The console's own sink, for records that need no logger: LogTape spends most of the time of a
 * line on finding the sinks of a logger and building its record.
 *
 * @module
 */
import { getConfig, type Sink } from "@logtape/logtape";

const SINK = Symbol("fw.consoleSink");

/** Marks a configuration of LogTape whose one sink takes all records of the framework. */
export function withConsoleSink<C extends object>(config: C, sink: Sink): C {
  return Object.defineProperty(config, SINK, { value: sink }); // which no copy has
}

/** Returns the sink of the present configuration; `undefined` if the application has made it. */
export function consoleSink(): Sink | undefined {
  return (getConfig() as { readonly [SINK]?: Sink } | null)?.[SINK];
}
