/**
 * Stubs: parts of classes for tests.
 *
 * @module
 */
import {
  type FactoryProvider,
  type InjectionKey,
  keyName,
  keyOf,
  provide,
} from "../core/module/provider.ts";

/** Some public members of a class. */
export type StubMembers<T> = { readonly [K in keyof T]?: T[K] };

/**
 * Members that the container, runtimes and assertions read on any object: `undefined` by default.
 */
const PROBED: ReadonlySet<PropertyKey> = new Set([
  "then",
  "toJSON",
  "inspect",
  "onModuleInit",
  "onApplicationBootstrap",
  "onMetrics",
  "onWorkersStart",
  "onWorkersStop",
  "onApplicationShutdown",
  "onModuleDestroy",
]);

/** What an assignment makes a new property. */
const PLAIN = { configurable: true, enumerable: true, writable: true };

/**
 * Returns an override that provides some members of a class, or of another key. The use of a
 * missing member throws an error with the names of the class and the member, so that a test fails
 * at an unexpected call. Members that runtimes read on any object are `undefined` instead: `then`,
 * `toJSON`, symbols and lifecycle hooks. Each application gets another stub.
 *
 * @example
 * ```ts
 * import { controller, inject, module, route } from "@fw/fw";
 * import { createTestApplication, stub } from "@fw/fw/testing";
 *
 * class CatsService {
 *   readonly #names = new Map([[1, "Tom"]]);
 *   one(id: number) {
 *     return { id, name: this.#names.get(id) };
 *   }
 *   all() {
 *     return [...this.#names.values()];
 *   }
 * }
 * class CatsController extends controller() {
 *   readonly #cats = inject(CatsService);
 *   first = route.get("/first", () => this.#cats.one(1));
 * }
 * const CatsModule = module({ providers: [CatsService], controllers: [CatsController] });
 *
 * await using app = await createTestApplication(CatsModule, {
 *   overrides: [stub(CatsService, { one: (id) => ({ id, name: "Felix" }) })],
 * });
 * const response = await app.request("/first");
 * console.assert((await response.json()).name === "Felix");
 * ```
 *
 * @throws {TypeError} if the members are not a plain object: those that an instance inherits
 * would be missing
 */
export function stub<T extends object>(
  key: InjectionKey<T>,
  members: StubMembers<NoInfer<T>>,
): FactoryProvider<T> {
  const name = keyName(key);
  const provided = keyOf(key);
  const prototype: object = typeof provided === "function" ? provided.prototype : Object.prototype;
  if (!isPlainObject(members)) {
    throw new TypeError(
      `Cannot stub ${name}: the members are not a plain object; provide(${name}, ...) replaces it whole`,
    );
  }
  const handler: ProxyHandler<object> = {
    get(target, member, receiver) {
      if (Object.hasOwn(target, member)) return Reflect.get(target, member, receiver);
      if (member === "constructor") return prototype.constructor;
      if (typeof member === "symbol" || PROBED.has(member)) return undefined;
      if (member in Object.prototype) return Reflect.get(Object.prototype, member, receiver);
      throw new TypeError(`Cannot call ${name}.${member}: the stub does not have it`);
    },
    set(target, member, ...[value, receiver]) {
      if (Object.hasOwn(target, member)) return Reflect.set(target, member, value, receiver);
      // a setter of the class would write a private field that the stub lacks
      return Reflect.defineProperty(target, member, { ...PLAIN, value });
    },
  };
  return provide(key, () => {
    const target: object = Object.create(prototype, Object.getOwnPropertyDescriptors(members));
    // a proxy has the type of its target; missing members throw
    return new Proxy(target, handler) as T;
  });
}

function isPlainObject(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
