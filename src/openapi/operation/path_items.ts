/**
 * The paths of a document, and the operations of each.
 *
 * @module
 */
import { nameOf, type PlacedRoute } from "../../core/route/route_table.ts";
import type { OperationObject, PathItemObject } from "../openapi_document.ts";
import { methodsOf, type OperationContext, operationOf } from "./operation.ts";
import { templateShape, templatesOf } from "./path_templates.ts";

/** Paths, and what they leave out. */
export interface PathItems {
  /** The operations, by path template and method. */
  readonly paths: Readonly<Record<string, PathItemObject>>;
  /** What is left out, each in one sentence. */
  readonly warnings: readonly string[];
}

/**
 * Describes routes, of which the more specific come first; the hidden ones are left out.
 *
 * @throws {TypeError} if two operations have one id, or a path and its `params` do not have the same
 * parameters; naming the route
 */
export function pathItemsOf(
  routes: readonly PlacedRoute[],
  context: OperationContext,
): PathItems {
  const paths: Record<string, Record<string, OperationObject>> = {};
  const known = new Map<string, string>(); // templates by their shapes
  const owners = new Map<string, PlacedRoute>();
  const warnings: string[] = [];
  const hidden = new Set<string>();
  for (const placed of routes) {
    for (const template of templatesOf(placed.path)) {
      const shape = templateShape(template.template);
      const slot = template.params.at(-1)?.isWildcard ? `${shape}/*` : shape; // one takes a segment, the other all
      if (placed.bound.route.options.openapi?.hidden) {
        const isAll = template.params.every(({ pattern }) => pattern === undefined); // others pass it
        for (const method of isAll ? methodsOf(placed) : []) hidden.add(`${method} ${slot}`);
        continue;
      }
      const path = known.get(shape) ?? template.template;
      known.set(shape, path);
      const item = paths[path] ?? {};
      for (const method of methodsOf(placed)) {
        const isDeclared = placed.method !== "ALL" && template.without === undefined;
        if (!isDeclared && hidden.has(`${method} ${slot}`)) continue; // that one answers
        if (item[method]) {
          if (isDeclared) warnings.push(sameToOpenApi(placed, path));
          continue;
        }
        const operation = operationOf(placed, { method, template }, context);
        checkId(operation.operationId, placed, owners);
        item[method] = renamed(operation, template.template, path);
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

/** Two routes that differ only by the constraints of their parameters are one operation to OpenAPI. */
function sameToOpenApi({ method, path, bound }: PlacedRoute, other: string): string {
  return `${nameOf(bound)} (${method} ${path}) is left out: to OpenAPI it is another ${other}`;
}

/** Gives the parameters of an operation the names that they have in the first template of its shape. */
function renamed(operation: OperationObject, own: string, template: string): OperationObject {
  if (own === template) return operation;
  const [from, to] = [own, template].map((each) =>
    [...each.matchAll(/\{([^}]*)\}/g)].map(([, name = ""]) => name)
  );
  const parameters = operation.parameters?.map((parameter) =>
    parameter.in === "path"
      ? { ...parameter, name: to?.[from?.indexOf(parameter.name) ?? -1] ?? parameter.name }
      : parameter
  );
  return { ...operation, ...parameters && { parameters } };
}
