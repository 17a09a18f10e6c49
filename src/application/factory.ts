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
  /** Providers that replace all providers of the same keys, for tests. */
  readonly overrides?: readonly Provider[];
  /**
   * Whether to create a preview, for tools and tests that only need the routes and the OpenAPI
   * document; `false` by default. A preview creates no provider, guard, interceptor or filter, runs
   * no hook, and does not serve, so it needs no database and no identity provider. It checks the
   * modules, and creates the controllers, whose fields are the routes. In them, `inject` returns
   * placeholders: every property and every result of a placeholder is a placeholder. So does
   * `app.get`. Values that a document takes from a provider, such as the URL of a security scheme,
   * are missing in that of a preview.
   *
   * @example
   * ```ts
   * import { controller, FwFactory, inject, module, provide, route } from "@fw/fw";
   *
   * const Database = provide("database", (): Promise<Map<string, string>> => {
   *   throw new Error("There is no database");
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
   * Creates an application from its root module: creates every provider and controller, and runs
   * the start hooks. If that fails, the stop hooks of the instances that exist are run.
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
   * @throws {TypeError} if a provider is missing, providers depend on each other in a circle, or
   * two routes have the same method and path; the message names them
   */
  static async create(
    root: Module,
    { overrides = [], preview = false }: FwFactoryOptions = {},
  ): Promise<FwApplication> {
    const kernel = await boot(root, { overrides, preview });
    return new FwApplication(kernel);
  }
}
