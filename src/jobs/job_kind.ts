/**
 * Kinds of jobs and their handlers, without the types of payloads.
 *
 * @module
 */
import type { AnySchema } from "../core/schema/validation.ts";
import type { Backoff } from "./backoff.ts";
import type { Run } from "./run.ts";

/** The options of a kind of job, with their defaults. */
export interface JobSettings {
  /** How many further runs a job has after failed ones. */
  readonly retries: number;
  /** How the wait before a retry grows. */
  readonly backoff: Backoff;
  /** The wait before the first retry in milliseconds. */
  readonly backoffMs: number;
  /** How long a run may take in milliseconds. */
  readonly timeoutMs: number;
  /** The priority of its jobs. */
  readonly priority: number;
  /** How many of its jobs run at a time, in all processes together; `undefined` is no limit. */
  readonly globalConcurrency: number | undefined;
}

/** A kind of job, without the types of its payload. */
export interface JobKind {
  /** The name, which is stored with each job. */
  readonly name: string;
  /** The schema of the payload. */
  readonly schema: AnySchema | undefined;
  /** The options. */
  readonly settings: JobSettings;
  /** The name of the event whose durable handler it is, if any. */
  readonly event?: string;
}

/** The first argument of a handler. */
export interface JobInput<Body> {
  /** The payload: the output of its schema. */
  readonly body: Body;
}

/** The handler of a kind of job, as a field of a provider. */
export class JobHandler {
  /** The kind. */
  readonly job: JobKind;
  /** Handles a job. */
  readonly handle: (input: JobInput<unknown>, run: Run) => unknown;

  /** Creates a handler; use `handle` of the kind. */
  constructor(job: JobKind, handle: (input: JobInput<unknown>, run: Run) => unknown) {
    this.job = job;
    this.handle = handle;
  }
}

/** Checks whether a value can name a kind of job, an event, a handler or a type of webhooks. */
export function isName(value: unknown): boolean {
  return typeof value === "string" && /^[A-Za-z0-9._-]{1,100}$/.test(value);
}

/**
 * Returns the name of a kind of job, of an event or of a handler.
 *
 * @throws {TypeError} if it is invalid; `what` is in its message
 */
export function checkedName(name: string, what: string): string {
  if (isName(name)) return name;
  throw new TypeError(
    `Cannot declare ${what} ${JSON.stringify(name)}: a name has 1 to 100 letters, digits, ".", ` +
      '"_" and "-"',
  );
}
