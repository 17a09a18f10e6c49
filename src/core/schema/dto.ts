/**
 * Named schemas.
 *
 * @module
 */
import type { StandardSchemaV1 } from "@standard-schema/spec";

const NAME = Symbol("fw.dto");

/**
 * Gives a schema of any Standard Schema library a name: in messages, and as
 * `components.schemas.<name>` in the OpenAPI document. Returns the same schema; what is derived from
 * it has no name of its own.
 *
 * @example
 * ```ts
 * import { dto } from "@fw/fw";
 * import * as v from "valibot";
 *
 * export const CreateCatDto = dto("CreateCatDto", v.object({ name: v.pipe(v.string(), v.minLength(2)) }));
 * export type CreateCatDto = v.InferOutput<typeof CreateCatDto>;
 * ```
 *
 * @throws {TypeError} if the name is not fit for a component's name, or the schema has another
 */
export function dto<S extends StandardSchemaV1>(name: string, schema: S): S {
  if (!isComponentName(name)) {
    throw new TypeError(
      `Cannot name a schema ${JSON.stringify(name)}: letters, digits, ".", "_" and "-" make a name`,
    );
  }
  const other = dtoName(schema);
  if (other !== undefined && other !== name) {
    throw new TypeError(`Cannot name a schema ${name}: it is named ${other}`);
  }
  return Object.defineProperty(schema, NAME, { value: name });
}

/** Tells whether a name is fit for a component of an OpenAPI document (OpenAPI 3.1.1 §4.8.7.1). */
export function isComponentName(name: string): boolean {
  return /^[A-Za-z0-9._-]+$/.test(name);
}

/** Gives the name a schema was given by {@linkcode dto}. */
export function dtoName(schema: StandardSchemaV1): string | undefined {
  return Object.hasOwn(schema, NAME) ? (schema as { [NAME]?: string })[NAME] : undefined;
}
