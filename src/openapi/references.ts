/**
 * What the references of a converted schema stand for.
 *
 * @module
 */
import type { Converted, ReferenceTarget } from "./converted.ts";
import { type JsonSchema, UNKNOWN, visitSubschemas } from "./json_schema.ts";

/** A schema with a name. */
export type NamedTarget = Extract<ReferenceTarget, { readonly name: string }>;

/** Gives the schemas with names that a schema refers to, by way of parts without one too. */
export function namedTargets(converted: Converted): readonly NamedTarget[] {
  return targetsOf(converted).filter(isNamed);
}

/** Gives a text that is the same for schemas that describe the same, whatever their references are called. */
export function textOf(converted: Converted | undefined): string {
  if (!converted) return "";
  const { json, references } = converted;
  const parts: unknown[] = [json];
  const names = new Map<string, string>();
  for (const target of targetsOf(converted)) {
    parts.push(isNamed(target) ? target.name : target.json);
  }
  return JSON.stringify(parts, (keyword, value) => {
    if (typeof value === "bigint") return `${value}n`;
    const target = keyword === "$ref" ? references.get(value) : undefined;
    if (!target) return value;
    if (isNamed(target)) return target.name;
    if (!names.has(value)) names.set(value, `part ${names.size}`);
    return names.get(value);
  });
}

/** Lists what a schema refers to, itself and by way of its parts without a name, in order. */
function targetsOf({ json, references }: Converted): readonly ReferenceTarget[] {
  const targets = new Set<ReferenceTarget>();
  const visit = (part: JsonSchema): void => {
    const target = typeof part.$ref === "string" ? references.get(part.$ref) : undefined;
    if (target && !targets.has(target)) {
      targets.add(target);
      if (!isNamed(target)) visit(target.json);
    }
    visitSubschemas(part, visit);
  };
  visit(json);
  return [...targets];
}

/** Tells whether a schema refers to something that is not known, or holds itself as an object. */
export function hasUnknownReference(converted: Converted): boolean {
  let isUnknown = false;
  const visit = (part: JsonSchema): void => {
    isUnknown ||= typeof part.$ref === "string" && !converted.references.has(part.$ref);
    visitSubschemas(part, visit);
  };
  try {
    for (const target of targetsOf(converted)) if (!isNamed(target)) visit(target.json);
    visit(converted.json);
  } catch {
    return true; // the stack has an end
  }
  return isUnknown;
}

/**
 * Finds the parts without a name that hold themselves, by way of others too: written out where they are
 * used, they would have no end.
 */
export function cyclicParts(converted: Converted): ReadonlySet<JsonSchema> {
  const next = new Map<JsonSchema, readonly JsonSchema[]>();
  const nextOf = (part: JsonSchema): readonly JsonSchema[] => {
    const known = next.get(part);
    if (known) return known;
    const found: JsonSchema[] = [];
    const visit = (each: JsonSchema): void => {
      const target = converted.references.get(String(each.$ref));
      if (target && !isNamed(target)) found.push(target.json);
      visitSubschemas(each, visit);
    };
    visit(part);
    next.set(part, found);
    return found;
  };
  const reachesItself = (part: JsonSchema): boolean => {
    const seen = new Set<JsonSchema>();
    const ahead = [...nextOf(part)];
    for (let each = ahead.pop(); each; each = ahead.pop()) {
      if (each === part) return true;
      if (!seen.has(each)) ahead.push(...nextOf(each));
      seen.add(each);
    }
    return false;
  };
  const parts = targetsOf(converted).flatMap((target) => isNamed(target) ? [] : [target.json]);
  return new Set([converted.json, ...parts].filter(reachesItself));
}

/** Lists what of a schema, and of its parts without a name, JSON Schema has no words for. */
export function unknownIn(converted: Converted): readonly string[] {
  const unknown = new Set<string>();
  const visit = (part: JsonSchema): void => {
    if (typeof part[UNKNOWN] === "string") unknown.add(part[UNKNOWN]);
    visitSubschemas(part, visit);
  };
  visit(converted.json);
  for (const target of targetsOf(converted)) if (!isNamed(target)) visit(target.json);
  return [...unknown];
}

/** Tells a schema with a name from a part without one. */
export function isNamed(target: ReferenceTarget): target is NamedTarget {
  return target.name !== undefined;
}
