/**
 * Controllers: plain classes whose fields are routes.
 *
 * @module
 */
import type { PipelineDeclaration } from "./pipeline.ts";
import type { Class } from "../../platform/class.ts";
import { Route } from "./route.ts";

/**
 * A controller: a class whose fields are routes. Its static fields place and protect them all.
 *
 * @example
 * ```ts
 * import { route } from "@fw/fw";
 *
 * export class CatsController {
 *   static readonly prefix = "cats";
 *   static readonly version = "v1";
 *
 *   list = route.get("/", () => ["Tom"]);
 * }
 * ```
 */
export interface ControllerClass extends Class<object>, PipelineDeclaration {
  /** The path before its routes' own, without the global prefix and version; default none. */
  readonly prefix?: string;
  /** A path segment between the global prefix and `prefix`, such as `v1`; default none. */
  readonly version?: string;
  /** The OpenAPI tag of its operations. */
  readonly tag?: string;
  /** Roles of which a caller needs one, on those of its routes that name none. */
  readonly roles?: readonly string[];
  /** Whether those of its routes that do not say so are public. */
  readonly public?: boolean;
}

/** What is static in a controller. */
const STATIC = [
  "prefix",
  "version",
  "tag",
  "guards",
  "interceptors",
  "filters",
  "roles",
  "public",
];

/**
 * Checks what would protect or place a controller if it were written right: a field that should be
 * static, or one in the singular.
 *
 * @throws {TypeError} naming the field
 */
export function checkController(type: ControllerClass, controller: object): void {
  const fields: Readonly<Record<string, unknown>> = { ...controller };
  const misplaced = STATIC.find((name) => name in fields && !(fields[name] instanceof Route));
  if (misplaced) throw new TypeError(`Cannot boot ${type.name}: ${misplaced} is not static`);
  if (type.roles?.length === 0) {
    throw new TypeError(`Cannot boot ${type.name}: roles is empty, so nobody could call it`);
  }
  const singular = STATIC.find((name) => name.endsWith("s") && name.slice(0, -1) in type);
  if (singular) {
    const field = singular.slice(0, -1);
    throw new TypeError(`Cannot boot ${type.name}: there is no ${field}, only ${singular}`);
  }
}

/** Lists the routes of a controller in the order of its fields, with the fields' names. */
export function routesOf(controller: object): readonly (readonly [name: string, route: Route])[] {
  return Object.entries(controller).filter((entry): entry is [string, Route] =>
    entry[1] instanceof Route
  );
}
