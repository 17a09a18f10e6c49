/**
 * The schemas of a document: those with a name once, under `components.schemas`, the others where they
 * are used.
 *
 * @module
 */
import type { AnySchema } from "../core/validation.ts";
import type { Convert, Converted, Direction, SchemaUse } from "./converted.ts";
import { type JsonSchema, mapSubschemas } from "./json_schema.ts";
import { isNamed, type NamedTarget, namedTargets, textOf } from "./references.ts";
import { tidied } from "./tidied.ts";

/** A schema as a document uses it. */
export interface DocumentedUse extends SchemaUse {
  /** What uses it, for messages. */
  readonly of: string;
  /** Whether it is described as a whole; of parameters, each property is by itself. */
  readonly isWhole: boolean;
}

/**
 * Describes the schemas of a document. A schema with a name that takes something else than it gives, and
 * is used both ways, becomes two components: `User` for what it gives, `UserInput` for what it takes.
 */
export class SchemaComponents {
  readonly #convert: Convert;
  readonly #taken: ReadonlySet<string>;
  readonly #components = new Map<string, JsonSchema>();
  readonly #schemas = new Map<string, AnySchema>();
  /** What uses the schemas first. */
  readonly #users = new Map<AnySchema, string>();
  /** The names that were given to parts that hold themselves, by what they say. */
  readonly #unnamedByText = new Map<string, string>();
  /** The names of which the two directions differ. */
  readonly #split = new Set<string>();
  /** The components that nothing may refer to in the end. */
  readonly #uncertain = new Set<string>();

