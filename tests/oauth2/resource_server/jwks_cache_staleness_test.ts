import assert from "node:assert/strict";
import { JwksCache } from "../../../src/oauth2/resource_server/jwks_cache.ts";
import { test } from "../../support/test.ts";
import { eventually } from "./eventually.ts";
import { JwksServer, text } from "./jwks_server.ts";
import { outcomeOf } from "./outcome.ts";
import { verifierBy } from "./skipped_keys.ts";
import { NOW, SigningKey } from "./signing_key.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

const key = await SigningKey.generate("ES256", { kid: "key" });
const other = await SigningKey.generate("ES256", { kid: "other" });
const TOKEN = await key.token();
const FAILURE = text("", { status: 500 });

interface Setting {
  readonly server: JwksServer;
  readonly cache: JwksCache;
  /** The time of the cache, which a test moves. */
  readonly clock: { ms: number };
  /** What becomes of a good token. */
  verify(): Promise<string>;
  /** Verifies a valid token, and waits until the background fetch has ended. */
  verifyAndFetch(): Promise<string>;
}

/** Gives the body a cache that has the keys of a server. */
async function withCache(
  body: (setting: Setting) => Promise<void>,
  change: (cache: JwksCache) => JwksCache = (cache) => cache,
): Promise<void> {
  await using server = await JwksServer.start(key.jwk);
  const clock = { ms: NOW * 1000 };
  const cache = change(new JwksCache(server.url, { now: () => clock.ms }));
  const verifier = verifierBy(cache);
  const verify = () => outcomeOf(verifier.verify(TOKEN));
  async function verifyAndFetch(): Promise<string> {
    const sent = server.requestCount;
    const release = server.hold();
    const outcome = await verify();
    await eventually("a fetch is sent", () => server.requestCount === sent + 1);
    const fetched = cache.refresh().catch(() => {}); // the delayed fetch
    release();
    await fetched;
    return outcome;
  }
  await verify();
  await body({ server, cache, clock, verify, verifyAndFetch });
}

test("JwksCache leaves keys as they are inside the refresh window, 15 minutes", async () => {
  await withCache(async ({ server, cache, clock, verify }) => {
    for (const ms of [0, 1, MINUTE_MS, 15 * MINUTE_MS]) {
      clock.ms = NOW * 1000 + ms;
      assert.deepEqual([await verify(), cache.ageMs], ["accepted", ms]);
    }
    assert.deepEqual([server.requestCount, cache.fetchCount], [1, 1]);
  });
});

test("JwksCache uses a key past the refresh window at once, while one fetch runs behind it", async () => {
  await withCache(async ({ server, cache, clock, verify }) => {
    const release = server.hold();
    clock.ms += 15 * MINUTE_MS + 1;
    const outcomes = await Promise.all(Array.from({ length: 1_000 }, verify));
    assert.deepEqual(new Set(outcomes), new Set(["accepted"]));
    await eventually("the fetch is sent", () => server.requestCount === 2);
    for (let i = 0; i < 20; i++) assert.equal(await verify(), "accepted");
    assert.deepEqual([server.requestCount, cache.ageMs], [2, 15 * MINUTE_MS + 1]);
    const fetched = cache.refresh();
    release();
    await fetched;
    assert.deepEqual([await verify(), server.requestCount, cache.ageMs], ["accepted", 2, 0]);
  });
});

test("JwksCache waits for new keys past two refresh windows, and uses a key only if they cannot be fetched", async () => {
  await withCache(async ({ server, cache, clock, verify }) => {
    clock.ms += 30 * MINUTE_MS;
    const release = server.hold();
    assert.equal(await verify(), "accepted"); // a fetch runs behind it
    const fetched = cache.refresh();
    release();
    await fetched;
    clock.ms += 30 * MINUTE_MS + 1;
    server.reply = FAILURE;
    const outcomes = await Promise.all(Array.from({ length: 20 }, verify));
    assert.deepEqual([new Set(outcomes), server.requestCount], [new Set(["accepted"]), 3]);
    clock.ms += 9_999;
    assert.deepEqual([await verify(), server.requestCount], ["accepted", 3]);
    clock.ms += 23 * 60 * MINUTE_MS; // without requests: the provider is available again
    server.reply = undefined;
    server.keys = [other.jwk];
    assert.deepEqual([await verify(), server.requestCount], ["UnknownKid", 4]);
  });
});

