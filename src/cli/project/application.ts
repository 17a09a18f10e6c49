/**
 * The application of a project, inspected without running it.
 *
 * @module
 */
import { CliError } from "../terminal/cli_error.ts";
import type { Project } from "./project.ts";
import { type ProjectScript, runInProject } from "./script.ts";

/** The file of the application. */
export interface ApplicationOptions {
  /** The file that exports `AppModule` and `setUp`, from the project's folder. */
  readonly app: string;
}

const PROTECTIONS = ["open", "public", "guarded", "identity", "scopes", "roles"] as const;

/** A route, as `app.routes()` lists it. */
export interface ListedRoute {
  /** The method. */
  readonly method: string;
  /** The full path pattern. */
  readonly path: string;
  /** The versions that it answers. */
  readonly versions: readonly string[];
  /** The handler: `Module.Controller.handler`. */
  readonly handler: string;
  /** The protection. */
  readonly protection: (typeof PROTECTIONS)[number];
  /** The roles, of which a caller needs one. */
  readonly roles: readonly string[];
  /** The scopes, of which a caller needs all. */
  readonly scopes: readonly string[];
}

/**
 * Lists the routes of a project.
 *
 * @throws {CliError} if the application cannot be loaded, or lists its routes in another format
 */
export function routesOf(
  project: Project,
  options: ApplicationOptions,
): Promise<readonly ListedRoute[]> {
  return readRoutes(project, { ...options, body: ROUTES });
}

/**
 * Lists the routes of a project that boots, in production if `isProduction` is set.
 *
 * @throws {CliError} if the application cannot be loaded, with the error of its boot as far as a
 * preview has it, or if it lists its routes in another format
 */
export function bootedRoutesOf(
  project: Project,
  { isProduction, ...options }: ApplicationOptions & { readonly isProduction: boolean },
): Promise<readonly ListedRoute[]> {
  const env = isProduction ? PRODUCTION : {};
  return readRoutes(project, { ...options, body: CHECK + ROUTES, env });
}

const ROUTES = "  return app.routes();";
const CHECK = "  await app.safeguards?.({ observe: false });\n";

async function readRoutes(
  project: Project,
  inspection: Inspection,
): Promise<readonly ListedRoute[]> {
  const routes = await inspect(project, inspection);
  if (Array.isArray(routes) && routes.every(isListedRoute)) return routes;
  throw new CliError(`Cannot read the routes: ${project.framework} lists them in another format`);
}

/**
 * Returns the OpenAPI document of a project's routes as text.
 *
 * @throws {CliError} if the application cannot be loaded, or described
 */
export async function documentOf(
  project: Project,
  { isYaml, ...options }: ApplicationOptions & { readonly isYaml: boolean },
): Promise<string> {
  return String(await inspect(project, { ...options, body: isYaml ? AS_YAML : AS_JSON }));
}

const AS_JSON = `  return JSON.stringify(await app.openApi(), null, 2) + "\\n";`;
const AS_YAML = `  const { toYaml } = await import("@fw/fw/openapi");
  return await toYaml(await app.openApi());`;

/** The safe defaults of an application, as far as they are read from `app.safeguards()`. */
export interface ListedSafeguards {
  /** Whether tokens are verified. */
  readonly authenticates: boolean;
  /** Whether every route that is not public needs an identity. */
  readonly requiresIdentity: boolean;
  /** Whether every 5xx omits the details of errors. */
  readonly concealsErrors: boolean;
  /** The largest body in bytes of routes without a limit of their own. */
  readonly bodyLimit: number;
  /** The number of trusted proxies. */
  readonly trustedHops: number;
  /** The rate limits of all routes. */
  readonly rateLimits: readonly { readonly name: string; readonly isByAddress: boolean }[];
  /** The paths of the metrics and of the documentation that everybody can read. */
  readonly openEndpoints: readonly string[];
  /** The routes; `observed` is missing if middleware refuses requests without credentials. */
  readonly routes: readonly {
    readonly method: string;
    readonly path: string;
    /** Its own limit in bytes, if it declares one. */
    readonly bodyLimit?: number;
    /** Whether it receives files. */
    readonly isUpload: boolean;
    readonly observed?: {
      readonly missingHeaders: readonly string[];
      readonly hasTimeLimit: boolean;
      readonly hasRateLimit: boolean;
      readonly allowsAnyOrigin?: boolean;
    };
  }[];
}

/**
 * Observes the safe defaults of a project as they are in production, with `FW_ENV` set.
 *
 * @throws {CliError} if the application cannot be loaded, or its release reports no safeguards
 */
export async function safeguardsOf(
  project: Project,
  options: ApplicationOptions,
): Promise<ListedSafeguards> {
  const safeguards = await inspect(project, { ...options, body: SAFEGUARDS, env: PRODUCTION });
  if (safeguards) return safeguards as ListedSafeguards; // its release wrote it, as this one reads
  throw new CliError(`Cannot read the safeguards: ${project.framework} does not report them`);
}

const PRODUCTION = { FW_ENV: "production" };

/** Timers are 100 times as fast, so that a time limit of a minute is observed in 600 ms. */
const SAFEGUARDS = `  if (app.safeguards === undefined) return null;
  const wait = globalThis.setTimeout;
  globalThis.setTimeout = (run, ms = 0, ...args) => wait(run, ms / 100, ...args);
  return await app.safeguards();`;

/** The providers of the modules of an application. */
export interface ListedProviders {
  /** The names of the classes and keys that are provided. */
  readonly names: readonly string[];
  /** Whether a module has jobs. */
  readonly hasJobs: boolean;
}

/**
 * Lists the providers of the modules of a project.
 *
 * @throws {CliError} if the application cannot be loaded
 */
export async function providersOf(
  project: Project,
  { app }: ApplicationOptions,
): Promise<ListedProviders> {
  const body = `  const { Jobs } = await import("@fw/fw/jobs");
  const seen = new Set();
  const keys = [];
  async function visit(module) {
    if (seen.has(module)) return;
    seen.add(module);
    keys.push(...module.providers.map((provider) => provider.key ?? provider));
    for (const imported of module.imports) await visit(await imported);
  }
  await visit(await exported.AppModule);
  return { names: keys.map(({ name }) => name), hasJobs: keys.includes(Jobs) };`;
  const options = { file: app, name: "AppModule", option: "--app", body };
  return await runInProject(project, options) as ListedProviders; // the script wrote it
}

type Inspection = ApplicationOptions & Pick<ProjectScript, "body" | "env">;

/** Runs code with a preview of the project's `app`, which builds no provider. */
function inspect(
  project: Project,
  { app, body, env = {} }: Inspection,
): Promise<unknown> {
  const preview = `  const { FwFactory } = await import("@fw/fw");
  const app = await FwFactory.create(await exported.AppModule, { preview: true });
  await exported.setUp?.(app);
`;
  return runInProject(project, {
    file: app,
    name: "AppModule",
    option: "--app",
    body: preview + body,
    env,
  });
}

function isListedRoute(value: unknown): value is ListedRoute {
  const { method, path, versions, handler, protection, roles, scopes } = value as Partial<
    ListedRoute
  >;
  return [method, path, handler].every((text) => typeof text === "string") &&
    PROTECTIONS.some((name) => name === protection) &&
    [versions, roles, scopes].every(Array.isArray);
}
