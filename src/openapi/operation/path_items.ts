/**
 * The paths of a document, and the operations of each.
 *
 * @module
 */
import { nameOf, type PlacedRoute } from "../../core/route/route_table.ts";
import type { OperationObject, PathItemObject } from "../openapi_document.ts";
import { methodsOf, type OperationContext, operationOf } from "./operation.ts";
import { templateShape, templatesOf } from "./path_templates.ts";

/** Paths, with warnings. */
export interface PathItems {
  /** The operations, by path template and method. */
  readonly paths: Readonly<Record<string, PathItemObject>>;
  /** The routes that are left out, each in one sentence. */
  readonly warnings: readonly string[];
}

/**
 * Describes routes, more specific ones first; hidden ones are left out.
 *
 * @throws {TypeError} naming the route, if two operations have the same id, or a path and its
 * `params` do not have the same parameters
 */
export function pathItemsOf(
  routes: readonly PlacedRoute[],
  context: OperationContext,
): PathItems {
  const paths: Record<string, Record<string, OperationObject>> = {};
  const known = new Map<string, string>(); // templates by shape
  const owners = new Map<string, PlacedRoute>();
  const warnings: string[] = [];
  const hidden = new Set<string>();
  for (const placed of routes) {
    for (const template of templatesOf(placed.path)) {
      const shape = templateShape(template.template);
      // a parameter matches one segment, a wildcard all
      const slot = template.params.at(-1)?.isWildcard ? `${shape}/*` : shape;
      if (placed.bound.route.options.openapi?.hidden) {
        // with a pattern, some requests pass it
        const isAll = template.params.every(({ pattern }) => pattern === undefined);
        for (const method of isAll ? methodsOf(placed) : []) hidden.add(`${method} ${slot}`);
        continue;
      }
      const path = known.get(shape) ?? template.template;
      known.set(shape, path);
      const item = paths[path] ?? {};
      for (const method of methodsOf(placed)) {
        const isDeclared = placed.method !== "ALL" && template.without === undefined;
        if (!isDeclared && hidden.has(`${method} ${slot}`)) continue; // the hidden route answers
        if (item[method]) {
          if (isDeclared) warnings.push(sameToOpenApi(placed, path));
          continue;
        }
        const operation = operationOf(placed, { method, template }, context);
        checkId(operation.operationId, placed, owners);
        item[method] = renamed(operation, { from: template.template, to: path });
        paths[path] = item;
      }
    }
  }
  return { paths, warnings };
}

function checkId(id: string, placed: PlacedRoute, owners: Map<string, PlacedRoute>): void {
  const other = owners.get(id);
  if (other) {
    throw new TypeError(
      `Cannot describe ${placed.method} ${placed.path}: ${other.method} ${other.path} has the ` +
        `operationId ${id} already; name one of their modules, or set openapi.operationId`,
    );
  }
  owners.set(id, placed);
}

/**
 * In OpenAPI, two routes that differ only by the constraints of their parameters are one operation.
 */
function sameToOpenApi({ method, path, bound }: PlacedRoute, other: string): string {
  return `${nameOf(bound)} (${method} ${path}) is left out: in OpenAPI, its path equals ${other}`;
}

/** Renames the parameters of an operation as in the first template of its shape. */
function renamed(
  operation: OperationObject,
  { from, to }: { readonly from: string; readonly to: string },
): OperationObject {
  if (from === to) return operation;
  const [own, others] = [from, to].map((each) =>
    [...each.matchAll(/\{([^}]*)\}/g)].map(([, name = ""]) => name)
  );
  const parameters = operation.parameters?.map((parameter) =>
    parameter.in === "path"
      ? { ...parameter, name: others?.[own?.indexOf(parameter.name) ?? -1] ?? parameter.name }
      : parameter
  );
  return { ...operation, ...parameters && { parameters } };
}
