/**
 * What a schema adds to the responses of its routes, beside validating a part of them.
 *
 * @module
 */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { type Context, type Slot, slot } from "../http/context.ts";

/** The validated query of a request, for headers that depend on it. */
export const answeredQuery: Slot<unknown> = slot("answeredQuery");

const EFFECTS = Symbol("fw.responseEffects");

/** A header, for the OpenAPI document. */
export interface DescribedHeader {
  /** Its meaning. */
  readonly description: string;
  /** Its JSON Schema. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** Whether it is always present. */
  readonly required?: boolean;
}

/** What a schema adds to the responses of its routes. */
export interface ResponseEffects {
  /** The headers that the schema of a response sets, by their names. */
  readonly headers?: Readonly<Record<string, DescribedHeader>>;
  /** Sets them on the response with a result, which the schema has accepted. */
  readonly setHeaders?: (output: unknown, c: Context) => void;
  /** The statuses with which a route can refuse a value that its schema has accepted. */
  readonly problems?: readonly number[];
}

/** Marks a schema with its effects, in place; schemas that are derived from it have none. */
export function withEffects<S extends StandardSchemaV1>(schema: S, effects: ResponseEffects): S {
  return Object.defineProperty(schema, EFFECTS, { value: effects });
}

/** Returns the effects of a schema. */
export function effectsOf(schema: StandardSchemaV1 | undefined): ResponseEffects {
  return (schema as { readonly [EFFECTS]?: ResponseEffects } | undefined)?.[EFFECTS] ?? {};
}
