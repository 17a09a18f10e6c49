/**
 * What a new project is asked to be.
 *
 * @module
 */
import type { Database } from "../project/database.ts";

/** The files of a project: texts by path. */
export type Files = Readonly<Record<string, string>>;

/** A project that is to be made. */
export interface NewProject {
  /** The name of its folder. */
  readonly name: string;
  /** The name for people: `My Shop`. */
  readonly title: string;
  /** Whether the compiler and the linter are to be strict. */
  readonly strict: boolean;
  /** Its database, if it has one. */
  readonly database?: Database | undefined;
  /** Whether callers need a token of an identity provider. */
  readonly oauth2: boolean;
  /** Whether it issues tokens itself, and callers need one. */
  readonly authn: boolean;
  /** The checkout of the framework that it uses; a release unless there is one. */
  readonly checkout?: string | undefined;
}
