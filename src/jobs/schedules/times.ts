/**
 * The times of schedules.
 *
 * @module
 */
import type { ScheduleKind, SchedulePattern } from "./schedule_kind.ts";

/** Returns the first time of a schedule after another, in milliseconds since the epoch. */
export type NextTime = (after: number) => number;

/** Returns the times of schedules by the names of their kinds. */
export type Times = ReadonlyMap<string, NextTime>;

/**
 * Loads `croner`, and reads the patterns of schedules.
 *
 * @throws {TypeError} if a pattern is invalid or matches no time, or `croner` is not installed
 */
export async function timesOf(kinds: readonly ScheduleKind[]): Promise<Times> {
  // bundlers accept a missing package only if its import is caught here
  const { Cron } = await import("croner").catch(notInstalled);
  const nextTimeOf = ({ pattern, timeZone }: SchedulePattern): NextTime => {
    const cron = new Cron(pattern, {
      timezone: timeZone,
      paused: true,
      fixedTimeRule: "no-wildcard",
    });
    return (after) => {
      const next = cron.nextRun(new Date(after));
      if (next === null) throw new RangeError("the pattern matches no time");
      return next.getTime();
    };
  };
  return new Map(kinds.map((kind) => {
    try {
      const nextTime = nextTimeOf(kind);
      nextTime(Date.now());
      return [kind.name, nextTime];
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new TypeError(`Cannot run ${kind.name} at ${JSON.stringify(kind.pattern)}: ${why}`, {
        cause,
      });
    }
  }));
}

function notInstalled(cause: unknown): never {
  throw new TypeError("Cannot run schedules: npm install croner", { cause });
}
