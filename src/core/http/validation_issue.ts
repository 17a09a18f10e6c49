/**
 * What is wrong with a value of a request.
 *
 * @module
 */

/** Where in a request a refused value was found. */
export type InputPart = "path" | "query" | "header" | "body";

/** One reason a request was refused. It never carries the submitted value. */
export interface ValidationIssue {
  /** The part of the request. */
  readonly in: InputPart;
  /** The path to the value, its keys joined with dots (`"items.0.name"`); empty for the whole part. */
  readonly field: string;
  /** What the schema says of it. */
  readonly message: string;
}
