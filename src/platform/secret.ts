/**
 * Keeping secrets out of what is printed.
 *
 * @module
 */

/** What stands for a secret wherever its holder is printed. */
export const REDACTED = "<redacted>";

/** What `console.log` calls: on Node and Bun the first, on Deno either. */
const INSPECTORS = [Symbol.for("nodejs.util.inspect.custom"), Symbol.for("Deno.customInspect")];

/** Makes every inspection of a class's instances, on Deno, Node and Bun, give what `toString` gives. */
export function inspectedByToString(type: { readonly prototype: object }): void {
  for (const symbol of INSPECTORS) {
    Object.defineProperty(type.prototype, symbol, {
      value(this: object) {
        return String(this);
      },
    });
  }
}

/** Words an object with the fields it has: `TokenSet { accessToken: <redacted>, scope: "a b" }`. */
export function describe(
  name: string,
  fields: Readonly<Record<string, string | undefined>>,
): string {
  const present = Object.entries(fields).filter(([, value]) => value !== undefined);
  return `${name} { ${present.map(([key, value]) => `${key}: ${value}`).join(", ")} }`;
}

/** Tells whether two strings are equal, in a time that depends on the length of the second alone. */
export function equalInConstantTime(given: string, secret: string): boolean {
  let difference = given.length ^ secret.length;
  for (let i = 0; i < secret.length; i++) {
    difference |= (given.charCodeAt(i) || 0) ^ secret.charCodeAt(i);
  }
  return difference === 0;
}
