/**
 * The properties of schemas that take text, as those of paths, queries and headers do.
 *
 * @module
 */
import type { AnySchema } from "../../core/schema/validation.ts";
import type { JsonSchema } from "../json_schema/json_schema.ts";
import { type Properties, propertiesOf } from "./properties.ts";
import type { SchemaComponents } from "../json_schema/schema_components.ts";
import { textParameter } from "./text_parameter.ts";
import { readsAsWritten } from "./text_probe.ts";

/** Makes a function that gives the properties of a schema, each schema's once. */
export function textProperties(schemas: SchemaComponents): (schema: AnySchema) => Properties {
  const known = new Map<AnySchema, Properties>();
  return (schema) => {
    const properties = known.get(schema) ?? describedProperties(schema, schemas);
    known.set(schema, properties);
    return properties;
  };
}

const NOTHING: Properties = { of: new Map(), required: new Set() };

/** Gives the properties of a schema of text values: described by what they become, where that is known. */
function describedProperties(schema: AnySchema, schemas: SchemaComponents): Properties {
  const taken = schemas.write({ schema, direction: "input" });
  const given = schemas.peek({ schema, direction: "output" });
  if (!taken) return { ...NOTHING, rest: {} };
  if (Object.keys(schemas.resolve(taken)).length === 0) return { ...NOTHING, rest: {} };
  const { of, required, rest } = propertiesOf(taken, schemas);
  const outputs = given ? propertiesOf(given, schemas).of : NOTHING.of;
  const parameterOf = (name: string, input: JsonSchema) => {
    const text = schemas.resolve(input);
    const output = outputs.get(name);
    const described = textParameter(text, output);
    const isOther = described !== text && output && readsAsWritten(schema, name, output);
    return isOther ? described : input;
  };
  return {
    of: new Map([...of].map(([name, input]) => [name, parameterOf(name, input)])),
    required,
    ...rest && { rest },
  };
}
