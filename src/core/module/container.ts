/**
 * The container: builds each provider once, resolves `inject` to what a module can see, and records
 * the order in which instances were built.
 *
 * @module
 */
import type { Class } from "../../platform/class.ts";
import { Module } from "./module.ts";
import { type InjectionKey, isFactoryProvider, keyName, keyOf, type Provider } from "./provider.ts";
import { checkExports, type Entry, findEntry, type Scope } from "./scope.ts";

/** The place from which `inject` is called. */
interface Injector {
  readonly container: Container;
  readonly scope: Scope;
  /** The entries under construction, outermost first: the path in error messages. */
  readonly path: readonly Entry[];
}

/**
 * Thrown by `inject` to wait for an async factory; the entry under construction is
 * then built again.
 */
class Pending {
  readonly promise: Promise<void>;

  constructor(promise: Promise<void>) {
    this.promise = promise;
  }
}

/** The tag of an async function; other functions may return a promise too. */
const ASYNC_FUNCTION = "[object AsyncFunction]";

/** The injector of the entry under construction; restored in `finally`. */
let current: Injector | undefined;

/**
 * Returns the provider of a key. Call it while the container builds something: in a field
 * initialiser, a constructor, or a factory before its first `await`. Call it before any
 * side effect: what injects an async provider that is not ready is built again when the
 * provider is ready.
 *
 * @example
 * ```ts
 * import { inject } from "@fw/fw";
 *
 * class Cats {
 *   names: string[] = ["Tom"];
 * }
 * class CatsService {
 *   readonly #cats = inject(Cats);
 *   first = () => this.#cats.names[0];
 * }
 * ```
 *
 * @throws {TypeError} if called elsewhere, if no visible module provides the key, or on a cycle
 */
export function inject<T>(key: InjectionKey<T>): T;
/** Returns the provider of a key, or `undefined` if no visible module provides it. */
export function inject<T>(
  key: InjectionKey<T>,
  options: { readonly optional: true },
): T | undefined;
export function inject<T>(
  key: InjectionKey<T>,
  { optional = false }: { readonly optional?: boolean } = {},
): T | undefined {
  if (key === undefined || key === null) {
    throw new TypeError(
      `Cannot inject ${key}: it is not a key, as when two files import each other`,
    );
  }
  if (current === undefined) {
    throw new TypeError(
      `Cannot inject ${keyName(key)}: inject() works in field initialisers, constructors and ` +
        "factories (before their first await)",
    );
  }
  return current.container.lookUp(key, current, { optional });
}

/** Returns what is injected for a key in a preview, whose modules have these scopes. */
type PreviewOf = (key: InjectionKey<unknown>, scopes: readonly Scope[]) => unknown;

/** Options of a {@linkcode Container}. */
export interface ContainerOptions {
  /** Providers that replace every provider with the same key. */
  readonly overrides?: readonly Provider[];
  /** Returns what a preview has in place of a provider. */
  readonly previewOf?: PreviewOf | undefined;
}

/** The providers of one application. */
export class Container {
  readonly #scopes = new Map<Module, Scope>();
  readonly #instances = new Set<object>();
  readonly #overrides: ReadonlyMap<InjectionKey<unknown>, Provider>;
  readonly #overridden = new Set<InjectionKey<unknown>>();
  readonly #previewOf: PreviewOf | undefined;

  /** Creates an empty container. */
  constructor({ overrides = [], previewOf }: ContainerOptions = {}) {
    this.#overrides = new Map(overrides.map((provider) => [keyOf(provider), provider]));
    this.#previewOf = previewOf;
  }

