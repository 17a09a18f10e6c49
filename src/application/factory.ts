/**
 * Creating applications.
 *
 * @module
 */
import { FwApplication } from "./application.ts";
import { boot } from "../core/module/boot.ts";
import type { Module } from "../core/module/module.ts";
import type { Provider } from "../core/module/provider.ts";

/** Options of {@linkcode FwFactory}. */
export interface FwFactoryOptions {
  /** Providers that take the place of every provider of their keys, as tests need. */
  readonly overrides?: readonly Provider[];
  /**
   * Whether the application is only looked at, by a tool or a test; `false` by default. A preview tells
   * its routes and its OpenAPI document as the application itself would, and runs nothing of it: no
   * provider, guard, interceptor or filter is made and no hook runs, so that it needs no database and
   * no identity provider. The modules are checked as ever, and controllers are constructed, as their
   * fields are the routes: `inject` gives them placeholders, whose every property and result is one
   * again, and so does `app.get`. Such an application does not serve. What a document would quote of a
   * provider, such as the URL of a security scheme, a preview does not know.
   *
   * @example
   * ```ts
   * import { controller, FwFactory, inject, module, provide, route } from "@fw/fw";
   *
   * const Database = provide("database", (): Promise<Map<string, string>> => {
   *   throw new Error("There is none here");
   * });
   * class CatsController extends controller("cats") {
   *   readonly #cats = inject(Database);
   *   one = route.get("/:name", ({ params }) => this.#cats.get(params.name));
   * }
   * const AppModule = module({ providers: [Database], controllers: [CatsController] });
   * const app = await FwFactory.create(AppModule, { preview: true });
   * console.assert(app.routes()[0]?.path === "/cats/:name");
   * console.assert("/cats/{name}" in (await app.openApi()).paths);
   * ```
   */
  readonly preview?: boolean;
}

/** Creates applications. */
export class FwFactory {
  /**
   * Creates an application from its root module: builds every provider and controller, and runs the
   * start hooks. When that fails, what was built is stopped again.
   *
   * @example
   * ```ts
   * import { controller, FwFactory, module, route } from "@fw/fw";
   *
   * class HelloController extends controller() {
   *   hello = route.get("/", (_, c) => c.text("Hello"));
   * }
   * const app = await FwFactory.create(module({ controllers: [HelloController] }));
   * const response = await app.request("/");
   * console.assert(await response.text() === "Hello");
   * ```
   *
   * @throws {TypeError} if a provider is missing, providers need each other in a circle, or two
   * routes are one; the message names the places
   */
  static async create(
    root: Module,
    { overrides = [], preview = false }: FwFactoryOptions = {},
  ): Promise<FwApplication> {
    const kernel = await boot(root, { overrides, preview });
    return new FwApplication(kernel);
  }
}
