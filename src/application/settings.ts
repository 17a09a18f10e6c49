/**
 * The settings of an application, which its builder methods replace until it serves.
 *
 * @module
 */
import { DEFAULT_BODY_LIMIT } from "../core/http/body.ts";
import type { AssemblyOptions } from "../core/module/assembly.ts";
import type { PipelineDeclaration } from "../core/route/pipeline.ts";
import { claimedRoles, type RolesReader } from "../oauth2/identity.ts";
import { type ResolvedOpenApiOptions, resolveOptions } from "../openapi/options.ts";

/** The settings of an application: one immutable value. */
export interface Settings extends Omit<AssemblyOptions, "host"> {
  /** Reads the roles of a caller from the claims of a token. */
  readonly roles: RolesReader;
  /** The options of the OpenAPI document. */
  readonly openApi: ResolvedOpenApiOptions;
}

/** The settings of an application that configures nothing. */
export const INITIAL_SETTINGS: Settings = {
  globalPrefix: "",
  defaultVersion: undefined,
  plugins: [],
  global: {},
  requiresIdentity: false,
  bodyLimit: DEFAULT_BODY_LIMIT,
  production: false,
  roles: claimedRoles,
  openApi: resolveOptions(),
};

/** Returns declarations of all routes with more of them at the end. */
export function withGlobal(
  before: PipelineDeclaration,
  { guards = [], interceptors = [], filters = [] }: PipelineDeclaration,
): PipelineDeclaration {
  return {
    guards: [...before.guards ?? [], ...guards],
    interceptors: [...before.interceptors ?? [], ...interceptors],
    filters: [...before.filters ?? [], ...filters],
  };
}
