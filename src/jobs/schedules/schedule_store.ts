/**
 * The storage of the occurrences of schedules.
 *
 * @module
 */
import type { DatabaseClock } from "../database_clock.ts";
import type { JobInfo, NewJob } from "../engine.ts";

/** An occurrence to store: a job whose id is the same in all processes. */
export interface NewOccurrence extends NewJob {
  /** Its id, a UUID. */
  readonly id: string;
  /** The singleton key of its schedule. */
  readonly singleton: string;
}

/** Selects the occurrences to abandon. */
export interface Abandoned {
  /** The prefix of the names of their kinds. */
  readonly prefix: string;
  /** The names of kinds to except. */
  readonly except: readonly string[];
  /** They were due before this time. */
  readonly before: Date;
  /** Why they are cancelled. */
  readonly reason: string;
}

/** Stores the occurrences of schedules, which are jobs. */
export interface ScheduleStore {
  /** The clock of all processes with the occurrences. */
  readonly clock: Pick<DatabaseClock, "now" | "read">;

  /** Lists the jobs that hold singleton keys. */
  holders(singletons: readonly string[]): Promise<readonly JobInfo[]>;

  /** Returns the job of a kind that has ended and was stored last, if there is one. */
  lastEnded(name: string): Promise<JobInfo | undefined>;

  /** Returns a job, if there is one of the id. */
  find(id: string): Promise<JobInfo | undefined>;

  /** Stores an occurrence; returns `false` if a job has its id or its singleton key. */
  add(occurrence: NewOccurrence): Promise<boolean>;

  /** Removes an occurrence that is not due, unless it has had another run. */
  remove(occurrence: JobInfo): Promise<void>;

  /**
   * Cancels occurrences that are due and were not claimed, each under another id, so that it can be
   * stored again; returns the names of their kinds.
   */
  abandon(abandoned: Abandoned): Promise<readonly string[]>;
}
