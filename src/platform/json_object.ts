/**
 * Reads JSON objects.
 *
 * @module
 */

/** A JSON object with unchecked members. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Parses a JSON object; returns `undefined` if the text is not one. */
export function jsonObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined; // the message of the parser quotes the text
  }
}

/** Returns an object without its `null` members, which many servers send for absent ones. */
export function withoutNulls(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null));
}

/** Checks whether a value is a JSON object. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Freezes a JSON value deeply and returns it. */
export function deepFreeze<T>(value: T): T {
  const rest: unknown[] = [value];
  while (rest.length > 0) {
    const next = rest.pop();
    if (typeof next === "object" && next !== null) rest.push(...Object.values(Object.freeze(next)));
  }
  return value;
}
