/**
 * Logs to the console without configuration.
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
 * Prints the logs of the framework from level `info` to the console, as text, or as JSON lines if
 * `FW_ENV` is `production`. Does nothing if the application has configured LogTape; an application
 * that configures it later must pass `reset: true`.
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

/** Formats a value on a runtime that cannot inspect values: an error with its stack and causes. */
function shown(value: unknown, inspect: (value: unknown) => string): string {
  if (typeof value === "string") return JSON.stringify(value).slice(1, -1); // on one line
  if (!(value instanceof Error)) return inspect(value);
  const text = value.stack ?? String(value);
  return value.cause === undefined ? text : `${text}\nCaused by: ${shown(value.cause, inspect)}`;
}

/** A process without permission to read `FW_ENV` logs text instead of failing. */
function isForMachines(): boolean {
  try {
    return isProduction();
  } catch {
    return false;
  }
}