test("JwksCache.withRefreshWindow() and withMaxStale() set the two ages, and leave the first cache", async () => {
  await withCache(async ({ server, cache, clock, verify, verifyAndFetch }) => {
    assert.deepEqual([cache.size, cache.fetchCount], [1, 1]);
    const again = cache.withMaxStale(3_000);
    assert.deepEqual([again.size, again.fetchCount, again.ageMs], [0, 0, undefined]);
    server.reply = FAILURE;
    clock.ms += 1_000;
    assert.deepEqual([await verify(), server.requestCount], ["accepted", 1]);
    clock.ms += 1;
    assert.deepEqual([await verifyAndFetch(), server.requestCount], ["accepted", 2]);
    clock.ms += 999;
    assert.equal(await verify(), "accepted");
    clock.ms += 1;
    assert.equal(await verify(), "JwksFetch");
  }, (cache) => cache.withRefreshWindow(1_000).withMaxStale(2_000));
});

test(
  "JwksCache uses no key past the longest staleness, 24 hours, and waits for new ones",
  async () => {
    await withCache(async ({ server, clock, verify, verifyAndFetch }) => {
      server.reply = FAILURE;
      clock.ms += DAY_MS;
      assert.equal(await verifyAndFetch(), "accepted");
      clock.ms += 1;
      assert.equal(await verify(), "JwksFetch");
      server.reply = undefined;
      assert.equal(await verify(), "accepted");
    });
  },
  { slow: true },
);

test("JwksCache does not refresh in the background for ten seconds after a failed fetch", async () => {
  await withCache(async ({ server, clock, verify, verifyAndFetch }) => {
    server.reply = FAILURE;
    clock.ms += 16 * MINUTE_MS;
    await verifyAndFetch();
    assert.equal(server.requestCount, 2);
    for (const ms of [0, 1, 5_000, 4_998]) {
      clock.ms += ms;
      assert.equal(await verify(), "accepted");
    }
    await new Promise((resolve) => setTimeout(resolve, 20)); // a request would have been sent by now
    assert.equal(server.requestCount, 2);
    clock.ms += 1;
    assert.equal(await verifyAndFetch(), "accepted");
    assert.equal(server.requestCount, 3);
    server.reply = undefined;
    clock.ms += 10_000;
    assert.equal(await verifyAndFetch(), "accepted");
    assert.equal(server.requestCount, 4);
  });
});

test("JwksCache looks up a new key at once, even if the last fetch failed", async () => {
  await withCache(async ({ server, cache }) => {
    server.reply = FAILURE;
    await assert.rejects(cache.refresh(), { code: "JwksFetch" });
    server.reply = undefined;
    server.keys = [key.jwk, other.jwk];
    assert.equal(await outcomeOf(verifierBy(cache).verify(await other.token())), "accepted");
    assert.equal(server.requestCount, 3);
  });
});

test("JwksCache clears a failure after a successful fetch", async () => {
  await withCache(async ({ server, cache, clock, verifyAndFetch }) => {
    server.reply = FAILURE;
    await assert.rejects(cache.refresh(), { code: "JwksFetch" });
    server.reply = undefined;
    await cache.refresh();
    clock.ms += 1_001;
    assert.equal(await verifyAndFetch(), "accepted");
    assert.equal(server.requestCount, 4);
  }, (cache) => cache.withRefreshWindow(1_000));
});

test("JwksCache drops a key that has left the key set at the next fetch", async () => {
  await withCache(async ({ server, cache, clock, verify, verifyAndFetch }) => {
    server.keys = [other.jwk];
    clock.ms += 10 * MINUTE_MS;
    assert.equal(await verify(), "accepted");
    clock.ms += 6 * MINUTE_MS;
    assert.equal(await verifyAndFetch(), "accepted");
    assert.deepEqual([await verify(), cache.size], ["UnknownKid", 1]);
  });
});

test("JwksCache keeps its keys when a key set is empty, and fetches again after ten seconds", async () => {
  await withCache(async ({ server, cache, clock, verify, verifyAndFetch }) => {
    const kept = cache.find("key", "ES256")[0];
    server.keys = [];
    clock.ms += 16 * MINUTE_MS;
    assert.equal(await verifyAndFetch(), "accepted");
    clock.ms += 9_999;
    assert.deepEqual([await verify(), cache.size], ["accepted", 1]);
    assert.equal(server.requestCount, 2);
    clock.ms += 1;
    assert.equal(await verifyAndFetch(), "accepted");
    assert.deepEqual([server.requestCount, cache.find("key", "ES256")[0]], [3, kept]);
    server.keys = [other.jwk];
    clock.ms += 10_000;
    assert.equal(await verifyAndFetch(), "accepted");
    assert.deepEqual([await verify(), cache.size], ["UnknownKid", 1]);
  });
});

