/**
 * The settings of an application, which its builder methods replace until it serves.
 *
 * @module
 */
import { DEFAULT_BODY_LIMIT } from "../core/http/body_limit.ts";
import type { AssemblyOptions } from "../core/module/assembly.ts";
import { addPlugin, type Plugin } from "../core/module/plugin.ts";
import type { PipelineDeclaration } from "../core/route/pipeline.ts";
import type { Versioning } from "../core/route/version.ts";
import { type ResolvedOpenApiOptions, resolveOptions } from "../openapi/options.ts";

/** The settings of an application: one immutable value. */
export interface Settings extends Omit<AssemblyOptions, "host" | "routes"> {
  /** The prefix before the paths of all controllers. */
  readonly globalPrefix: string;
  /** The options of the OpenAPI document. */
  readonly openApi: ResolvedOpenApiOptions;
}

/** The settings of an application that configures nothing. */
export const INITIAL_SETTINGS: Settings = {
  globalPrefix: "",
  versioning: undefined,
  plugins: [],
  global: {},
  requiresIdentity: false,
  bodyLimit: DEFAULT_BODY_LIMIT,
  production: false,
  openApi: resolveOptions(),
};

/**
 * Returns the change that adds plugins.
 *
 * @throws {TypeError} if a slot is unknown
 */
export function withPlugins(before: Settings, plugins: readonly Plugin[]): Partial<Settings> {
  return { plugins: plugins.reduce(addPlugin, before.plugins) };
}

/**
 * Returns the change that enables a kind of versioning.
 *
 * @throws {TypeError} if another kind is enabled
 */
export function withVersioning(before: Settings, versioning: Versioning): Partial<Settings> {
  const { kind } = before.versioning ?? versioning;
  if (kind === versioning.kind) return { versioning };
  throw new TypeError(`Cannot enable ${versioning.kind} versioning: ${kind} versioning is enabled`);
}

/**
 * Returns the change that adds guards, interceptors and filters of all routes, after those before.
 */
export function withGlobal(
  { global: before }: Settings,
  { guards = [], interceptors = [], filters = [] }: PipelineDeclaration,
): Partial<Settings> {
  return {
    global: {
      guards: [...before.guards ?? [], ...guards],
      interceptors: [...before.interceptors ?? [], ...interceptors],
      filters: [...before.filters ?? [], ...filters],
    },
  };
}
