/**
 * The results of the checks of a project.
 *
 * @module
 */

const MOST_NAMED = 3;

/** The subject of findings that are unsafe in production. */
export const PRODUCTION = "production";

/** The result of a check. */
export interface Finding {
  /** `problem` needs a fix, `warning` may be intended, `skipped` could not be checked. */
  readonly level: "ok" | "warning" | "problem" | "skipped";
  /** The subject: `database`. */
  readonly subject: string;
  /** The result as a sentence, without its period. */
  readonly text: string;
}

/** Returns a finding without a problem. */
export function ok(subject: string, text: string): Finding {
  return { level: "ok", subject, text };
}

/** Returns a finding that may be intended. */
export function warning(subject: string, text: string): Finding {
  return { level: "warning", subject, text };
}

/** Returns a finding that needs a fix. */
export function problem(subject: string, text: string): Finding {
  return { level: "problem", subject, text };
}

/** Returns a finding of a check that was not possible. */
export function skipped(subject: string, text: string): Finding {
  return { level: "skipped", subject, text };
}

/** Lists the first names, and counts the others. */
export function listSome(names: readonly string[]): string {
  const others = names.length - MOST_NAMED;
  return names.slice(0, MOST_NAMED).join(", ") + (others > 0 ? ` and ${others} more` : "");
}
