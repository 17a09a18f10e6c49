/**
 * The console's own sink, for records that need no logger: LogTape takes four fifths of the time of
 * a line to find the sinks of a logger and to build its record.
 *
 * @module
 */
import { type Config, getConfig, type Sink } from "@logtape/logtape";

let own: { readonly config: Config<string, string> | null; readonly sink: Sink } | undefined;

/** Sets the sink that the present configuration of LogTape uses for all records. */
export function setConsoleSink(sink: Sink): void {
  own = { config: getConfig(), sink };
}

/** Returns that sink, or `undefined` if the application has configured LogTape. */
export function consoleSink(): Sink | undefined {
  return own && own.config === getConfig() ? own.sink : undefined;
}
