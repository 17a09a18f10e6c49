/**
 * What a route takes: by its options, or by extractors that validate a part of the request.
 *
 * @module
 */
import type { BodyFormat } from "../http/body.ts";
import type { AnySchema } from "../schema/validation.ts";

/** The schemas of what a route takes. */
export interface DeclaredInput {
  /** Of the path parameters. */
  readonly params?: AnySchema | undefined;
  /** Of the query. */
  readonly query?: AnySchema | undefined;
  /** Of the headers. */
  readonly headers?: AnySchema | undefined;
  /** Of the body. */
  readonly body?: AnySchema | undefined;
  /** The formats of the body; default JSON alone. */
  readonly consumes?: readonly BodyFormat[] | undefined;
}

const INPUT = Symbol("fw.declaredInput");

/** Marks an extractor with what it takes, in place. */
export function markInput<T extends object>(extractor: T, input: DeclaredInput): T {
  return Object.assign(extractor, { [INPUT]: input });
}

/** Gives what a route with these options takes; what they say goes before what its extractors do. */
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
    headers,
    body: body ?? reader?.body,
    consumes: body ? consumes : reader?.consumes,
  };
}
