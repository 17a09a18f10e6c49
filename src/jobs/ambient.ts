/**
 * Finds the application of the code that enqueues a job or publishes an event.
 *
 * @module
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { EnqueueOptions } from "./enqueue_options.ts";
import type { EventKind } from "./event_kind.ts";
import type { JobKind } from "./job_kind.ts";

/** A job to enqueue. */
export interface Enqueued {
  /** The payload. */
  readonly body: unknown;
  /** The options. */
  readonly options: EnqueueOptions | undefined;
}

/** The jobs and events of an application. */
export interface AmbientJobs {
  /** Checks whether the caller is inside a transaction of their database. */
  isInTransaction(): boolean;
  /** Enqueues a job of a kind. */
  enqueue(kind: JobKind, job: Enqueued): Promise<string>;
  /** Publishes an event. */
  publish(event: EventKind, body: unknown): Promise<void>;
}

/**
 * The jobs of the applications of this process that have started and not stopped. It is state of
 * the process because a kind of job is declared outside any application.
 */
const applications = new Set<AmbientJobs>();
const runs = new AsyncLocalStorage<AmbientJobs>();

/** Adds the jobs of an application that starts; returns a function that removes them. */
export function addJobs(jobs: AmbientJobs): () => void {
  applications.add(jobs);
  return () => void applications.delete(jobs);
}

/** Runs a handler, whose own jobs and events belong to the same application. */
export function runInApplication<T>(jobs: AmbientJobs, handle: () => T): T {
  return runs.run(jobs, handle);
}

/**
 * Returns the jobs of the caller: those of the transaction or the handler that it is inside, or of
 * the only application of this process.
 *
 * @throws {TypeError} if no application has jobs, or several have; `action` begins its message
 */
export function ambientJobs(action: string): AmbientJobs {
  const inside = [...applications].filter((jobs) => jobs.isInTransaction());
  const running = runs.getStore();
  if (inside.length === 0 && running && applications.has(running)) return running;
  const [found, ...others] = inside.length > 0 ? inside : applications;
  if (found && others.length === 0) return found;
  throw new TypeError(
    found
      ? `Cannot ${action}: several applications of this process have jobs; use inject(Jobs) or ` +
        "inject(Events)"
      : `Cannot ${action}: no application has started that imports JobsModule.forRoot(Db)`,
  );
}
