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
  // a guard or an array in place of options would have no effect either
  if (typeof options !== "object" || options === null || Symbol.iterator in options) {
    refuse("the options are not a plain object");
  }
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const plural = known.includes(`${unknown}s`) ? `, ${unknown}s is` : "";
  refuse(`${unknown} is not an option${plural}`);
}

/**
 * Refuses options that are present and undefined, as of an environment variable that is not set:
 * what they protect would be open.
 */
export function checkDefined(
  options: object,
  { names, refuse }: { readonly names: readonly string[]; readonly refuse: Refuse },
): void {
  const name = names.find((each) => each in options && Reflect.get(options, each) === undefined);
  if (name !== undefined) refuse(`${name} is undefined; omit it for the default`);
}
