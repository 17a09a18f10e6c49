/**
 * Making sure that a response schema drops what it does not declare.
 *
 * @module
 */
import type { AnySchema } from "./validation.ts";

/** As much of a type of arktype as is used here. */
interface ArkType {
  /** What it is made of. */
  readonly json: unknown;
  /** Gives the type with another treatment of undeclared keys, as deep as it can. */
  onDeepUndeclaredKey(behavior: "delete"): AnySchema & ArkType;
}

/**
 * Gives a schema that drops what it does not declare. Schemas of valibot and zod do so by themselves;
 * those of arktype keep undeclared keys unless they are told otherwise.
 *
 * @throws {TypeError} if it is of arktype and cannot be told, as with recursive types and morphs
 */
export function stripping(schema: AnySchema): AnySchema {
  if (!isArkType(schema) || !keepsUndeclared(schema.json)) return schema;
  const stripped = told(schema);
  if (stripped && !keepsUndeclared(stripped.json)) return stripped;
  throw new TypeError(
    `Cannot strip to the schema: it keeps undeclared keys; declare "+": "delete"`,
  );
}

function isArkType(schema: AnySchema): schema is AnySchema & ArkType {
  return "onDeepUndeclaredKey" in schema;
}

function told(schema: ArkType): (AnySchema & ArkType) | undefined {
  try {
    return schema.onDeepUndeclaredKey("delete");
  } catch {
    return undefined; // a union whose branches would then overlap
  }
}

function keepsUndeclared(node: unknown): boolean {
  if (typeof node !== "object" || node === null) return false;
  const declaresKeys = "required" in node || "optional" in node;
  const drops = "undeclared" in node &&
    (node.undeclared === "delete" || node.undeclared === "reject");
  return declaresKeys && !drops || Object.values(node).some(keepsUndeclared);
}
