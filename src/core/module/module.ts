/**
 * Modules: what an application is composed of. A module names its controllers and providers, the
 * modules it imports, and what it shares with those that import it.
 *
 * @module
 */
import type { ControllerClass } from "../route/controller.ts";
import { checkNames, refusing } from "../../platform/option_names.ts";
import { type InjectionKey, isProvider, keyName, type Provider } from "./provider.ts";

/** Modules that another imports. */
export type Imports = readonly (Module | Promise<Module>)[];

/** Options of {@linkcode module}. */
export interface ModuleOptions<
  Controllers extends readonly ControllerClass[] = readonly ControllerClass[],
  Imported extends Imports = Imports,
> {
  /**
   * The name in error messages and in the operation ids of the OpenAPI document; by default the
   * name of its first controller or provider, followed by `Module`.
   */
  readonly name?: string | undefined;
  /**
   * Modules whose exports this one can inject. An async dynamic module is passed as its promise.
   */
  readonly imports?: Imported;
  /** Classes, and the results of {@linkcode provide}; private to the module unless exported. */
  readonly providers?: readonly Provider[];
  /** Controllers whose routes the module serves. */
  readonly controllers?: Controllers;
  /** Keys of its own providers, and imported modules whose exports it passes on. */
  readonly exports?: readonly (InjectionKey<unknown> | Module)[];
}

/**
 * A module, created by {@linkcode module}; the same value imported twice is one module. The types
 * of its controllers and imports are those of a typed client.
 */
export class Module<
  out Controllers extends readonly ControllerClass[] = readonly ControllerClass[],
  out Imported extends Imports = Imports,
> {
  /** The name in error messages. */
  readonly name: string;
  /** The modules it imports. */
  readonly imports: Imported;
  /** Its providers, in the order they were listed. */
  readonly providers: readonly Provider[];
  /** Its controllers, in the order they were listed. */
  readonly controllers: Controllers;
  /** The exports that modules can inject that import it. */
  readonly exports: readonly (InjectionKey<unknown> | Module)[];

  /** Creates a module; use {@linkcode module}. */
  constructor(options: ModuleOptions<Controllers, Imported>) {
    checkNames(options, {
      known: ["name", "imports", "providers", "controllers", "exports"],
      refuse: refusing("declare module"),
    });
    const { name, imports, providers, controllers, exports } = options;
    this.imports = listOf(imports, "imports") as Imports as Imported; // an absent list is `[]`
    this.providers = listOf(providers, "providers");
    const wrong = this.providers.findIndex((provider) => !isProvider(provider));
    if (wrong !== -1) {
      throw new TypeError(
        `Cannot declare module: providers[${wrong}] is neither a class nor made by provide()`,
      );
    }
    this.controllers = listOf(
      controllers,
      "controllers",
    ) as readonly ControllerClass[] as Controllers;
    this.exports = listOf(exports, "exports");
    this.name = name ?? nameByContent(this);
  }
}

/**
 * Declares a module. A function that returns one is a dynamic module: it can take options and be
 * async.
 *
 * @example
 * ```ts
 * import { controller, inject, module, provide, route } from "@fw/fw";
 *
 * const Greeting = provide("greeting", () => "Hello");
 *
 * class GreetingController extends controller() {
 *   readonly #greeting = inject(Greeting);
 *   hello = route.get("/", (_, c) => c.text(this.#greeting));
 * }
 *
 * export const AppModule = module({
 *   name: "AppModule",
 *   providers: [Greeting],
 *   controllers: [GreetingController],
 * });
 * ```
 *
 * @throws {TypeError} if an option is unknown, or a list has an `undefined` entry, as when two
 * files import each other
 */
export function module<
  const Controllers extends readonly ControllerClass[] = readonly [],
  const Imported extends Imports = readonly [],
>(options: ModuleOptions<Controllers, Imported>): Module<Controllers, Imported> {
  return new Module(options);
}

function listOf<T>(list: readonly T[] | undefined, what: string): readonly T[] {
  const copy = [...list ?? []];
  const hole = copy.findIndex((entry) => entry === undefined || entry === null);
  if (hole !== -1) {
    throw new TypeError(
      `Cannot declare module: ${what}[${hole}] is ${
        copy[hole]
      }, as when two files import each other`,
    );
  }
  // the promise of a module can reject before the container awaits it
  for (const entry of copy) if (entry instanceof Promise) entry.catch(() => {});
  return Object.freeze(copy);
}

function nameByContent({ controllers, providers }: Module): string {
  const first = controllers[0] ?? providers[0];
  return first === undefined ? "Module" : `${keyName(first)}Module`;
}
