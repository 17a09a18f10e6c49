/**
 * Validation by any library that implements Standard Schema (https://standardschema.dev).
 *
 * @module
 */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { isPromiseLike, whenReady } from "../../platform/ready.ts";
import { MISS, validateFast } from "./compiled/fast_path.ts";
import { dtoName } from "./dto.ts";
import { UnprocessableEntityException } from "../http/http_exception.ts";
import { type InputPart, MAX_ISSUES, type ValidationIssue } from "../http/validation_issue.ts";
import { acceptsArrayAsObject, messageOf, withoutQuotation } from "./schema_libraries.ts";

/** A schema of any library that implements Standard Schema: valibot, zod, arktype and others. */
export type AnySchema = StandardSchemaV1;

/** Checks whether a value is a schema. */
export function isStandardSchema(value: unknown): value is AnySchema {
  const standard = (value as { readonly "~standard"?: { readonly validate?: unknown } } | null)
    ?.["~standard"];
  return typeof standard?.validate === "function";
}

/** The output of a schema. */
export type SchemaOutput<S extends AnySchema> = StandardSchemaV1.InferOutput<S>;

/** The input of a schema. */
export type SchemaInput<S extends AnySchema> = StandardSchemaV1.InferInput<S>;

/** The maximum length of the `field` and `message` of an issue, in UTF-16 units. */
const MAX_TEXT = 256;

/** One part of a request, with its schema. */
export class InputSchema<S extends AnySchema> {
  readonly #part: InputPart;
  readonly #name: string;
  readonly #schema: AnySchema;
  readonly #refusesArray: boolean;

  /** Creates one from the schema of a part. */
  constructor(part: InputPart, schema: S) {
    this.#part = part;
    this.#name = dtoName(schema) ?? "its schema";
    this.#schema = schema;
    this.#refusesArray = acceptsArrayAsObject(schema);
  }

  /**
   * Validates a value, synchronously unless the schema is asynchronous. A field of a query or form
   * that is sent once is a list of one where the schema expects a list.
   */
  validate(
    value: unknown,
    { isFields = this.#part === "query" }: { readonly isFields?: boolean } = {},
  ): Validated<S> | Promise<Validated<S>> {
    if (this.#refusesArray && Array.isArray(value)) {
      return this.#understand({ issues: [{ message: "Invalid type: Expected Object" }] }, value);
    }
    const output = validateFast(this.#schema, value);
    // the output type is declared by the library
    if (output !== MISS) return { value: output as SchemaOutput<S>, refusal: undefined };
    const judge = (result: StandardSchemaV1.Result<unknown>) => {
      if (!result.issues || !isFields || typeof value !== "object") {
        return this.#understand(result, value);
      }
      return import("./lists_of_one.ts")
        .then((lists) => lists.withListsOfOne(this.#schema, { result, fields: { ...value } }))
        .then(({ result, fields }) => this.#understand(result, fields));
    };
    return whenReady(this.#schema["~standard"].validate(value), judge);
  }

  /**
   * Validates a value and returns the output of the schema.
   *
   * @throws {UnprocessableEntityException} 422, with an issue for each invalid value
   */
  async parse(
    value: unknown,
    options: { readonly isFields?: boolean } = {},
  ): Promise<SchemaOutput<S>> {
    const result = await this.validate(value, options);
    if (result.refusal) throw refuse([result.refusal]);
    return result.value;
  }

  #understand(result: StandardSchemaV1.Result<unknown>, value: unknown): Validated<S> {
    // the output type is declared by the library
    if (!result.issues) return { value: result.value as SchemaOutput<S>, refusal: undefined };
    const reason = this.#part === "body" && value === undefined
      ? "The request has no body"
      : `The ${this.#part} does not satisfy ${this.#name}`;
    return {
      value: undefined,
      refusal: { reason, issues: issuesOf(result.issues, { value, part: this.#part }) },
    };
  }
}

/**
 * Validates without waiting, as boot does. Returns `undefined` for a schema that is asynchronous or
 * that throws.
 */
export function validateNow(
  schema: AnySchema,
  value: unknown,
): StandardSchemaV1.Result<unknown> | undefined {
  try {
    const result = schema["~standard"].validate(value);
    if (!isPromiseLike(result)) return result;
    result.then(undefined, () => {});
  } catch {
    // it cannot validate such a value
  }
  return undefined;
}

/** The result of validating one part. */
export type Validated<S extends AnySchema> =
  | { readonly value: SchemaOutput<S>; readonly refusal: undefined }
  | { readonly value: undefined; readonly refusal: InputRefusal };

/** The reason why a part of a request was refused. */
export interface InputRefusal {
  /** One sentence, without a period. */
  readonly reason: string;
  /** The issue of each invalid value. */
  readonly issues: readonly ValidationIssue[];
}

/** Creates the exception for all parts of a request that were refused. */
export function refuse(refusals: readonly InputRefusal[]): UnprocessableEntityException {
  const errors = refusals.flatMap(({ issues }) => issues).slice(0, MAX_ISSUES);
  const reasons = refusals.map(({ reason }) => reason);
  return new UnprocessableEntityException(reasons.join("; "), { errors });
}

/**
 * Converts issues of Standard Schema: at most 100, without the submitted values in their messages.
 */
export function issuesOf(
  issues: readonly StandardSchemaV1.Issue[],
  { value, part }: { readonly value: unknown; readonly part: InputPart },
): ValidationIssue[] {
  return issues.slice(0, MAX_ISSUES).map((issue) => {
    // the path of arktype is a subclass of Array, whose `map` returns another instance
    const path = Array.from(issue.path ?? []);
    const keys = path.map((segment) => typeof segment === "object" ? segment.key : segment);
    return {
      in: part,
      field: keys.map(String).join(".").slice(0, MAX_TEXT),
      message: withoutValue(messageOf(issue), valueAt(value, keys)).slice(0, MAX_TEXT),
    };
  });
}

/**
 * Removes a submitted value from a message about it. The quotation at the end is removed whatever
 * it contains, as a schema can transform the value before it refuses it. A message that still
 * contains the value, as one of the application can, or the trimmed value, is replaced.
 */
export function withoutValue(message: string, value: unknown): string {
  const cut = withoutQuotation(message);
  const text = typeof value === "object" ? "" : String(value ?? "");
  const isQuoted = [text, text.trim()].filter(({ length }) => length > 2)
    .some((form) => contains(cut, form) || contains(cut, JSON.stringify(form).slice(1, -1)));
  return isQuoted ? "Invalid value" : cut;
}

/** Checks whether a text contains another, other than as a part of a word. */
function contains(text: string, part: string): boolean {
  if (part.length > MAX_TEXT) return text.includes(part); // too long for a regular expression
  const literal = part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`(?<!\\w)${literal}(?!\\w)`).test(text);
}

function valueAt(value: unknown, keys: readonly PropertyKey[]): unknown {
  let at = value;
  for (const key of keys) {
    if (typeof at !== "object" || at === null) return undefined;
    at = (at as Record<PropertyKey, unknown>)[key];
  }
  return at;
}
