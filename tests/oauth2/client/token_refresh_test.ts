import assert from "node:assert/strict";
import { OAuth2Error } from "../../../src/oauth2/ground/errors.ts";
import { generatePkce } from "../../../src/oauth2/client/pkce.ts";
import { TokenCache } from "../../../src/oauth2/client/token_cache.ts";
import { test } from "../../support/test.ts";
import { rotatingProvider, until } from "./rotating_provider.ts";
import { clientOf, TOKENS, tokenServer } from "./token_server.ts";

test("OAuth2Client.refresh() of 1 000 at once through two clients of one cache is one request", async () => {
  await using provider = await rotatingProvider();
  const cache = new TokenCache();
  const clients = [
    clientOf(provider.url, { redirectUri: "https://app.example/a" }).withCache(cache),
    clientOf(provider.url, { redirectUri: "https://app.example/b" }).withCache(cache),
  ];
  const sets = await Promise.all(
    Array.from({ length: 1_000 }, (_, i) => clients[i % 2]!.refresh("rt-1")),
  );
  assert.deepEqual(provider.refreshed, ["rt-1"]);
  assert.equal(new Set(sets).size, 1);
  assert.deepEqual([sets[0]?.accessToken, sets[0]?.refreshToken], ["at-2", "rt-2"]);
  assert.deepEqual([cache.size, cache.cached("at-2"), cache.byRefresh("rt-2")], [
    1,
    sets[0],
    sets[0],
  ]);
});

test("OAuth2Client.refresh() returns the newest set to late callers, and never sends an old token", async () => {
  await using provider = await rotatingProvider();
  const cache = new TokenCache();
  const client = clientOf(provider.url).withCache(cache);
  const other = clientOf(provider.url).withCache(cache);
  for (let i = 1; i <= 20; i++) {
    const set = await client.refresh(`rt-${i}`);
    for (let old = 1; old <= i; old++) {
      assert.equal(await other.refresh(`rt-${old}`), set);
      assert.equal(cache.byRefresh(`rt-${old}`), set);
    }
  }
  assert.deepEqual(provider.refreshed, Array.from({ length: 20 }, (_, i) => `rt-${i + 1}`));
  assert.equal(provider.isCompromised, false);
});

test("OAuth2Client.refresh() through any number of callers never shows the provider a token twice", async () => {
  await using provider = await rotatingProvider();
  const cache = new TokenCache();
  const clients = [clientOf(provider.url), clientOf(provider.url)].map((each) =>
    each.withCache(cache)
  );
  // each caller continues with a set that it received at some time
  await Promise.all(Array.from({ length: 25 }, async (_, caller) => {
    const known = ["rt-1"];
    for (let i = 0; i < 20; i++) {
      const token = known[(caller * 7 + i * 3) % known.length]!;
      const { refreshToken } = await clients[(caller + i) % 2]!.refresh(token);
      known.push(refreshToken!);
    }
  }));
  assert.equal(provider.isCompromised, false);
  assert.equal(new Set(provider.refreshed).size, provider.refreshed.length);
});

test("OAuth2Client.refresh() without a shared cache shares one with the copies of a client", async () => {
  await using provider = await rotatingProvider();
  const client = clientOf(provider.url);
  const copies = [
    client,
    client.withTimeout(10_000),
    client.withRevokeUrl(`${provider.url}/r`),
    client.withUserinfoUrl(`${provider.url}/u`),
  ];
  await Promise.all(copies.map((copy) => copy.refresh("rt-1")));
  assert.deepEqual(provider.refreshed, ["rt-1"]);
  await clientOf(provider.url).refresh("rt-2");
  assert.equal(client.cached("at-3"), undefined);
});

test("OAuth2Client.refresh() keeps the old refresh token without a new one, and sends it again", async () => {
  let n = 0;
  await using server = await tokenServer(({ form }) => ({
    body: { ...TOKENS, access_token: `${form.get("refresh_token")}-${++n}` },
  }));
  const client = clientOf(server.url);
  const [one, same] = await Promise.all([client.refresh("rt-1"), client.refresh("rt-1")]);
  const two = await client.refresh("rt-1");
  assert.equal(one, same);
  assert.deepEqual([one, two].map(({ accessToken, refreshToken }) => [accessToken, refreshToken]), [
    ["rt-1-1", "rt-1"],
    ["rt-1-2", "rt-1"],
  ]);
  assert.equal(server.received.length, 2);
  assert.equal(client.cached("rt-1-1"), one);
});

test("OAuth2Client.refresh() fails for all concurrent callers, and does not cache the failure", async () => {
  await using provider = await rotatingProvider([
    { status: 503, body: "Maintenance" },
    { status: 400, body: { error: "slow_down" } },
  ]);
  const client = clientOf(provider.url);
  for (const code of ["TokenEndpoint", "Grant"]) {
    const outcomes = await Promise.allSettled([1, 2, 3].map(() => client.refresh("rt-1")));
    for (const outcome of outcomes) {
      assert.equal(outcome.status === "rejected" && outcome.reason.code, code);
    }
  }
  assert.equal((await client.refresh("rt-1")).accessToken, "at-2");
  assert.equal(provider.refreshed.length, 3);
});

test("OAuth2Client.refresh() continues after the time limit of a caller, and returns its answer to the next call", async () => {
  await using provider = await rotatingProvider();
  const release = provider.hold();
  const client = clientOf(provider.url);
  const patient = client.refresh("rt-1");
  for (let i = 0; i < 3; i++) {
    await assert.rejects(client.withTimeout(20).refresh("rt-1"), {
      name: "OAuth2Error",
      code: "Transport",
      message: "Cannot refresh token: no answer in 20 ms",
    });
  }
  release();
  assert.equal((await patient).accessToken, "at-2");
  assert.equal((await client.withTimeout(20).refresh("rt-1")).accessToken, "at-2");
  assert.deepEqual(provider.refreshed, ["rt-1"]);
});

