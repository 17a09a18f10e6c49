/**
 * The names of a document's schemas. Each name belongs to one schema, which has two components
 * where its input and output differ.
 *
 * @module
 */
import type { AnySchema } from "../../core/schema/validation.ts";
import type { Convert, Direction, SchemaUse } from "./converted.ts";
import { namedTargets, textOf } from "./references.ts";

/** A use of a schema in a document. */
export interface DocumentedUse extends SchemaUse {
  /** Where it is used, for messages: `the body of POST /users`. */
  readonly user: string;
  /** Whether it is described as a whole; of parameters, each property is described separately. */
  readonly isWhole: boolean;
}

/** The names of a document's schemas. */
export class SchemaNames {
  readonly #convert: Convert;
  readonly #owners = new Map<string, DocumentedUse>();
  readonly #used: Readonly<Record<Direction, Set<string>>> = {
    input: new Set(),
    output: new Set(),
  };
  /** The visited schemas, for each set of names. */
  readonly #seen = new Map<Set<string>, Set<AnySchema>>();
  readonly #split: ReadonlySet<string>;

  /**
   * Determines the names of all schemas that a document uses.
   *
   * @throws {TypeError} if two schemas have the same name
   */
  constructor(convert: Convert, uses: readonly DocumentedUse[]) {
    this.#convert = convert;
    for (const use of uses) this.#noteUse(use);
    this.#split = this.#findSplit();
  }

  /** Checks whether a schema has this name. */
  has(name: string): boolean {
    return this.#owners.has(name);
  }

  /**
   * Returns the name of a component: `User` for the output of a schema, `UserInput` for its input.
   */
  componentOf(name: string, direction: Direction): string {
    if (direction === "output" || !this.#split.has(name)) return name;
    let component = `${name}Input`;
    for (let i = 2; this.has(component); i++) component = `${name}Input${i}`;
    return component;
  }

  #noteUse(use: DocumentedUse): void {
    const { schema, direction, isWhole } = use;
    const noted = this.#used[direction];
    if (isWhole) return this.#note(use, noted);
    const converted = this.#convert(schema, direction);
    if (!converted) return;
    if (converted.name !== undefined) this.#claim(converted.name, use);
    const ofParts = direction === "input" ? noted : new Set<string>(); // the output is only read
    for (const { schema } of namedTargets(converted)) this.#note({ ...use, schema }, ofParts);
  }

  #note(use: DocumentedUse, noted: Set<string>): void {
    const converted = this.#convert(use.schema, use.direction);
    if (!converted) return;
    if (converted.name !== undefined) {
      this.#claim(converted.name, use);
      noted.add(converted.name);
    }
    const seen = this.#seen.get(noted) ?? new Set();
    this.#seen.set(noted, seen);
    if (seen.has(use.schema)) return;
    seen.add(use.schema);
    for (const { schema } of namedTargets(converted)) this.#note({ ...use, schema }, noted);
  }

  #claim(name: string, use: DocumentedUse): void {
    const owner = this.#owners.get(name);
    if (!owner) this.#owners.set(name, use);
    else if (owner.schema !== use.schema && !this.#isSame(owner.schema, use.schema)) {
      throw new TypeError(
        `Cannot describe ${use.user}: another schema is named ${name}, in ${owner.user}`,
      );
    }
  }

  #isSame(one: AnySchema, other: AnySchema): boolean {
    return (["input", "output"] as const).every((direction) =>
      textOf(this.#convert(one, direction)) === textOf(this.#convert(other, direction))
    );
  }

  /**
   * Finds the schemas used in both directions whose input and output differ, or refer
   * to such schemas.
   */
  #findSplit(): ReadonlySet<string> {
    const { input, output } = this.#used;
    const both = [...input].filter((name) => output.has(name));
    const split = new Set(both.filter((name) => this.#differs(name)));
    for (let before = -1; before !== split.size;) {
      before = split.size;
      for (const name of both) if (this.#refersTo(split, name)) split.add(name);
    }
    return split;
  }

  #differs(name: string): boolean {
    const schema = this.#owners.get(name)?.schema;
    return schema !== undefined &&
      textOf(this.#convert(schema, "input")) !== textOf(this.#convert(schema, "output"));
  }

  #refersTo(names: ReadonlySet<string>, name: string): boolean {
    const schema = this.#owners.get(name)?.schema;
    const converted = schema && this.#convert(schema, "input");
    return converted !== undefined &&
      namedTargets(converted).some((target) => names.has(target.name));
  }
}
