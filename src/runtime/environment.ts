/**
 * Validates the process environment at boot.
 *
 * @module
 */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { messageOf } from "../core/schema/schema_libraries.ts";
import { type AnySchema, type SchemaOutput, withoutValue } from "../core/schema/validation.ts";

/** Why a variable is invalid. It never contains the value. */
export interface EnvironmentIssue {
  /** The name of the variable; empty if the issue concerns several. */
  readonly variable: string;
  /** The message of the schema, or "Invalid value" if that contains a value. */
  readonly message: string;
}

/** Options of {@linkcode environment}. */
export interface EnvironmentOptions {
  /** The variables, or the bindings of a Worker; by default the variables of the process. */
  readonly source?: Readonly<Record<string, unknown>>;
}

/** An environment that does not satisfy its schema. Its message has one line for each issue. */
export class EnvironmentError extends Error {
  /** The name of the class. */
  override readonly name = "EnvironmentError";
  /** The only code of this class. */
  readonly code = "InvalidEnvironment";
  /** The issues of all variables. */
  readonly issues: readonly EnvironmentIssue[];

  /** Creates an error from its issues. */
  constructor(issues: readonly EnvironmentIssue[]) {
    const lines = issues.map(({ variable, message }) => `\n  ${variable || "*"}: ${message}`);
    super(`Cannot use the environment: it does not satisfy its schema${lines.join("")}`);
    this.issues = issues;
  }
}

/**
 * Validates the process environment with a schema and returns the output. Call it once, where the
 * application starts. With a schema that lists its variables, such as `v.object`, Deno needs
 * `--allow-env` only for those names.
 *
 * @example
 * ```ts
 * import { environment } from "@fw/fw";
 * import * as v from "valibot";
 *
 * const env = environment(v.object({
 *   HOST: v.optional(v.string()),
 *   LOG_LEVEL: v.optional(v.picklist(["debug", "info"]), "info"),
 * }));
 * console.assert(env.LOG_LEVEL === "info");
 * ```
 *
 * @throws {EnvironmentError} with all issues, if the variables do not satisfy the schema, or a
 * transformation of it throws
 * @throws {TypeError} if the schema validates asynchronously, or is not a Standard Schema
 */
export function environment<S extends AnySchema>(
  schema: S,
  { source = globalThis.process?.env ?? {} }: EnvironmentOptions = {},
): SchemaOutput<S> {
  const result = validate(schema, source);
  if (result instanceof Promise) {
    result.catch(() => {});
    throw new TypeError("Cannot read the environment: its schema validates asynchronously");
  }
  if (result.issues) throw new EnvironmentError(result.issues.map((i) => toIssue(i, source)));
  return result.value as SchemaOutput<S>; // the library guarantees the type
}

function validate(schema: AnySchema, source: unknown): ReturnType<Validate> {
  const standard: Partial<AnySchema["~standard"]> | undefined = schema?.["~standard"];
  if (typeof standard?.validate !== "function") {
    throw new TypeError("Cannot read the environment: the schema is not a Standard Schema");
  }
  try {
    return standard.validate(source);
  } catch (error) {
    if (error instanceof Error && error.name === "NotCapable") throw error; // Deno denies the access
    // any other can contain the value
    throw new EnvironmentError([{ variable: "", message: "A value cannot be converted" }]);
  }
}

type Validate = AnySchema["~standard"]["validate"];

function toIssue(
  issue: StandardSchemaV1.Issue,
  source: Readonly<Record<string, unknown>>,
): EnvironmentIssue {
  const message = messageOf(issue);
  const [first] = issue.path ?? [];
  if (first === undefined) return { variable: "", message: withoutValues(message, source) };
  const variable = String(typeof first === "object" ? first.key : first);
  const value = source[variable];
  if (value === undefined) return { variable, message: "It is not set" };
  return { variable, message: withoutValue(message, value) };
}

/** Conceals a message about several variables if it contains the value of any of them. */
function withoutValues(message: string, source: Readonly<Record<string, unknown>>): string {
  try {
    return Object.values(source).reduce<string>(withoutValue, message);
  } catch {
    return "Invalid value"; // Deno permits to read some of the variables only
  }
}
