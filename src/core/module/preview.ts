/**
 * Placeholders for the providers of a preview.
 *
 * @module
 */
import type { InjectionKey } from "./provider.ts";
import type { Scope } from "./scope.ts";

/** As text, a placeholder is a URL, as text that is not a URL is what code refuses most often. */
const PREVIEW_URL = "https://preview.invalid";

/**
 * Returns what a preview injects for a key: an instance of a controller, because its fields are the
 * routes, and a placeholder for anything else.
 */
export function previewOf(key: InjectionKey<unknown>, scopes: readonly Scope[]): unknown {
  const controllers = scopes.flatMap(({ module }) => module.controllers);
  const controller = controllers.find((each) => each === key);
  return controller ? new controller() : placeholder();
}

/**
 * Returns a placeholder for a value that is never created. Its properties, the results of calling
 * it and its instances are the placeholder itself; as text it is a URL that does not resolve (RFC
 * 2606 §2), as a number 1, as a list empty. It is not a promise.
 */
export function placeholder(): unknown {
  // only a proxy of a function can be called and constructed
  const self: object = new Proxy(function () {}, {
    get(_, key) {
      if (key === Symbol.toPrimitive) return (hint: string) => hint === "number" ? 1 : PREVIEW_URL;
      if (key === Symbol.iterator) return () => [].values();
      return typeof key === "symbol" || key === "then" ? undefined : self;
    },
    set: () => true,
    apply: () => self,
    construct: () => self,
  });
  return self;
}
