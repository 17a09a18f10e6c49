import assert from "node:assert/strict";
import { OAuth2Client } from "../../../src/oauth2/client/client.ts";
import { OAuth2Options } from "../../../src/oauth2/client/client_options.ts";
import { TokenCache } from "../../../src/oauth2/client/token_cache.ts";
import { TokenSet } from "../../../src/oauth2/client/token_set.ts";
import { test } from "../../support/test.ts";

function set(accessToken: string, refreshToken?: string): TokenSet {
  return new TokenSet({ accessToken, tokenType: "bearer", refreshToken });
}

/** Refreshes with the next token of the provider, and returns the token that was sent. */
async function refresh(cache: TokenCache, token: string, next: TokenSet): Promise<string[]> {
  const sent: string[] = [];
  await cache.refresh(token, (newest) => {
    sent.push(newest);
    return Promise.resolve(next);
  });
  return sent;
}

test("TokenCache keeps sets by access and refresh token", () => {
  const cache = new TokenCache();
  assert.deepEqual([cache.size, cache.isEmpty], [0, true]);
  const [one, two] = [set("at-1", "rt-1"), set("at-2")];
  cache.store(one);
  cache.store(two);
  assert.deepEqual([cache.size, cache.isEmpty], [2, false]);
  assert.deepEqual([cache.cached("at-1"), cache.cached("at-2"), cache.cached("at-3")], [
    one,
    two,
    undefined,
  ]);
  assert.deepEqual([cache.byRefresh("rt-1"), cache.byRefresh("at-1")], [one, undefined]);
});

test("TokenCache.store() of a set that has been superseded does not bring its refresh token back", async () => {
  const cache = new TokenCache();
  const [one, two] = [set("at-1", "rt-1"), set("at-2", "rt-2")];
  cache.store(one);
  await refresh(cache, "rt-1", two);
  cache.store(one);
  assert.equal(cache.byRefresh("rt-1"), two);
  assert.deepEqual(await refresh(cache, "rt-1", set("at-3", "rt-3")), []);
});

test("TokenCache.delete() of an old set keeps the newer sets of its chain", async () => {
  const cache = new TokenCache();
  const two = set("at-2", "rt-2");
  cache.store(set("at-1", "rt-1"));
  await refresh(cache, "rt-1", two);
  assert.deepEqual([cache.delete("at-1"), cache.delete("at-1"), cache.size], [true, false, 1]);
  assert.equal(cache.byRefresh("rt-1"), two);
});

test("TokenCache.delete() of the newest set forgets all its refresh tokens", async () => {
  const cache = new TokenCache();
  await refresh(cache, "rt-1", set("at-2", "rt-2"));
  assert.ok(cache.delete("at-2"));
  assert.deepEqual([cache.byRefresh("rt-1"), cache.byRefresh("rt-2")], [undefined, undefined]);
  assert.deepEqual(await refresh(cache, "rt-1", set("at-9")), ["rt-1"]);
});

test("TokenCache.clear() and delete() do not affect a pending refresh", async () => {
  for (const forget of ["clear", "delete"] as const) {
    const cache = new TokenCache();
    cache.store(set("at-1", "rt-1"));
    const { promise, resolve } = Promise.withResolvers<TokenSet>();
    const first = cache.refresh("rt-1", () => promise);
    cache[forget]("at-1");
    assert.ok(cache.isEmpty);
    const second = cache.refresh("rt-1", () => assert.fail("it is sent again"));
    const two = set("at-2", "rt-2");
    resolve(two);
    assert.deepEqual([await first, await second, cache.byRefresh("rt-1")], [two, two, two]);
  }
});

test("TokenCache.clear() forgets all", async () => {
  const cache = new TokenCache();
  await refresh(cache, "rt-1", set("at-2", "rt-2"));
  cache.clear();
  assert.deepEqual([cache.size, cache.byRefresh("rt-1"), cache.cached("at-2")], [
    0,
    undefined,
    undefined,
  ]);
});

