/**
 * The scope of a module in a running application: its own providers, and the exported ones of the
 * modules that it imports.
 *
 * @module
 */
import { Module } from "./module.ts";
import { type InjectionKey, keyName, keyOf } from "./provider.ts";

/** One provider in one module, with its state. */
export interface Entry {
  readonly name: string;
  readonly scope: Scope;
  readonly isFactory: boolean;
  /** Whether its factory is an async function. */
  readonly isAsync: boolean;
  readonly create: () => unknown;
  state: "new" | "building" | "ready";
  value?: unknown;
  /** Settles when the running async factory has completed the entry. */
  pending?: Promise<void> | undefined;
}

/** A module of one application. */
export interface Scope {
  readonly module: Module;
  readonly imports: readonly Scope[];
  readonly entries: Map<InjectionKey<unknown>, Entry>;
}

/**
 * Finds the entry of a key for a module: its own, or else one that its imports export.
 *
 * @throws {TypeError} if two imports export different entries of the key
 */
export function findEntry(scope: Scope, key: InjectionKey<unknown>): Entry | undefined {
  const own = scope.entries.get(keyOf(key));
  if (own) return own;
  const [found, ...others] = new Set(
    scope.imports.flatMap((imported) => findExported(imported, keyOf(key))),
  );
  if (others.length === 0) return found;
  const owners = [found, ...others].map((entry) => entry?.scope.module.name).join(" and ");
  throw new TypeError(
    `Cannot inject ${keyName(key)} in ${scope.module.name}: ${owners} both export it`,
  );
}

/**
 * Checks that a module exports only what it provides or imports.
 *
 * @throws {TypeError} naming the module and the export
 */
export function checkExports(scope: Scope): void {
  for (const exported of scope.module.exports) {
    const known = exported instanceof Module
      ? scope.imports.some((imported) => imported.module === exported)
      : findEntry(scope, exported) !== undefined;
    if (known) continue;
    const verb = exported instanceof Module ? "import" : "provide or import";
    const name = exported instanceof Module ? exported.name : keyName(exported);
    throw new TypeError(
      `Cannot boot ${scope.module.name}: it exports ${name} but does not ${verb} it`,
    );
  }
}

function findExported(scope: Scope, key: InjectionKey<unknown>): Entry[] {
  return scope.module.exports.flatMap((exported) => {
    if (exported instanceof Module) {
      const passedOn = scope.imports.filter((imported) => imported.module === exported);
      return passedOn.flatMap((imported) => findExported(imported, key));
    }
    const entry = keyOf(exported) === key ? findEntry(scope, key) : undefined;
    return entry ? [entry] : [];
  });
}
