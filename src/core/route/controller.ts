/**
 * Controllers: classes whose fields are routes.
 *
 * @module
 */
import type { PipelineDeclaration } from "./pipeline.ts";
import type { Class } from "../../platform/class.ts";
import { checkNames, type Refuse, refusing } from "../../platform/option_names.ts";
import { checkPermissions, checkPipeline } from "./declared_options.ts";
import { Route, route, type RouteDeclarations } from "./route.ts";
import { checkVersion, type DeclaredVersion } from "./version.ts";

/** Options for all routes of a controller; see {@linkcode controller}. */
export interface ControllerOptions<
  Version extends DeclaredVersion | undefined = DeclaredVersion | undefined,
> extends PipelineDeclaration {
  /**
   * The version of its routes, or several, such as `v1`. The application enables a kind of
   * versioning: `enableUriVersioning`, `enableHeaderVersioning` or `enableMediaTypeVersioning`.
   */
  readonly version?: Version;
  /** The OpenAPI tag of its operations; default the first segment of their paths. */
  readonly tag?: string | undefined;
  /** Roles, of which a caller needs one, for its routes without `roles`. */
  readonly roles?: readonly string[];
  /** Scopes, of which a caller needs all, for its routes without `scopes`. */
  readonly scopes?: readonly string[];
  /** Whether its routes without `public` are public; default `false`. */
  readonly public?: boolean | undefined;
}

const OPTIONS = [
  "version",
  "tag",
  "guards",
  "interceptors",
  "filters",
  "roles",
  "scopes",
  "public",
] as const;

/** The declaration of a controller. */
export interface ControllerDeclaration<
  Prefix extends string = string,
  Version extends DeclaredVersion | undefined = DeclaredVersion | undefined,
> extends ControllerOptions<Version> {
  /** The name of the class. */
  readonly name: string;
  /** The path before the paths of its routes. */
  readonly prefix: Prefix;
}

/** The key of the static member that a class inherits from {@linkcode controller}. */
export const extendsController: unique symbol = Symbol("fw.extendsController");

/**
 * A class that extends {@linkcode controller}; an entry of a module's `controllers`. Static members
 * with the names of its options are refused, as they would have no effect.
 */
export interface ControllerClass<
  Instance extends object = object,
  Prefix extends string = string,
  Version extends DeclaredVersion | undefined = DeclaredVersion | undefined,
> extends
  Class<Instance>,
  Readonly<
    Partial<
      Record<
        | "prefix"
        | "version"
        | "tag"
        | "guards"
        | "guard"
        | "interceptors"
        | "interceptor"
        | "filters"
        | "filter"
        | "roles"
        | "role"
        | "scopes"
        | "scope"
        | "public",
        never
      >
    >
  > {
  /** The arguments of `controller()`. */
  readonly [extendsController]: Omit<ControllerDeclaration<Prefix, Version>, "name">;
}

/** The base class of a controller, returned by {@linkcode controller}. */
export class Controller<Prefix extends string = string> {
  /**
   * Declares routes like {@linkcode route}, and also types the parameters of the
   * controller's prefix.
   */
  protected get route(): RouteDeclarations<`${Prefix}/`> {
    return route as RouteDeclarations<`${Prefix}/`>; // only the types use the prefix
  }
}

/**
 * Returns the base class of a controller, with a prefix and options for all its routes. Subclasses
 * of the controller inherit them.
 *
 * @example
 * ```ts
 * import { controller, route } from "@fw/fw";
 *
 * export class CatsController extends controller("cats", { tag: "animals" }) {
 *   list = route.get("/", () => ["Tom"]);
 * }
 *
 * // `this.route` types the parameters of the prefix
 * export class KittensController extends controller("cats/:name/kittens") {
 *   list = this.route.get("/", ({ params }) => [`A kitten of ${params.name}`]);
 * }
 * ```
 *
 * @throws {TypeError} if an option is unknown, the version is invalid, `roles`, `scopes` or
 * `guards` is undefined, `roles` or `scopes` is empty, not an array of names, or beside `public`,
 * or if `guards`, `interceptors` or `filters` is not an array
 */
export function controller<
  const Prefix extends string = "",
  const Version extends DeclaredVersion | undefined = undefined,
>(
  prefix?: Prefix,
  options: ControllerOptions<Version> = {},
): ControllerClass<Controller<Prefix>, Prefix, Version> {
  const refuse: Refuse = refusing(`declare controller(${JSON.stringify(prefix ?? "")})`);
  if (prefix !== undefined && typeof prefix !== "string") refuse("the prefix is not a string");
  checkNames(options, { known: OPTIONS, refuse });
  checkPermissions(options, refuse);
  checkPipeline(options, refuse);
  try {
    if (options.version !== undefined) checkVersion(options.version);
  } catch (error) {
    refuse((error as Error).message);
  }
  // inherited options, such as those of a class, count as well
  const declared = Object.fromEntries(OPTIONS.map((name) => [name, options[name]]));
  // without the argument, `Prefix` is the empty string
  const declaration = Object.freeze({ ...declared, prefix: prefix ?? "" as Prefix });
  return class extends Controller<Prefix> {
    static readonly [extendsController] = declaration;
  };
}

/**
 * Returns the declaration of a controller.
 *
 * @throws {TypeError} if the class does not extend {@linkcode controller}, or has a static member
 * that should be an option of it
 */
export function declarationOf(type: ControllerClass): ControllerDeclaration {
  if (typeof type !== "function") {
    throw new TypeError(`Cannot boot a controller: it is ${typeof type}, not a class`);
  }
  const name = type.name || "(anonymous class)";
  for (const option of ["prefix", ...OPTIONS]) {
    const found = [option, option.replace(/s$/, "")].find((member) => member in type);
    if (found) throw misplaced(name, { found: `static ${found}`, option });
  }
  const declaration = type[extendsController];
  if (!declaration) {
    throw new TypeError(
      `Cannot boot ${name}: it does not extend controller(); write class ${name} extends controller("...")`,
    );
  }
  return { ...declaration, name };
}

/**
 * Lists the routes of a controller in the order of its fields, with the fields' names.
 *
 * @throws {TypeError} if there is no route, or a field that should be an option of
 * {@linkcode controller}
 */
export function routesOf(
  controller: object,
  { name }: ControllerDeclaration,
): readonly (readonly [name: string, route: Route])[] {
  const fields = Object.entries(controller);
  const routes = fields.filter((entry): entry is [string, Route] => entry[1] instanceof Route);
  const option = ["prefix", ...OPTIONS].find((option) =>
    fields.some(([name, value]) => name === option && !(value instanceof Route))
  );
  if (option) throw misplaced(name, { found: `field ${option}`, option });
  if (routes.length === 0) {
    throw new TypeError(`Cannot boot ${name}: none of its fields is a route`);
  }
  return routes;
}

function misplaced(
  name: string,
  { found, option }: { readonly found: string; readonly option: string },
): TypeError {
  const args = option === "prefix" ? '"..."' : `"...", { ${option} }`;
  return new TypeError(
    `Cannot boot ${name}: its ${found} has no effect; write class ${name} extends controller(${args})`,
  );
}
