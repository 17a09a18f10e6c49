/**
 * Comparing bodies by their media types.
 *
 * @module
 */
import type { JsonSchema } from "../../../openapi/json_schema/json_schema.ts";
import { changed, changesOf, type Place, type PlacedChange } from "./change.ts";
import type { Pair } from "./pair.ts";
import { type ContractDocument, schemaIn } from "./contract_document.ts";
import type { SchemaComparison } from "./schema/schema_comparison.ts";

/** Two documents, and what compares their schemas. */
export interface Comparison {
  readonly base: ContractDocument;
  readonly current: ContractDocument;
  readonly schemas: SchemaComparison;
}

/** Compares the content of two bodies. */
export function compareContent(
  { base, current }: Pair<JsonSchema>,
  { place, comparison }: { readonly place: Place; readonly comparison: Comparison },
): readonly PlacedChange[] {
  const was = comparison.base.named(base.content);
  const is = comparison.current.named(current.content);
  if (was.size === 0) return is.size === 0 ? [] : [changed(place, "contentAdded", "gained a body")];
  if (is.size === 0) return [changed(place, "contentRemoved", "lost its body")];
  const isSole = was.size === 1 && is.size === 1;
  const at = (type: string): Place =>
    isSole ? place : { ...place, where: `${place.where} ${type}` };
  // a request is in a format of the base, a response in a current one
  const isInput = place.direction === "input";
  const lost = [...was.keys()].filter((type) =>
    mediaTypeFor(type, is.keys()) === undefined &&
    (isInput || ![...is.keys()].some((other) => mediaTypeFor(other, [type])))
  );
  const added = [...is.keys()].filter((type) => mediaTypeFor(type, was.keys()) === undefined);
  const kept = isInput
    ? [...was.keys()].map((type) => [type, mediaTypeFor(type, is.keys())] as const)
    : [...is.keys()].map((type) => [mediaTypeFor(type, was.keys()), type] as const);
  return [
    ...lost.map((type) => changed(place, "formatRemoved", `lost the format ${type}`)),
    ...added.map((type) => changed(place, "formatAdded", `gained the format ${type}`)),
    ...kept.flatMap(([old, type]) => {
      if (old === undefined || type === undefined) return [];
      const [before, after] = [schemaIn(was.get(old)!), schemaIn(is.get(type)!)];
      return changesOf(at(isInput ? old : type), comparison.schemas.compare(before, after));
    }),
  ];
}

/**
 * Returns the most specific of several media types and ranges that includes one (RFC 9110
 * §12.5.1); `undefined` if none does.
 */
function mediaTypeFor(type: string, ranges: Iterable<string>): string | undefined {
  const given = partsOf(type);
  return [...ranges]
    .filter((range) => includes(partsOf(range), given))
    .toSorted((a, b) => specificityOf(b) - specificityOf(a))[0];
}

interface Parts {
  readonly type: string;
  readonly subtype: string;
  readonly parameters: readonly string[];
}

function includes(range: Parts, { type, subtype, parameters }: Parts): boolean {
  return (range.type === "*" || range.type === type) &&
    (range.subtype === "*" || range.subtype === subtype) &&
    range.parameters.every((parameter) => parameters.includes(parameter));
}

function specificityOf(range: string): number {
  const { type, subtype, parameters } = partsOf(range);
  return Number(type !== "*") * 1_000 + Number(subtype !== "*") * 100 + parameters.length;
}

function partsOf(text: string): Parts {
  const [range = "", ...parameters] = text.toLowerCase().split(";").map((part) => part.trim());
  const [type = "", subtype = ""] = range.split("/");
  return { type, subtype, parameters };
}