test("OAuth2Client.refresh() caches the answer even if no caller waits for it", async () => {
  await using provider = await rotatingProvider();
  const release = provider.hold();
  const client = clientOf(provider.url).withTimeout(20);
  await assert.rejects(client.refresh("rt-1"), { code: "Transport" });
  release();
  await until(() => client.cached("at-2") !== undefined);
  assert.equal((await client.refresh("rt-1")).refreshToken, "rt-2");
  assert.deepEqual(provider.refreshed, ["rt-1"]);
});

test("OAuth2Client.refresh() sends a token again after a connection that failed", async () => {
  let isDown = true;
  await using server = await tokenServer((_, response) => {
    if (isDown) response.destroy();
    return { body: TOKENS };
  });
  const client = clientOf(server.url);
  await assert.rejects(client.refresh("rt-1"), { code: "Transport" });
  isDown = false;
  assert.equal((await client.refresh("rt-1")).accessToken, "at-1");
});

test("OAuth2Client.exchangeCode() and clientCredentials() cache their sets", async () => {
  await using server = await tokenServer(({ form }) => ({
    body: { ...TOKENS, access_token: `at-of-${form.get("grant_type")}`, refresh_token: "rt-1" },
  }));
  const cache = new TokenCache();
  const client = clientOf(server.url).withCache(cache);
  const sets = [
    await client.exchangeCode("the-code", (await generatePkce()).verifier),
    await client.clientCredentials(),
  ];
  assert.deepEqual(sets.map(({ accessToken }) => client.cached(accessToken)), sets);
  assert.equal(cache.byRefresh("rt-1"), sets[1]);
});

test("OAuth2Client.revoke() of a refresh token forgets its sets, and those before it", async () => {
  await using provider = await rotatingProvider();
  const cache = new TokenCache();
  const client = clientOf(provider.url).withCache(cache);
  await client.refresh("rt-1");
  await client.refresh("rt-2");
  assert.equal(cache.size, 2);
  await client.revoke("rt-1", "refresh_token");
  assert.deepEqual(provider.revoked, ["rt-3"]);
  assert.ok(cache.isEmpty);
  for (const token of ["rt-1", "rt-2", "rt-3"]) assert.equal(cache.byRefresh(token), undefined);
});

test("OAuth2Client.revoke() of an access token forgets its set; old refresh tokens stay unsent", async () => {
  await using provider = await rotatingProvider();
  const cache = new TokenCache();
  const client = clientOf(provider.url).withCache(cache);
  await client.refresh("rt-1");
  await client.revoke("at-2", "access_token");
  assert.deepEqual([provider.revoked, cache.size, cache.byRefresh("rt-2")], [
    ["at-2"],
    0,
    undefined,
  ]);
  assert.equal((await client.refresh("rt-1")).refreshToken, "rt-3");
  assert.deepEqual(provider.refreshed, ["rt-1", "rt-2"]);
});

test("OAuth2Client.revoke() that fails forgets nothing", async () => {
  await using provider = await rotatingProvider();
  const cache = new TokenCache();
  const client = clientOf(provider.url).withCache(cache);
  const set = await client.refresh("rt-1");
  const away = client.withRevokeUrl("http://127.0.0.1:9/");
  await assert.rejects(away.revoke("rt-2"), { code: "Transport" });
  await assert.rejects(away.revoke("at-2"), { code: "Transport" });
  assert.deepEqual([cache.cached("at-2"), cache.byRefresh("rt-1")], [set, set]);
});

test("OAuth2Client.revoke() waits for a pending refresh, and revokes its result", async () => {
  await using provider = await rotatingProvider();
  const cache = new TokenCache();
  const client = clientOf(provider.url).withCache(cache);
  const release = provider.hold();
  const refreshed = client.refresh("rt-1");
  await until(() => provider.refreshed.length === 1);
  const revoked = client.revoke("rt-1");
  release();
  await Promise.all([refreshed, revoked]);
  assert.deepEqual([provider.revoked, cache.size], [["rt-2"], 0]);
});

test("OAuth2Client.refresh() waits for a pending revocation, and then fails without a request", async () => {
  await using provider = await rotatingProvider();
  const client = clientOf(provider.url);
  const release = provider.hold();
  const revoked = client.revoke("rt-1");
  const refreshed = [client.refresh("rt-1"), client.refresh("rt-1")];
  release();
  await revoked;
  for (const each of refreshed) {
    await assert.rejects(each, (error) => {
      assert.ok(error instanceof OAuth2Error && error.code === "Grant");
      assert.equal(error.grant.error, "invalid_grant");
      return true;
    });
  }
  assert.deepEqual([provider.refreshed, provider.revoked], [[], ["rt-1"]]);
});

test("OAuth2Client.refresh() continues after a failed revocation", async () => {
  await using provider = await rotatingProvider([{ status: 503 }]);
  const client = clientOf(provider.url);
  const revoked = client.revoke("rt-1");
  const refreshed = client.refresh("rt-1");
  await assert.rejects(revoked, { code: "TokenEndpoint" });
  assert.equal((await refreshed).accessToken, "at-2");
});

test("OAuth2Client.refresh() refuses arguments that are not strings with a TypeError", async () => {
  const client = clientOf("http://127.0.0.1:9");
  for (const token of ["", undefined, null, 7]) {
    await assert.rejects(client.refresh(token as string), TypeError);
  }
});

test("OAuth2Client.withCache() accepts only a TokenCache", () => {
  const client = clientOf("http://127.0.0.1:9");
  assert.throws(() => client.withCache(new Map() as unknown as TokenCache), TypeError);
});
