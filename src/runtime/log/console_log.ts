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
  type Sink,
  type TextFormatter,
} from "@logtape/logtape";
import { getRuntimeKey } from "hono/adapter";
import { withConsoleSink } from "../../platform/console_sink.ts";
import { logsJson } from "../../platform/env.ts";
import { logContext } from "../../platform/telemetry/log_context.ts";
import { exportsConsole } from "../../platform/telemetry/registry.ts";
import { INSPECTORS } from "../../platform/secret.ts";
import { LogBatch } from "./log_batch.ts";
import { ignoreOutputErrors } from "../node_output.ts";
import { loggedValue, type ShowItself, Verbatim } from "./logged_value.ts";

/** The lines of level `info`. */
const batch = new LogBatch((lines) => tryPrint(() => console.info(lines)));

/**
 * Prints the logs of the framework from level `info` to the console, as text, or as JSON lines if
 * `FW_ENV` is `production`. Does nothing if the application has configured LogTape; an application
 * that configures it later must pass `reset: true`.
 */
export function logToConsole(): void {
  if (getConfig() !== null) return;
  if (getRuntimeKey() === "node") ignoreOutputErrors();
  const formatter = logsJson() ? jsonLines() : getTextFormatter({
    value: getRuntimeKey() !== "workerd"
      ? plain
      : (value, inspect) => plain(value, (it) => shown(it, inspect)),
  });
  const printNow = getConsoleSink({ formatter });
  const sink: Sink = (record) => {
    if (record.level === "info") return batch.add(formatter(record).replace(/\r?\n$/, ""));
    batch.flush(); // so that lines keep their order
    tryPrint(() => printNow(record));
  };
  configureSync(withConsoleSink({
    contextLocalStorage: logContext,
    sinks: { console: sink },
    loggers: [
      { category: "fw", lowestLevel: "info", sinks: ["console"] },
      { category: ["logtape", "meta"], lowestLevel: "warning", sinks: ["console"] },
    ],
  }, sink));
}

/**
 * Prints the lines of level `info` together, each up to 20 ms later, until the returned function is
 * called. Warnings and errors are printed at once, after the lines before them. Where Deno exports
 * what the console prints, each line is a record of its own, in the trace of its request.
 */
export function batchLines(): () => void {
  return exportsConsole() ? () => {} : batch.hold();
}

/** Prints, or drops what cannot be written, such as to a full disk: on Deno, `console` throws. */
function tryPrint(print: () => void): void {
  try {
    print();
  } catch {
    // there is nowhere to report it
  }
}

/** What could look like another line, or change the terminal. */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** Formats records as JSON lines, with bounded values. */
function jsonLines(): TextFormatter {
  const format = getJsonLinesFormatter({ message: "template" });
  return (record) => {
    const properties: Record<string, unknown> = {};
    for (const key in record.properties) {
      properties[key] = loggedValue(record.properties[key], toJson);
    }
    return format({ ...record, properties });
  };
}

/** Returns what JSON has in place of an object. */
const toJson: ShowItself = (value) => {
  const { toJSON } = value as { readonly toJSON?: unknown };
  return typeof toJSON === "function" ? toJSON.call(value) ?? null : undefined;
};

/** Formats a value as LogTape's `"bare"` does, but bounded, and faster for numbers and texts. */
function plain(value: unknown, inspect: (value: unknown) => string): string {
  if (typeof value === "number") return String(value);
  const logged = loggedValue(
    value,
    (it) => isInspected(it) ? new Verbatim(inspect(it)) : undefined,
  );
  return typeof logged === "string" ? escaped(logged) : indented(inspect(logged));
}

/** Checks whether an object defines what the runtime prints of it, such as without its secrets. */
function isInspected(value: object): boolean {
  return [...INSPECTORS, Symbol.for("Deno.privateCustomInspect")]
    .some((symbol) => typeof Reflect.get(value, symbol) === "function");
}

/** Indents the lines of an error, whose message can come from a client: a record begins a line. */
function indented(text: string): string {
  return text.split(/\r?\n/).map(escaped).join("\n").replace(/\n(?! )/g, "\n    ");
}

function escaped(text: string): string {
  return text.replace(UNPRINTABLE, (found) => {
    const json = JSON.stringify(found).slice(1, -1);
    return json === found ? `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}` : json;
  });
}

/** Shows a value on a runtime that cannot inspect values: an error with its stack and causes. */
function shown(value: unknown, inspect: (value: unknown) => string): string {
  if (!(value instanceof Error)) return inspect(value);
  const text = value.stack ?? String(value);
  return value.cause === undefined ? text : `${text}\nCaused by: ${shown(value.cause, inspect)}`;
}
