/** Collects what the framework logs while a test runs. */
import { configureSync, type LogRecord, resetSync } from "@logtape/logtape";

export async function captureLogs(
  category: readonly string[],
  body: (records: readonly LogRecord[]) => void | Promise<void>,
): Promise<void> {
  const records: LogRecord[] = [];
  configureSync({
    reset: true, // another file of the process may have opened the log
    sinks: { memory: (record) => void records.push(record) },
    loggers: [
      { category: [...category], sinks: ["memory"], lowestLevel: "trace" },
      { category: ["logtape", "meta"], sinks: [], lowestLevel: "error" },
    ],
  });
  try {
    await body(records);
  } finally {
    resetSync();
  }
}
