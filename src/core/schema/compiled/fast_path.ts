/**
 * Fast paths: code made from a schema, which validates plain values in one pass. The library
 * defines what is valid: a fast path returns the same output as it, or {@linkcode MISS}, and then
 * the library validates. So every issue is the library's own.
 *
 * Only schemas of valibot have one; zod and arktype make such code themselves. Where a runtime does
 * not allow code to be made from text, as on Cloudflare Workers, no schema has one.
 *
 * @module
 */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { isValibot } from "../libraries/valibot.ts";
import type { compile, FastPath } from "./valibot_code.ts";

/** The result of a fast path that leaves a value to the library. */
export const MISS: unique symbol = Symbol("fw.miss");

const missing: FastPath = () => MISS;

/** The fast paths of the schemas that have been used. */
const fastPaths = new WeakMap<StandardSchemaV1, FastPath>();

let makeCode: typeof compile | undefined;

/** Loads what makes fast paths, if one of the schemas can have one. */
export async function loadFastPaths(
  schemas: readonly (StandardSchemaV1 | undefined)[],
): Promise<void> {
  if (makeCode || !schemas.some((schema) => schema && isValibot(schema)) || !canMakeCode()) return;
  ({ compile: makeCode } = await import("./valibot_code.ts"));
}

/**
 * Validates a value by the fast path of a schema, which the first call makes.
 *
 * @returns the output of the schema, or {@linkcode MISS} if the library has to decide
 */
export function validateFast(schema: StandardSchemaV1, value: unknown): unknown {
  let fastPath = fastPaths.get(schema);
  if (!fastPath) {
    if (!makeCode) return MISS;
    fastPath = makeCode(schema, MISS) ?? missing;
    fastPaths.set(schema, fastPath);
  }
  return fastPath(value);
}

function canMakeCode(): boolean {
  try {
    return new Function("return true")();
  } catch {
    return false; // the runtime or its options forbid it
  }
}
