/**
 * Redacts and compares secrets.
 *
 * @module
 */

/** The text that replaces a secret when its owner is printed. */
export const REDACTED = "<redacted>";

/** The methods that `console.log` calls, of Node and Bun, and of Deno. */
export const INSPECTORS: readonly symbol[] = [
  Symbol.for("nodejs.util.inspect.custom"),
  Symbol.for("Deno.customInspect"),
];

/**
 * Makes the inspection of a class's instances on Deno, Node and Bun return the result
 * of `toString`.
 */
export function inspectedByToString(type: { readonly prototype: object }): void {
  for (const symbol of INSPECTORS) {
    Object.defineProperty(type.prototype, symbol, {
      value(this: object) {
        return String(this);
      },
    });
  }
}

/**
 * Formats an object with its present fields: `TokenSet { accessToken: <redacted>, scope: "a b" }`.
 */
export function describe(
  name: string,
  fields: Readonly<Record<string, string | undefined>>,
): string {
  const present = Object.entries(fields).filter(([, value]) => value !== undefined);
  return `${name} { ${present.map(([key, value]) => `${key}: ${value}`).join(", ")} }`;
}

/**
 * Checks whether two strings are equal, in a time that depends only on the length of the second.
 */
export function equalInConstantTime(given: string, secret: string): boolean {
  let difference = given.length ^ secret.length;
  for (let i = 0; i < secret.length; i++) {
    difference |= (given.charCodeAt(i) || 0) ^ secret.charCodeAt(i);
  }
  return difference === 0;
}
