/**
 * The names of options.
 *
 * @module
 */

/** Throws an error with the reason. */
export type Refuse = (why: string) => never;

/** Returns what refuses to do something with a `TypeError`: `Cannot …: why`. */
export function refusing(action: string): Refuse {
  return (why) => {
    throw new TypeError(`Cannot ${action}: ${why}`);
  };
}

/**
 * Refuses options with an unknown name: it would have no effect, so that a route could be open or a
 * limit another than meant.
 */
export function checkNames(
  options: object,
  { known, refuse }: { readonly known: readonly string[]; readonly refuse: Refuse },
): void {
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const plural = known.includes(`${unknown}s`) ? `, ${unknown}s is` : "";
  refuse(`${unknown} is not an option${plural}`);
}
