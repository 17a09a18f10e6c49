/**
 * Making the OpenAPI document of an application: of its routes, and of its options.
 *
 * @module
 */
import type { GlobalProtection } from "../core/route/route_protection.ts";
import type { PlacedRoute } from "../core/route/route_table.ts";
import { componentsOf } from "./components.ts";
import { createConvert } from "./json_schema/convert.ts";
import type { OpenApiDocument } from "./openapi_document.ts";
import type { ResolvedOpenApiOptions } from "./options.ts";
import { pathItemsOf } from "./operation/path_items.ts";
import { SchemaComponents } from "./json_schema/schema_components.ts";
import { SchemaNames } from "./json_schema/schema_names.ts";
import { usesOf, warningsOf } from "./json_schema/schema_uses.ts";
import { problemBodiesOf, problemUseOf } from "./operation/problem_responses.ts";
import { checkSchemes } from "./operation/security.ts";
import { textProperties, textWarningsOf } from "./operation/text_parameters.ts";
import { type DescribedVersions, routesOfVersion } from "./operation/versions.ts";

/** What is described. */
export interface DescribedApplication extends DescribedVersions {
  /** Its routes. */
  readonly routes: readonly PlacedRoute[];
  /** What protects all of them. */
  readonly global: GlobalProtection;
  /** Whether the number of requests is limited. */
  readonly isRateLimited: boolean;
  /** What stands before all paths, where the options do not say. */
  readonly apiPrefix: string;
  /** The version of the project, where the options do not say and it is known. */
  readonly version?: string | undefined;
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
 * have the same parameters, if two schemas have one name, if no route has the version, or if the security
 * scheme of the options is not declared
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
  const { servers = [{ url: "/" }], security = [] } = options; // what OpenAPI takes them for, unsaid
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

/** Copies what stands in the document as it is, so that whoever changes a document changes that one. */
function ownCopies(
  { info, servers, components, security, documentTags }: ResolvedOpenApiOptions,
): Pick<
  ResolvedOpenApiOptions,
  "info" | "servers" | "components" | "security" | "documentTags"
> {
  return structuredClone({ info, servers, components, security, documentTags });
}
