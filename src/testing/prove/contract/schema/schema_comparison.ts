/**
 * What the comparisons of keywords need to compare the schemas inside of them.
 *
 * @module
 */
import type { SchemaDifference } from "../rules.ts";
import type { Schema } from "./keywords.ts";
import type { Shapes } from "./shapes.ts";

/** Compares schemas inside of others. */
export interface SchemaComparison {
  /** The schemas of the base. */
  readonly base: Shapes;
  /** Those that they have become. */
  readonly current: Shapes;
  /** The time that sunsets are compared with, in milliseconds since the epoch. */
  readonly now: number;
  /** Compares a schema with the one that it has become. */
  compare(base: Schema, current: Schema): readonly SchemaDifference[];
}
