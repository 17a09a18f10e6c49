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

/**
 * Describes the schemas of a document. A schema with a name that takes something else than it gives, and
 * is used both ways, becomes two components: `User` for what it gives, `UserInput` for what it takes.
 */
export class SchemaComponents {
  readonly #convert: Convert;
  readonly #components = new Map<string, JsonSchema>();
  readonly #schemas = new Map<string, AnySchema>();
  /** The names that were given to parts that hold themselves, by what they say. */
  readonly #unnamedByText = new Map<string, string>();
  /** The names of which the two directions differ. */
  readonly #split = new Set<string>();

  /**
   * Prepares for all uses that will be asked for.
   *
   * @throws {TypeError} if two schemas have one name
   */
  constructor(convert: Convert, uses: readonly SchemaUse[]) {
    this.#convert = convert;
    const used = { input: new Set<string>(), output: new Set<string>() };
    for (const { schema, direction } of uses) this.#note(schema, direction, used[direction]);
    const both = [...used.input].filter((name) => used.output.has(name));
    for (const name of both) if (this.#differs(name)) this.#split.add(name);
    for (let before = -1; before !== this.#split.size;) { // whatever refers to one that differs does too
      before = this.#split.size;
      for (const name of both) if (this.#refersToSplit(name)) this.#split.add(name);
    }
    const taken = [...this.#split].find((name) => this.#schemas.has(`${name}Input`));
    if (taken !== undefined) {
      throw new TypeError(
        `Cannot describe ${taken}: what it takes would be ${taken}Input, which another schema is named`,
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

  /** Describes a schema in place, whether it has a name or not. */
  write({ schema, direction }: SchemaUse): JsonSchema | undefined {
    const converted = this.#convert(schema, direction);
    return converted && this.#inline(converted, direction);
  }

  /** Describes a schema for reading alone: its references are its library's. */
  peek({ schema, direction }: SchemaUse): JsonSchema | undefined {
    return this.#convert(schema, direction)?.json;
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

  /** Gives the components that have been referred to so far. */
  get all(): Readonly<Record<string, JsonSchema>> {
    return Object.fromEntries(this.#components);
  }

  #note(schema: AnySchema, direction: Direction, noted: Set<string>): void {
    const converted = this.#convert(schema, direction);
    if (!converted) return;
    if (converted.name !== undefined) {
      this.#claim(converted.name, schema);
      if (noted.has(converted.name)) return;
      noted.add(converted.name);
    }
    for (const { schema } of namedTargets(converted)) this.#note(schema, direction, noted);
  }

  #claim(name: string, schema: AnySchema): void {
    const other = this.#schemas.get(name);
    if (other === undefined) this.#schemas.set(name, schema);
    else if (other !== schema && !this.#isSame(other, schema)) {
      throw new TypeError(`Cannot describe ${name}: two schemas have that name`);
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
      if (!this.#components.has(name) && !this.#schemas.has(name)) return name;
    }
  }
}

const COMPONENTS = "#/components/schemas/";
