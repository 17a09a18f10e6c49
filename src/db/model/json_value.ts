/**
 * Values of JSON columns.
 *
 * @module
 */
import { isPlainObject } from "./plain_object.ts";
import { isStorableText } from "./storable_text.ts";

/** What JSON can say. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;

/** An object of JSON; a member that is `undefined` is not written. */
export interface JsonObject {
  /** A member. */
  readonly [name: string]: JsonValue | undefined;
}

/** MariaDB takes no deeper document. */
const MAX_DEPTH = 31;

/** Tells whether a value consists of what JSON has, all the way down. */
export function isJson(value: unknown, above: readonly unknown[] = []): boolean {
  switch (typeof value) {
    case "string":
    case "number":
    case "boolean":
      return true;
    case "object":
      // What is too deep is refused by what follows; a cycle is not JSON.
      if (value === null || above.length > MAX_DEPTH) return true;
      if (above.includes(value)) return false;
      return writtenMembers(value)?.every((member) => isJson(member, [...above, value])) ?? false;
  }
  return false;
}

/** Tells whether every database gives JSON back as it is: finite, storable text, not too deep. */
export function isStorableJson(value: unknown, depth = 0): boolean {
  if (typeof value === "string") return isStorableText(value);
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object" || value === null) return true;
  if (depth >= MAX_DEPTH) return false;
  if (!Array.isArray(value) && !Object.keys(value).every(isStorableText)) return false;
  return writtenMembers(value)?.every((member) => isStorableJson(member, depth + 1)) ?? false;
}

/** Gives the members of a list, holes included, or of a plain object, those that are written. */
function writtenMembers(value: object): readonly unknown[] | undefined {
  if ("toJSON" in value) return undefined;
  if (Array.isArray(value)) return Array.from(value);
  if (!isPlainObject(value)) return undefined;
  return Object.values(value).filter((member) => member !== undefined);
}
