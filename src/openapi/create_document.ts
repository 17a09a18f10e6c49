/**
 * Making the OpenAPI document of an application: of its routes, and of its options.
 *
 * @module
 */
import type { GlobalProtection } from "../core/route_protection.ts";
import { nameOf, type PlacedRoute } from "../core/route_table.ts";
import type { AnySchema } from "../core/validation.ts";
import { createConvert } from "./convert.ts";
import type { Convert, SchemaUse } from "./converted.ts";
import type {
  ComponentsObject,
  OpenApiDocument,
  OperationObject,
  PathItemObject,
  ResponseObject,
} from "./openapi_document.ts";
import { methodsOf, operationOf } from "./operation.ts";
import { type OpenApiOptions, resolveOptions } from "./options.ts";
import { templateShape, templatesOf } from "./path_templates.ts";
import {
  PROBLEM_SCHEMAS,
  PROBLEM_TYPE,
  problemResponse,
  problemResponseName,
} from "./problem_responses.ts";
import { SchemaComponents } from "./schema_components.ts";
import { checkRolesScheme } from "./security.ts";

/** What is described. */
export interface DescribedApplication {
  /** Its routes. */
  readonly routes: readonly PlacedRoute[];
  /** What protects all of them. */
  readonly global: GlobalProtection;
  /** Whether the number of requests is limited. */
  readonly isRateLimited: boolean;
  /** What stands before all paths, where the options do not say. */
  readonly apiPrefix: string;
}

/** A document, and what it could not say. */
export interface CreatedDocument {
  /** The document. */
  readonly document: OpenApiDocument;
  /** What is described as "any", or left out, each in one sentence. */
  readonly warnings: readonly string[];
}

/**
 * Makes the document of an application.
 *
 * @throws {TypeError} naming the route: if two operations have one id, if a path and its `params` do not
 * have the same parameters, if two schemas have one name, or if the security scheme of the options is
 * not declared
 */
export async function createDocument(
  application: DescribedApplication,
  given: OpenApiOptions = {},
): Promise<CreatedDocument> {
  const options = resolveOptions(given);
  const { apiPrefix = application.apiPrefix } = options;
  const routes = application.routes.filter(({ bound }) => !bound.route.options.openapi?.hidden);
  checkRolesScheme(routes, application.global, options);
  const uses = routes.flatMap(usesOf);
  const convert = await createConvert(uses);
  const warnings = [...new Set(uses.filter(unknownTo(convert)).map(asAny))];
  const schemas = new SchemaComponents(convert, uses.filter(({ isWhole }) => isWhole));
  const context = { ...application, options, apiPrefix, schemas };
  const paths: Record<string, Record<string, OperationObject>> = {};
  const known = new Map<string, string>(); // templates by their shapes
  const owners = new Map<string, PlacedRoute>();
  for (const placed of routes) {
    for (const template of templatesOf(placed.path)) {
      const shape = templateShape(template.template);
      const path = known.get(shape) ?? template.template;
      const item = paths[path] ??= {};
      known.set(shape, path);
      for (const method of methodsOf(placed)) {
        if (item[method]) {
          if (placed.method !== "ALL") warnings.push(sameToOpenApi(placed, path));
          continue;
        }
        const operation = await operationOf(placed, { method, template }, context);
        checkId(operation.operationId, placed, owners);
        item[method] = renamed(operation, template.template, path);
      }
    }
  }
  const components = componentsOf(paths, schemas, options.components);
  const { title, version, info, documentTags: tags } = options;
  const { servers = [{ url: "/" }], security = [] } = options; // what OpenAPI takes them for, unsaid
  return {
    warnings,
    document: {
      openapi: "3.1.1",
      info: { title, version, ...info },
      servers,
      paths,
      ...components && { components },
      security,
      ...tags && { tags },
    },
  };
}

/** A schema as a route uses it. */
interface RouteUse extends SchemaUse {
  /** What uses it, for messages. */
  readonly of: string;
  /** Whether it is described as a whole: parameters are described one by one. */
  readonly isWhole: boolean;
}

