/**
 * The input of a route: declared by its options, or by extractors that validate a part
 * of the request.
 *
 * @module
 */
import type { StandardJSONSchemaV1 } from "@standard-schema/spec";
import type { BodyFormat } from "../http/body.ts";
import { inputKeysOf } from "../schema/schema_libraries.ts";
import { type AnySchema, validateNow } from "../schema/validation.ts";

/** The schemas of the input of a route. */
export interface DeclaredInput {
  /** The schema of the path parameters. */
  readonly params?: AnySchema | undefined;
  /** The schema of the query. */
  readonly query?: AnySchema | undefined;
  /** The schema of the headers. */
  readonly headers?: AnySchema | undefined;
  /** The schema of the body. */
  readonly body?: AnySchema | undefined;
  /** The formats of the body; default JSON alone. */
  readonly consumes?: readonly BodyFormat[] | undefined;
}

const INPUT = Symbol("fw.declaredInput");

/** Marks an extractor with its input, in place. */
export function markInput<T extends object>(extractor: T, input: DeclaredInput): T {
  return Object.assign(extractor, { [INPUT]: input });
}

/** Returns the input of a route: that of its options, or else that of its extractors. */
export function inputOf(
  { params, query, headers, body, consumes, args = {} }: DeclaredInput & {
    readonly args?: Readonly<Record<string, object>>;
  },
): DeclaredInput {
  const marked = Object.values<{ readonly [INPUT]?: DeclaredInput }>(args).map((extractor) =>
    extractor[INPUT] ?? {}
  );
  const first = <K extends keyof DeclaredInput>(key: K) =>
    marked.find((input) => input[key])?.[key];
  const reader = marked.find(({ body }) => body);
  return {
    params: params ?? first("params"),
    query: query ?? first("query"),
    headers: headers ?? first("headers"),
    body: body ?? reader?.body,
    consumes: body ? consumes : reader?.consumes,
  };
}

/**
 * Returns a parameter that a schema names and the path does not have: one that the schema requires,
 * or any if it names no parameter of the path.
 */
export function missingParam(schema: AnySchema, names: readonly string[]): string | undefined {
  const isMissing = (key: string) => !names.includes(key);
  const required = requiredKeysOf(schema).find(isMissing);
  if (required !== undefined) return required;
  const keys = inputKeysOf(schema) ?? jsonSchemaKeysOf(schema);
  return keys?.every(isMissing) ? keys[0] : undefined;
}

/** Lists the keys that a schema requires, as far as its issues name them. */
function requiredKeysOf(schema: AnySchema): readonly string[] {
  return (validateNow(schema, {})?.issues ?? []).flatMap(({ path }) => {
    const [first] = path ?? [];
    return first === undefined ? [] : [String(typeof first === "object" ? first.key : first)];
  });
}

/** Lists the keys of a schema that describes itself (https://standardschema.dev/json-schema). */
function jsonSchemaKeysOf(schema: AnySchema): readonly string[] | undefined {
  const standard: Partial<StandardJSONSchemaV1["~standard"]> = schema["~standard"];
  try {
    const { properties } = standard.jsonSchema?.input({ target: "draft-2020-12" }) ?? {};
    return typeof properties === "object" && properties !== null
      ? Object.keys(properties)
      : undefined;
  } catch {
    return undefined; // the keys of a schema that throws are unknown
  }
}
