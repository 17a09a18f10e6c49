/**
 * The options of the OpenAPI document of an application, and of serving it.
 *
 * @module
 */
import { composePath } from "../core/route/path.ts";
import { checkNames } from "../platform/option_names.ts";
import { isValibot } from "../core/schema/libraries/valibot.ts";
import { type AnySchema, isStandardSchema } from "../core/schema/validation.ts";
import type { DocsSignIn, DocsUi } from "./docs/docs_page_options.ts";
import type {
  ComponentsObject,
  InfoObject,
  SecurityRequirementObject,
  ServerObject,
  TagObject,
} from "./openapi_document.ts";

/** Options of `app.enableOpenApi()`; all are optional. */
export interface OpenApiOptions {
  /** The name of the API; `fw API` by default. */
  readonly title?: string | undefined;
  /**
   * The version of the API; by default that of the project: of the nearest `deno.json`,
   * `deno.jsonc` or `package.json`, where it can be read without a prompt for a
   * permission, else `0.0.0`.
   */
  readonly version?: string | undefined;
  /** More about the API: its description, license, contact. */
  readonly info?: Omit<InfoObject, "title" | "version"> | undefined;
  /** The path of the document, without global prefix and version; `/openapi.json` by default. */
  readonly jsonPath?: string | undefined;
  /**
   * The path of its page, without global prefix and version; `/docs` by default,
   * `false` for no page.
   */
  readonly docsPath?: string | false | undefined;
  /**
   * The start of all paths, which is not used for tags; by default the global prefix and the
   * default version.
   */
  readonly apiPrefix?: string | undefined;
  /**
   * Returns the ids of operations whose routes do not set one; by default `handler`, which is
   * `Module.Controller.handler`.
   */
  readonly operationId?:
    | ((
      route: { readonly method: string; readonly path: string; readonly handler: string },
    ) => string)
    | undefined;
  /** The servers of the API; by default the one that serves the document. */
  readonly servers?: readonly ServerObject[] | undefined;
  /** The descriptions of tags, in the order of the page. */
  readonly documentTags?: readonly TagObject[] | undefined;
  /** Components written by hand, which take precedence over generated ones of the same name. */
  readonly components?: ComponentsObject | undefined;
  /**
   * The error responses of the application, where a global filter makes them; problem
   * documents by default.
   */
  readonly problem?: OpenApiProblem | undefined;
  /** The security requirements of operations whose routes do not set their own. */
  readonly security?: readonly SecurityRequirementObject[] | undefined;
  /**
   * Whether operations require `rolesSecurityScheme` where their routes require a role, scopes or
   * an identity: by `roles`, `scopes`, which are listed, `OAuth2Guard`, `OAuth2Principal` or
   * `useOAuth2(verifier, { require: true })`; `false` by default.
   */
  readonly inferRouteSecurityFromRoles?: boolean | undefined;
  /** The name of that scheme in `components.securitySchemes`; `bearerAuth` by default. */
  readonly rolesSecurityScheme?: string | undefined;
  /** The user interface of the page; `swagger-ui` by default. */
  readonly docsUi?: DocsUi | undefined;
  /**
   * The URL of a folder with the files of the user interface, in place of the CDN: those of the npm
   * package `swagger-ui-dist`, or of `dist/browser` in `@scalar/api-reference`.
   */
  readonly assets?: string | undefined;
  /** The OAuth2 client with which users sign in on the page. */
  readonly docsSignIn?: DocsSignIn | undefined;
}

/** The bodies of an application's error responses, in place of problem documents (RFC 9457). */
export interface OpenApiProblem {
  /**
   * Their schema, of a library that offers JSON Schema; or its name: that of a `dto()` which a
   * route uses, or one in `components.schemas`.
   */
  readonly schema: AnySchema | string;
  /** Their media type; `application/json` by default. */
  readonly contentType?: string | undefined;
}

/** Options with their defaults. */
export type ResolvedOpenApiOptions =
  & OpenApiOptions
  & { readonly [K in Defaulted]: NonNullable<OpenApiOptions[K]> };

const OPTIONS: readonly (keyof OpenApiOptions)[] = [
  "title",
  "version",
  "info",
  "jsonPath",
  "docsPath",
  "apiPrefix",
  "operationId",
  "servers",
  "documentTags",
  "components",
  "problem",
  "security",
  "inferRouteSecurityFromRoles",
  "rolesSecurityScheme",
  "docsUi",
  "assets",
  "docsSignIn",
];

/** The options with a default. */
type Defaulted =
  | "title"
  | "jsonPath"
  | "docsPath"
  | "docsUi"
  | "inferRouteSecurityFromRoles"
  | "rolesSecurityScheme";

/**
 * Validates options and adds the defaults.
 *
 * @throws {TypeError} if an option is unknown, if a path is invalid or has parameters, if the paths
 * are equal, if a required security scheme is not declared, or if the schema of problems offers no
 * JSON Schema
 */
export function resolveOptions(options: OpenApiOptions = {}): ResolvedOpenApiOptions {
  checkNames(options, { known: OPTIONS, refuse });
  const {
    title = "fw API",
    jsonPath = "/openapi.json",
    docsPath = "/docs",
    docsUi = "swagger-ui",
    inferRouteSecurityFromRoles = false,
    rolesSecurityScheme = "bearerAuth",
  } = options;
  const resolved: ResolvedOpenApiOptions = {
    ...options,
    title,
    docsUi,
    inferRouteSecurityFromRoles,
    rolesSecurityScheme,
    jsonPath: endpointPath(jsonPath),
    docsPath: docsPath !== false && endpointPath(docsPath),
  };
  if (resolved.jsonPath === resolved.docsPath) refuse(`jsonPath and docsPath are both ${docsPath}`);
  if (docsUi !== "swagger-ui" && docsUi !== "scalar") refuse(`docsUi ${docsUi} is unknown`);
  if (options.docsSignIn?.clientId === "") refuse("docsSignIn has no clientId");
  if (options.problem) checkProblem(options.problem);
  const schemes = options.components?.securitySchemes ?? {};
  for (
    const scheme of (options.security ?? []).flatMap((requirement) => Object.keys(requirement))
  ) {
    if (!Object.hasOwn(schemes, scheme)) {
      refuse(`security needs ${scheme}, which components.securitySchemes does not declare`);
    }
  }
  return resolved;
}

/** A media type (RFC 9110 §8.3.1), with or without parameters. */
const MEDIA_TYPE = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?:;[^\r\n]*)?$/;

function checkProblem({ schema, contentType = "application/json" }: OpenApiProblem): void {
  if (!MEDIA_TYPE.test(contentType)) {
    refuse(`problem.contentType ${JSON.stringify(contentType)} is not a media type`);
  }
  if (typeof schema === "string") return; // it is looked up when the document is created
  if (!isStandardSchema(schema)) refuse("problem.schema is neither a schema nor the name of one");
  const { "~standard": standard } = schema;
  if (!isValibot(schema) && !("jsonSchema" in standard)) {
    refuse(`problem.schema is of ${standard.vendor}, which offers no JSON Schema`);
  }
}

function endpointPath(path: string): string {
  const composed = composePath({ routePath: path });
  if (/[:*{]/.test(composed)) refuse(`the path ${path} has parameters`);
  return composed;
}

function refuse(why: string): never {
  throw new TypeError(`Cannot enable OpenAPI: ${why}`);
}
