/**
 * The types of arrays, for the driver. It would query them in a promise that nobody holds: a
 * connection that is lost meanwhile would end the process.
 *
 * @module
 */
import type { ParsedOptions } from "postgres";

/** How arrays of a type are written. */
interface ArrayForm {
  readonly delimiter: string;
  readonly write: (value: unknown) => unknown;
}

/** Selects the identifiers of the types of arrays, each with that of its elements. */
export const ARRAY_TYPES =
  "select json_object_agg(typarray, oid) from pg_catalog.pg_type where typarray <> 0";

/** The only type whose delimiter is no comma. */
const BOX_ARRAY = 1020;

/** Braces, an element in quotes, and one without (PostgreSQL manual, 8.15.6). */
const TOKENS = /[{}]|"([^"\\]*(?:\\.[^"\\]*)*)"|[^{}",]+/gs;
const TOKENS_OF_BOXES = /[{}]|"([^"\\]*(?:\\.[^"\\]*)*)"|[^{}";]+/gs;

/** Adds the arrays of the types that a driver knows, and of others as text. */
export function addArrayTypes(
  { parsers, serializers }: Pick<ParsedOptions, "parsers" | "serializers">,
  elements: Readonly<Record<string, number>>,
): void {
  for (const [name, element] of Object.entries(elements)) {
    const type = Number(name);
    const isBox = type === BOX_ARRAY;
    const tokens = isBox ? TOKENS_OF_BOXES : TOKENS;
    const form = { delimiter: isBox ? ";" : ",", write: serializers[element] ?? String };
    const read = parsers[element] ?? String;
    parsers[type] = (text: string) => readArray(text.matchAll(tokens), read);
    serializers[type] = (value: unknown) => Array.isArray(value) ? writeArray(value, form) : value;
  }
}

function readArray(tokens: Iterable<RegExpExecArray>, read: (text: string) => unknown): unknown {
  const levels: unknown[][] = [[]];
  for (const [token, quoted] of tokens) {
    const level = levels.at(-1);
    if (token === "{") levels.push([]);
    else if (token === "}") levels.at(-2)?.push(levels.pop());
    else if (quoted !== undefined) level?.push(read(quoted.replace(/\\(.)/gs, "$1")));
    // Bounds other than the default are before the first brace.
    else if (levels.length > 1) level?.push(token === "NULL" ? null : read(token));
  }
  return levels[0]?.[0];
}

function writeArray(values: readonly unknown[], form: ArrayForm): string {
  const isNested = Array.isArray(values[0]);
  const elements = values.map((value) =>
    isNested && Array.isArray(value) ? writeArray(value, form) : writeElement(value, form)
  );
  return `{${elements.join(form.delimiter)}}`;
}

function writeElement(value: unknown, { write }: ArrayForm): string {
  if (value === undefined) throw new TypeError("Cannot write array: an element is undefined");
  return value === null ? "null" : `"${String(write(value)).replace(/["\\]/g, "\\$&")}"`;
}
