/**
 * Creating the OpenAPI document of an application, from its routes and options.
 *
 * @module
 */
import type { GlobalProtection } from "../core/route/route_protection.ts";
import type { PlacedRoute } from "../core/route/route_table.ts";
import { createConvert } from "./json_schema/convert.ts";
import type {
  ComponentsObject,
  OpenApiDocument,
  PathItemObject,
  ResponseObject,
} from "./openapi_document.ts";
import type { ResolvedOpenApiOptions } from "./options.ts";
import { pathItemsOf } from "./operation/path_items.ts";
import { SchemaComponents } from "./json_schema/schema_components.ts";
import { SchemaNames } from "./json_schema/schema_names.ts";
import { usesOf, warningsOf } from "./json_schema/schema_uses.ts";
import {
  describeProblem,
  problemBodiesOf,
  problemResponseName,
  problemUseOf,
} from "./operation/problem_responses.ts";
import type { ResponsesContext } from "./operation/responses.ts";
import { checkSchemes } from "./operation/security.ts";
import { textProperties, textWarningsOf } from "./operation/text_parameters.ts";
import { type DescribedVersions, routesOfVersion } from "./operation/versions.ts";

/** The described application. */
export interface DescribedApplication extends DescribedVersions {
  /** Its routes. */
  readonly routes: readonly PlacedRoute[];
  /** What protects all of them. */
  readonly global: GlobalProtection;
  /** Whether the number of requests is limited. */
  readonly isRateLimited: boolean;
  /** The start of all paths, unless the options set it. */
  readonly apiPrefix: string;
  /** The version of the project, if it is known. */
  readonly version?: string | undefined;
}

/** A document, with warnings. */
export interface CreatedDocument {
  /** The document. */
  readonly document: OpenApiDocument;
  /**
   * The schemas that are described as "any" and the routes that are left out, each in one sentence.
   */
  readonly warnings: readonly string[];
}

/**
 * Creates the document of an application.
 *
 * @throws {TypeError} naming the route: if two operations have the same id, if a path and its
 * `params` do not have the same parameters, if two schemas have the same name, if no route has the
 * version, or if the security scheme of the options is not declared
 */
export async function createDocument(
  application: DescribedApplication,
  given: ResolvedOpenApiOptions,
): Promise<CreatedDocument> {
  const options = { ...given, ...ownCopies(given) };
  const { apiPrefix = application.apiPrefix } = options;
  const described = routesOfVersion(application.routes, application);
  const routes = described.filter(({ bound }) => !bound.route.options.openapi?.hidden);
  checkSchemes(routes, application.global, options);
  const ofRoutes = routes.flatMap(usesOf);
  const ofProblems = problemUseOf(options, ofRoutes);
  const uses = ofProblems ? [...ofRoutes, ofProblems] : ofRoutes;
  const convert = await createConvert(uses);
  const taken = Object.keys(options.components?.schemas ?? {});
  const schemas = new SchemaComponents(convert, new SchemaNames(convert, uses), { taken });
  const problems = problemBodiesOf(options, { use: ofProblems, schemas });
  const properties = textProperties(schemas);
  const context = { ...application, options, apiPrefix, schemas, problems, properties };
  const { paths, warnings } = pathItemsOf(described, context);
  const components = componentsOf(paths, options.components, context);
  const { version = application.version ?? "0.0.0" } = options;
  const { title, info, documentTags: tags } = options;
  const { servers = [{ url: "/" }], security = [] } = options; // the defaults of OpenAPI
  return {
    warnings: [...warningsOf(uses, convert), ...textWarningsOf(uses, convert), ...warnings],
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

/**
 * Returns the components to which the operations refer; components written by hand take precedence.
 *
 * @throws {TypeError} if a schema has the name of a schema of problem documents
 */
function componentsOf(
  paths: Readonly<Record<string, PathItemObject>>,
  byHand: ComponentsObject = {},
  { schemas, problems }: ResponsesContext,
): ComponentsObject | undefined {
  const statuses = new Set<string>();
  let hasProblem = false;
  for (const { responses } of Object.values(paths).flatMap((item) => Object.values(item))) {
    for (const [status, response] of Object.entries(responses)) {
      if ("$ref" in response) statuses.add(status);
      hasProblem ||= "$ref" in response || problems.contentType in (response.content ?? {});
    }
  }
  const responses: Record<string, ResponseObject> = {};
  for (const status of [...statuses].map(Number)) {
    responses[problemResponseName(status)] = describeProblem({ status }, problems);
  }
  const generated = schemas.usedIn([paths, responses, byHand]);
  const taken = hasProblem && Object.keys(problems.components).find((name) => name in generated);
  if (taken) throw new TypeError(`Cannot describe ${taken}: problem documents have that name`);
  const components = {
    ...byHand,
    schemas: {
      ...generated,
      ...hasProblem && structuredClone(problems.components), // a copy for each document
      ...byHand.schemas,
    },
    responses: { ...responses, ...byHand.responses },
  };
  const filled = Object.entries(components).filter(([, members]) =>
    members !== undefined && Object.keys(members).length > 0
  );
  return filled.length > 0 ? Object.fromEntries(filled) : undefined;
}

/**
 * Copies the options that are part of the document, so that changes of a document affect no other.
 */
function ownCopies(
  { info, servers, components, security, documentTags }: ResolvedOpenApiOptions,
): Pick<
  ResolvedOpenApiOptions,
  "info" | "servers" | "components" | "security" | "documentTags"
> {
  return structuredClone({ info, servers, components, security, documentTags });
}
