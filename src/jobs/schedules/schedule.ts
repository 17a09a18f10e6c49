/**
 * Schedules: functions that run as jobs at the times of a pattern.
 *
 * @module
 */
import { checkNames, type Refuse, refusing } from "../../platform/option_names.ts";
import { checkedName, JobHandler } from "../job_kind.ts";
import type { Run } from "../run.ts";
import { checkRunOptions, RUN_OPTIONS, type RunOptions, settingsOf } from "../run_options.ts";
import { ScheduleKind } from "./schedule_kind.ts";

/** Options of {@linkcode schedule}: those of the runs of a job, a name and a time zone. */
export interface ScheduleOptions extends Omit<RunOptions, "globalConcurrency"> {
  /**
   * The name, which is stored with each occurrence: 1 to 100 letters, digits, `.`, `_` and `-`. By
   * default that of the class and the field, such as `Receipts.sweep`; set it where the names of
   * classes change, as in a minified bundle.
   */
  readonly name?: string;
  /** The time zone of the pattern, an IANA name such as `"Europe/Paris"`; default `"UTC"`. */
  readonly timeZone?: string;
}

/** An occurrence of a schedule, as its handler receives it. */
export interface Occurrence {
  /** The time of the pattern, at or before the run: of missed times, the first one. */
  readonly dueAt: Date;
}

/** Handles an occurrence. */
export type HandleOccurrence = (occurrence: Occurrence, run: Run) => unknown;

/** A schedule, created by {@linkcode schedule}, as a field of a provider. */
export class Schedule {
  /** The pattern. */
  readonly pattern: string;
  /** The options. */
  readonly options: ScheduleOptions;
  /** Handles an occurrence. */
  readonly handle: HandleOccurrence;

  /** Creates a schedule; use {@linkcode schedule}. */
  constructor(
    pattern: string,
    { handle, ...options }: ScheduleOptions & { readonly handle: HandleOccurrence },
  ) {
    this.pattern = pattern;
    this.options = options;
    this.handle = handle;
  }

  /**
   * Returns the handler of its kind of job, whose name is by default that of the field.
   *
   * @throws {TypeError} if the name of the field is not one of a schedule
   */
  handlerOf(field: string): JobHandler {
    const { name = field, timeZone = "UTC", ...options } = this.options;
    const kind = new ScheduleKind(checkedName(name, "schedule"), {
      pattern: this.pattern,
      timeZone,
      settings: settingsOf({ ...options, globalConcurrency: 1 }), // no two runs at a time
    });
    // the schema of the kind has made the body
    return new JobHandler(kind, ({ body }, run) => this.handle(body as Occurrence, run));
  }
}

/**
 * Declares a schedule: a field of a provider, which workers find. The function runs at the times of
 * a pattern, once for all instances of the application, as a job with a lease, retries and a time
 * limit. It needs the package `croner`.
 *
 * The pattern has the five fields of cron (minute, hour, day of the month, month, day of the week),
 * or six with seconds first; or it is `@hourly`, `@daily`, `@weekly`, `@monthly` or `@yearly`. If
 * both days are restricted, one of them must match. When a change of the local time skips times of
 * a pattern whose minutes and hours have no `*`, it runs after the change; when the change repeats
 * such a time, it runs the first time.
 *
 * @example
 * ```ts
 * import { inject } from "@fw/fw";
 * import { DbService } from "@fw/fw/db";
 * import { jobTables, schedule } from "@fw/fw/jobs";
 *
 * class Db extends DbService.with({ ...jobTables }) {}
 *
 * class Reports {
 *   readonly #db = inject(Db);
 *   daily = schedule("0 3 * * *", { timeZone: "Europe/Paris" }, async ({ dueAt }, run) => {
 *     run.signal.throwIfAborted();
 *     console.log(dueAt, await this.#db.fwJob.count());
 *   });
 *   hourly = schedule("@hourly", () => console.log("an hour is over"));
 * }
 * ```
 *
 * @throws {TypeError} if the pattern does not have five or six fields, the time zone or the name is
 * invalid, or an option is unknown or invalid; the fields of the pattern are checked at boot
 * @throws {RangeError} if a number is out of range
 */
export function schedule(pattern: string, handle: HandleOccurrence): Schedule;
/** Declares a schedule with options. */
export function schedule(
  pattern: string,
  options: ScheduleOptions,
  handle: HandleOccurrence,
): Schedule;
export function schedule(
  pattern: string,
  ...rest: readonly [HandleOccurrence] | readonly [ScheduleOptions, HandleOccurrence]
): Schedule {
  const action = `declare schedule ${JSON.stringify(pattern)}`;
  const refuse: Refuse = refusing(action);
  const [options, handle] = rest.length === 1 ? [{}, rest[0]] : rest;
  checkNames(options, { known: OPTIONS, refuse });
  if (typeof handle !== "function") refuse("the handler is not a function");
  if (typeof pattern !== "string" || !PATTERN.test(pattern)) {
    refuse('the pattern is not of 5 fields, 6 with seconds, or one such as "@daily"');
  }
  const { name, timeZone = "UTC" } = options;
  if (name !== undefined) checkedName(name, "schedule");
  if (!isTimeZone(timeZone)) refuse(`${JSON.stringify(timeZone)} is not a time zone`);
  checkRunOptions(options, action);
  return new Schedule(pattern, { ...options, handle });
}

const OPTIONS = ["name", "timeZone", ...RUN_OPTIONS.filter((name) => name !== "globalConcurrency")];

/** Five or six fields, or a nickname. */
const PATTERN = /^(?:\S+(?: +\S+){4,5}|@(?:hourly|daily|weekly|monthly|yearly))$/;

/** Checks whether the runtime knows a time zone; an offset such as `+02:00` is not one. */
function isTimeZone(timeZone: unknown): boolean {
  if (typeof timeZone !== "string" || !/^[A-Z]/i.test(timeZone)) return false;
  try {
    new Intl.DateTimeFormat("en", { timeZone });
    return true;
  } catch {
    return false;
  }
}
