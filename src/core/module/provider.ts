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
  /** Makes the value, once for each application. */
  readonly factory: () => T | Promise<T>;
}

/** A value, or one that looks the same: it need not have the private members of a class. */
export type StandIn<T> = T | { [K in keyof T]: T[K] };

/** What {@linkcode inject} takes: a class, or what {@linkcode provide} returned. */
export type InjectionKey<T> = AbstractClass<T> | FactoryProvider<T>;

/** What a module's `providers` holds. A class provides itself. */
export type Provider = Class<unknown> | FactoryProvider<unknown>;

/**
 * Declares a provider with a factory. Given a name, the result is its own key; given a key (a class,
 * perhaps abstract, or another provider), it provides that key. A factory may inject, before its
 * first `await`, and may be async: it is awaited at boot.
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

/** Tells whether something can stand in a module's `providers`. */
export function isProvider(value: unknown): value is Provider {
  return typeof value === "function" ||
    typeof value === "object" && value !== null && "factory" in value && "name" in value;
}

/** Tells a provider made by {@linkcode provide} from a class. */
export function isFactoryProvider<T>(key: InjectionKey<T>): key is FactoryProvider<T> {
  return typeof key !== "function";
}

/** Gives the key that a provider provides, following overrides of a provider by another. */
export function keyOf(provider: InjectionKey<unknown>): InjectionKey<unknown> {
  return isFactoryProvider(provider) && provider.key ? keyOf(provider.key) : provider;
}

/** Gives the name of a key for an error message. */
export function keyName(key: InjectionKey<unknown> | string): string {
  return typeof key === "string" ? key : key.name || "(anonymous class)";
}
