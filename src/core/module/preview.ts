/**
 * What a preview of an application has in place of its providers.
 *
 * @module
 */
import type { InjectionKey } from "./provider.ts";
import type { Scope } from "./scope.ts";

/** As text, a placeholder is a URL, which is what code refuses most often for not being one. */
const PREVIEW_URL = "https://preview.invalid";

/**
 * Gives what a preview injects for a key: a controller as it is, because its fields are the routes, and a
 * placeholder of anything else.
 */
export function previewOf(key: InjectionKey<unknown>, scopes: readonly Scope[]): unknown {
  const controllers = scopes.flatMap(({ module }) => module.controllers);
  const controller = controllers.find((each) => each === key);
  return controller ? new controller() : placeholder();
}

/**
 * Gives what stands in for a value that is never made. To read a property of it, to call it and to
 * construct it gives itself again; as text it is a URL that leads nowhere (RFC 2606 §2), as a number 1,
 * as a list empty. It is no promise.
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
