import assert from "node:assert/strict";
import fc from "fast-check";
import { JwksCache } from "../../../src/oauth2/resource_server/jwks_cache.ts";
import { test } from "../../support/test.ts";
import { outcomeOf } from "./outcome.ts";
import { ALGORITHMS } from "./resource_server.ts";
import { verifierBy } from "./skipped_keys.ts";
import { SigningKey } from "./signing_key.ts";

const good = await SigningKey.generate("ES256", { kid: "good" });
const rsa = await SigningKey.generate("RS256");
const ed = await SigningKey.generate("EdDSA");
const token = await good.token();

/** Serves keys without a network, by a clock so fast that no fetch has to wait. */
function cacheOf(answer: () => Response): JwksCache {
  let nowMs = 0;
  return new JwksCache("https://id.example.com/jwks", {
    fetch: () => Promise.resolve(answer()),
    now: () => nowMs += 1_000,
  });
}

const odd = fc.oneof(fc.jsonValue(), fc.base64String(), fc.constantFrom("AQAB", "AQ", "", null));

/** A key with members of good ones, odd ones, and some gone. */
const jwk = fc.tuple(
  fc.constantFrom(good.jwk, rsa.jwk, ed.jwk),
  fc.record({
    kty: fc.oneof(fc.constantFrom("EC", "RSA", "OKP", "oct"), odd),
    kid: fc.oneof(fc.constantFrom("a", "b", "__proto__"), odd),
    crv: fc.oneof(fc.constantFrom("P-256", "P-384", "P-521", "Ed25519"), odd),
    alg: fc.oneof(fc.constantFrom(...ALGORITHMS, "none", "HS256"), odd),
    use: fc.oneof(fc.constantFrom("sig", "enc"), odd),
    key_ops: fc.oneof(fc.constantFrom(["verify"], ["sign"]), odd),
    x: odd,
    y: odd,
    n: odd,
    e: odd,
    d: odd,
    k: odd,
  }, { requiredKeys: [] }),
).map(([base, members]) => ({ ...base, kid: "odd", ...members }));

test("JwksCache finds the valid key beside any others in the set", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof(jwk, fc.jsonValue()), { maxLength: 8 }),
      fc.array(fc.oneof(jwk, fc.jsonValue()), { maxLength: 8 }),
      async (before, after) => {
        const cache = cacheOf(() => Response.json({ keys: [...before, good.jwk, ...after] }));
        assert.equal(await outcomeOf(verifierBy(cache).verify(token)), "accepted");
        assert(cache.size <= 17);
        for (const kid of ["odd", "a", "__proto__"]) {
          for (const alg of ALGORITHMS) {
            const found = cache.find(kid, alg);
            assert(found.every((key) => key.type === "public" && key.usages.includes("verify")));
          }
        }
      },
    ),
    { numRuns: 500 },
  );
}, { slow: true });

test("JwksCache accepts any answer as a key set or fails with JwksFetch", async () => {
  const body = fc.oneof(
    fc.string(),
    fc.json(),
    fc.jsonValue().map((keys) => JSON.stringify({ keys })),
    fc.array(jwk, { maxLength: 3 }).map((keys) => JSON.stringify({ keys })),
    fc.array(jwk, { maxLength: 3 }).map((keys) => JSON.stringify({ keys }).slice(0, -3)),
  );
  const status = fc.constantFrom(200, 200, 200, 201, 302, 404, 500);
  await fc.assert(
    fc.asyncProperty(body, status, async (text, code) => {
      let response = () => new Response(text, { status: code });
      const cache = cacheOf(() => response());
      assert(["accepted", "JwksFetch"].includes(await outcomeOf(cache.refresh())));
      const verifier = verifierBy(cache);
      const outcome = await outcomeOf(verifier.verify(token));
      assert(["accepted", "UnknownKid", "JwksFetch", "InvalidSignature"].includes(outcome));
      response = () => Response.json({ keys: [good.jwk] });
      await cache.refresh();
      assert.equal(await outcomeOf(verifier.verify(token)), "accepted");
    }),
    { numRuns: 500 },
  );
}, { slow: true });

test("JwksCache fails with JwksFetch on any behaviour of fetch", async () => {
  const answers: readonly (() => unknown)[] = [
    () => Promise.reject(new Error("no")),
    () => Promise.reject(undefined),
    () => Promise.reject("no"),
    () => Promise.reject(null),
    () => {
      throw new RangeError("no");
    },
    () => undefined,
    () => null,
    () => Promise.resolve(undefined),
    () => Promise.resolve({ status: 200 }),
    () => Promise.resolve({ status: 200, body: {} }),
    () => Promise.resolve("{}"),
    () => Promise.resolve(Response.error()),
    () => {
      const response = new Response("{}");
      response.body?.getReader();
      return Promise.resolve(response);
    },
    () =>
      Promise.resolve(new Response(new ReadableStream({ start: (c) => c.error(new Error("no")) }))),
    () => Promise.resolve(new Response(new ReadableStream({ start: (c) => c.close() }))),
  ];
  for (const answer of answers) {
    const cache = new JwksCache("https://id.example.com/jwks", { fetch: answer as typeof fetch });
    assert.equal(await outcomeOf(cache.refresh()), "JwksFetch", String(answer));
  }
});

test("JwksCache does not wait longer for a fetch that cannot be aborted", async () => {
  const cache = new JwksCache("https://id.example.com/jwks", {
    fetch: () => new Promise(() => {}),
    timeoutMs: 30,
  });
  const started = performance.now();
  assert.equal(await outcomeOf(cache.refresh()), "JwksFetch");
  assert(performance.now() - started < 1_000);
});
