/**
 * Random texts of parameters that satisfy the document, and that violate it.
 *
 * @module
 */
import fc from "fast-check";
import { IDEMPOTENCY_KEY } from "../../../core/http/idempotency_key.ts";
import type { JsonSchema } from "../../../openapi/json_schema/json_schema.ts";
import { anyText } from "./arbitrary_text.ts";
import { type SchemaContext, valueOf } from "./arbitrary_value.ts";
import { violationsOf } from "./arbitrary_violation.ts";
import { keep } from "./keep.ts";
import { alternativesOf } from "./plain_schema.ts";
import type { DescribedParameter } from "./served_document.ts";

/** The texts of a parameter: several of an array in a query, each of which repeats its name. */
export type Texts = readonly string[];

/** Texts that satisfy a parameter. */
export function textsOf(
  parameter: DescribedParameter,
  context: SchemaContext,
): fc.Arbitrary<Texts> {
  // a short key could be that of another request
  if (parameter.name === IDEMPOTENCY_KEY) return fc.uuid().map((key) => [key]);
  const texts = keep(valueOf(parameter.schema, context), parameter.holds, parameter).map(
    writtenOut,
  );
  const pattern = new RegExp(
    context.undocumented?.patterns?.[`${parameter.in} ${parameter.name}`] ?? "",
    "u",
  );
  return keep(
    texts as fc.Arbitrary<Texts>, // what cannot be written out is not kept
    (texts: Texts | undefined) =>
      texts !== undefined && texts.length > 0 &&
      texts.every((text) => isSendable(text, parameter) && pattern.test(text)) &&
      readings(texts).some(parameter.holds),
    parameter,
  );
}

/** The names and texts of parameters that a document takes beside those it names. */
export function otherTextsOf(
  parameter: DescribedParameter,
  context: SchemaContext,
): fc.Arbitrary<readonly (readonly [name: string, text: string])[]> {
  return keep(valueOf(parameter.schema, context), parameter.holds, parameter).map((value) =>
    Object.entries(value as object).flatMap(([name, value]) =>
      (writtenOut(value) ?? []).map((text) => [name, text] as const)
    ).filter((entry) => entry.every((text) => isSendable(text, parameter)))
  );
}

/** Texts that violate a parameter, however they are read; `undefined` if it takes any. */
export function wrongTextsOf(
  parameter: DescribedParameter,
  context: SchemaContext,
): fc.Arbitrary<Texts> | undefined {
  const alternatives = alternativesOf(parameter.schema, context.resolve);
  const isLenient = context.undocumented?.lenient?.includes(parameter.name);
  if (isLenient || alternatives.some((plain) => takesAnyTexts(plain, context))) return undefined;
  const violations = alternatives.flatMap((plain) => violationsOf(plain, context))
    .map((value) => value.map(writtenOut));
  const texts = fc.oneof(
    ...violations,
    fc.constantFrom(...NO_NUMBERS).map((text) => [text]),
    anyText({ maxLength: 5 }).map((text) => [text]),
  );
  return keep(
    texts as fc.Arbitrary<Texts>,
    (texts: Texts | undefined) =>
      texts !== undefined && texts.length > 0 &&
      texts.every((text) => isSendable(text, parameter)) &&
      !readings(texts).some(parameter.holds),
    parameter,
  );
}

/** What looks like a number to one who is careless. */
const NO_NUMBERS = [
  ...["", " ", "0x10", "0b1", "1_000", "1,5", "1.2.3", "NaN", "Infinity", "-Infinity", "--1", "-"],
  ...["1n", "\u0661", "\uff11", "1\u00a0", "1\n", "\u0000", "1\u0000", "null", "[1]", "{}", "yes"],
];

/** Reports a plain schema that takes any text. */
function takesAnyText(schema: JsonSchema): boolean {
  const says = ["minLength", "maxLength", "pattern", "format", "enum", "const", "not", "if"];
  return (schema.type === "string" || schema.type === undefined) &&
    !says.some((keyword) => keyword in schema);
}

/** Reports a plain schema that takes any text, or any list of texts. */
function takesAnyTexts(schema: JsonSchema, { resolve }: SchemaContext): boolean {
  if (schema.type !== "array") return takesAnyText(schema);
  const { items, minItems = 0 } = schema;
  const limits = ["maxItems", "uniqueItems", "prefixItems", "contains", "not", "if"];
  return Number(minItems) <= 1 && !limits.some((keyword) => keyword in schema) &&
    alternativesOf(items ?? true, resolve).some(takesAnyText);
}

/** Returns the texts of a value; `undefined` for one that parameters have no texts for. */
function writtenOut(value: unknown): Texts | undefined {
  const texts = [value].flat().map(textOfPrimitive);
  return texts.every((text) => text !== undefined) ? texts : undefined;
}

/** Writes a value as text: numbers without an exponent, which the document does not mention. */
function textOfPrimitive(value: unknown): string | undefined {
  if (value === null || typeof value === "object") return undefined;
  if (typeof value !== "number") return String(value);
  if (Number.isInteger(value)) return BigInt(value).toString();
  return value.toFixed(20).replace(/\.?0+$/, "").replace(/^-0$/, "0");
}

/** Returns the values that texts can represent. The form of numbers is not documented. */
function readings(texts: Texts): readonly unknown[] {
  const attempts: readonly (readonly unknown[])[] = [
    texts,
    texts.map((text) =>
      /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text) ? finite(Number(text)) : undefined
    ),
    texts.map((text) => text === "true" ? true : text === "false" ? false : undefined),
  ];
  const asTyped = attempts.filter((values) => !values.includes(undefined));
  return [...asTyped, ...texts.length === 1 ? asTyped.flat() : []];
}

/** A number that JavaScript cannot represent is a number too. */
function finite(number: number): number {
  return Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, number));
}

/** Checks whether a text can be sent: URLs and headers cannot contain every character. */
function isSendable(text: string, { in: place }: DescribedParameter): boolean {
  if (place === "header") return /^(?:[!-~](?:[ -~]*[!-~])?)?$/.test(text);
  if (place === "path" && ["", ".", ".."].includes(text)) return false; // another path
  return text.isWellFormed();
}
