/**
 * Makes code from schemas of valibot. Each step has the result of the library's `~run`; where that
 * would add an issue, and only there, the code ends with a miss: a union tries its next option
 * then. Schemas and actions that are not known here are run by the library, from within the code.
 *
 * @module
 */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { isValibot } from "../libraries/valibot.ts";
import { isPattern, type Item, methodOf, refusalOf } from "./valibot_actions.ts";

/** Returns the output of a schema for a value, or the value for a miss. */
export type FastPath = (value: unknown) => unknown;

/** A schema that the code runs itself, or that the library runs. */
interface Schema extends Item {
  readonly pipe?: readonly Item[];
  readonly wrapped?: Schema;
  readonly item?: Schema;
  readonly options?: readonly unknown[];
  readonly entries?: Readonly<Record<string, Schema>>;
}

/** The longest code in characters. */
const MAX_LENGTH = 100_000;

/** Returns the fast path of a schema, if it has one. It returns `miss` for an invalid value. */
export function compile(schema: StandardSchemaV1, miss: symbol): FastPath | undefined {
  if (!isValibot(schema)) return undefined;
  const code = new Code(miss);
  try {
    const output = code.schema(schema as unknown as Schema, "value");
    return code.toFunction(output);
  } catch {
    return undefined; // it is asynchronous, or too long or too deep
  }
}

/** The error of a schema that has no fast path. */
class NoCode extends Error {}

/** The members that valibot's functions add to a schema whose `~run` they replace. */
const REPLACED = ["fallback", "cache"];

/** The schemas whose key can be missing, as objects decide it. */
const OPTIONAL = ["optional", "exact_optional", "nullish"];

/** The lines of a function under construction. Its methods take and return names of variables. */
class Code {
  readonly #lines: string[] = [];
  readonly #miss: symbol;
  readonly #constants: unknown[];
  #variables = 0;

  /** Creates code whose first constant is the value for a miss. */
  constructor(miss: symbol) {
    this.#miss = miss;
    this.#constants = [miss];
  }

  /** Adds what a schema does to a value; returns its output. */
  schema(schema: Schema, x: string): string {
    if (schema.async) throw new NoCode();
    if (!isOriginal(schema)) return this.#run(schema, x);
    if (schema.pipe) return this.#pipe(schema.pipe, x);
    switch (schema.type) {
      case "string":
      case "boolean":
        return this.#checked(x, `typeof ${x} !== "${schema.type}"`);
      case "number":
        return this.#checked(x, `typeof ${x} !== "number" || ${x} !== ${x}`);
      case "null":
        return this.#checked(x, `${x} !== null`);
      case "any":
      case "unknown":
        return x;
      case "literal":
        return this.#checked(x, `!${this.#constant([schema.literal])}.includes(${x})`);
      case "picklist":
      case "enum":
        return this.#checked(x, `!${this.#constant(schema.options)}.includes(${x})`);
      case "optional":
      case "undefinedable":
        return this.#wrapper(`${x} === undefined`, schema, x);
      case "nullable":
        return this.#wrapper(`${x} === null`, schema, x);
      case "nullish":
        return this.#wrapper(`${x} === null || ${x} === undefined`, schema, x);
      case "array":
        return this.#array(schema, x);
      case "object":
      case "strict_object":
        return this.#object(schema, x);
      case "union":
        return this.#union(schema, x);
      default:
        return this.#run(schema, x);
    }
  }

  /** Returns the function of this code. */
  toFunction(output: string): FastPath {
    const body = `"use strict";\nreturn (value) => {\n${
      this.#lines.join("\n")
    }\nreturn ${output};\n};`;
    if (body.length > MAX_LENGTH) throw new NoCode();
    const names = this.#constants.map((_, i) => `c${i}`);
    return new Function(...names, body)(...this.#constants);
  }

  #pipe([first, ...items]: readonly Item[], input: string): string {
    let x = this.schema(first as Schema, input);
    for (const item of items) {
      if (item.async) throw new NoCode();
      x = item.kind === "schema" ? this.schema(item as Schema, x) : this.#action(item, x);
    }
    return x;
  }