test("TokenCache.refresh() of a superseded token sends the newest if its set has been forgotten", async () => {
  const cache = new TokenCache();
  await refresh(cache, "rt-1", set("at-2", "rt-2"));
  await cache.revoke("at-2", () => Promise.resolve());
  const failed = cache.refresh("rt-1", () => Promise.reject(new Error("down")));
  await assert.rejects(failed, /down/);
  assert.deepEqual(await refresh(cache, "rt-1", set("at-3", "rt-3")), ["rt-2"]);
});

test("TokenCache.refresh() knows the last 100 tokens that were superseded", async () => {
  const cache = new TokenCache();
  for (let i = 1; i <= 101; i++) await refresh(cache, `rt-${i}`, set(`at-${i + 1}`, `rt-${i + 1}`));
  assert.equal(cache.byRefresh("rt-1"), undefined);
  for (let i = 2; i <= 102; i++) assert.equal(cache.byRefresh(`rt-${i}`)?.accessToken, "at-102");
});

test("TokenCache.refresh() sends a token that was superseded a minute ago, whose reuse the provider must see", async () => {
  let nowMs = 1_000_000;
  const cache = new TokenCache({ now: () => nowMs });
  const two = set("at-2", "rt-2");
  await refresh(cache, "rt-1", two);
  nowMs += 59_999;
  assert.deepEqual(await refresh(cache, "rt-1", set("never")), []);
  assert.equal(cache.byRefresh("rt-1"), two);
  nowMs += 1;
  assert.equal(cache.byRefresh("rt-1"), undefined);
  const reused = cache.refresh("rt-1", (sent) => Promise.reject(new Error(`${sent} is reused`)));
  await assert.rejects(reused, /rt-1 is reused/);
  assert.equal(cache.byRefresh("rt-2"), two);
  assert.deepEqual(await refresh(cache, "rt-2", set("at-3", "rt-3")), ["rt-2"]);
  assert.deepEqual(await refresh(cache, "rt-1", set("at-9")), ["rt-1"]);
});

test("TokenCache.refresh() accepts a provider that returns an old refresh token again", async () => {
  const cache = new TokenCache();
  await refresh(cache, "rt-1", set("at-2", "rt-2"));
  await refresh(cache, "rt-2", set("at-3", "rt-1"));
  assert.deepEqual(await refresh(cache, "rt-1", set("at-4", "rt-1")), ["rt-1"]);
  assert.deepEqual(await refresh(cache, "rt-2", set("at-5")), []);

  const other = new TokenCache();
  for (let i = 0; i <= 100; i++) {
    await refresh(other, `rt-${i}`, set(`at-${i}`, `rt-${(i + 1) % 101}`));
  }
  assert.equal(other.byRefresh("rt-0")?.accessToken, "at-100");
});

test("TokenCache.revoke() shares one request between concurrent calls, and its failure", async () => {
  const cache = new TokenCache();
  let sent = 0;
  const revoke = () =>
    cache.revoke("rt-1", () => {
      sent++;
      return Promise.reject(new Error("down"));
    });
  const outcomes = await Promise.allSettled([revoke(), revoke(), revoke()]);
  assert.deepEqual([sent, outcomes.map(({ status }) => status)], [1, [
    "rejected",
    "rejected",
    "rejected",
  ]]);
  assert.equal(cache.byRefresh("rt-1"), undefined);
});

test("TokenCache.revoke() leaves the sets of other refresh tokens", async () => {
  const cache = new TokenCache();
  const others = [set("at-a", "rt-a"), set("at-b")];
  for (const each of [...others, set("at-1", "rt-1")]) cache.store(each);
  await cache.revoke("rt-1", () => Promise.resolve());
  assert.deepEqual(["at-a", "at-b", "at-1"].map((token) => cache.cached(token)), [
    ...others,
    undefined,
  ]);
});

