/**
 * The kind of job of a schedule.
 *
 * @module
 */
import type { AnySchema } from "../../core/schema/validation.ts";
import type { JsonValue } from "../../db/model/stored_value.ts";
import type { JobKind, JobSettings } from "../job_kind.ts";

/** The prefix of the names of these kinds, which no other kind can have. */
export const SCHEDULE_PREFIX = "schedule:";

/** The pattern of a schedule, and its time zone. */
export interface SchedulePattern {
  /** The pattern. */
  readonly pattern: string;
  /** The time zone. */
  readonly timeZone: string;
}

/** The payload of an occurrence, as it is stored. */
export interface Plan extends SchedulePattern {
  /** When it is due, in milliseconds since the epoch. */
  readonly due: number;
  /** When it was planned, in milliseconds since the epoch. */
  readonly planned: number;
  /** When the process that planned it had started, in milliseconds since the epoch. */
  readonly started: number;
}

/** The kind of the occurrences of a schedule. */
export class ScheduleKind implements JobKind, SchedulePattern {
  /** The name of the kind: the prefix, and the name of the schedule. */
  readonly name: string;
  /** The schema of the stored payload: its output is the occurrence. */
  readonly schema: AnySchema = OCCURRENCE;
  /** The options of the runs. */
  readonly settings: JobSettings;
  /** The pattern. */
  readonly pattern: string;
  /** The time zone. */
  readonly timeZone: string;

  /** Creates the kind of a schedule. */
  constructor(
    name: string,
    { pattern, timeZone, settings }: SchedulePattern & { readonly settings: JobSettings },
  ) {
    this.name = `${SCHEDULE_PREFIX}${name}`;
    this.settings = settings;
    this.pattern = pattern;
    this.timeZone = timeZone;
  }

  /** The singleton key of its occurrences; the colon is the prefix of no other key. */
  get singleton(): string {
    return `:${this.name}`;
  }
}

/** Returns the plan in a payload; `undefined` if another version has stored it in another form. */
export function planOf(body: JsonValue): Plan | undefined {
  const plan = body as unknown as Partial<Plan> | null;
  return typeof plan?.due === "number" ? plan as Plan : undefined;
}

const OCCURRENCE: AnySchema = {
  "~standard": {
    version: 1,
    vendor: "fw",
    validate(body) {
      const plan = planOf(body as JsonValue);
      return plan ? { value: { dueAt: new Date(plan.due) } } : { issues: [{ message: "no plan" }] };
    },
  },
};
