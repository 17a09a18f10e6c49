/** The outcomes of verifications, as strings. */
import assert from "node:assert/strict";
import { inspect } from "node:util";
import type { JwtVerifier } from "../../../src/oauth2/resource_server/jwt_verifier.ts";
import { OAuth2Error } from "../../../src/oauth2/ground/errors.ts";

/**
 * Returns the outcome of an operation: `accepted`, the code of its {@linkcode OAuth2Error}, with the claim
 * if it names one, or any other error whole.
 */
export async function outcomeOf(operation: Promise<unknown>): Promise<string> {
  try {
    await operation;
    return "accepted";
  } catch (error) {
    if (!(error instanceof OAuth2Error)) return inspect(error);
    return error.code === "InvalidClaim" ? `InvalidClaim ${error.claim}` : error.code;
  }
}

/** A name, a token and its expected outcome. */
export type Case = readonly [name: string, token: unknown, expected: string];

/** Verifies many tokens at once, and searches each error for parts of its token. */
export async function assertOutcomes(
  verifier: JwtVerifier,
  cases: readonly Case[],
): Promise<void> {
  const expected = Object.fromEntries(cases.map(([name, , outcome]) => [name, outcome]));
  assert.equal(Object.keys(expected).length, cases.length, "two cases have one name");
  const tokens = await Promise.all(cases.map(([, token]) => token));
  const outcomes = await Promise.all(cases.map(async ([name], i) => {
    const verified = verifier.verify(tokens[i] as string);
    await assertSilent(verified, tokens[i]);
    return [name, await outcomeOf(verified)];
  }));
  assert.deepEqual(Object.fromEntries(outcomes), expected);
}

/** Asserts that the error of an operation shows no part of a token. */
async function assertSilent(operation: Promise<unknown>, token: unknown): Promise<void> {
  const error = await operation.then(() => undefined, (error: unknown) => error);
  const shown = inspect(error, { depth: Infinity, showHidden: true }) + JSON.stringify(error);
  for (const part of typeof token === "string" ? token.split(/[^\w-]+/) : []) {
    // a shorter part may be part of a word
    if (part.length > 10) assert(!shown.includes(part), `the error shows ${part}`);
  }
}
