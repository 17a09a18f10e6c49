/**
 * A log that can be read without any configuration.
 *
 * @module
 */
import {
  configureSync,
  getConfig,
  getConsoleSink,
  getJsonLinesFormatter,
  getTextFormatter,
} from "@logtape/logtape";
import { getRuntimeKey } from "hono/adapter";
import { isProduction } from "../platform/env.ts";

/**
 * Prints what the framework logs from level `info` on the console, as text, or as JSON lines when
 * `FW_ENV` is `production`. An application that has configured LogTape is left alone; one that does
 * so later has to pass `reset: true`.
 */
export function logToConsole(): void {
  if (getConfig() !== null) return;
  const formatter = isForMachines()
    ? getJsonLinesFormatter({ message: "template" })
    : getTextFormatter({ value: getRuntimeKey() === "workerd" ? shown : "bare" });
  configureSync({
    sinks: { console: getConsoleSink({ formatter }) },
    loggers: [
      { category: "fw", lowestLevel: "info", sinks: ["console"] },
      { category: ["logtape", "meta"], lowestLevel: "warning", sinks: ["console"] },
    ],
  });
}

/** Shows a value where the runtime has no way to inspect one: an error with its stack and causes. */
function shown(value: unknown, inspect: (value: unknown) => string): string {
  if (typeof value === "string") return JSON.stringify(value).slice(1, -1); // on one line
  if (!(value instanceof Error)) return inspect(value);
  const text = value.stack ?? String(value);
  return value.cause === undefined ? text : `${text}\nCaused by: ${shown(value.cause, inspect)}`;
}

/** A process that may not read `FW_ENV` logs as text: that is no reason to stop it. */
function isForMachines(): boolean {
  try {
    return isProduction();
  } catch {
    return false;
  }
}