function usesOf({ method, path, bound: { route } }: PlacedRoute): readonly RouteUse[] {
  const { params, query, headers, body, response, openapi } = route.options;
  const uses: RouteUse[] = [];
  const use = (
    what: string,
    schema: AnySchema | undefined,
    kind: Pick<RouteUse, "direction" | "isWhole">,
  ) => schema && uses.push({ schema, of: `The ${what} of ${method} ${path}`, ...kind });
  for (const [what, schema] of Object.entries({ params, query, headers })) {
    use(what, schema, { direction: "input", isWhole: false });
    use(what, schema, { direction: "output", isWhole: false }); // what text becomes
  }
  use("body", body, { direction: "input", isWhole: true });
  use("response", response, { direction: "output", isWhole: true });
  for (const [status, said] of Object.entries(openapi?.responses ?? {})) {
    const schema = typeof said === "string" ? undefined : said.schema;
    use(`response ${status}`, schema, { direction: "output", isWhole: true });
  }
  return uses;
}

function asAny({ schema, of }: RouteUse): string {
  return `${of}: ${
    schema["~standard"].vendor
  } offers no JSON Schema of it, so it is described as "any"`;
}

function unknownTo(convert: Convert): (use: SchemaUse) => boolean {
  return ({ schema, direction }) => convert(schema, direction) === undefined;
}

function checkId(id: string, placed: PlacedRoute, owners: Map<string, PlacedRoute>): void {
  const other = owners.get(id);
  if (other) {
    throw new TypeError(
      `Cannot describe ${placed.method} ${placed.path}: ${other.method} ${other.path} has the ` +
        `operationId ${id} already; name one of their modules, or set openapi.operationId`,
    );
  }
  owners.set(id, placed);
}

/** Two routes that differ only by the constraints of their parameters are one operation to OpenAPI. */
function sameToOpenApi({ method, path, bound }: PlacedRoute, other: string): string {
  return `${nameOf(bound)} (${method} ${path}) is left out: to OpenAPI it is another ${other}`;
}

/** Gives the parameters of an operation the names that they have in the first template of its shape. */
function renamed(operation: OperationObject, own: string, template: string): OperationObject {
  if (own === template) return operation;
  const [from, to] = [own, template].map((each) =>
    [...each.matchAll(/\{([^}]*)\}/g)].map(([, name = ""]) => name)
  );
  return {
    ...operation,
    parameters: operation.parameters?.map((parameter) =>
      parameter.in === "path"
        ? { ...parameter, name: to?.[from?.indexOf(parameter.name) ?? -1] ?? parameter.name }
        : parameter
    ),
  };
}

/** Gives the components that the operations refer to, and those by hand, which go before them. */
function componentsOf(
  paths: Readonly<Record<string, PathItemObject>>,
  schemas: SchemaComponents,
  byHand: ComponentsObject = {},
): ComponentsObject | undefined {
  const generated = schemas.all;
  const problems = new Set<string>();
  let hasProblem = false;
  for (const { responses } of Object.values(paths).flatMap((item) => Object.values(item))) {
    for (const [status, response] of Object.entries(responses)) {
      if ("$ref" in response) problems.add(status);
      hasProblem ||= "$ref" in response || PROBLEM_TYPE in (response.content ?? {});
    }
  }
  const taken = hasProblem && Object.keys(PROBLEM_SCHEMAS).find((name) => name in generated);
  if (taken) throw new TypeError(`Cannot describe ${taken}: problem documents have that name`);
  const responses: Record<string, ResponseObject> = {};
  for (const status of [...problems].map(Number)) {
    responses[problemResponseName(status)] = problemResponse(status);
  }
  const components = {
    ...byHand,
    schemas: {
      ...generated,
      ...hasProblem && PROBLEM_SCHEMAS,
      ...byHand.schemas,
    },
    responses: { ...responses, ...byHand.responses },
  };
  const filled = Object.entries(components).filter(([, members]) =>
    members !== undefined && Object.keys(members).length > 0
  );
  return filled.length > 0 ? Object.fromEntries(filled) : undefined;
}
