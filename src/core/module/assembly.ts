/**
 * Assembling: mounts plugins and the routes of a booted module tree on one router.
 *
 * @module
 */
import type { Handler, Hono } from "hono";
import type { Kernel } from "./boot.ts";
import { installAll } from "./install_plugins.ts";
import { onlyEndpoints, type Plugin, type PluginHost } from "./plugin.ts";
import { hooked } from "./request_hooks.ts";
import { bodyLimitError, limitBody } from "../http/body_limit.ts";
import type { Context } from "../http/context.ts";
import { deprecated } from "../http/deprecation.ts";
import { HttpException } from "../http/http_exception.ts";
import { markOf, type VersionReader } from "../http/matched_route.ts";
import { dropBody, withoutBody } from "../http/sendable.ts";
import { inputOf } from "../route/declared_input.ts";
import { applyFilters, type PipelineDeclaration, resolvePipeline } from "../route/pipeline.ts";
import { problemResponse } from "../http/problem.ts";
import { TOO_DEEP } from "../http/raw_path.ts";
import { answerDirectly } from "../route/direct/direct_fetch.ts";
import { createDirectRoute, type DirectRoute } from "../route/direct/direct_route.ts";
import { contextMaker } from "../route/direct/incoming.ts";
import { createRouteHandler } from "../route/route_handler.ts";
import {
  type GlobalProtection,
  identityGuards,
  identityNeededBy,
} from "../route/route_protection.ts";
import {
  type BoundRoute,
  nameOf,
  type PlacedRoute,
  type Prefixes,
  versionsAmong,
} from "../route/route_table.ts";
import { createRouter, MAX_SEGMENTS } from "../route/path_router.ts";
import { mount } from "../route/router.ts";
import type { Versioning } from "../route/version.ts";
import { loadFastPaths } from "../schema/compiled/fast_path.ts";
import { isDevelopment } from "../../platform/env.ts";
import { lazyFunction } from "../../platform/lazy.ts";
import { requestTracker } from "../../platform/request_scope.ts";

/** How an application is assembled. */
export interface AssemblyOptions extends Prefixes {
  /** The application, as its plugins know it. */
  readonly host: PluginHost;
  /** The routes at their full paths. */
  readonly routes: readonly PlacedRoute[];
  /** Middleware and endpoints. */
  readonly plugins: readonly Plugin[];
  /**
   * Guards, interceptors and filters of all routes; the filters see errors of middleware as well.
   */
  readonly global: PipelineDeclaration;
  /** Whether every route that is not public needs an identity. */
  readonly requiresIdentity: boolean;
  /** The largest body in bytes of routes without a `bodyLimit`. */
  readonly bodyLimit: number;
  /** Whether all 5xx bodies omit the details of errors. */
  readonly production: boolean;
}

/**
 * Assembles the router of an application.
 *
 * @throws {TypeError} if a route is at the path of an endpoint, or needs an identity that nothing
 * sets
 */
