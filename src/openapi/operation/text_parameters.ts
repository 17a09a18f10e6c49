/**
 * Parameters, whose values are sent as text. They are described as numbers and booleans where their
 * schemas convert the text to such, and reported where their schemas refuse every text.
 *
 * @module
 */
import { inputPropertiesOf, transforms } from "../../core/schema/schema_libraries.ts";
import { type AnySchema, validateNow } from "../../core/schema/validation.ts";
import type { Convert } from "../json_schema/converted.ts";
import { isJsonSchema, type JsonSchema } from "../json_schema/json_schema.ts";
import type { SchemaComponents } from "../json_schema/schema_components.ts";
import type { DocumentedUse } from "../json_schema/schema_names.ts";
import { type Properties, propertiesOf } from "./properties.ts";

/** The types into which texts are converted. */
const TYPES_OF_TEXT = ["integer", "number", "boolean"];

const NOTHING: Properties = { of: new Map(), required: new Set() };

/**
 * Returns a function that describes the properties of a schema of text values, once
 * for each schema.
 */
export function textProperties(schemas: SchemaComponents): (schema: AnySchema) => Properties {
  const known = new Map<AnySchema, Properties>();
  return (schema) => {
    const properties = known.get(schema) ?? describedProperties(schema, schemas);
    known.set(schema, properties);
    return properties;
  };
}

/**
 * Describes a parameter that becomes a number or boolean, or a list of such, by its output, without
 * the pattern of its text. Any other parameter is described by its input.
 */
export function textParameter(input: JsonSchema, output: JsonSchema | undefined): JsonSchema {
  const { type } = output ?? {};
  if (isJsonSchema(input.items) && isJsonSchema(output?.items)) {
    return { ...input, items: textParameter(input.items, output.items) };
  }
  if (!output || !isAnyText(input) || !TYPES_OF_TEXT.includes(String(type))) return input;
  const { description = input.description, default: _ofInput, pattern: _ofText, ...rest } = output;
  return {
    ...rest,
    ...description !== undefined && { description },
    ...defaultOf(input.default, String(type)),
  };
}

/** Reports the parameters that refuse every text, as `v.number()` does. */
export function textWarningsOf(
  uses: readonly DocumentedUse[],
  convert: Convert,
): readonly string[] {
  const ofText = uses.filter(({ isWhole, direction }) => !isWhole && direction === "input");
  const warnings = ofText.flatMap(({ schema, direction, user }) => {
    const properties = convert(schema, direction)?.json.properties;
    return Object.entries(isJsonSchema(properties) ? properties : {}).flatMap(
      ([name, property]) => {
        const type = isJsonSchema(property) ? refusedType(schema, { name, property }) : undefined;
        return type === undefined ? [] : [
          `No request with ${name} satisfies ${user}: it takes ${type}, but parameters are sent as text; ` +
          "convert it from text, as v.pipe(v.string(), v.toNumber()) and z.coerce.number() do",
        ];
      },
    );
  });
  return [...new Set(warnings)];
}

function describedProperties(schema: AnySchema, schemas: SchemaComponents): Properties {
  const input = schemas.write({ schema, direction: "input" });
  if (!input || Object.keys(schemas.resolve(input)).length === 0) return { ...NOTHING, rest: {} };
  const output = schemas.peek({ schema, direction: "output" });
  const outputs = output ? propertiesOf(output, schemas).of : NOTHING.of;
  const { of, ...others } = propertiesOf(input, schemas);
  const described = [...of].map(([name, property]) => {
    const text = schemas.resolve(property);
    const output = outputs.get(name);
    const parameter = textParameter(text, output);
    const isOutput = parameter !== text && output && readsAsWritten(schema, { name, output });
    return [name, isOutput ? parameter : property] as const;
  });
  return { of: new Map(described), ...others };
}

/** Checks whether an input is a text without fixed values or a format. */
function isAnyText({ type, enum: list, const: one, format }: JsonSchema): boolean {
  return type === "string" && list === undefined && one === undefined && format === undefined;
}

function defaultOf(text: unknown, type: string): { readonly default?: unknown } {
  if (typeof text !== "string") return text === undefined ? {} : { default: text };
  if (type === "boolean") {
    return ["true", "false"].includes(text) ? { default: text === "true" } : {};
  }
  return Number.isFinite(Number(text)) ? { default: Number(text) } : {};
}

/**
 * Checks whether a schema converts the text of a number to that number, and the text of a boolean
 * to that boolean, by trying some. A schema that reads `10s` as a number reads other texts.
 */
function readsAsWritten(
  schema: AnySchema,
  { name, output }: { readonly name: string; readonly output: JsonSchema },
): boolean {
  const property = transforms(schema) ? undefined : inputPropertiesOf(schema)?.get(name);
  const single = output.type === "array" && isJsonSchema(output.items) ? output.items : output;
  const isBoolean = single.type === "boolean";
  const trials = textsOf(single).flatMap((text) => {
    const value = single === output ? text : [text];
    const result = validateNow(property ?? schema, property ? value : { [name]: value });
    if (!result || result.issues) return [];
    const read = property ? result.value : (result.value as JsonSchema)[name];
    return [[read].flat()[0] === (isBoolean ? text === "true" : Number(text))];
  });
  const equal = trials.filter(Boolean).length;
  return isBoolean ? equal === 2 : equal > trials.length - equal; // a range may clamp some numbers
}

/** Returns the type of a property if the schema refuses every text for it. */
function refusedType(
  schema: AnySchema,
  { name, property }: { readonly name: string; readonly property: JsonSchema },
): string | undefined {
  const { type, items, minItems } = property;
  const list = type === "array" && isJsonSchema(items) ? items : undefined;
  const single = list ?? property;
  if (![...TYPES_OF_TEXT, "object"].includes(String(single.type))) return undefined;
  const length = typeof minItems === "number" ? Math.max(1, Math.min(minItems, 8)) : 1;
  const refuses = (value: unknown) => {
    const issues = validateNow(schema, { [name]: list ? Array(length).fill(value) : value })
      ?.issues;
    return issues?.some(({ path: [first, ...rest] = [] }) =>
      rest.length === (list ? 1 : 0) && (typeof first === "object" ? first.key : first) === name
    ) === true;
  };
  const texts = textsOf(single);
  // a text that is refused for another reason, such as a range, is refused as a number as well
  const isRefused = texts.every(refuses) && texts.some((text) => !refuses(JSON.parse(text)));
  return isRefused ? String(single.type) : undefined;
}

/** Returns texts of values of a schema. */
function textsOf({ type, ...rest }: JsonSchema): readonly string[] {
  if (type === "boolean") return ["true", "false"];
  if (type === "object") return ["{}"];
  const { minimum, maximum, exclusiveMinimum: above, exclusiveMaximum: below, multipleOf } = rest;
  const within = [
    ...[minimum, maximum, multipleOf],
    typeof above === "number" ? above + 1 : undefined,
    typeof below === "number" ? below - 1 : undefined,
    typeof above === "number" && typeof below === "number" ? (above + below) / 2 : undefined,
  ];
  return ["1", "0", "7", "12", "2000", ...within.filter((n) => typeof n === "number").map(String)];
}
