import assert from "node:assert/strict";
import { JwksCache } from "../../../src/oauth2/resource_server/jwks_cache.ts";
import { test } from "../../support/test.ts";
import { eventually } from "./eventually.ts";
import { JwksServer } from "./jwks_server.ts";
import { outcomeOf } from "./outcome.ts";
import { verifierBy } from "./skipped_keys.ts";
import { SigningKey } from "./signing_key.ts";

const MANY = 1_000;

const old = await SigningKey.generate("ES256", { kid: "old" });
const fresh = await SigningKey.generate("ES256", { kid: "fresh" });

/** Counts the outcomes of operations. */
async function tally(operations: readonly Promise<unknown>[]): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const outcome of await Promise.all(operations.map(outcomeOf))) {
    counts[outcome] = (counts[outcome] ?? 0) + 1;
  }
  return counts;
}

test("JwksCache fetches once for 1 000 concurrent verifications before it has keys", async () => {
  await using server = await JwksServer.start(old.jwk);
  const verifier = verifierBy(new JwksCache(server.url));
  const tokens = await Promise.all(
    Array.from({ length: MANY }, (_, i) => old.token({ jti: `${i}` })),
  );
  const outcomes = await tally(tokens.map((token) => verifier.verify(token)));
  assert.deepEqual([outcomes, server.requestCount], [{ accepted: MANY }, 1]);
});

test(
  "JwksCache fetches once for 1 000 lookups of a new kid, and finds its key for all",
  async () => {
    await using server = await JwksServer.start(old.jwk);
    const cache = new JwksCache(server.url);
    const verifier = verifierBy(cache);
    await verifier.verify(await old.token());
    server.keys = [old.jwk, fresh.jwk];
    const tokens = await Promise.all(
      Array.from({ length: MANY }, (_, i) => fresh.token({ jti: `${i}` })),
    );
    const outcomes = await tally(tokens.map((token) => verifier.verify(token)));
    assert.deepEqual([outcomes, server.requestCount], [{ accepted: MANY }, 2]);
    assert.deepEqual([cache.fetchCount, cache.size], [2, 2]);
  },
  { slow: true },
);

test(
  "JwksCache fetches once for 1 000 concurrent forged kids, and finds none of them",
  async () => {
    await using server = await JwksServer.start(old.jwk);
    const verifier = verifierBy(new JwksCache(server.url));
    const forged = await Promise.all(
      Array.from({ length: MANY }, (_, i) => fresh.forgeWith({ kid: `forged-${i}` })),
    );
    const cold = await tally(forged.map((token) => verifier.verify(token)));
    assert.deepEqual([cold, server.requestCount], [{ UnknownKid: MANY }, 1]);
    const again = await tally(forged.map((token) => verifier.verify(token)));
    assert.deepEqual([again, server.requestCount], [{ UnknownKid: MANY }, 2]);
  },
  { slow: true },
);

test(
  "JwksCache fetches once for concurrent known, new and forged kids, with the right outcome for each",
  async () => {
    await using server = await JwksServer.start(old.jwk, fresh.jwk);
    const verifier = verifierBy(new JwksCache(server.url));
    const tokens = await Promise.all(
      Array.from(
        { length: MANY },
        (_, i) =>
          [old.token({ jti: i }), fresh.token({ jti: i }), fresh.forgeWith({ kid: `${i}` })][i % 3],
      ),
    );
    const outcomes = await tally(tokens.map((token) => verifier.verify(`${token}`)));
    assert.deepEqual(outcomes, { accepted: 667, UnknownKid: 333 });
    assert.equal(server.requestCount, 1);
  },
  { slow: true },
);

test("JwksCache fetches again for a lookup that joined a fetch sent before the key was published", async () => {
  await using server = await JwksServer.start(old.jwk);
  const verifier = verifierBy(new JwksCache(server.url));
  const release = server.hold();
  const first = verifier.verify(await old.token());
  await eventually("the fetch is sent", () => server.requestCount === 1);
  server.keys = [fresh.jwk]; // the pending fetch still returns the old key
  const tokens = await Promise.all(Array.from({ length: 100 }, (_, i) => fresh.token({ jti: i })));
  const rest = tokens.map((token) => verifier.verify(token));
  release();
  await first;
  assert.deepEqual(await tally(rest), { accepted: 100 });
  assert.equal(server.requestCount, 2);
});

test("JwksCache delays a lookup to the next fetch: five in a row, then one every 1.25 s", async () => {
  await using server = await JwksServer.start(old.jwk);
  const verifier = verifierBy(new JwksCache(server.url));
  const started = performance.now();
  for (let i = 0; i < 5; i++) {
    const token = await old.forgeWith({ kid: `forged-${i}` });
    assert.equal(await outcomeOf(verifier.verify(token)), "UnknownKid");
  }
  assert(performance.now() - started < 900, "the burst waits");
  assert.equal(server.requestCount, 5);
  server.keys = [fresh.jwk];
  assert.equal(await outcomeOf(verifier.verify(await fresh.token())), "accepted");
  const tookMs = performance.now() - started;
  assert(tookMs > 950 && tookMs < 3_000, `the sixth fetch came after ${tookMs} ms`);
  assert.equal(server.requestCount, 6);
});

test("JwksCache finds known keys at once while a fetch for another key hangs", async () => {
  await using server = await JwksServer.start(old.jwk);
  const cache = new JwksCache(server.url);
  const verifier = verifierBy(cache);
  await verifier.verify(await old.token());
  const release = server.hold();
  const miss = outcomeOf(verifier.verify(await fresh.token()));
  await eventually("the fetch is sent", () => server.requestCount === 2);
  for (let i = 0; i < 50; i++) await verifier.verify(await old.token({ jti: i }));
  release();
  assert.equal(await miss, "UnknownKid");
});

test("JwksCache.refresh() joins the pending fetch", async () => {
  await using server = await JwksServer.start(old.jwk);
  const cache = new JwksCache(server.url);
  await Promise.all(Array.from({ length: MANY }, () => cache.refresh()));
  assert.deepEqual([server.requestCount, cache.fetchCount, cache.size], [1, 1, 1]);
});

test("two JwksCaches share nothing", async () => {
  await using server = await JwksServer.start(old.jwk);
  await using other = await JwksServer.start(fresh.jwk);
  const [one, two] = [new JwksCache(server.url), new JwksCache(other.url)];
  await Promise.all([one.refresh(), two.refresh()]);
  const outcomes = [];
  for (const cache of [one, two]) {
    for (const key of [old, fresh]) {
      outcomes.push(await outcomeOf(verifierBy(cache).verify(await key.token())));
    }
  }
  assert.deepEqual(outcomes, ["accepted", "UnknownKid", "UnknownKid", "accepted"]);
});
