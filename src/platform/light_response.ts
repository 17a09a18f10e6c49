/**
 * The responses of `@hono/node-server`: they keep their body and headers as they were made, and cost
 * half of a small request on Node once they are asked for more than their status and headers.
 *
 * @module
 */

/** The key of what a response was made of, until it has been asked for more. */
let madeOf: symbol | undefined;

/** Finds out how light responses are made, as soon as they have replaced the global class. */
export function findLightResponses(): void {
  madeOf = Object.getOwnPropertySymbols(new Response("")).find(({ description }) =>
    description === "cache"
  );
}

/** Checks whether a response was made of a text, and nothing has read it. */
export function isUnreadText(response: Response): boolean {
  if (madeOf === undefined) return false;
  const made: unknown = Reflect.get(response, madeOf);
  return Array.isArray(made) && typeof made[1] === "string";
}
