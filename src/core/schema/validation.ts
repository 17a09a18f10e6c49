/**
 * Validation by any library that implements Standard Schema (https://standardschema.dev).
 *
 * @module
 */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { dtoName } from "./dto.ts";
import {
  type InputPart,
  UnprocessableEntityException,
  type ValidationIssue,
} from "../http/http_exception.ts";
import {
  acceptsArrayAsObject,
  expectsList,
  messageOf,
  withoutQuotation,
} from "./schema_libraries.ts";

/** A schema of any library that implements Standard Schema: valibot, zod, arktype and others. */
export type AnySchema = StandardSchemaV1;

/** Tells a schema from something else. */
export function isStandardSchema(value: unknown): value is AnySchema {
  const standard = (value as { readonly "~standard"?: { readonly validate?: unknown } } | null)
    ?.["~standard"];
  return typeof standard?.validate === "function";
}

/** What a schema gives. */
export type SchemaOutput<S extends AnySchema> = StandardSchemaV1.InferOutput<S>;

/** What a schema takes. */
export type SchemaInput<S extends AnySchema> = StandardSchemaV1.InferInput<S>;

/** The most issues that one response lists; the rest are left out. */
const MAX_ISSUES = 100;

/** The longest `field` and `message` of an issue, in characters. */
const MAX_TEXT = 256;

/** How often refused fields are validated again: a schema may report one refusal at a time. */
const MAX_ROUNDS = 8;

/** One part of a request, and the schema it has to satisfy. */
export class InputSchema<S extends AnySchema> {
  readonly #part: InputPart;
  readonly #name: string;
  readonly #schema: AnySchema;
  readonly #refusesArray: boolean;

  /** Prepares a schema for the values of a part. */
  constructor(part: InputPart, schema: S) {
    this.#part = part;
    this.#name = dtoName(schema) ?? "its schema";
    this.#schema = schema;
    this.#refusesArray = acceptsArrayAsObject(schema);
  }

  /**
   * Gives the schema's output, or says what is wrong; synchronously where the schema does. Of fields of a
   * query or a form, one that does not repeat may be taken for a list of one.
   */
  validate(
    value: unknown,
    { isFields = this.#part === "query" }: { readonly isFields?: boolean } = {},
  ): Validated<S> | Promise<Validated<S>> {
    if (this.#refusesArray && Array.isArray(value)) {
      return this.#understand({ issues: [{ message: "Invalid type: Expected Object" }] }, value);
    }
    const judge = (result: StandardSchemaV1.Result<unknown>) => {
      if (!result.issues || !isFields || typeof value !== "object") {
        return this.#understand(result, value);
      }
      return withListsOfOne(this.#schema, { result, fields: { ...value } })
        .then(({ result, fields }) => this.#understand(result, fields));
    };
    const result = this.#schema["~standard"].validate(value);
    return result instanceof Promise ? result.then(judge) : judge(result);
  }

  /**
   * Gives the schema's output.
   *
   * @throws {UnprocessableEntityException} 422, with an issue for each refused value
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
    // the schema's output type is what its library says it is
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

/** What became of the value of one part. */
export type Validated<S extends AnySchema> =
  | { readonly value: SchemaOutput<S>; readonly refusal: undefined }
  | { readonly value: undefined; readonly refusal: InputRefusal };

/** Why a part of a request was refused. */
export interface InputRefusal {
  /** One sentence. */
  readonly reason: string;
  /** What is wrong with each value. */
  readonly issues: readonly ValidationIssue[];
}

/** Makes the exception of all that is wrong with a request. */
export function refuse(refusals: readonly InputRefusal[]): UnprocessableEntityException {
  const errors = refusals.flatMap(({ issues }) => issues).slice(0, MAX_ISSUES);
  const reasons = refusals.map(({ reason }) => reason);
  return new UnprocessableEntityException(reasons.join("; "), { errors });
}

/** Turns a schema's issues into ours: at most 100, none with the submitted value in its message. */
export function issuesOf(
  issues: readonly StandardSchemaV1.Issue[],
  { value, part }: { readonly value: unknown; readonly part: InputPart },
): ValidationIssue[] {
  return issues.slice(0, MAX_ISSUES).map((issue) => {
    // arktype's path is an array that `map` would make another of its kind from
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
 * Takes what was submitted out of a message about it. The quotation at its end is cut, whatever it
 * holds: a schema may have transformed the value before it refused it. A message that still holds the
 * value, as those of an application's own may, is replaced.
 */
export function withoutValue(message: string, value: unknown): string {
  const cut = withoutQuotation(message);
  const text = typeof value === "object" ? "" : String(value ?? "");
  const isTold = [text, JSON.stringify(text).slice(1, -1)].some((form) => holds(cut, form));
  return text.length > 2 && isTold ? "Invalid value" : cut;
}

/** Tells whether a text holds another, not only as a part of a word. */
function holds(text: string, part: string): boolean {
  if (part.length > MAX_TEXT) return text.includes(part); // it would be too large a regular expression
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

/** Fields of a query or a form, with what a schema makes of them. */
interface ValidatedFields {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly result: StandardSchemaV1.Result<unknown>;
}

/**
 * Validates refused fields again, with lists of one in place of single values where the schema expects
 * lists: a field that may repeat is not a list when it is sent once.
 */
async function withListsOfOne(
  schema: AnySchema,
  validated: ValidatedFields,
): Promise<ValidatedFields> {
  let { fields, result } = validated;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const lists = expectedLists(result).filter((key) =>
      Object.hasOwn(fields, key) && !Array.isArray(fields[key])
    );
    if (lists.length === 0) break;
    fields = { ...fields, ...Object.fromEntries(lists.map((key) => [key, [fields[key]]])) };
    result = await schema["~standard"].validate(fields);
  }
  return { fields, result };
}

/** Returns the names of the fields for which a list was expected. */
function expectedLists({ issues = [] }: StandardSchemaV1.Result<unknown>): readonly string[] {
  return issues.filter(expectsList).map(({ path = [] }) => Array.from(path)).filter(({ length }) =>
    length === 1
  ).map(([segment]) => String(typeof segment === "object" ? segment.key : segment));
}
