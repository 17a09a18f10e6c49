/**
 * The options of a new project.
 *
 * @module
 */
import type { Database } from "../project/database.ts";

/** The texts of files by path. */
export type Files = Readonly<Record<string, string>>;

/** The options of a new project. */
export interface NewProject {
  /** The name of its folder. */
  readonly name: string;
  /** The title: `My Shop`. */
  readonly title: string;
  /** Whether the compiler and the linter are strict. */
  readonly strict: boolean;
  /** The database, if any. */
  readonly database?: Database | undefined;
  /** Whether callers need a token of an identity provider. */
  readonly oauth2: boolean;
  /** Whether the application issues tokens, and callers need one. */
  readonly authn: boolean;
  /** The checkout of the framework to use; default a release. */
  readonly checkout?: string | undefined;
}
