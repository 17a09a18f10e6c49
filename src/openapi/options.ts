/**
 * What an application settles of its OpenAPI document, and of how it is served.
 *
 * @module
 */
import { composePath } from "../core/route/path.ts";
import type { DocsSignIn, DocsUi } from "./docs/docs_page_options.ts";
import type {
  ComponentsObject,
  InfoObject,
  SecurityRequirementObject,
  ServerObject,
  TagObject,
} from "./openapi_document.ts";

/** Options of `app.enableOpenApi()`. Everything is optional. */
export interface OpenApiOptions {
  /** The name of the API; `fw API` by default. */
  readonly title?: string | undefined;
  /** The version of the API; `0.0.0` by default. */
  readonly version?: string | undefined;
  /** What else is said of the API: its description, license, contact. */
  readonly info?: Omit<InfoObject, "title" | "version"> | undefined;
  /** Where the document is served, outside global prefix and version; `/openapi.json` by default. */
  readonly jsonPath?: string | undefined;
  /** Where its page is served, outside global prefix and version; `/docs` by default, `false` for none. */
  readonly docsPath?: string | false | undefined;
  /**
   * The part of all paths that says nothing of what an operation belongs to, and so is no tag; by
   * default the global prefix, and the default version.
   */
  readonly apiPrefix?: string | undefined;
  /**
   * Names the operations of routes that do not name theirs: by default `handler`, which is
   * `Module.Controller.handler`.
   */
  readonly operationId?:
    | ((
      route: { readonly method: string; readonly path: string; readonly handler: string },
    ) => string)
    | undefined;
  /** Where the API is served; by default where the document is. */
  readonly servers?: readonly ServerObject[] | undefined;
  /** What is said of tags, in the order in which the page shows them. */
  readonly documentTags?: readonly TagObject[] | undefined;
  /** Components by hand, which go before generated ones of their names. */
  readonly components?: ComponentsObject | undefined;
  /** What every operation needs that does not say otherwise. */
  readonly security?: readonly SecurityRequirementObject[] | undefined;
  /**
   * Whether operations need `rolesSecurityScheme` where their routes need a role or an identity: by
   * `roles`, `OAuth2Guard`, `OAuth2Principal` or `useOAuth2(verifier, { require: true })`; `false` by
   * default.
   */
  readonly inferRouteSecurityFromRoles?: boolean | undefined;
  /** The name of that scheme in `components.securitySchemes`; `bearerAuth` by default. */
  readonly rolesSecurityScheme?: string | undefined;
  /** The user interface of the page; `swagger-ui` by default. */
  readonly docsUi?: DocsUi | undefined;
  /**
   * The URL of a folder with the user interface's files, in place of the CDN's: those of the npm package
   * `swagger-ui-dist`, or of `dist/browser` in `@scalar/api-reference`.
   */
  readonly assets?: string | undefined;
  /** The OAuth2 client by which users sign in on the page. */
  readonly docsSignIn?: DocsSignIn | undefined;
}

/** Options with their defaults. */
export type ResolvedOpenApiOptions =
  & OpenApiOptions
  & { readonly [K in Defaulted]: NonNullable<OpenApiOptions[K]> };

/** The options that have one. */
type Defaulted =
  | "title"
  | "version"
  | "jsonPath"
  | "docsPath"
  | "docsUi"
  | "inferRouteSecurityFromRoles"
  | "rolesSecurityScheme";

/**
 * Fills in the defaults.
 *
 * @throws {TypeError} if a path is none or has parameters, if the paths are one, or if a security scheme
 * is required that is not declared
 */
export function resolveOptions(options: OpenApiOptions = {}): ResolvedOpenApiOptions {
  const {
    title = "fw API",
    version = "0.0.0",
    jsonPath = "/openapi.json",
    docsPath = "/docs",
    docsUi = "swagger-ui",
    inferRouteSecurityFromRoles = false,
    rolesSecurityScheme = "bearerAuth",
  } = options;
  const resolved: ResolvedOpenApiOptions = {
    ...options,
    title,
    version,
    docsUi,
    inferRouteSecurityFromRoles,
    rolesSecurityScheme,
    jsonPath: endpointPath(jsonPath),
    docsPath: docsPath !== false && endpointPath(docsPath),
  };
  if (resolved.jsonPath === resolved.docsPath) refuse(`jsonPath and docsPath are both ${docsPath}`);
  if (docsUi !== "swagger-ui" && docsUi !== "scalar") refuse(`docsUi ${docsUi} is not known`);
  if (options.docsSignIn?.clientId === "") refuse("docsSignIn has no clientId");
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

function endpointPath(path: string): string {
  const composed = composePath({ routePath: path });
  if (/[:*{]/.test(composed)) refuse(`the path ${path} has parameters`);
  return composed;
}

function refuse(why: string): never {
  throw new TypeError(`Cannot enable OpenAPI: ${why}`);
}
