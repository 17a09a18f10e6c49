/**
 * The process environment, checked once at boot.
 *
 * @module
 */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { type AnySchema, type SchemaOutput, withoutValue } from "../core/schema/validation.ts";

/** What is wrong with one variable. It never carries the variable's value. */
export interface EnvironmentIssue {
  /** The variable's name; empty for what concerns several. */
  readonly variable: string;
  /** What the schema says of it. */
  readonly message: string;
}

/** Options of {@linkcode environment}. */
export interface EnvironmentOptions {
  /** The variables, or the bindings of a Worker; default the variables of the process. */
  readonly source?: Readonly<Record<string, unknown>>;
}

/** An environment that does not satisfy its schema. Its message lists every issue on a line. */
export class EnvironmentError extends Error {
  /** The name of the class. */
  override readonly name = "EnvironmentError";
  /** What is wrong: the one thing that can be. */
  readonly code = "InvalidEnvironment";
  /** What is wrong with each variable. */
  readonly issues: readonly EnvironmentIssue[];

  /** Creates one from the issues. */
  constructor(issues: readonly EnvironmentIssue[]) {
    const lines = issues.map(({ variable, message }) => `\n  ${variable || "*"}: ${message}`);
    super(`Cannot use the environment: it does not satisfy its schema${lines.join("")}`);
    this.issues = issues;
  }
}

/**
 * Reads the process environment through a schema, and gives what the schema makes of it. Call it once,
 * where the application starts. With a schema that names its variables, as `v.object` does, Deno needs
 * `--allow-env` for those names only.
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
 * @throws {EnvironmentError} if the variables do not satisfy the schema; all that is wrong is in it
 * @throws {TypeError} if the schema validates asynchronously
 */
export function environment<S extends AnySchema>(
  schema: S,
  { source = globalThis.process?.env ?? {} }: EnvironmentOptions = {},
): SchemaOutput<S> {
  const result = schema["~standard"].validate(source);
  if (result instanceof Promise) {
    result.catch(() => {});
    throw new TypeError("Cannot read the environment: its schema validates asynchronously");
  }
  if (result.issues) throw new EnvironmentError(result.issues.map((i) => toIssue(i, source)));
  return result.value as SchemaOutput<S>; // which its library says it is
}

function toIssue(
  { message, path = [] }: StandardSchemaV1.Issue,
  source: Readonly<Record<string, unknown>>,
): EnvironmentIssue {
  const [first] = path;
  if (first === undefined) return { variable: "", message: withoutValue(message, undefined) };
  const variable = String(typeof first === "object" ? first.key : first);
  const value = source[variable];
  if (value === undefined) return { variable, message: "It is not set" };
  return { variable, message: withoutValue(message, value) };
}
