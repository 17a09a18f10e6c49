/**
 * Trying what schemas make of text, which is what paths, queries and headers are.
 *
 * @module
 */
import type { AnySchema } from "../../core/schema/validation.ts";
import { isJsonSchema, type JsonSchema } from "../json_schema/json_schema.ts";

/**
 * Gives the type of a property of which a schema refuses every text of a value; `undefined` if it takes
 * one, or if that cannot be told without waiting.
 */
export function refusedType(
  schema: AnySchema,
  name: string,
  property: JsonSchema,
): string | undefined {
  const isList = property.type === "array" && isJsonSchema(property.items);
  const single = isList ? property.items as JsonSchema : property; // it is one by the line before
  const type = String(single.type);
  if (!["boolean", "integer", "number", "object"].includes(type)) return undefined;
  const length = isList && typeof property.minItems === "number" ? property.minItems || 1 : 1;
  const refuses = (value: unknown) =>
    isRefusedAt(
      schema,
      name,
      isList ? Array(Math.min(length, 8)).fill(value) : value,
      isList ? 2 : 1,
    );
  const texts = textsOf(single);
  // what it refuses for another reason, such as a range, it refuses of the type as well
  const isOfType = texts.every(refuses) && texts.some((text) => !refuses(JSON.parse(text)));
  return isOfType ? type : undefined;
}

/**
 * Tells whether a schema makes of the text of a number that number, and of the text of a boolean that
 * boolean, as far as it can be tried: `10s` is no text of a number, though it may become one.
 */
export function readsAsWritten(
  schema: AnySchema,
  name: string,
  output: JsonSchema,
): boolean {
  const property = propertyOf(schema, name);
  const single = output.type === "array" && isJsonSchema(output.items) ? output.items : output;
  const sent = (text: string) => single === output ? text : [text];
  const isTold = !property && !isTransformed(schema) &&
    textsOf(single).every((text) => !isRefusedAt(schema, name, sent(text), 1));
  if (isTold && textsOf(single).every((text) => !validate(schema, { [name]: sent(text) }))) {
    return true; // only other fields are missing, so that what the schema says is all there is
  }
  const trials = textsOf(single).flatMap((text) => {
    const value = sent(text);
    const given = property
      ? validate(property, value)
      : map(validate(schema, { [name]: value }), (all) => (all as JsonSchema)[name]);
    return given ? [{ text, value: [given.value].flat()[0] }] : [];
  });
  const isBoolean = single.type === "boolean";
  const equal = trials.filter(({ text, value }) =>
    value === (isBoolean ? text === "true" : Number(text))
  );
  // of booleans there are but two; numbers may be clamped to a range
  return isBoolean ? equal.length === 2 : equal.length > trials.length - equal.length;
}

/** Gives texts of values that a schema describes. */
function textsOf({ type, ...rest }: JsonSchema): readonly string[] {
  if (type === "boolean") return ["true", "false"];
  if (type === "object") return ["{}"];
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = rest;
  const within = [
    minimum,
    maximum,
    multipleOf,
    typeof exclusiveMinimum === "number" ? exclusiveMinimum + 1 : undefined,
    typeof exclusiveMaximum === "number" ? exclusiveMaximum - 1 : undefined,
    typeof exclusiveMinimum === "number" && typeof exclusiveMaximum === "number"
      ? (exclusiveMinimum + exclusiveMaximum) / 2
      : undefined,
  ];
  return [
    "1",
    "0",
    "7",
    "12",
    "2000",
    ...within.filter((value) => typeof value === "number").map(String),
  ];
}

function isRefusedAt(schema: AnySchema, name: string, value: unknown, depth: number): boolean {
  try {
    const result = schema["~standard"].validate({ [name]: value });
    if (result instanceof Promise) return ignored(result) ?? false;
    return (result.issues ?? []).some(({ path: [first, ...rest] = [] }) =>
      rest.length === depth - 1 && (typeof first === "object" ? first.key : first) === name
    );
  } catch {
    return false; // it needs more than a value to judge
  }
}

/** What a schema has given. */
interface Given {
  readonly value: unknown;
}

/** Gives what a schema makes of a value; `undefined` if it refuses it, or is asynchronous. */
function validate(schema: AnySchema, value: unknown): Given | undefined {
  try {
    const result = schema["~standard"].validate(value);
    if (result instanceof Promise) return ignored(result);
    return result.issues ? undefined : { value: result.value };
  } catch {
    return undefined;
  }
}

function map(given: Given | undefined, change: (value: unknown) => unknown): Given | undefined {
  return given && { value: change(given.value) };
}

function ignored(result: Promise<unknown>): undefined {
  result.catch(() => {});
}

/** Gives the schema of a property, where the library keeps it: valibot, zod, arktype. */
function propertyOf(schema: AnySchema, name: string): AnySchema | undefined {
  const { entries, shape, get, options } = schema as {
    readonly entries?: Readonly<Record<string, AnySchema>>;
    readonly shape?: Readonly<Record<string, AnySchema>>;
    readonly get?: (name: string) => AnySchema;
    readonly options?: readonly AnySchema[];
  };
  if (isTransformed(schema)) return undefined;
  try {
    return entries?.[name] ?? shape?.[name] ?? get?.call(schema, name) ??
      options?.map((option) => propertyOf(option, name)).find((found) => found);
  } catch {
    return undefined;
  }
}

/** Tells whether a schema of valibot makes something else of the whole. */
function isTransformed(schema: AnySchema): boolean {
  const { pipe = [] } = schema as { readonly pipe?: readonly { readonly kind: string }[] };
  return Array.isArray(pipe) &&
    pipe.slice(1).some(({ kind }) => kind !== "validation" && kind !== "metadata");
}
