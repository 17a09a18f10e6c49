/**
 * Reads plain objects that come from the caller.
 *
 * @module
 */

/** Tells an object literal, of any realm, from an instance of a class and from a list. */
export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/**
 * Checks the names of options. One that is not known may be misspelt, and ignored it would widen what
 * is read or written.
 *
 * @throws {TypeError} if they are no plain object, or one is not known
 */
export function checkOptions(
  options: unknown,
  known: readonly string[],
  { action, subject = "it" }: { readonly action: string; readonly subject?: string },
): void {
  if (!isPlainObject(options)) {
    throw new TypeError(`Cannot ${action}: its options are not a plain object`);
  }
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue;
    throw new TypeError(`Cannot ${action}: ${subject} takes no ${JSON.stringify(name)}`);
  }
}

/**
 * Gives the members of an object of conditions. One that is `undefined` is a mistake: leaving it out
 * in silence would widen the condition.
 *
 * @throws {TypeError} if it is not a plain object, or a member is `undefined`
 */
export function membersOf(
  value: unknown,
  name: string,
  { action }: { readonly action: string },
): readonly [string, unknown][] {
  if (!isPlainObject(value)) throw new TypeError(`Cannot ${action}: ${name} is not a plain object`);
  const members: [string, unknown][] = [];
  for (const key of Object.keys(value)) {
    const member = value[key];
    if (member === undefined) throw new TypeError(`Cannot ${action}: ${name}.${key} is undefined`);
    members.push([key, member]);
  }
  return members;
}
