import assert from "node:assert/strict";
import fc from "fast-check";
import { JwksCache } from "../../../src/oauth2/resource_server/jwks_cache.ts";
import { JwtVerifier } from "../../../src/oauth2/resource_server/jwt_verifier.ts";
import { test } from "../../support/test.ts";
import { outcomeOf } from "./outcome.ts";
import { accepting } from "./resource_server.ts";
import { CLAIMS, encode, NOW, SigningKey } from "./signing_key.ts";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/ \n\0é";
const CODES = ["Validation", "UnknownKid", "InvalidSignature"];

const keys = await Promise.all(
  (["ES256", "EdDSA", "PS256"] as const).map((alg) => SigningKey.generate(alg)),
);
const tokens = await Promise.all(
  keys.flatMap((key) => [key.token(), key.token({ sub: "eve" }), key.token({ exp: NOW + 9 })]),
);

/** Serves keys without a network, by a clock so fast that no fetch has to wait. */
function cacheOf(answer: () => string): JwksCache {
  let nowMs = 0;
  return new JwksCache("https://id.example.com/jwks", {
    fetch: () => Promise.resolve(new Response(answer())),
    now: () => nowMs += 1_000,
  });
}

function newVerifier(cacheTokens: number): JwtVerifier {
  const cache = cacheOf(() => JSON.stringify({ keys: keys.map(({ jwk }) => jwk) }));
  const options = { cacheTokens, now: () => NOW * 1000 };
  return new JwtVerifier(cache, accepting("ES256", "EdDSA", "PS256"), options);
}

type Mutation = (token: string) => string;

const character = fc.constantFrom(...ALPHABET);
const position = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  fc.tuple(position, character).map(([at, by]): Mutation => splice(at, 1, () => by)),
  fc.tuple(position, character).map(([at, by]): Mutation => splice(at, 0, () => by)),
  fc.tuple(position, fc.integer({ min: 1, max: 90 })).map(([at, count]): Mutation =>
    splice(at, count, () => "")
  ),
  fc.tuple(position, fc.integer({ min: 2, max: 90 })).map(([at, count]): Mutation =>
    splice(at, count, (part) => [...part].reverse().join(""))
  ),
  fc.tuple(position, fc.integer({ min: 1, max: 90 })).map(([at, count]): Mutation =>
    splice(at, count, (part) => part + part)
  ),
  fc.string({ maxLength: 20 }).map((text): Mutation => (token) => token + text),
  fc.string({ maxLength: 20 }).map((text): Mutation => (token) => text + token),
  fc.tuple(fc.nat(2), fc.constantFrom(...tokens)).map(([index, other]): Mutation =>
    part(index, () => other.split(".")[index] ?? "")
  ),
  fc.tuple(fc.nat(2), fc.nat(2)).map(([index, from]): Mutation =>
    part(index, (parts) => parts[from] ?? "")
  ),
  fc.tuple(fc.nat(2), fc.uint8Array({ maxLength: 300 })).map(([index, bytes]): Mutation =>
    part(index, () => encode(bytes))
  ),
  fc.tuple(fc.nat(1), fc.jsonValue()).map(([index, json]): Mutation =>
    part(index, () => encode(JSON.stringify(json)))
  ),
  fc.dictionary(fc.constantFrom("alg", "kid", "typ", "crit", "b64", "jwk", "x"), fc.jsonValue())
    .map((header): Mutation => (token) => [encode(header), ...token.split(".").slice(1)].join(".")),
);

/** Changes characters from a position on, from 0 for the first to 1 for the last. */
function splice(at: number, count: number, change: (part: string) => string): Mutation {
  return (token) => {
    const start = Math.floor(at * token.length);
    return token.slice(0, start) + change(token.slice(start, start + count)) +
      token.slice(start + count);
  };
}

/** Changes a part, if there is one. */
function part(index: number, change: (parts: readonly string[]) => string): Mutation {
  return (token) => {
    const parts = token.split(".");
    return parts.map((old, i) => i === index ? change(parts) : old).join(".");
  };
}

for (const cacheTokens of [0, 5]) {
  test(`JwtVerifier.verify() never accepts a changed token, keeping ${cacheTokens}`, async () => {
    const verifier = newVerifier(cacheTokens);
    for (const token of tokens) await verifier.verify(token);
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...tokens),
        fc.array(mutation, { minLength: 1, maxLength: 3 }),
        async (token, mutations) => {
          const changed = mutations.reduce((text, mutate) => mutate(text), token);
          const expected = tokens.includes(changed) ? ["accepted"] : CODES;
          assert(expected.includes(await outcomeOf(verifier.verify(changed))));
        },
      ),
      { numRuns: 2_000 },
    );
    for (const token of tokens) assert.equal(await outcomeOf(verifier.verify(token)), "accepted");
  });
}

test("JwtVerifier.verify() fails with an OAuth2Error on any text", async () => {
  const verifier = newVerifier(5);
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.string(),
        fc.string({ unit: "binary" }),
        fc.array(fc.base64String(), { minLength: 3, maxLength: 3 }).map((parts) => parts.join(".")),
        fc.tuple(fc.jsonValue(), fc.jsonValue(), fc.uint8Array())
          .map((parts) => parts.map(encode).join(".")),
      ),
      async (text) => assert(CODES.includes(await outcomeOf(verifier.verify(text)))),
    ),
    { numRuns: 1_000 },
  );
}, { slow: true });

test(
  "JwtVerifier.verify() accepts or refuses any signed claims, by an OAuth2Error and rightly",
  async () => {
    const verifier = newVerifier(0);
    const [key] = keys;
    assert(key);
    const time = fc.oneof(
      fc.constantFrom(undefined, null, "x", NOW, NOW - 60, NOW + 60),
      fc.double(),
    );
    const text = (good: string) =>
      fc.oneof(fc.constantFrom(good, [good], `${good}/`), fc.jsonValue());
    const claims = fc.record(
      { exp: time, nbf: time, iss: text(CLAIMS.iss), aud: text(CLAIMS.aud) },
      {
        requiredKeys: [],
      },
    );
    await fc.assert(
      fc.asyncProperty(claims, async (given) => {
        // as JSON represents them, which has no NaN
        const read = JSON.parse(JSON.stringify({ ...CLAIMS, ...given }));
        const { exp, nbf = 0, iss, aud } = read;
        const isGood = typeof exp === "number" && exp > NOW - 60 && // a leeway of 60 seconds
          typeof nbf === "number" && nbf >= 0 && nbf <= NOW + 60 && iss === CLAIMS.iss &&
          [aud].flat().every((each) => typeof each === "string") &&
          [aud].flat().includes(CLAIMS.aud);
        const outcome = await outcomeOf(verifier.verify(await key.token(given)));
        assert(isGood ? outcome === "accepted" : /^InvalidClaim (exp|nbf|iss|aud)$/.test(outcome));
      }),
      { numRuns: 1_000 },
    );
  },
  { slow: true },
);
