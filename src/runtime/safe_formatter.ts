/**
 * Formats records with errors that throw when they are read.
 *
 * @module
 */
import type { TextFormatter } from "@logtape/logtape";

/**
 * Returns a formatter that retries with plain errors if formatting throws, such as in a getter of
 * an error.
 */
export function withFallback(formatter: TextFormatter): TextFormatter {
  return (record) => {
    try {
      return formatter(record);
    } catch {
      const properties = Object.entries(record.properties)
        .map(([key, value]) => [key, plainError(value)]);
      return formatter({
        ...record,
        message: record.message.map(plainError),
        properties: Object.fromEntries(properties),
      });
    }
  };
}

/** Returns an error with the name, the message and the stack of another; other objects as text. */
function plainError(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const error = value as Partial<Error>;
  const stack = tryRead(() => error.stack);
  if (stack === undefined) return tryRead(() => String(value)) ?? "[unreadable]";
  return Object.defineProperties(new Error(tryRead(() => error.message)), {
    name: { value: tryRead(() => error.name) ?? "Error" },
    stack: { value: stack },
  });
}

/** Returns a text, or `undefined` if reading it throws. */
function tryRead(read: () => unknown): string | undefined {
  try {
    const text = read();
    return typeof text === "string" ? text : undefined;
  } catch {
    return undefined;
  }
}
