/**
 * Validation by any library that implements Standard Schema (https://standardschema.dev).
 *
 * @module
 */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { dtoName } from "./dto.ts";
import { UnprocessableEntityException } from "./exceptions.ts";
import type { InputPart, ValidationIssue } from "./http_exception.ts";

/** A schema of any library that implements Standard Schema: valibot, zod, arktype and others. */
export type AnySchema = StandardSchemaV1;

/** What a schema gives. */
export type SchemaOutput<S extends AnySchema> = StandardSchemaV1.InferOutput<S>;

/** What a schema takes. */
export type SchemaInput<S extends AnySchema> = StandardSchemaV1.InferInput<S>;

/** The most issues that one response lists; the rest are left out. */
const MAX_ISSUES = 100;

/** The longest `field` and `message` of an issue, in characters. */
const MAX_TEXT = 256;

/** Runs a schema, synchronously where the schema is synchronous. */
export function validate<S extends AnySchema>(
  schema: S,
  value: unknown,
): StandardSchemaV1.Result<SchemaOutput<S>> | Promise<StandardSchemaV1.Result<SchemaOutput<S>>> {
  return schema["~standard"].validate(value) as ReturnType<typeof validate<S>>;
}

/**
 * Gives the schema's output for a value of a request.
 *
 * @throws {UnprocessableEntityException} 422, with an issue for each refused value
 */
export async function parse<S extends AnySchema>(
  schema: S,
  value: unknown,
  part: InputPart,
): Promise<SchemaOutput<S>> {
  const result = await validate(schema, value);
  if (result.issues) {
    throw new InputRefusal().add(schema, issuesOf(result.issues, value, part)).toException();
  }
  return result.value;
}

/** Collects what is wrong with the parts of one request. */
export class InputRefusal {
  readonly #issues: ValidationIssue[] = [];
  readonly #reasons: string[] = [];

  /** Adds the issues of one part. */
  add(schema: AnySchema, issues: readonly ValidationIssue[]): this {
    this.#issues.push(...issues);
    const part = issues[0]?.in;
    this.#reasons.push(`The ${part} does not satisfy ${dtoName(schema) ?? "its schema"}`);
    return this;
  }

  /** Makes the exception of them all. */
  toException(): UnprocessableEntityException {
    return new UnprocessableEntityException(this.#reasons.join("; "), {
      errors: this.#issues.slice(0, MAX_ISSUES),
    });
  }
}

/** Turns a schema's issues into ours: at most 100, none with the submitted value in its message. */
export function issuesOf(
  issues: readonly StandardSchemaV1.Issue[],
  value: unknown,
  part: InputPart,
): ValidationIssue[] {
  return issues.slice(0, MAX_ISSUES).map(({ message, path = [] }) => {
    const keys = path.map((segment) => typeof segment === "object" ? segment.key : segment);
    return {
      in: part,
      field: keys.map(String).join(".").slice(0, MAX_TEXT),
      message: withoutValue(message, valueAt(value, keys)).slice(0, MAX_TEXT),
    };
  });
}

/**
 * Takes a value out of a message about it. Schema libraries quote what they refuse (`Expected number
 * but received "hunter2"`); the quotation and the words that lead to it are cut, and a message that
 * still holds the value is replaced.
 */
export function withoutValue(message: string, value: unknown): string {
  if (typeof value === "object" || value === undefined) return message;
  const text = String(value);
  if (text === "") return message;
  const cut = [JSON.stringify(text), `"${text}"`, `'${text}'`, text]
    .map((quoted) => cutQuotation(message, quoted))
    .find((shorter) => shorter !== message) ?? message;
  return text.length > 2 && cut.includes(text) ? "Invalid value" : cut;
}

/** Cuts `but received "x"`, `: Received "x"`, `(was "x")` and `, got "x"` off the end of a message. */
function cutQuotation(message: string, quoted: string): string {
  const end = message.endsWith(`${quoted})`) ? quoted.length + 1 : quoted.length;
  if (!message.endsWith(quoted) && end === quoted.length) return message;
  const lead = message.slice(0, -end);
  const words = /(?:,? but|:|,)? ?\(?(?:received|was|got):? $/i.exec(lead);
  return words ? lead.slice(0, words.index) : message;
}

function valueAt(value: unknown, keys: readonly PropertyKey[]): unknown {
  let at = value;
  for (const key of keys) {
    if (typeof at !== "object" || at === null) return undefined;
    at = (at as Record<PropertyKey, unknown>)[key];
  }
  return at;
}