  /**
   * Prepares for all uses that will be asked for. Parts that hold themselves and have no name are given
   * one that is not taken.
   *
   * @throws {TypeError} if two schemas have one name
   */
  constructor(
    convert: Convert,
    uses: readonly DocumentedUse[],
    { taken }: { readonly taken: readonly string[] },
  ) {
    this.#convert = convert;
    this.#taken = new Set(taken);
    const used = { input: new Set<string>(), output: new Set<string>() };
    for (const use of uses) this.#noteUse(use, used);
    const both = [...used.input].filter((name) => used.output.has(name));
    for (const name of both) if (this.#differs(name)) this.#split.add(name);
    for (let before = -1; before !== this.#split.size;) { // whatever refers to one that differs does too
      before = this.#split.size;
      for (const name of both) if (this.#refersToSplit(name)) this.#split.add(name);
    }
    const clash = [...this.#split].find((name) => this.#schemas.has(`${name}Input`));
    if (clash !== undefined) {
      throw new TypeError(
        `Cannot describe ${clash}: it takes something else than it gives, so what it takes would be ` +
          `${clash}Input, which another schema is named`,
      );
    }
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
    const before = new Set(this.#components.keys());
    const written = this.#inline(converted, direction);
    for (const name of this.#components.keys()) if (!before.has(name)) this.#uncertain.add(name);
    return written;
  }

  /** Describes a schema for reading alone: nothing becomes a component, and the deepest parts are cut. */
  peek({ schema, direction }: SchemaUse): JsonSchema | undefined {
    const converted = this.#convert(schema, direction);
    return converted && this.#read(converted, direction, converted.json);
  }

  /** Gives what a description stands for: the component, if it is a reference to one. */
  resolve(json: JsonSchema): JsonSchema {
    const name = typeof json.$ref === "string" && json.$ref.startsWith(COMPONENTS)
      ? json.$ref.slice(COMPONENTS.length)
      : undefined;
    const component = name === undefined ? undefined : this.#components.get(name);
    return component ? this.resolve(component) : json;
  }

  /** Adds a component, unless one of that name is there. */
  add(name: string, json: JsonSchema): JsonSchema {
    if (!this.#components.has(name)) this.#components.set(name, json);
    return { $ref: COMPONENTS + name };
  }

  /** Gives the components that something of a document refers to. */
  usedIn(document: unknown): Readonly<Record<string, JsonSchema>> {
    const used = new Map(this.#components);
    for (const name of this.#uncertain) {
      const { [name]: _own, ...others } = Object.fromEntries(used);
      const reference = JSON.stringify(COMPONENTS + name);
      if (!JSON.stringify([document, others]).includes(reference)) used.delete(name);
    }
    return Object.fromEntries(used);
  }

  #noteUse(use: DocumentedUse, used: Readonly<Record<Direction, Set<string>>>): void {
    const { schema, direction, isWhole } = use;
    if (isWhole) return this.#note(use, used[direction]);
    const converted = this.#convert(schema, direction);
    if (!converted) return;
    if (converted.name !== undefined) this.#claim(converted.name, use);
    const noted = direction === "input" ? used.input : new Set<string>(); // what is given is only read
    for (const { schema } of namedTargets(converted)) this.#note({ ...use, schema }, noted);
  }

  #note(use: DocumentedUse, noted: Set<string>): void {
    const converted = this.#convert(use.schema, use.direction);
    if (!converted) return;
    if (converted.name !== undefined) {
      this.#claim(converted.name, use);
      if (noted.has(converted.name)) return;
      noted.add(converted.name);
    }
    for (const { schema } of namedTargets(converted)) this.#note({ ...use, schema }, noted);
  }

  #claim(name: string, { schema, of }: DocumentedUse): void {
    const other = this.#schemas.get(name);
    if (other === undefined) {
      this.#schemas.set(name, schema);
      this.#users.set(schema, of);
    } else if (other !== schema && !this.#isSame(other, schema)) {
      throw new TypeError(
        `Cannot describe ${of}: another schema is named ${name}, in ${this.#users.get(other)}`,
      );
    }
  }

  #isSame(one: AnySchema, other: AnySchema): boolean {
    return (["input", "output"] as const).every((direction) =>
      textOf(this.#convert(one, direction)) === textOf(this.#convert(other, direction))
    );
  }

  #differs(name: string): boolean {
    const schema = this.#schemas.get(name);
    return schema !== undefined &&
      textOf(this.#convert(schema, "input")) !== textOf(this.#convert(schema, "output"));
  }

  #refersToSplit(name: string): boolean {
    const schema = this.#schemas.get(name);
    const converted = schema && this.#convert(schema, "input");
    return converted !== undefined &&
      namedTargets(converted).some((target) => this.#split.has(target.name));
  }

  #refer({ name, schema }: NamedTarget, direction: Direction): JsonSchema {
    const component = direction === "input" && this.#split.has(name) ? `${name}Input` : name;
    if (!this.#components.has(component)) {
      this.#components.set(component, {}); // for what refers to itself
      const converted = this.#convert(schema, direction);
      this.#components.set(component, converted ? this.#inline(converted, direction) : {});
    }
    return { $ref: COMPONENTS + component };
  }

  #read(converted: Converted, direction: Direction, part: JsonSchema, depth = 3): JsonSchema {
    const target = converted.references.get(String(part.$ref));
    if (target && depth === 0) return {};
    if (target && !isNamed(target)) {
      return this.#read(converted, direction, target.json, depth - 1);
    }
    const other = target && this.#convert(target.schema, direction);
    if (other) return this.#read(other, direction, other.json, depth - 1);
    return depth === 0
      ? part
      : mapSubschemas(part, (each) => this.#read(converted, direction, each, depth - 1));
  }

  /** Writes a schema out, with references to components alone: parts without a name stand in place. */
  #inline({ json, references }: Converted, direction: Direction): JsonSchema {
    const open = new Map<JsonSchema, string | undefined>();
    const write = (part: JsonSchema): JsonSchema => {
      const { $ref, ...rest } = part;
      const target = typeof $ref === "string" ? references.get($ref) : undefined;
      if (!target) return tidied(mapSubschemas(part, write));
      const written = isNamed(target) ? this.#refer(target, direction) : writeOpen(target.json);
      return { ...written, ...tidied(rest) };
    };
    const writeOpen = (part: JsonSchema): JsonSchema => {
      if (open.has(part)) { // it holds itself: so it needs a name
        const name = open.get(part) ?? this.#freeName();
        open.set(part, name);
        return this.add(name, {});
      }
      open.set(part, undefined);
      const written = write(part);
      const name = open.get(part);
      open.delete(part);
      return name === undefined ? written : this.#unnamed(name, written);
    };
    return writeOpen(json);
  }

  /** Adds a part that has been given a name, unless the last one like it is the same. */
  #unnamed(name: string, json: JsonSchema): JsonSchema {
    const text = JSON.stringify(json).replaceAll(JSON.stringify(COMPONENTS + name), '"#"');
    const same = this.#unnamedByText.get(text);
    if (same !== undefined) {
      this.#components.delete(name);
      return { $ref: COMPONENTS + same };
    }
    this.#unnamedByText.set(text, name);
    this.#components.set(name, json);
    return { $ref: COMPONENTS + name };
  }

  #freeName(): string {
    for (let i = 1;; i++) {
      const name = `Schema${i}`;
      const isTaken = [this.#components, this.#schemas, this.#taken].some((all) => all.has(name));
      if (!isTaken) return name;
    }
  }
}

const COMPONENTS = "#/components/schemas/";
