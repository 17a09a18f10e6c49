/**
 * Creating applications.
 *
 * @module
 */
import { FwApplication } from "./application.ts";
import { boot } from "./core/boot.ts";
import type { Module } from "./core/module.ts";
import type { Provider } from "./core/provider.ts";

/** Options of {@linkcode FwFactory}. */
export interface FwFactoryOptions {
  /** Providers that take the place of every provider of their keys, as tests need. */
  readonly overrides?: readonly Provider[];
}

/** Creates applications. */
export class FwFactory {
  /**
   * Creates an application from its root module: builds every provider and controller, and runs the
   * start hooks. When that fails, what was built is stopped again.
   *
   * @example
   * ```ts
   * import { FwFactory, module, route } from "@fw/fw";
   *
   * class HelloController {
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
    { overrides = [] }: FwFactoryOptions = {},
  ): Promise<FwApplication> {
    const kernel = await boot(root, { overrides });
    return new FwApplication(kernel);
  }
}
