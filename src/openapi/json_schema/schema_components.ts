/**
 * The schemas of a document: those with a name in `components.schemas`, the others in place.
 *
 * @module
 */
import type { Convert, Converted, Direction, SchemaUse } from "./converted.ts";
import { type JsonSchema, mapSubschemas } from "./json_schema.ts";
import { cyclicParts, isNamed, type NamedTarget } from "./references.ts";
import type { SchemaNames } from "./schema_names.ts";
import { tidied } from "./tidied.ts";

/** The schemas of a document. Schemas with a name become components when they are described. */
export class SchemaComponents {
  readonly #convert: Convert;
  readonly #names: SchemaNames;
  readonly #taken: ReadonlySet<string>;
  readonly #components = new Map<string, JsonSchema>();
  /** Whether some components may be unused in the finished document. */
  #mayHaveUnused = false;
  /** The generated names of parts that contain themselves. */
  readonly #unnamed = new Map<JsonSchema, string>();
  /** The same names, by the text of the component. */
  readonly #unnamedByText = new Map<string, string>();

  /** Creates an empty set. Generated names differ from the taken ones. */
  constructor(
    convert: Convert,
    names: SchemaNames,
    { taken }: { readonly taken: readonly string[] },
  ) {
    this.#convert = convert;
    this.#names = names;
    this.#taken = new Set(taken);
  }

  /** Describes a schema; returns `undefined` if it cannot be converted. */
  describe({ schema, direction }: SchemaUse): JsonSchema | undefined {
    const converted = this.#convert(schema, direction);
    if (!converted) return undefined;
    const { name } = converted;
    return name === undefined
      ? this.#inline(converted, direction)
      : this.#refer({ name, schema }, direction);
  }

  /** Describes a schema in place even if it has a name, to use its parts. */
  write({ schema, direction }: SchemaUse): JsonSchema | undefined {
    const converted = this.#convert(schema, direction);
    if (!converted) return undefined;
    const before = this.#components.size;
    const written = this.#inline(converted, direction);
    this.#mayHaveUnused ||= this.#components.size > before;
    return written;
  }

  /** Describes a schema without adding components, to read its first levels. */
  peek({ schema, direction }: SchemaUse): JsonSchema | undefined {
    const converted = this.#convert(schema, direction);
    return converted && this.#read(converted.json, { converted, direction, depth: 3 });
  }

  /** Resolves a description that is a reference to a component. */
  resolve(json: JsonSchema): JsonSchema {
    const name = typeof json.$ref === "string" && json.$ref.startsWith(COMPONENTS)
      ? json.$ref.slice(COMPONENTS.length)
      : undefined;
    const component = name === undefined ? undefined : this.#components.get(name);
    return component ? this.resolve(component) : json;
  }

  /** Returns the components to which a document refers, directly or through others. */
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
      this.#components.set(component, {}); // for references to itself
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

  /**
   * Writes a schema in which all references are to components; parts without a name are in place.
   */
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
      this.#components.set(name, {}); // for references to itself
      this.#components.set(name, write(part));
      return this.#withoutCopy(part, name);
    };
    return writeUnnamed(converted.json);
  }

  /** Refers to a component with a generated name, or to an equal earlier one. */
  #withoutCopy(part: JsonSchema, name: string): JsonSchema {
    const own = JSON.stringify(COMPONENTS + name);
    const text = JSON.stringify(this.#components.get(name)).replaceAll(own, '"#"');
    const same = this.#unnamedByText.get(text) ?? name;
    this.#unnamedByText.set(text, same);
    this.#mayHaveUnused ||= same !== name;
    this.#unnamed.set(part, same);
    return { $ref: COMPONENTS + same }; // the unused one is left out of the document
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
