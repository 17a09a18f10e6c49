/**
 * Operations: the descriptions of routes.
 *
 * @module
 */
import { type BodyFormat, MEDIA_TYPES } from "../../core/http/body.ts";
import type { Deprecation } from "../../core/http/deprecation.ts";
import { type DeclaredInput, inputOf } from "../../core/route/declared_input.ts";
import { requiresIdentity } from "../../core/route/identity_marker.ts";
import {
  type GlobalProtection,
  guardsOf,
  protectionOf,
} from "../../core/route/route_protection.ts";
import type { PlacedRoute } from "../../core/route/route_table.ts";
import type { Versioning } from "../../core/route/version.ts";
import { type AnySchema, validateNow } from "../../core/schema/validation.ts";
import { descriptionOf, operationIdOf, summaryOf, tagOf } from "./operation_text.ts";
import type { OperationMethod, OperationObject, RequestBodyObject } from "../openapi_document.ts";
import type { SchemaComponents } from "../json_schema/schema_components.ts";
import type { ResolvedOpenApiOptions } from "../options.ts";
import { parametersOf } from "./parameters.ts";
import type { PathTemplate } from "./path_templates.ts";
import type { Properties } from "./properties.ts";
import { type ResponsesContext, responsesOf } from "./responses.ts";
import { securityOf } from "./security.ts";
import { versionedResponses, versionParameter } from "./versions.ts";

/** The values that all operations share. */
export interface OperationContext extends ResponsesContext {
  /** The options of the document. */
  readonly options: ResolvedOpenApiOptions;
  /** The start of all paths. */
  readonly apiPrefix: string;
  /** What protects all routes. */
  readonly global: GlobalProtection;
  /** Whether the number of requests is limited. */
  readonly isRateLimited: boolean;
  /** How requests name a version. */
  readonly versioning?: Versioning | undefined;
  /** Returns the properties of a schema of text values. */
  readonly properties: (schema: AnySchema) => Properties;
}

/** The place of an operation in the document. */
export interface OperationPlace {
  /** Its method. */
  readonly method: OperationMethod;
  /** Its path. */
  readonly template: PathTemplate;
}

/** The methods of a route of all methods that have a body; other routes take precedence. */
const ALL_METHODS: readonly OperationMethod[] = ["put", "post", "delete", "patch"];

/** Returns the methods of the operations of a route. */
export function methodsOf({ method, bound }: PlacedRoute): readonly OperationMethod[] {
  if (method !== "ALL") return [method.toLowerCase() as OperationMethod];
  return inputOf(bound.route.options).body ? ALL_METHODS : ["get", ...ALL_METHODS];
}

/** Describes a route at one of its paths, for one of its methods. */
export function operationOf(
  placed: PlacedRoute,
  { method, template }: OperationPlace,
  context: OperationContext,
): OperationObject {
  const { options, versioning, apiPrefix, global, isRateLimited } = context;
  const { schemas, problems, properties } = context;
  const { deprecated } = placed.bound.route.options.openapi ?? {};
  const description = descriptionOf(placed);
  const tag = tagOf(placed, { apiPrefix });
  const ofVersion = versionParameter(placed, versioning);
  const parameters = [
    ...parametersOf(placed, template, properties).filter(({ in: where, name }) =>
      where !== "header" || name !== ofVersion?.name.toLowerCase()
    ),
    ...ofVersion ? [ofVersion] : [],
  ];
  const hasBody = method !== "get" && method !== "head";
  const requestBody = hasBody
    ? requestBodyOf(inputOf(placed.bound.route.options), schemas)
    : undefined;
  const protection = protectionOf(placed.bound, global);
  const isVersioned = versioning?.kind !== "URI" && placed.versions.length > 0;
  const sources = {
    protection,
    isGuarded: guardsOf(placed.bound, global).some((guard) => !requiresIdentity(guard)),
    mayBeMissing: template.params.length > 0 || isVersioned,
    needsVersion: isVersioned && versioning?.defaultVersion === undefined,
    isRateLimited,
  };
  const security = securityOf(placed, protection, options);
  return {
    operationId: idAt(placed, { method, template }, context),
    summary: summaryOf(placed),
    ...description !== undefined && { description },
    ...tag !== undefined && { tags: [tag] },
    ...deprecated && { deprecated: true, ...sunsetOf(deprecated) },
    ...parameters.length > 0 && { parameters },
    ...requestBody && { requestBody },
    responses: versionedResponses(
      responsesOf(placed, method, { schemas, problems, sources }),
      placed,
      versioning,
    ),
    ...security && { security },
  };
}

/** Returns the id of one of the operations of a route, which differs from the others. */
function idAt(
  placed: PlacedRoute,
  { method, template }: OperationPlace,
  { options, versioning }: OperationContext,
): string {
  return [
    operationIdOf(placed, options),
    ...placed.method === "ALL" ? [method] : [],
    ...versioning?.kind === "URI" && isAtSeveralPaths(placed) ? placed.versions : [],
    ...template.without !== undefined ? [`without_${template.without}`] : [],
  ].join(".");
}

function sunsetOf(deprecated: true | Deprecation): Pick<OperationObject, "x-sunset"> {
  const { sunset } = deprecated === true ? {} : deprecated;
  if (sunset === undefined) return {};
  return { "x-sunset": typeof sunset === "string" ? sunset : sunset.toISOString() };
}

/**
 * Checks whether a route declares several versions, each of which has a path with URI versioning.
 */
function isAtSeveralPaths({ bound: { route, controller } }: PlacedRoute): boolean {
  return [route.options.version ?? controller.version ?? []].flat().length > 1;
}

/** Describes the request body of a route, in each of its formats. */
function requestBodyOf(
  { body, consumes = ["json"] }: DeclaredInput,
  schemas: SchemaComponents,
): RequestBodyObject | undefined {
  if (!body) return undefined;
  const schema = schemas.describe({ schema: body, direction: "input" }) ?? {};
  const { issues } = validateNow(body, undefined) ?? { issues: [] };
  const inFormat = (format: BodyFormat) => [MEDIA_TYPES[format], { schema }];
  return {
    required: issues !== undefined, // without one, the value is undefined
    content: Object.fromEntries(consumes.map(inFormat)),
  };
}
