/**
 * What the references of a converted schema stand for.
 *
 * @module
 */
import type { Converted, ConvertedJson, ReferenceTarget } from "./converted.ts";
import { type JsonSchema, UNKNOWN, visitSubschemas } from "./json_schema.ts";

/** A schema with a name. */
export type NamedTarget = Extract<ReferenceTarget, { readonly name: string }>;

/** Gives the schemas with names that a schema refers to, by way of parts without one too. */
export function namedTargets(converted: Converted): readonly NamedTarget[] {
  return converted.targets.filter(isNamed);
}

/** Gives a text that is the same for schemas that describe the same, whatever their references are called. */
export function textOf(converted: Converted | undefined): string {
  if (!converted) return "";
  const { json, references } = converted;
  const parts: unknown[] = [json];
  const names = new Map<string, string>();
  for (const target of converted.targets) {
    parts.push(isNamed(target) ? target.name : target.json);
  }
  if (converted.targets.length === 0 && converted.unknown.length === 0) {
    return JSON.stringify(json, (_, value) => typeof value === "bigint" ? `${value}n` : value);
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

/**
 * Reads a schema through, once. Gives `undefined` if it refers to something that is not there, or has no
 * end.
 */
export function readThrough(converted: ConvertedJson): Converted | undefined {
  const { json, references } = converted;
  const targets = new Set<ReferenceTarget>();
  const unknown = new Set<string>();
  let isSound = true;
  const visit = (part: JsonSchema): void => {
    const { $ref, [UNKNOWN]: kind } = part;
    if (typeof kind === "string") unknown.add(kind);
    const target = typeof $ref === "string" ? references.get($ref) : undefined;
    isSound &&= $ref === undefined || target !== undefined || isOfDocument($ref);
    if (target && !targets.has(target)) {
      targets.add(target);
      if (!isNamed(target)) visit(target.json);
    }
    visitSubschemas(part, visit);
  };
  try {
    visit(json);
  } catch {
    return undefined; // the stack has one
  }
  return isSound ? { ...converted, targets: [...targets], unknown: [...unknown] } : undefined;
}

/** Tells a reference that an application writes by hand, into the document or out of it. */
function isOfDocument(reference: unknown): boolean {
  return /^(#\/components\/|https?:)/.test(String(reference));
}

/**
 * Finds the parts without a name that hold themselves, by way of others too: written out where they are
 * used, they would have no end.
 */
export function cyclicParts(converted: Converted): ReadonlySet<JsonSchema> {
  if (converted.targets.length === 0) return new Set();
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
  const parts = converted.targets.flatMap((target) => isNamed(target) ? [] : [target.json]);
  return new Set([converted.json, ...parts].filter(reachesItself));
}

/** Tells a schema with a name from a part without one. */
export function isNamed(target: ReferenceTarget): target is NamedTarget {
  return target.name !== undefined;
}