test("TokenCache keeps at most maxSets, 10 000 by default; a client has one of 1 000", async () => {
  const cache = new TokenCache({ maxSets: 2 });
  for (const accessToken of ["a", "b", "c"]) {
    cache.store(set(accessToken, `r${accessToken}`));
  }
  assert.deepEqual([cache.size, cache.cached("a"), cache.byRefresh("ra")], [
    2,
    undefined,
    undefined,
  ]);
  assert.equal(cache.byRefresh("rc")?.accessToken, "c");
  const shared = new TokenCache();
  for (let i = 0; i < 10_001; i++) shared.store(set(`${i}`, `r${i}`));
  assert.equal(shared.size, 10_000);
  for (const maxSets of [0, -1, NaN]) assert.throws(() => new TokenCache({ maxSets }), RangeError);
  let issued = 0;
  const client = new OAuth2Client(
    new OAuth2Options({
      clientId: "shop",
      clientSecret: "secret",
      authorizeUrl: "https://id.example.com/authorize",
      tokenUrl: "https://id.example.com/token",
    }),
    {
      fetch: () =>
        Promise.resolve(Response.json({ access_token: `at-${issued++}`, token_type: "bearer" })),
    },
  );
  for (let n = 0; n < 1_001; n++) await client.clientCredentials();
  assert.deepEqual([client.cached("at-0"), client.cached("at-1")?.accessToken], [
    undefined,
    "at-1",
  ]);
});

test("TokenCache.refresh() refreshes again when the newest set of a superseded token has expired", async () => {
  let now = 1_000;
  const cache = new TokenCache({ now: () => now });
  const until = (accessToken: string, refreshToken: string, expiresAtMs: number) =>
    new TokenSet({
      accessToken,
      tokenType: "bearer",
      refreshToken,
      expiresAt: new Date(expiresAtMs),
    });
  assert.deepEqual(await refresh(cache, "r1", until("a2", "r2", 2_000)), ["r1"]);
  assert.deepEqual(await refresh(cache, "r1", until("a3", "r3", 4_000)), []);
  now = 2_000;
  assert.deepEqual(await refresh(cache, "r1", until("a3", "r3", 4_000)), ["r2"]);
  assert.equal(cache.byRefresh("r1")?.accessToken, "a3");
});

test("TokenCache.refresh() refreshes again when the clock was set back since the newest set", async () => {
  const clock = { ms: 86_400_000 };
  const cache = new TokenCache({ now: () => clock.ms });
  const sent: string[] = [];
  const send = (newest: string) => {
    sent.push(newest);
    return Promise.resolve(
      new TokenSet({
        accessToken: `at-${sent.length}`,
        tokenType: "bearer",
        refreshToken: `rt-${sent.length}`,
        expiresAt: new Date(clock.ms + 60_000),
      }),
    );
  };
  await cache.refresh("rt-0", send);
  assert.equal((await cache.refresh("rt-0", send)).accessToken, "at-1");
  clock.ms = 1000; // a day earlier
  assert.equal((await cache.refresh("rt-0", send)).accessToken, "at-2");
  assert.equal((await cache.refresh("rt-1", send)).accessToken, "at-2");
  clock.ms = 999;
  assert.equal((await cache.refresh("rt-0", send)).accessToken, "at-3");
  const stored = new TokenSet({
    accessToken: "stored",
    tokenType: "bearer",
    refreshToken: "rt-3",
    expiresAt: new Date(clock.ms + 60_000),
  });
  cache.store(stored);
  assert.equal((await cache.refresh("rt-0", send)).accessToken, "stored");
  clock.ms = 998;
  assert.equal((await cache.refresh("rt-0", send)).accessToken, "at-4");
  assert.deepEqual(sent, ["rt-0", "rt-1", "rt-2", "rt-3"]);
});

test("TokenCache keeps the set it has just renewed, and as few chains without a set as sets", async () => {
  const cache = new TokenCache({ maxSets: 2 });
  cache.store(set("same", "r0"));
  cache.store(set("other", "s0"));
  await refresh(cache, "r0", set("same", "r1"));
  cache.store(set("third", "t0"));
  assert.deepEqual(await refresh(cache, "r0", set("never")), []);
  const bounded = new TokenCache({ maxSets: 2 });
  for (const name of ["a", "b", "c", "d"]) {
    await refresh(bounded, `${name}0`, set(name, `${name}1`));
    await bounded.revoke(name, () => Promise.resolve());
  }
  assert.deepEqual(await refresh(bounded, "d0", set("d2", "d2")), ["d1"]);
  assert.deepEqual(await refresh(bounded, "a0", set("a2", "a2")), ["a0"]);
});
