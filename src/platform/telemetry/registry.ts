/**
 * What an application has registered with OpenTelemetry.
 *
 * @module
 */

/**
 * Where every copy of version 1 of `@opentelemetry/api`, and Deno, have what is registered: so that
 * nothing is loaded for an application that registers nothing.
 */
export const TELEMETRY_REGISTRY: unique symbol = Symbol.for("opentelemetry.js.api.1");

/** The members of the global object that are read here. */
interface Globals {
  readonly [TELEMETRY_REGISTRY]?: { readonly trace?: unknown };
  readonly Deno?: { readonly telemetry?: { readonly tracerProvider?: unknown } };
}

/** Checks whether Deno has registered its tracer provider: it exports the console, too. */
export function exportsConsole(): boolean {
  const { [TELEMETRY_REGISTRY]: registry, Deno: deno } = globalThis as Globals;
  return registry?.trace !== undefined && registry.trace === deno?.telemetry?.tracerProvider;
}
