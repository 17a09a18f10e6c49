/**
 * Texts that are the same for the same values.
 *
 * @module
 */

/** How schemas are read. */
export interface SchemaReading {
  /** Returns what a reference names, or the value itself. */
  readonly resolve: (value: unknown) => unknown;
  /** Keywords that do not matter. */
  readonly ignored: ReadonlySet<string>;
}

/** Keywords whose values are lists, the order of which does not matter. */
const SETS = new Set(["allOf", "anyOf", "enum", "oneOf", "required", "type"]);

/** Keywords whose members are schemas by name. */
const NAMED = new Set(["dependentSchemas", "patternProperties", "properties"]);

/** Keywords whose values are no schemas. */
const VALUES = new Set(["const", "enum"]);

/** Returns a JSON text of a value, with its members sorted. */
export function canonicalText(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalText).join()}]`;
  const members = Object.entries(value).map(([name, each]) => member(name, canonicalText(each)));
  return `{${members.toSorted().join()}}`;
}

/**
 * Returns a text of a schema. A schema inside itself is written as the number of levels up to it.
 */
export function canonicalSchemaText(schema: unknown, reading: SchemaReading): string {
  return schemaText(schema, { ...reading, above: [] });
}

function schemaText(
  value: unknown,
  context: SchemaReading & { readonly above: readonly unknown[] },
): string {
  const at = context.resolve(value);
  if (typeof at !== "object" || at === null) return JSON.stringify(at);
  const depth = context.above.lastIndexOf(at);
  if (depth !== -1) return `^${context.above.length - depth}`;
  const inner = { ...context, above: [...context.above, at] };
  if (Array.isArray(at)) return `[${at.map((each) => schemaText(each, inner)).join()}]`;
  const members = Object.entries(at)
    .filter(([keyword]) => !context.ignored.has(keyword))
    .map(([keyword, each]) => {
      if (Array.isArray(each) && SETS.has(keyword)) {
        const write = VALUES.has(keyword)
          ? canonicalText
          : (one: unknown) => schemaText(one, inner);
        return member(keyword, `[${each.map(write).toSorted().join()}]`);
      }
      if (VALUES.has(keyword)) return member(keyword, canonicalText(each));
      if (!NAMED.has(keyword)) return member(keyword, schemaText(each, inner));
      const named = Object.entries(Object(each))
        .map(([name, one]) => member(name, schemaText(one, inner)));
      return member(keyword, `{${named.toSorted().join()}}`);
    });
  return `{${members.toSorted().join()}}`;
}

function member(name: string, text: string): string {
  return `${JSON.stringify(name)}:${text}`;
}
