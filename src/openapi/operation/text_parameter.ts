/**
 * Describing values that are sent as text, and become something else.
 *
 * @module
 */
import { isJsonSchema, type JsonSchema } from "../json_schema/json_schema.ts";

/** The types whose values have one text each. */
const TYPES_OF_TEXT = ["integer", "number", "boolean"];

/**
 * Describes a parameter whose schema turns text into a number or a boolean by what it becomes: with its
 * range, and without the pattern of its digits; and lists of such. Any other stays as it is.
 */
export function textParameter(input: JsonSchema, output: JsonSchema | undefined): JsonSchema {
  const { type } = output ?? {};
  if (isJsonSchema(input.items) && isJsonSchema(output?.items)) {
    return { ...input, items: textParameter(input.items, output.items) };
  }
  if (!output || !isAnyText(input) || !TYPES_OF_TEXT.includes(String(type))) return input;
  const { description = input.description, default: _sameAsOfInput, pattern: _ofText, ...rest } =
    output;
  return {
    ...rest,
    ...description !== undefined && { description },
    ...defaultOf(input.default, String(type)),
  };
}

/** Tells text that is only checked to have a form from text of a list, or of a known format. */
function isAnyText({ type, enum: list, const: one, format }: JsonSchema): boolean {
  return type === "string" && list === undefined && one === undefined && format === undefined;
}

/** Gives the default that a text stands for, if it does. */
function defaultOf(text: unknown, type: string): { readonly default?: unknown } {
  if (text === undefined) return {};
  if (typeof text !== "string") return { default: text };
  if (type === "boolean") {
    return ["true", "false"].includes(text) ? { default: text === "true" } : {};
  }
  return Number.isFinite(Number(text)) ? { default: Number(text) } : {};
}
