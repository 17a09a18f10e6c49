/**
 * The reduction of a list of requests that leads to a failure.
 *
 * @module
 */

/** Options of {@linkcode shrink}. */
export interface ShrinkOptions<Element> {
  /** Checks whether the failure still occurs with fewer elements. */
  readonly fails: (fewer: readonly Element[]) => Promise<boolean>;
  /** When the reduction stops, in milliseconds as of `performance.now()`. */
  readonly endsAt: number;
}

/**
 * Removes elements from a list, halves of it first and single ones last, while the failure still
 * occurs; returns the others in their order.
 */
export async function shrink<Element>(
  all: readonly Element[],
  { fails, endsAt }: ShrinkOptions<Element>,
): Promise<readonly Element[]> {
  let rest = all;
  for (let size = (all.length + 1) >> 1; size >= 1; size >>= 1) {
    for (let at = 0; at < rest.length && performance.now() < endsAt;) {
      const fewer = rest.toSpliced(at, size);
      if (await fails(fewer)) rest = fewer;
      else at += size;
    }
  }
  return rest;
}
