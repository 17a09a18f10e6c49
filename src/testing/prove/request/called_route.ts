/**
 * Routes, each with a valid request.
 *
 * @module
 */
import fc from "fast-check";
import type { RouteInfo } from "../../../core/route/route_table.ts";
import { templatesOf } from "../../../openapi/operation/path_templates.ts";
import { draftsOf } from "./arbitrary_requests.ts";
import { textOf } from "./arbitrary_text.ts";
import { writeDraft } from "./planned_request.ts";
import type { SentRequest } from "./sent_request.ts";
import type { DescribedOperation, ServedDocument } from "./served_document.ts";
import type { Undocumented } from "../options.ts";

/** A route, with a valid request as far as its operation describes one. */
export interface CalledRoute extends RouteInfo {
  readonly operation: DescribedOperation | undefined;
  /** The request, without a caller. */
  readonly request: SentRequest;
}

/** Generates the same request each time, so that `prove.json` depends on the routes alone. */
const SEED = 0;

/** Finds the operation of a route, and makes a request to it. */
export function calledRoute(
  route: RouteInfo,
  { document, undocumented }: {
    readonly document: ServedDocument;
    readonly undocumented: Undocumented | undefined;
  },
): CalledRoute {
  const { method, template, path } = matchedBy(route);
  const operation = document.operations.find((each) =>
    each.method === method && each.template === template
  );
  if (!operation) return { ...route, operation, request: { method, path, headers: {} } };
  const resolve = (reference: string) => document.resolve(reference);
  const [draft] = fc.sample(draftsOf(operation, { resolve, undocumented }), {
    seed: SEED,
    numRuns: 1,
  });
  const request = writeDraft(operation, draft!); // there is one for each run
  return { ...route, operation, request };
}

/** Returns a method and a path that a route matches, and the template of the path. */
export function matchedBy(
  route: Pick<RouteInfo, "method" | "path">,
): { readonly method: string; readonly path: string; readonly template: string } {
  const { template = route.path, params = [] } = templatesOf(route.path).at(-1) ?? {};
  const values = new Map(params.map(({ name, pattern }) => [name, valueOf(pattern)]));
  return {
    method: route.method === "ALL" ? "GET" : route.method,
    path: template.replaceAll(/\{([^}]+)\}/g, (_, name: string) => values.get(name) ?? "1"),
    template,
  };
}

function valueOf(pattern: string | undefined): string {
  if (pattern === undefined) return "1";
  const [value = "1"] = fc.sample(textOf({ pattern: `^(?:${pattern})$` }), {
    seed: SEED,
    numRuns: 1,
  });
  return encodeURIComponent(value);
}
