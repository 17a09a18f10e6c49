/** Key sets with a key that must be skipped, beside a valid one. */
import assert from "node:assert/strict";
import { JwksCache } from "../../../src/oauth2/resource_server/jwks_cache.ts";
import { JwtVerifier } from "../../../src/oauth2/resource_server/jwt_verifier.ts";
import { JwksServer } from "./jwks_server.ts";
import { outcomeOf } from "./outcome.ts";
import { accepting, ALGORITHMS } from "./resource_server.ts";
import { NOW, SigningKey } from "./signing_key.ts";

/** A key that must be skipped, and a token that it has signed. */
export type Skipped = readonly [name: string, jwk: unknown, token: Promise<string>];

/** Verifies tokens of every algorithm, at their time, by the keys of a cache. */
export function verifierBy(cache: JwksCache): JwtVerifier {
  return new JwtVerifier(cache, accepting(...ALGORITHMS), { now: () => NOW * 1000 });
}

/** Asserts that only the valid key of a set is used, in either order. */
export async function assertSkipped(cases: readonly Skipped[]): Promise<void> {
  const good = await SigningKey.generate("ES256");
  await using server = await JwksServer.start();
  const expected: Record<string, unknown> = {};
  const outcomes: Record<string, unknown> = {};
  for (const [name, jwk, token] of cases) {
    for (const keys of [[jwk, good.jwk], [good.jwk, jwk]]) {
      server.keys = keys;
      const cache = new JwksCache(server.url);
      const verifier = verifierBy(cache);
      const label = keys[0] === jwk ? name : `${name}, after the good one`;
      expected[label] = ["UnknownKid", "accepted", 1];
      outcomes[label] = [
        await outcomeOf(verifier.verify(await token)),
        await outcomeOf(verifier.verify(await good.token())),
        cache.size,
      ];
    }
  }
  assert.deepEqual(outcomes, expected);
}

/** Makes cases of one key whose members are changed, or gone if `undefined`. */
export function changed(
  key: SigningKey,
  changes: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
): readonly Skipped[] {
  return Object.entries(changes).map(([name, members]): Skipped => [
    `${key.alg}: ${name}`,
    key.jwkWith(members),
    key.token(),
  ]);
}