export async function assemble(
  kernel: Omit<Kernel, "routes">,
  options: AssemblyOptions,
): Promise<Hono> {
  const { routes: placed } = options;
  const versions = versionsAmong(placed);
  const reader = await readerOf(versions, options.versioning);
  const global = await resolvePipeline(options.global, kernel.create);
  await loadFastPaths(placed.flatMap(({ bound: { route: { options } } }) => {
    const { params, query, headers, body } = inputOf(options);
    return [params, query, headers, body, options.response];
  }));
  await kernel.start();
  kernel.checkOverrides();
  const router = createRouter();
  const shown = { ...options, development: isDevelopment() };

  async function answerError(thrown: unknown, c: Context): Promise<Response> {
    const response = await answerFiltered(thrown, c);
    return c.req.method === "HEAD" ? withoutBody(response) : response;
  }
  async function answerFiltered(thrown: unknown, c: Context): Promise<Response> {
    try {
      return await applyFilters(global.filters, bodyLimitError(c) ?? thrown, c);
    } catch (error) {
      // a filter may have read the body, whose error depends on the runtime
      const cause = error instanceof HttpException ? error : bodyLimitError(c) ?? error;
      return lastResort(() => problemResponse(cause, c, shown), c);
    }
  }
  async function answerNotFound(c: Context): Promise<Response> {
    try { // inside middleware, which would not see what it throws
      const { answerUnmatched } = await import("../route/unmatched.ts");
      return answerUnmatched(router, c, { ...options, versions });
    } catch (error) {
      return c.res = await answerError(error, c);
    }
  }
  router.onError(answerError).notFound(answerNotFound);

  const isBare = options.plugins.every((plugin) => onlyEndpoints in plugin);
  const first = hooked({
    before: (c) => limitBody(c, options.bodyLimit, { isEarly: true }),
    after(c, _state, failure) {
      if (!failure && c.req.method === "HEAD") dropBody(c.res);
    },
  });
  await installAll(options.plugins, {
    router,
    host: options.host,
    first: isBare ? [] : [first], // middleware can read the body
  });
  router.all(TOO_DEEP, () => {
    throw new HttpException(414, `The path has more than ${MAX_SEGMENTS} segments`);
  });
  const endpoints = router.routes.filter(({ handler }) => markOf(handler)).map(slotOf);
  const twice = endpoints.find((slot, i) => endpoints.indexOf(slot) !== i);
  if (twice) throw new TypeError(`Cannot mount an endpoint: ${twice} is mounted twice`);
  // What sets the identity of `Principal` and `OAuth2Principal`; other middleware can only set
  // `callerIdentity`. `useRoles` shares a slot with `useAuthn`; it was refused without `useOAuth2`.
  const authenticates = options.plugins.some(({ slot }) => slot === "oauth2" || slot === "authn");
  const contextOf = contextMaker(answerNotFound);
  const hasGlobalFilters = global.filters.length > 0;
  const direct = new Map<Handler, DirectRoute>();
  const conditionalRoute = placed.some(({ bound }) => bound.route.options.etag)
    ? (await import("../route/conditional_request.ts")).conditionalRoute
    : undefined;
  const answerOnce = placed.some(({ bound }) => bound.route.options.idempotent)
    ? (await import("./idempotent_routes.ts")).idempotentRoutes(kernel.instances())
    : undefined;
  const protection = { ...options, guards: options.global.guards ?? [] };
  for (const each of placed) {
    const { method, path, bound } = each;
    if (endpoints.includes(slotOf(each))) {
      throw new TypeError(
        `Cannot mount ${nameOf(bound)}: ${method} ${path} is an endpoint already`,
      );
    }
    if (!authenticates) checkIdentity(bound, protection);
    const { bodyLimit, openapi } = bound.route.options;
    const deprecation = openapi?.deprecated;
    const version = reader && each.versions.length > 0
      ? { ...reader, known: each.versions }
      : undefined;
    const middleware = [
      ...version?.typed ? [version.typed] : [],
      ...deprecation ? [deprecated(deprecation === true ? {} : deprecation)] : [],
    ];
    const conditional = conditionalRoute?.(bound.route);
    const once = answerOnce?.(bound);
    const handlerOptions = { path, bodyLimit: options.bodyLimit, conditional, once };
    const { guards, interceptors, filters } = bound.pipeline;
    const pipeline = () => ({
      guards: [...global.guards, ...guards, ...identityGuards(bound, protection)],
      interceptors: [...global.interceptors, ...interceptors],
      filters,
    });
    const handler = lazyFunction(() => createRouteHandler(bound.route, pipeline(), handlerOptions));
    mount(router, { method, path, bodyLimit, handler, version, middleware });
    if (isBare && !version) {
      const directOptions = { ...handlerOptions, contextOf, answerError, hasGlobalFilters };
      direct.set(
        handler,
        lazyFunction(() => createDirectRoute(bound.route, pipeline(), directOptions)),
      );
    }
  }
  answerDirectly(router, direct);
  const track = requestTracker();
  if (track) {
    const { fetch } = router;
    router.fetch = (...request) => track(() => fetch(...request));
  }
  return router;
}

/** Answers for an exception that cannot be sent, such as one with invalid headers. */
function lastResort(answer: () => Response, c: Context): Response {
  try {
    return answer();
  } catch (cause) {
    return problemResponse(
      new Error("Cannot send an error: its response is invalid", { cause }),
      c,
    );
  }
}

/** Refuses a route that needs an identity if nothing sets one. */
function checkIdentity(bound: BoundRoute, global: GlobalProtection): void {
  const name = identityNeededBy(bound, global);
  if (name === undefined) return;
  throw new TypeError(
    `Cannot mount ${nameOf(bound)}: ${name} requires an identity, but no authentication is ` +
      "installed; call app.useOAuth2() or app.useAuthn()",
  );
}

/** Loads what reads the version of a request, unless it is part of the path. */
async function readerOf(
  known: readonly string[],
  versioning: Versioning | undefined,
): Promise<VersionReader | undefined> {
  if (versioning === undefined || versioning.kind === "URI") return undefined;
  const { versionReader } = await import("../route/version_reader.ts");
  return versionReader(known, versioning);
}

function slotOf({ method, path }: { readonly method: string; readonly path: string }): string {
  return `${method} ${path}`;
}
