/**
 * The references of a converted schema.
 *
 * @module
 */
import type { Converted, ConvertedJson, ReferenceTarget } from "./converted.ts";
import { type JsonSchema, UNKNOWN, visitSubschemas } from "./json_schema.ts";

/** A schema with a name. */
export type NamedTarget = Extract<ReferenceTarget, { readonly name: string }>;

/**
 * Returns the schemas with names to which a schema refers, directly or through parts
 * without a name.
 */
export function namedTargets(converted: Converted): readonly NamedTarget[] {
  return converted.targets.filter(isNamed);
}

/** Returns a text that is equal for equal schemas, whatever the names of their references. */
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
 * Collects the targets and unknown types of a schema. Returns `undefined` if a target is missing,
 * or the schema is endless.
 */
export function readThrough(converted: ConvertedJson): Converted | undefined {
  const { json, references } = converted;
  const targets = new Set<ReferenceTarget>();
  const unknown = new Set<string>();
  let isComplete = true;
  const visit = (part: JsonSchema): void => {
    const { $ref, [UNKNOWN]: kind } = part;
    if (typeof kind === "string") unknown.add(kind);
    const target = typeof $ref === "string" ? references.get($ref) : undefined;
    isComplete &&= $ref === undefined || target !== undefined || isOfDocument($ref);
    if (target && !targets.has(target)) {
      targets.add(target);
      if (!isNamed(target)) visit(target.json);
    }
    visitSubschemas(part, visit);
  };
  try {
    visit(json);
  } catch {
    return undefined; // the stack overflowed
  }
  return isComplete ? { ...converted, targets: [...targets], unknown: [...unknown] } : undefined;
}

/**
 * Finds the parts without a name that contain themselves, directly or through others: written in
 * place, they would be endless.
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

/** Checks whether a target is a schema with a name. */
export function isNamed(target: ReferenceTarget): target is NamedTarget {
  return target.name !== undefined;
}

/**
 * Checks whether a reference is written by the application: into the document, or to another one.
 */
function isOfDocument(reference: unknown): boolean {
  return /^(#\/components\/|https?:)/.test(String(reference));
}
