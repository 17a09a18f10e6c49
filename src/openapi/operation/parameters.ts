/**
 * The parameters of an operation, from the schemas of its path, query and headers.
 *
 * @module
 */
import { IDEMPOTENCY_KEY, KEY_PATTERN } from "../../core/http/idempotency_key.ts";
import { inputOf } from "../../core/route/declared_input.ts";
import { demandsMatch } from "../../core/route/route_options.ts";
import { nameOf, type PlacedRoute } from "../../core/route/route_table.ts";
import type { AnySchema } from "../../core/schema/validation.ts";
import type { JsonSchema } from "../json_schema/json_schema.ts";
import type { ParameterObject } from "../openapi_document.ts";
import type { PathParameter, PathTemplate } from "./path_templates.ts";
import type { Properties } from "./properties.ts";
import { tidied } from "../json_schema/tidied.ts";

/** Headers that are not parameters in OpenAPI (OpenAPI 3.1.1 §4.8.12.1). */
export const NOT_PARAMETERS: ReadonlySet<string> = new Set([
  "accept",
  "content-type",
  "authorization",
]);

/**
 * Returns the parameters of an operation.
 *
 * @throws {TypeError} naming the route, if the path and its schema do not have the same parameters,
 * or a header is declared in upper case
 */
export function parametersOf(
  placed: PlacedRoute,
  template: PathTemplate,
  properties: (schema: AnySchema) => Properties,
): readonly ParameterObject[] {
  const { params, query, headers } = inputOf(placed.bound.route.options);
  const inHeader = headers ? fromProperties("header", properties(headers)) : [];
  const upper = inHeader.find(({ name }) => name !== name.toLowerCase());
  if (upper) {
    refuse(placed, `its headers declare ${upper.name}, but header names must be in lower case`);
  }
  return [
    ...pathParameters(placed, template, params && properties(params)),
    ...query ? fromProperties("query", properties(query)) : [],
    ...inHeader.filter(({ name }) => !NOT_PARAMETERS.has(name)),
    ...[...preconditionsOf(placed), ...keyOf(placed)].filter(({ name }) =>
      !inHeader.some((declared) => declared.name === name)
    ),
  ];
}

/** Returns the header of a conditional request to a route with `etag`. */
function preconditionsOf({ bound: { route } }: PlacedRoute): readonly ParameterObject[] {
  const { method, options: { etag } } = route;
  if (!etag || method === "POST") return [];
  const [name, description] = demandsMatch(method)
    ? ["if-match", "The `ETag` of the version to change, or `*` for any"] as const
    : ["if-none-match", "The `ETag` of a response that the client has"] as const;
  const schema = { type: "string", description };
  return [parameter("header", name, { required: demandsMatch(method), schema })];
}

/** Returns the header of requests to a route with `idempotent`. */
function keyOf({ bound: { route } }: PlacedRoute): readonly ParameterObject[] {
  if (!route.options.idempotent) return [];
  const description =
    "A UUID, or another text, that is new for each request; a repetition of the " +
    "request has the same, and then no further effect and the same answer";
  const schema = { type: "string", pattern: KEY_PATTERN, description };
  return [parameter("header", IDEMPOTENCY_KEY, { required: true, schema })];
}

function refuse({ path, bound }: PlacedRoute, why: string): never {
  throw new TypeError(`Cannot describe ${nameOf(bound)} (${path}): ${why}`);
}

function pathParameters(
  placed: PlacedRoute,
  { params, without }: PathTemplate,
  properties: Properties | undefined,
): readonly ParameterObject[] {
  const own = params.filter(({ isWildcard }) => !isWildcard);
  if (properties) {
    const known = [...own.map(({ name }) => name), without];
    const missing = own.find(({ name }) => !properties.of.has(name));
    if (missing && !properties.rest) refuse(placed, `its params do not declare ${missing.name}`);
    const unknown = [...properties.required].find((name) => !known.includes(name));
    if (unknown !== undefined) {
      refuse(placed, `its params declare ${unknown}, which the path does not have`);
    }
  }
  return params.map((param) => {
    const described = param.isWildcard
      ? undefined
      : properties?.of.get(param.name) ?? properties?.rest;
    const { default: _neverMissing, ...schema } = described ?? {};
    return parameter("path", param.name, {
      required: true,
      schema: described && schema.type !== "string"
        ? schema
        : { ...schemaOfPattern(param), ...schema },
    });
  });
}

function schemaOfPattern({ pattern, isWildcard }: PathParameter): JsonSchema {
  if (isWildcard) return { type: "string", description: "The rest of the path" };
  return tidied({ type: "string", ...pattern !== undefined && { pattern } });
}

function fromProperties(
  where: "query" | "header",
  { of, required, rest }: Properties,
): readonly ParameterObject[] {
  const parameters = [...of].map(([name, schema]) =>
    parameter(where, name, { required: required.has(name), schema })
  );
  const isAny = Object.keys(rest ?? {}).length === 0;
  if (isAny || where === "header") return parameters; // requests can have any header
  const others = { type: "object", additionalProperties: rest };
  const exploded = { style: "form", explode: true } as const;
  return [
    ...parameters,
    { name: freeName("others", of), in: where, required: false, schema: others, ...exploded },
  ];
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