  #action(item: Item, x: string): string {
    const { kind, type, requirement } = item;
    if (kind === "metadata") return x;
    if (!isOriginal(item)) return this.#run(item, x);
    if (["readonly", "brand", "flavor"].includes(type)) return x;
    if (type === "transform") return this.#declare(`${this.#constant(item)}.operation(${x})`);
    const method = methodOf(item);
    if (method) return this.#declare(`${x}.${method}()`);
    const refused = refusalOf(item, x);
    if (refused) return this.#checked(x, refused);
    if (kind === "validation" && isPattern(requirement)) {
      return this.#checked(x, `!${this.#constant(requirement)}.test(${x})`);
    }
    return this.#run(item, x);
  }

  #array({ item }: Schema, x: string): string {
    const output = this.#declare("[]", "const");
    this.#missIf(`!Array.isArray(${x})`);
    const i = this.#declare("0");
    this.#lines.push(`for (; ${i} < ${x}.length; ${i}++) {`);
    const each = this.#declare(`${x}[${i}]`);
    this.#lines.push(`${output}.push(${this.schema(item as Schema, each)});\n}`);
    return output;
  }

  #object(schema: Schema, x: string): string {
    const { entries = {}, type } = schema;
    if (!isPlain(entries)) return this.#run(schema, x);
    this.#missIf(`typeof ${x} !== "object" || ${x} === null`);
    const output = this.#declare("{}");
    for (const [key, entry] of Object.entries(entries)) this.#property(entry, { key, x, output });
    if (type === "strict_object") {
      const known = this.#constant(entries);
      this.#lines.push(`for (const key in ${x}) if (!Object.hasOwn(${known}, key)) return c0;`);
    }
    return output;
  }

  #property(
    schema: Schema,
    { key, x, output }: { readonly key: string; readonly x: string; readonly output: string },
  ): void {
    const name = JSON.stringify(key);
    const value = this.#declare(`${x}[${name}]`);
    const set = (value: string) => this.#lines.push(`${output}[${name}] = ${value};`);
    const isMissing = `${value} === undefined && !(${name} in ${x})`;
    const isOptional = OPTIONAL.includes(schema.type);
    if (isOptional && schema.default === undefined) {
      this.#lines.push(`if (!(${isMissing})) {`);
      set(this.schema(schema, value));
      this.#lines.push("}");
      return;
    }
    if (isOptional) {
      const call = typeof schema.default === "function" ? "()" : "";
      this.#lines.push(`if (${isMissing}) ${value} = ${this.#constant(schema)}.default${call};`);
    } else this.#missIf(isMissing);
    set(this.schema(schema, value));
  }

  /** Adds a wrapper such as `v.optional()`: an absent value becomes the default, if it has one. */
  #wrapper(isAbsent: string, schema: Schema, x: string): string {
    if (typeof schema.default === "function") return this.#run(schema, x);
    if (schema.default !== undefined) {
      this.#lines.push(`if (${isAbsent}) ${x} = ${this.#constant(schema)}.default;`);
    }
    const output = this.#declare(x);
    this.#lines.push(`if (!(${isAbsent})) {`);
    this.#lines.push(`${output} = ${this.schema(schema.wrapped as Schema, x)};\n}`);
    return output;
  }

  #union({ options = [] }: Schema, x: string): string {
    const output = this.#declare("c0");
    for (const option of options as readonly Schema[]) {
      const code = new Code(this.#miss);
      const fastPath = code.toFunction(code.schema(option, "value"));
      this.#lines.push(`if (${output} === c0) ${output} = ${this.#constant(fastPath)}(${x});`);
    }
    return this.#checked(output, `${output} === c0`);
  }

  /** Lets the library run a schema or an action. */
  #run(item: Item, x: string): string {
    const dataset = `{ typed: ${item.kind !== "schema"}, value: ${x} }`;
    const result = this.#declare(`${this.#constant(item)}["~run"](${dataset}, {})`, "const");
    this.#missIf(`${result}.issues || !${result}.typed`);
    return this.#declare(`${result}.value`);
  }

  #checked(x: string, refused: string): string {
    this.#missIf(refused);
    return x;
  }

  #missIf(condition: string): void {
    this.#lines.push(`if (${condition}) return c0;`);
  }

  #declare(value: string, kind: "let" | "const" = "let"): string {
    const name = `v${this.#variables++}`;
    this.#lines.push(`${kind} ${name} = ${value};`);
    return name;
  }

  #constant(value: unknown): string {
    return `c${this.#constants.push(value) - 1}`;
  }
}

/**
 * Checks whether the code can set the keys of an object one by one: `__proto__` would set the
 * prototype, inherited keys have an order of their own, and a fallback would stand for a missing
 * key.
 */
function isPlain(entries: Readonly<Record<string, Schema>>): boolean {
  const inherited = Object.getPrototypeOf(entries);
  const own = Object.entries(Object.getOwnPropertyDescriptors(entries));
  return (inherited === Object.prototype || inherited === null) &&
    // a getter can refer to its own schema
    own.every(([key, { get, value }]) => key !== "__proto__" && !get && !("fallback" in value));
}

/**
 * Checks whether the code can stand for the `~run` of a schema or an action. A copy with another
 * one, as of `v.fallback()` or `v.cache()`, is left to the library. A schema with a pipe is defined
 * by its pipe: `v.config()` and `v.message()` change only its issues.
 */
function isOriginal(item: Item): boolean {
  if (REPLACED.some((member) => member in item)) return false;
  // the function that makes it contains the source of its `~run`
  return "pipe" in item || String(item.reference).includes(String(item["~run"]));
}
