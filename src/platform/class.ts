/**
 * The types of classes.
 *
 * @module
 */

/** A class that the container can create: its constructor takes nothing, it calls `inject`. */
export type Class<T> = new () => T;

/** A class used as a key; it may be abstract. */
export type AbstractClass<T> = abstract new (...args: never[]) => T;
