/**
 * Reading JSON objects.
 *
 * @module
 */

/** A JSON object, whose members are yet to be checked. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Reads a JSON object; `undefined` if the text is none. */
export function jsonObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined; // the parser's own words quote the text
  }
}

/** Gives an object without the members that are `null`, which many servers mean to be absent. */
export function withoutNulls(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null));
}

/** Tells whether a value is a JSON object. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Freezes a value of JSON with all that it holds, however deep, and gives it. */
export function deepFreeze<T>(value: T): T {
  const rest: unknown[] = [value];
  while (rest.length > 0) {
    const next = rest.pop();
    if (typeof next === "object" && next !== null) rest.push(...Object.values(Object.freeze(next)));
  }
  return value;
}
