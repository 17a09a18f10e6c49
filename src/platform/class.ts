/**
 * The types of classes.
 *
 * @module
 */

/** A class that the container can create: its constructor has no parameters. */
export type Class<T> = new () => T;

/** A class used as a key; it may be abstract. */
export type AbstractClass<T> = abstract new (...args: never[]) => T;
