/**
 * The framework's core, middleware and runtime.
 *
 * @module
 */
export * from "./src/core/exceptions.ts";
