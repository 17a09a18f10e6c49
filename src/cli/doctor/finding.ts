/**
 * What an examination of a project finds.
 *
 * @module
 */

const MOST_NAMED = 3;

/** One thing that was looked at, and how it is. */
export interface Finding {
  /** `ok`, `warning` for what may be meant, `problem` for what is to be mended, `skipped` without sense. */
  readonly level: "ok" | "warning" | "problem" | "skipped";
  /** What was looked at: `database`. */
  readonly subject: string;
  /** How it is, in a sentence without its period. */
  readonly text: string;
}

/** Finds that all is well. */
export function ok(subject: string, text: string): Finding {
  return { level: "ok", subject, text };
}

/** Finds what may be meant, and may not. */
export function warning(subject: string, text: string): Finding {
  return { level: "warning", subject, text };
}

/** Finds what is to be mended. */
export function problem(subject: string, text: string): Finding {
  return { level: "problem", subject, text };
}

/** Finds that something is not there to be looked at. */
export function skipped(subject: string, text: string): Finding {
  return { level: "skipped", subject, text };
}

/** Counts what is listed: `1 route`, `2 routes`. */
export function count(list: readonly unknown[], what: string): string {
  return `${list.length} ${what}${list.length === 1 ? "" : "s"}`;
}

/** Names a few, and counts the others. */
export function listSome(names: readonly string[]): string {
  const others = names.length - MOST_NAMED;
  return names.slice(0, MOST_NAMED).join(", ") + (others > 0 ? ` and ${others} more` : "");
}
