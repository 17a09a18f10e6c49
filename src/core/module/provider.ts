/**
 * Providers and the keys they are injected by.
 *
 * @module
 */
import type { AbstractClass, Class } from "../../platform/class.ts";

/** A provider with a factory, made by {@linkcode provide}. It is a key as well. */
export interface FactoryProvider<T> {
  /** The name in error messages. */
  readonly name: string;
  /** The key it provides; `undefined` when it is its own key. */
  readonly key: InjectionKey<T> | undefined;
  /** Creates the value, once for each application. */
  readonly factory: () => T | Promise<T>;
}

/** A value of the same shape: it does not need the private members of a class. */
export type StandIn<T> = T | { [K in keyof T]: T[K] };

/** A key for {@linkcode inject}: a class, or the result of {@linkcode provide}. */
export type InjectionKey<T> = AbstractClass<T> | FactoryProvider<T>;

/** An entry of a module's `providers`. A class provides itself. */
export type Provider = Class<unknown> | FactoryProvider<unknown>;

/**
 * Declares a provider with a factory. With a name, the result is its own key; with a key (a class,
 * which can be abstract, or another provider), it provides that key. A factory can inject before
 * its first `await`, and can be async: boot awaits it.
 *
 * @example
 * ```ts
 * import { inject, provide } from "@fw/fw";
 *
 * abstract class Clock {
 *   abstract now(): Date;
 * }
 * const SystemClock = provide(Clock, () => ({ now: () => new Date() }));
 * const BootTime = provide("boot time", () => inject(Clock).now());
 * ```
 */
export function provide<T>(
  key: InjectionKey<T>,
  factory: () => StandIn<NoInfer<T>> | Promise<StandIn<NoInfer<T>>>,
): FactoryProvider<T>;
/** Declares a provider that is its own key, under a name for error messages. */
export function provide<T>(name: string, factory: () => T | Promise<T>): FactoryProvider<T>;
export function provide<T>(
  key: InjectionKey<T> | string,
  factory: () => T | Promise<T>,
): FactoryProvider<T> {
  if (typeof factory !== "function") {
    throw new TypeError(`Cannot provide ${keyName(key)}: the factory is ${typeof factory}`);
  }
  return typeof key === "string"
    ? Object.freeze({ name: key, key: undefined, factory })
    : Object.freeze({ name: keyName(key), key, factory });
}

/** Checks whether a value can be an entry of a module's `providers`. */
export function isProvider(value: unknown): value is Provider {
  return typeof value === "function" ||
    typeof value === "object" && value !== null && "factory" in value && "name" in value;
}

/** Checks whether a key was created by {@linkcode provide}; otherwise it is a class. */
export function isFactoryProvider<T>(key: InjectionKey<T>): key is FactoryProvider<T> {
  return typeof key !== "function";
}

/** Returns the key that a provider provides, following providers that are keys of others. */
export function keyOf(provider: InjectionKey<unknown>): InjectionKey<unknown> {
  return isFactoryProvider(provider) && provider.key ? keyOf(provider.key) : provider;
}

/** Returns the name of a key for an error message. */
export function keyName(key: InjectionKey<unknown> | string): string {
  return typeof key === "string" ? key : key.name || "(anonymous class)";
}
