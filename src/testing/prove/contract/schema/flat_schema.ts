/**
 * Schemas without references and `allOf`: one object of keywords that means the same.
 *
 * @module
 */
import { isJsonSchema, type JsonSchema } from "../../../../openapi/json_schema/json_schema.ts";
import { ANNOTATIONS, asBoolean } from "../../boolean_schema.ts";
import { pointerKeys, valueAt } from "../../document_keys.ts";
import { canonicalSchemaText } from "./canonical_text.ts";
import { KNOWN, LISTS, MERGES, OF_ALL, PARTS, READ, type Schema, UNIONS } from "./keywords.ts";
import { matches } from "./satisfies.ts";

/** The keywords of several schemas that all apply. */
export interface FlatSchema {
  /** Keywords that were merged: one value for each. */
  readonly keywords: JsonSchema;
  /** The schemas that were merged, without references and alternatives. */
  readonly parts: readonly JsonSchema[];
  /** Lists of alternatives: each list has one that applies, or exactly one. */
  readonly unions: readonly Union[];
  /** Schemas that do not apply. */
  readonly nots: readonly Schema[];
  /** Keywords that are not understood, or cannot be merged, as texts. */
  readonly others: readonly string[];
}

/** Alternatives. */
export interface Union {
  readonly members: readonly Schema[];
  /** Whether exactly one applies (`oneOf`). */
  readonly isExclusive: boolean;
}

/** Resolves references and merges schemas of one document. Same schemas have one identity. */
export class FlatSchemas {
  readonly #document: unknown;
  readonly #ids = new Map<object, number>();
  readonly #merged = new Map<string, Schema>();
  readonly #flat = new Map<object, FlatSchema>();
  readonly #plain = new Map<object, JsonSchema>();

  /** Creates it for a document. */
  constructor(document: unknown) {
    this.#document = document;
  }

  /**
   * Returns what a reference names, after further references; any other value as it is.
   *
   * @throws {TypeError} if there is nothing, or the document of the reference is another
   */
  resolve<T>(value: T): T {
    let at: unknown = value;
    for (let steps = 0; isJsonSchema(at) && typeof at.$ref === "string"; steps++) {
      const isMore = (key: string) => READ.has(key) || key !== "$ref" && !ANNOTATIONS.has(key);
      if (Object.keys(at).some(isMore)) break; // the reference is one of its conjuncts
      if (steps > MAX_REFERENCES) {
        throw new TypeError(`Cannot read document: ${at.$ref} is a circle`);
      }
      at = this.#at(at.$ref);
    }
    return at as T; // as the document has it there
  }

  /** Returns `true` or `false` for a schema that is the same as it, and others as they are. */
  simplified(schema: Schema): Schema {
    return asBoolean(schema, ($ref) => this.resolve<unknown>({ $ref })) ?? schema;
  }

