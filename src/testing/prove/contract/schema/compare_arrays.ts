/**
 * Comparing the keywords of lists.
 *
 * @module
 */
import type { JsonSchema } from "../../../../openapi/json_schema/json_schema.ts";
import type { Pair } from "../pair.ts";
import { below, found, type SchemaDifference } from "../rules.ts";
import { compareCount } from "./compare_scalars.ts";
import type { FlatSchemas } from "./flat_schema.ts";
import type { Schema } from "./keywords.ts";
import type { SchemaComparison } from "./schema_comparison.ts";

/** Compares the keywords of lists. */
export function compareArrays(
  given: Pair<JsonSchema>,
  comparison: SchemaComparison,
): readonly SchemaDifference[] {
  const base = bounded(given.base, comparison.base.schemas);
  const current = bounded(given.current, comparison.current.schemas);
  const [unique, isUnique] = [base.uniqueItems === true, current.uniqueItems === true];
  return [
    ...compareCount("minItems", { base, current }),
    ...compareCount("maxItems", { base, current }),
    ...unique === isUnique ? [] : [
      isUnique
        ? found("restrictionAdded", "has no element twice")
        : found("restrictionRemoved", "can have an element twice"),
    ],
    ...compareElements({ base, current }, comparison),
    ...compareContains({ base, current }, comparison),
  ];
}

function compareElements(
  { base, current }: Pair<JsonSchema>,
  comparison: SchemaComparison,
): readonly SchemaDifference[] {
  const placed = Math.max(prefixOf(base).length, prefixOf(current).length);
  const [length, newLength] = [base, current].map(({ maxItems = Infinity }) => Number(maxItems));
  const differences: SchemaDifference[] = [];
  for (let i = 0; i < placed && i < length! && i < newLength!; i++) {
    const inner = comparison.compare(elementOf(base, i), elementOf(current, i));
    differences.push(...below(`[${i}]`, inner));
  }
  if (length! <= placed || newLength! <= placed) return differences;
  const rest = comparison.compare(elementOf(base, placed), elementOf(current, placed));
  return [...differences, ...below("[]", rest)];
}

function compareContains(
  { base, current }: Pair<JsonSchema>,
  comparison: SchemaComparison,
): readonly SchemaDifference[] {
  const [was, is] = [base, current].map((
    { contains, minContains = 1, maxContains = Infinity },
  ) => ({
    contains: contains as Schema | undefined,
    limits: `${minContains} to ${maxContains}`,
  }));
  if (was!.contains === undefined && is!.contains === undefined) return [];
  if (was!.contains === undefined) return [found("restrictionAdded", "has to contain an element")];
  if (is!.contains === undefined) {
    return [found("restrictionRemoved", "no longer has to contain an element")];
  }
  const inner = comparison.compare(was!.contains, is!.contains);
  if (was!.limits === is!.limits && inner.length === 0) return [];
  return [found("incomparable", "has another rule of what it contains, which cannot be compared")];
}

/** A list without further elements has at most those that have a place. */
function bounded(keywords: JsonSchema, schemas: FlatSchemas): JsonSchema {
  if (schemas.simplified(keywords.items as Schema) !== false) return keywords;
  const maxItems = Math.min(Number(keywords.maxItems ?? Infinity), prefixOf(keywords).length);
  return { ...keywords, maxItems };
}

function elementOf({ items = true, ...keywords }: JsonSchema, index: number): Schema {
  return prefixOf(keywords)[index] ?? items as Schema;
}

function prefixOf({ prefixItems = [] }: JsonSchema): readonly Schema[] {
  return prefixItems as readonly Schema[];
}
