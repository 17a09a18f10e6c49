/**
 * The reasons why a request is invalid.
 *
 * @module
 */

/** The part of a request that an invalid value is in. */
export type InputPart = "path" | "query" | "header" | "body";

/** A reason why a request is invalid. It never contains the submitted value. */
export interface ValidationIssue {
  /** The part of the request. */
  readonly in: InputPart;
  /**
   * The path to the value, its keys joined with dots (`"items.0.name"`); empty for the whole part.
   */
  readonly field: string;
  /** The message of the schema. */
  readonly message: string;
}

/** The maximum number of issues in a response. */
export const MAX_ISSUES = 100;