  /** Returns one schema for several that all apply: the same for the same ones. */
  merged(schemas: readonly Schema[]): Schema {
    const all = schemas.flatMap((each) => this.#members(each)).filter((each) => each !== true);
    if (all.some((each) => this.simplified(each) === false)) return false;
    const distinct = [...new Set(all)] as JsonSchema[];
    if (distinct.length === 0) return true;
    if (distinct.length === 1) return distinct[0]!;
    const key = distinct.map((each) => this.#idOf(each)).sort((a, b) => a - b).join();
    const merged = this.#merged.get(key) ?? { allOf: distinct };
    this.#merged.set(key, merged);
    return merged;
  }

  /** Returns the keywords of a schema. */
  flat(schema: JsonSchema): FlatSchema {
    const cached = this.#flat.get(schema);
    if (cached) return cached;
    const made = this.#flatten(schema);
    this.#flat.set(schema, made);
    return made;
  }

  /** Returns the annotations of a schema, those behind references and in `allOf` too. */
  annotationsOf(schema: Schema): JsonSchema {
    const at = this.resolve(schema);
    return typeof at === "boolean" ? {} : this.flat(at).keywords;
  }

  /** Returns a text that is the same for schemas that are the same but for annotations. */
  text(schema: unknown): string {
    const resolve = (each: unknown) => this.resolve(each);
    return canonicalSchemaText(schema, { resolve, ignored: ANNOTATIONS });
  }

  /** Returns the schemas of one that has only `allOf`, or itself. */
  #members(schema: Schema, above: readonly Schema[] = []): readonly Schema[] {
    const at = this.resolve(schema);
    if (typeof at === "boolean" || above.includes(at) || !Array.isArray(at.allOf)) return [at];
    const isMore = (key: string) => READ.has(key) || key !== "allOf" && !ANNOTATIONS.has(key);
    if (Object.keys(at).some(isMore)) return [at];
    return (at.allOf as Schema[]).flatMap((each) => this.#members(each, [...above, at]));
  }

  #flatten(schema: JsonSchema): FlatSchema {
    const unions: Union[] = [];
    const nots: Schema[] = [];
    const others: string[] = [];
    let keywords: JsonSchema = {};
    const conjuncts = this.#conjuncts(schema);
    for (const part of conjuncts) {
      const own: Record<string, unknown> = {};
      for (const [keyword, value] of Object.entries(part)) {
        if (keyword === "anyOf" || keyword === "oneOf") {
          unions.push({ members: value as Schema[], isExclusive: keyword === "oneOf" });
        } else if (keyword === "not") nots.push(value as Schema);
        else if (keyword === "const") own.enum = [value];
        else if (keyword === "type") own.type = [value].flat();
        else if (LISTS.has(keyword)) own[keyword] = [value].flat();
        else if (KNOWN.has(keyword) || ANNOTATIONS.has(keyword)) own[keyword] ??= value;
        else if (!keyword.startsWith("x-") && !PARTS.has(keyword)) {
          others.push(`${keyword} ${this.text(value)}`);
        }
      }
      keywords = this.#merge(keywords, own, others);
    }
    const parts = conjuncts.map((part) => this.#withoutUnions(part))
      .filter((part) => Object.keys(part).length > 0);
    return { keywords, parts, unions, nots, others: others.toSorted() };
  }

  #withoutUnions(schema: JsonSchema): JsonSchema {
    const entries = Object.entries(schema).filter(([keyword]) => !UNIONS.has(keyword));
    const plain = this.#plain.get(schema) ?? Object.fromEntries(entries);
    this.#plain.set(schema, plain).set(plain, plain);
    return plain;
  }

  /** Returns the schemas that all apply, each without references and `allOf`. */
  #conjuncts(schema: Schema, seen: ReadonlySet<unknown> = new Set()): readonly JsonSchema[] {
    const at = this.resolve(schema);
    if (at === true || seen.has(at)) return [];
    if (at === false) return [{ not: true }];
    const inner = [
      ...typeof at.$ref === "string" ? [{ $ref: at.$ref }] : [],
      ...Array.isArray(at.allOf) ? at.allOf : [],
    ];
    const within = new Set([...seen, at]);
    return [at, ...inner.flatMap((each) => this.#conjuncts(each, within))];
  }

  #merge(a: JsonSchema, b: JsonSchema, others: string[]): JsonSchema {
    const merged: Record<string, unknown> = { ...a };
    for (const [keyword, value] of Object.entries(b)) {
      const before = a[keyword];
      if (keyword === "prefixItems") continue;
      if (before === undefined) merged[keyword] = value;
      else if (keyword === "properties" || keyword === "patternProperties") {
        merged[keyword] = this.#mergeNamed(before as Named, value as Named);
      } else if (OF_ALL.has(keyword)) {
        merged[keyword] = this.merged([before as Schema, value as Schema]);
      } else if (MERGES[keyword]) merged[keyword] = MERGES[keyword](before, value);
      else if (!ANNOTATIONS.has(keyword) && this.text(before) !== this.text(value)) {
        others.push(`${keyword} ${this.text(value)}`);
      }
    }
    if (a.prefixItems || b.prefixItems) merged.prefixItems = this.#mergeElements(a, b);
    const properties = { ...merged.properties as Named };
    for (const [own, other] of [[a, b], [b, a]] as const) {
      if (own.additionalProperties === undefined) continue;
      for (const name of Object.keys(other.properties as Named ?? {})) {
        if (Object.hasOwn(own.properties ?? {}, name) || matchedBy(own, name)) continue;
        properties[name] = this.merged([properties[name]!, own.additionalProperties as Schema]);
      }
    }
    if (merged.properties) merged.properties = properties;
    return merged;
  }

  #mergeElements(a: JsonSchema, b: JsonSchema): readonly Schema[] {
    const [own, other] = [a, b].map(({ prefixItems = [], items = true }) => ({
      prefix: prefixItems as readonly Schema[],
      items: items as Schema,
    }));
    const { length } = own!.prefix.length > other!.prefix.length ? own!.prefix : other!.prefix;
    return Array.from(
      { length },
      (_, i) => this.merged([own!.prefix[i] ?? own!.items, other!.prefix[i] ?? other!.items]),
    );
  }

  #mergeNamed(a: Named, b: Named): Named {
    const merged = { ...a };
    for (const [name, schema] of Object.entries(b)) {
      merged[name] = Object.hasOwn(a, name) ? this.merged([a[name]!, schema]) : schema;
    }
    return merged;
  }

  #idOf(schema: object): number {
    const id = this.#ids.get(schema) ?? this.#ids.size;
    this.#ids.set(schema, id);
    return id;
  }

  #at(reference: string): unknown {
    if (reference !== "#" && !reference.startsWith("#/")) {
      throw new TypeError(`Cannot read document: ${reference} is not in it`);
    }
    const at = valueAt(this.#document, pointerKeys(reference));
    if (at !== undefined) return at;
    throw new TypeError(`Cannot read document: there is nothing at ${reference}`);
  }
}

/** Checks whether a pattern of a schema's `patternProperties` is about a member. */
export function matchedBy({ patternProperties = {} }: JsonSchema, name: string): boolean {
  return Object.keys(patternProperties as Named).some((pattern) => matches(pattern, name) === true);
}

type Named = Record<string, Schema>;

const MAX_REFERENCES = 100;
