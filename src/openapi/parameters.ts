/**
 * The parameters of an operation, from the schemas of its path, query and headers.
 *
 * @module
 */
import type { PlacedRoute } from "../core/route_table.ts";
import { nameOf } from "../core/route_table.ts";
import type { AnySchema } from "../core/validation.ts";
import type { JsonSchema } from "./json_schema.ts";
import type { ParameterObject } from "./openapi_document.ts";
import type { PathParameter, PathTemplate } from "./path_templates.ts";
import { type Properties, propertiesOf } from "./properties.ts";
import type { SchemaComponents } from "./schema_components.ts";
import { textParameter } from "./text_parameter.ts";

/** Headers that OpenAPI describes by other means (§4.8.12.1 there). */
const NO_PARAMETERS = new Set(["accept", "content-type", "authorization"]);

/**
 * Gives the parameters of an operation.
 *
 * @throws {TypeError} if the path and its schema do not have the same parameters, naming the route
 */
export function parametersOf(
  placed: PlacedRoute,
  template: PathTemplate,
  schemas: SchemaComponents,
): readonly ParameterObject[] {
  const { params, query, headers } = placed.bound.route.options;
  const inHeader = fromSchema("header", headers, schemas);
  return [
    ...pathParameters(placed, template, params && describedProperties(params, schemas)),
    ...fromSchema("query", query, schemas),
    ...inHeader.filter(({ name }) => !NO_PARAMETERS.has(name.toLowerCase())),
  ];
}

function pathParameters(
  placed: PlacedRoute,
  { params, without }: PathTemplate,
  properties: Properties | undefined,
): readonly ParameterObject[] {
  const own = params.filter(({ isWildcard }) => !isWildcard);
  if (properties) {
    const refuse = (why: string) => {
      throw new TypeError(`Cannot describe ${nameOf(placed.bound)} (${placed.path}): ${why}`);
    };
    const known = [...own.map(({ name }) => name), without];
    const missing = own.find(({ name }) => !properties.of.has(name));
    if (missing && !properties.rest) refuse(`its params have no ${missing.name}`);
    const unknown = [...properties.required].find((name) => !known.includes(name));
    if (unknown !== undefined) refuse(`its params have ${unknown}, which the path does not`);
  }
  return params.map((param) => {
    const described = param.isWildcard ? undefined : properties?.of.get(param.name);
    return parameter("path", param.name, {
      required: true,
      schema: described ?? properties?.rest ?? schemaOfPattern(param),
    });
  });
}

function schemaOfPattern({ pattern, isWildcard }: PathParameter): JsonSchema {
  if (isWildcard) return { type: "string", description: "The rest of the path" };
  return { type: "string", ...pattern !== undefined && { pattern } };
}

function fromSchema(
  where: "query" | "header",
  schema: AnySchema | undefined,
  schemas: SchemaComponents,
): readonly ParameterObject[] {
  const { of, required, rest } = schema ? describedProperties(schema, schemas) : NOTHING;
  const parameters = [...of].map(([name, schema]) =>
    parameter(where, name, { required: required.has(name), schema })
  );
  if (!rest || where === "header") return parameters; // any header may be there
  const others = { type: "object", additionalProperties: rest };
  const exploded = { style: "form", explode: true } as const;
  return [
    ...parameters,
    { name: freeName("others", of), in: where, required: false, schema: others, ...exploded },
  ];
}

const NOTHING: Properties = { of: new Map(), required: new Set() };

/** Gives the properties of a schema of text values: described by what they become, where that is known. */
function describedProperties(schema: AnySchema, schemas: SchemaComponents): Properties {
  const taken = schemas.write({ schema, direction: "input" });
  const given = schemas.peek({ schema, direction: "output" });
  if (!taken) return { ...NOTHING, rest: {} };
  const { of, required, rest } = propertiesOf(taken, schemas);
  const outputs = given ? propertiesOf(given, schemas).of : NOTHING.of;
  return {
    of: new Map([...of].map(([name, input]) => [name, textParameter(input, outputs.get(name))])),
    required,
    ...rest && { rest },
  };
}

function parameter(
  where: ParameterObject["in"],
  name: string,
  { required, schema }: { readonly required: boolean; readonly schema: JsonSchema },
): ParameterObject {
  const { description, deprecated, ...rest } = schema;
  return {
    name,
    in: where,
    required,
    ...typeof description === "string" && { description },
    ...deprecated === true && { deprecated },
    schema: rest,
  };
}

function freeName(name: string, taken: ReadonlyMap<string, unknown>): string {
  return taken.has(name) ? freeName(`${name}_`, taken) : name;
}
