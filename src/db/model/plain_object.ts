/**
 * Reads plain objects that come from the caller.
 *
 * @module
 */

/**
 * Checks whether a value is an object literal of any realm, not an instance of a class or a list.
 */
export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/**
 * Checks the names of options. Ignoring an unknown one, which may be misspelt, could read or write
 * more rows than intended.
 *
 * @throws {TypeError} if they are not a plain object, or one is unknown
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
 * Returns the members of an object of conditions. One that is `undefined` is a mistake: ignoring it
 * would widen the condition.
 *
 * @throws {TypeError} if it is not a plain object, or a member is `undefined`
 */
export function membersOf(
  value: unknown,
  name: string,
  { action }: { readonly action: string },
): readonly [string, unknown][] {
  if (!isPlainObject(value)) {
    const what = value === undefined ? "undefined" : "not a plain object";
    throw new TypeError(`Cannot ${action}: ${name} is ${what}`);
  }
  const members: [string, unknown][] = [];
  for (const key of Object.keys(value)) {
    const member = value[key];
    if (member === undefined) throw new TypeError(`Cannot ${action}: ${name}.${key} is undefined`);
    members.push([key, member]);
  }
  return members;
}