  /** Lists the modules in the order they were registered: imports first. */
  scopes(): readonly Scope[] {
    return [...this.#scopes.values()];
  }

  /**
   * Lists the instances whose hooks run, in the order in which they were built: dependencies first.
   */
  instances(): readonly object[] {
    return [...this.#instances];
  }

  /** Lists the overrides that have replaced nothing. */
  unusedOverrides(): readonly string[] {
    return [...this.#overrides.keys()].filter((key) => !this.#overridden.has(key)).map(keyName);
  }

  /** Registers a module after its imports. */
  async register(module: Module, path: readonly Module[] = []): Promise<Scope> {
    if (!(module instanceof Module)) {
      const { name }: { readonly name?: string } = Object(module);
      throw new TypeError(`Cannot import ${name || typeof module}: it was not made by module()`);
    }
    const known = this.#scopes.get(module);
    if (known) return known;
    const here = [...path, module];
    if (path.includes(module)) {
      const names = here.map(({ name }) => name).join(" -> ");
      throw new TypeError(`Cannot import ${module.name}: ${names} is a cycle`);
    }
    const imports: Scope[] = [];
    for (const imported of module.imports) imports.push(await this.register(await imported, here));
    const scope: Scope = { module, imports, entries: new Map() };
    for (const provider of module.providers) this.#add(scope, provider);
    checkExports(scope);
    this.#scopes.set(module, scope);
    return scope;
  }

  /**
   * Builds a module: providers with a factory in their order, those of async functions first, so
   * that what injects them is built once; then controllers, so that the path in an error begins
   * with the class that injects, then the classes that nothing injects.
   */
  async build(scope: Scope): Promise<void> {
    const entries = [...scope.entries.values()];
    for (const entry of entries) if (entry.isAsync) await this.#settle(entry);
    for (const entry of entries) if (entry.isFactory) await this.#settle(entry);
    for (const controller of scope.module.controllers) await this.instantiate(scope, controller);
    for (const entry of entries) await this.#settle(entry);
  }

  /** Returns the instance of a class that a module uses without providing it, such as a guard. */
  async instantiate<T>(scope: Scope, key: Class<T>): Promise<T> {
    return await this.#settle(findEntry(scope, key) ?? this.#add(scope, key)) as T;
  }

  /** Returns an instance: the one that the root module can inject, or else that of any module. */
  get<T>(key: InjectionKey<T>, root: Scope): T {
    const scope = [root, ...this.scopes()].find((scope) => findEntry(scope, key)) ?? root;
    return this.lookUp(key, { container: this, scope, path: [] }) as T;
  }

  /** Returns the value of a key that a module can inject, and builds it if necessary. */
  lookUp<T>(
    key: InjectionKey<T>,
    from: Injector,
    { optional = false }: { readonly optional?: boolean } = {},
  ): T | undefined {
    const entry = findEntry(from.scope, key);
    if (entry) return this.#resolve(entry, from.path) as T;
    if (optional) return undefined;
    throw this.#missing(key, from);
  }

  #add(scope: Scope, provider: Provider): Entry {
    const key = keyOf(provider);
    const name = keyName(key);
    if (scope.entries.has(key)) {
      throw new TypeError(`Cannot boot ${scope.module.name}: it provides ${name} twice`);
    }
    const override = this.#overrides.get(key);
    if (override) this.#overridden.add(key);
    const source = override ?? provider;
    const isFactory = isFactoryProvider(source);
    const build = isFactory ? source.factory : () => new source();
    const previewOf = this.#previewOf;
    const create = previewOf ? () => previewOf(key, this.scopes()) : build;
    const isAsync = isFactory && Object.prototype.toString.call(build) === ASYNC_FUNCTION;
    const entry: Entry = { name, scope, isFactory, isAsync, create, state: "new" };
    scope.entries.set(key, entry);
    return entry;
  }

  async #settle(entry: Entry): Promise<unknown> {
    for (;;) {
      try {
        return this.#resolve(entry, []);
      } catch (error) {
        if (!(error instanceof Pending)) throw error;
        await error.promise;
      }
    }
  }

  #resolve(entry: Entry, path: readonly Entry[]): unknown {
    if (entry.state === "ready") return entry.value;
    if (entry.pending) throw new Pending(entry.pending);
    const here = [...path, entry];
    if (entry.state === "building") {
      throw new TypeError(`Cannot build ${entry.name}: ${pathOf(here)} is a cycle`);
    }
    const outer = current;
    current = { container: this, scope: entry.scope, path: here };
    entry.state = "building";
    try {
      const made = entry.create();
      if (!(made instanceof Promise)) return this.#complete(entry, made);
      entry.pending = this.#await(entry, made);
      entry.pending.catch(() => {}); // #settle awaits it too, possibly after another failure
      throw new Pending(entry.pending);
    } finally {
      current = outer;
      if (entry.state === "building") entry.state = "new";
    }
  }

  /**
   * Completes an entry, or leaves it to be built again if its factory had to wait for another one.
   */
  async #await(entry: Entry, made: Promise<unknown>): Promise<void> {
    try {
      this.#complete(entry, await made);
    } catch (error) {
      if (!(error instanceof Pending)) throw error;
      await error.promise;
    } finally {
      entry.pending = undefined;
    }
  }

  #complete(entry: Entry, value: unknown): unknown {
    entry.state = "ready";
    entry.value = value;
    if (!this.#previewOf && typeof value === "object" && value !== null) this.#instances.add(value);
    return value;
  }

  #missing(key: InjectionKey<unknown>, { scope, path }: Injector): TypeError {
    const owner = this.scopes().find((other) => other.entries.has(keyOf(key)))?.module;
    const where = scope.module.name;
    const why = owner === undefined
      ? `no module provides it; list it in the providers of ${where}`
      : scope.imports.some((imported) => imported.module === owner)
      ? `no provider; ${owner.name} has it but does not export it`
      : `no provider; ${owner.name} has it but ${where} does not import it`;
    const name = keyName(key);
    const asked = path.length === 0 ? "" : `${pathOf(path)} -> ${name}: `;
    return new TypeError(`Cannot inject ${name} in ${where}: ${asked}${why}`);
  }
}

function pathOf(path: readonly Entry[]): string {
  return path.map((entry) => entry.name).join(" -> ");
}