test("JwksCache takes a set of another algorithm that a token has, and drops the old key", async () => {
  await withCache(async ({ server, cache, verify }) => {
    const moved = await SigningKey.generate("RS256", { kid: "moved" });
    server.keys = [moved.jwk];
    assert.equal(await outcomeOf(verifierBy(cache).verify(await moved.token())), "accepted");
    assert.equal(await verify(), "UnknownKid");
  });
});

test("JwksCache uses no key past the longest staleness while key sets are empty", async () => {
  await withCache(async ({ server, cache, clock, verify }) => {
    server.keys = [];
    clock.ms += DAY_MS;
    assert.equal(await verify(), "accepted");
    await cache.refresh().catch(() => {}); // the one in the background
    clock.ms += 1;
    assert.equal(await verify(), "JwksFetch");
    server.keys = [key.jwk];
    assert.equal(await verify(), "accepted");
  });
});

test("JwksCache without keys fails with JwksFetch while key sets are empty", async () => {
  await using server = await JwksServer.start();
  const cache = new JwksCache(server.url);
  assert.equal(await outcomeOf(verifierBy(cache).verify(TOKEN)), "JwksFetch");
  assert.deepEqual([cache.size, cache.ageMs], [0, undefined]);
  server.keys = [key.jwk];
  assert.equal(await outcomeOf(verifierBy(cache).verify(TOKEN)), "accepted");
});

test("JwksCache replaces the old key of a kid by the new one", async () => {
  await withCache(async ({ server, cache, verify }) => {
    server.keys = [other.jwkWith({ kid: "key" })];
    await cache.refresh();
    assert.equal(await verify(), "InvalidSignature");
    const renewed = await other.forgeWith({ kid: "key" });
    assert.equal(await outcomeOf(verifierBy(cache).verify(renewed)), "accepted");
  });
});

test("JwksCache keeps the same CryptoKey while its JWK is unchanged", async () => {
  await withCache(async ({ server, cache }) => {
    const before = cache.find("key", "ES256");
    assert.equal(before.length, 1);
    await cache.refresh();
    server.keys = [other.jwk, key.jwkWith({ x5t: "new" })];
    await cache.refresh();
    assert.equal(cache.find("key", "ES256")[0], before[0]);
    server.keys = [other.jwkWith({ kid: "key" })];
    await cache.refresh();
    assert.notEqual(cache.find("key", "ES256")[0], before[0]);
  });
});

test("JwksCache reports its age, size and fetches after success and failure", async () => {
  await using server = await JwksServer.start(key.jwk, null, other.jwk);
  const clock = { ms: NOW * 1000 };
  const cache = new JwksCache(server.url, { now: () => clock.ms });
  const told = () => [cache.ageMs, cache.size, cache.fetchCount];
  assert.deepEqual(told(), [undefined, 0, 0]);
  server.reply = FAILURE;
  await assert.rejects(cache.refresh(), { code: "JwksFetch" });
  assert.deepEqual(told(), [undefined, 0, 1]);
  server.reply = undefined;
  await cache.refresh();
  assert.deepEqual(told(), [0, 2, 2]);
  clock.ms += 1_234;
  assert.deepEqual(told(), [1_234, 2, 2]);
  server.reply = FAILURE;
  await assert.rejects(cache.refresh(), { code: "JwksFetch" });
  assert.deepEqual(told(), [1_234, 2, 3]);
});

test("JwksCache does not wait longer after the clock is set back", async () => {
  await withCache(async ({ server, cache, clock, verify }) => {
    for (let i = 0; i < 4; i++) await cache.refresh();
    clock.ms -= DAY_MS;
    const started = performance.now();
    const miss = await other.forgeWith({ kid: "forged" });
    assert.equal(await outcomeOf(verifierBy(cache).verify(miss)), "UnknownKid");
    assert(performance.now() - started < 3_000);
    assert.deepEqual([await verify(), server.requestCount], ["accepted", 6]);
  });
});
