/**
 * The warnings of migrations, which run before an application serves and has a log.
 *
 * @module
 */
import {
  getConfig,
  getJsonLinesFormatter,
  getLogger,
  getTextFormatter,
  type LogRecord,
} from "@logtape/logtape";
import { logsJson } from "../../platform/env.ts";

const CATEGORY = ["fw", "db"];

/**
 * Logs a warning about migrations. If LogTape is not configured, prints it as an application that
 * serves would: configuring LogTape here would refuse a later configuration of the application.
 */
export function warn(rawMessage: string, properties: Readonly<Record<string, unknown>>): void {
  if (getConfig() !== null) return getLogger(CATEGORY).warn(rawMessage, { ...properties });
  const parts = rawMessage.split(/\{(\w+)\}/);
  const record: LogRecord = {
    category: CATEGORY,
    level: "warning",
    message: parts.map((part, i) => i % 2 === 1 ? properties[part] : part),
    rawMessage,
    timestamp: Date.now(),
    properties: { ...properties },
  };
  const asText = logsJson()
    ? getJsonLinesFormatter({ message: "template" })
    : getTextFormatter({ value: (value) => JSON.stringify(value) });
  try {
    console.warn(asText(record).trimEnd());
  } catch {
    // a full disk, or a terminal that has gone
  }
}
