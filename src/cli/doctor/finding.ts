/**
 * What an examination of a project finds.
 *
 * @module
 */

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
