/**
 * The schemas of a document: those with a name once, under `components.schemas`, the others where they
 * are used.
 *
 * @module
 */
import type { Convert, Converted, Direction, SchemaUse } from "./converted.ts";
import { type JsonSchema, mapSubschemas } from "./json_schema.ts";
import { cyclicParts, isNamed, type NamedTarget } from "./references.ts";
import type { SchemaNames } from "./schema_names.ts";
import { tidied } from "./tidied.ts";

/** The schemas of a document, which become components as they are described. */
export class SchemaComponents {
  readonly #convert: Convert;
  readonly #names: SchemaNames;
  readonly #taken: ReadonlySet<string>;
  readonly #components = new Map<string, JsonSchema>();
  /** Whether there are components that nothing may refer to in the end. */
  #mayHaveUnused = false;
  /** The names that were given to parts that hold themselves. */
  readonly #unnamed = new Map<JsonSchema, string>();
  /** The same, by what they say. */
  readonly #unnamedByText = new Map<string, string>();

  /** Begins without components. Parts that hold themselves are given names that are not taken. */
  constructor(
    convert: Convert,
    names: SchemaNames,
    { taken }: { readonly taken: readonly string[] },
  ) {
    this.#convert = convert;
    this.#names = names;
    this.#taken = new Set(taken);
  }

  /** Describes a schema; gives `undefined` if nothing is known of it. */
  describe({ schema, direction }: SchemaUse): JsonSchema | undefined {
    const converted = this.#convert(schema, direction);
    if (!converted) return undefined;
    const { name } = converted;
    return name === undefined
      ? this.#inline(converted, direction)
      : this.#refer({ name, schema }, direction);
  }

  /** Describes a schema in place, whether it has a name or not, for parts of it to be used. */
  write({ schema, direction }: SchemaUse): JsonSchema | undefined {
    const converted = this.#convert(schema, direction);
    if (!converted) return undefined;
    const before = this.#components.size;
    const written = this.#inline(converted, direction);
    this.#mayHaveUnused ||= this.#components.size > before;
    return written;
  }

  /** Describes a schema for reading alone: nothing becomes a component, and the deepest parts are cut. */
  peek({ schema, direction }: SchemaUse): JsonSchema | undefined {
    const converted = this.#convert(schema, direction);
    return converted && this.#read(converted.json, { converted, direction, depth: 3 });
  }

  /** Gives what a description stands for: the component, if it is a reference to one. */
  resolve(json: JsonSchema): JsonSchema {
    const name = typeof json.$ref === "string" && json.$ref.startsWith(COMPONENTS)
      ? json.$ref.slice(COMPONENTS.length)
      : undefined;
    const component = name === undefined ? undefined : this.#components.get(name);
    return component ? this.resolve(component) : json;
  }

  /** Gives the components that a document refers to, by way of others too. */
  usedIn(document: unknown): Readonly<Record<string, JsonSchema>> {
    if (!this.#mayHaveUnused) return Object.fromEntries(this.#components);
    const used = new Set<string>();
    const follow = (part: unknown): void => {
      for (const [, name = ""] of JSON.stringify(part).matchAll(REFERENCE)) {
        if (used.has(name)) continue;
        used.add(name);
        follow(this.#components.get(name) ?? {});
      }
    };
    follow(document);
    return Object.fromEntries([...this.#components].filter(([name]) => used.has(name)));
  }

  #refer({ name, schema }: NamedTarget, direction: Direction): JsonSchema {
    const component = this.#names.componentOf(name, direction);
    if (!this.#components.has(component)) {
      this.#components.set(component, {}); // for what refers to itself
      const converted = this.#convert(schema, direction);
      this.#components.set(component, converted ? this.#inline(converted, direction) : {});
    }
    return { $ref: COMPONENTS + component };
  }

  #read(part: JsonSchema, { converted, direction, depth }: Reading): JsonSchema {
    const target = converted.references.get(String(part.$ref));
    if (depth === 0) return target ? {} : part;
    const inner = { converted, direction, depth: depth - 1 };
    if (target && !isNamed(target)) return this.#read(target.json, inner);
    const other = target && this.#convert(target.schema, direction);
    if (other) return this.#read(other.json, { ...inner, converted: other });
    return mapSubschemas(part, (each) => this.#read(each, inner));
  }

  /** Writes a schema out, with references to components alone: parts without a name stand in place. */
  #inline(converted: Converted, direction: Direction): JsonSchema {
    const cyclic = cyclicParts(converted);
    const write = (part: JsonSchema): JsonSchema => {
      const { $ref, ...rest } = part;
      const target = typeof $ref === "string" ? converted.references.get($ref) : undefined;
      if (!target) return tidied(mapSubschemas(part, write));
      const written = isNamed(target) ? this.#refer(target, direction) : writeUnnamed(target.json);
      return { ...written, ...tidied(rest) };
    };
    const writeUnnamed = (part: JsonSchema): JsonSchema => {
      if (!cyclic.has(part)) return write(part);
      const known = this.#unnamed.get(part);
      if (known !== undefined) return { $ref: COMPONENTS + known };
      const name = this.#freeName();
      this.#unnamed.set(part, name);
      this.#components.set(name, {}); // for what refers to itself
      this.#components.set(name, write(part));
      return this.#withoutCopy(part, name);
    };
    return writeUnnamed(converted.json);
  }

  /** Refers to a component without a name of its own, or to an earlier one that says the same. */
  #withoutCopy(part: JsonSchema, name: string): JsonSchema {
    const own = JSON.stringify(COMPONENTS + name);
    const text = JSON.stringify(this.#components.get(name)).replaceAll(own, '"#"');
    const same = this.#unnamedByText.get(text) ?? name;
    this.#unnamedByText.set(text, same);
    this.#mayHaveUnused ||= same !== name;
    this.#unnamed.set(part, same);
    return { $ref: COMPONENTS + same }; // one that nothing refers to is left out in the end
  }

  #freeName(): string {
    for (let i = 1;; i++) {
      const name = `Schema${i}`;
      const isTaken = [this.#components, this.#names, this.#taken].some((all) => all.has(name));
      if (!isTaken) return name;
    }
  }
}

/** The state of reading a part of a schema. */
interface Reading {
  /** The schema of the part. */
  readonly converted: Converted;
  readonly direction: Direction;
  /** How many levels below the part are read. */
  readonly depth: number;
}

const COMPONENTS = "#/components/schemas/";

/** A reference to a component, in the JSON of a document. */
const REFERENCE = /"#\/components\/schemas\/([^"]+)"/g;
