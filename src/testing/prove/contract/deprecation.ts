/**
 * Whether what was deprecated may be removed.
 *
 * @module
 */

/** Whether something may be removed. */
export interface Ending {
  /** `none` if it was not deprecated, `ended` if it may be removed, `early` before its sunset. */
  readonly kind: "none" | "ended" | "early";
  /** The end of a sentence about its removal, empty if it was not deprecated. */
  readonly text: string;
}

/**
 * Returns whether an operation, a parameter or a schema of the base may be removed:
 * `deprecated`, and its sunset (RFC 8594) in `x-sunset`, a day or a time of ISO 8601. One without a
 * sunset may be removed at any time; one with an invalid sunset may not.
 */
export function endingOf(
  { deprecated, "x-sunset": sunset }: { readonly [name: string]: unknown },
  now: number,
): Ending {
  if (deprecated !== true) return { kind: "none", text: "" };
  if (sunset === undefined) return { kind: "ended", text: ", which was deprecated" };
  return Date.parse(String(sunset)) <= now
    ? { kind: "ended", text: `, after its sunset ${sunset}` }
    : { kind: "early", text: `, before its sunset ${sunset}` };
}
