import assert from "node:assert/strict";
import { TokenCache } from "../../../src/oauth2/client/token_cache.ts";
import { grantOf, logIn, peerClient, sharedPeerTest } from "./peer.ts";

const peerTest = await sharedPeerTest();

peerTest("refresh() rotates, and late callers receive the newest set", async (provider) => {
  const client = await peerClient(provider, provider.clients.web);
  const first = await logIn(provider, client);
  const second = await client.refresh(first.refreshToken!);
  assert.notEqual(second.refreshToken, first.refreshToken);
  assert.notEqual(second.accessToken, first.accessToken);
  const third = await client.refresh(second.refreshToken!);
  assert.equal(await client.refresh(first.refreshToken!), third);
  assert.equal(await client.refresh(second.refreshToken!), third);
  assert.equal((await client.userinfo(third.accessToken)).sub, "alice");
  assert.equal((await client.verifyIdToken(third.idToken!)).sub, "alice");
});

peerTest(
  "1 000 concurrent refreshes by two clients are one, so that no token is used twice",
  async (provider) => {
    let sent = 0;
    const counted = (...request: Parameters<typeof fetch>) => {
      if (String(request[1]?.body).includes("grant_type=refresh_token")) sent++;
      return fetch(...request);
    };
    const cache = new TokenCache();
    const [one, two] = await Promise.all(
      [1, 2].map(async () =>
        (await peerClient(provider, provider.clients.web, { fetch: counted })).withCache(cache)
      ),
    );
    const { refreshToken } = await logIn(provider, one!);
    const sets = await Promise.all(
      Array.from({ length: 1000 }, (_, i) => (i % 2 ? one! : two!).refresh(refreshToken!)),
    );
    assert.deepEqual([new Set(sets).size, sent], [1, 1]);
    // had it seen the token twice, the provider would have revoked the family
    const next = await two!.refresh(sets[0]!.refreshToken!);
    assert.equal((await one!.userinfo(next.accessToken)).sub, "alice");

    const stranger = await peerClient(provider, provider.clients.web);
    assert.equal(await grantOf(stranger.refresh(refreshToken!)), "invalid_grant");
    assert.equal(await grantOf(one!.refresh(next.refreshToken!)), "invalid_grant");
  },
);

peerTest("refresh() of a public client rotates too", async (provider) => {
  const client = await peerClient(provider, provider.clients.public);
  const first = await logIn(provider, client);
  const second = await client.refresh(first.refreshToken!);
  assert.notEqual(second.refreshToken, first.refreshToken);
});

peerTest(
  "revoke() ends a login: neither its refresh token nor its access token is valid",
  async (provider) => {
    const client = await peerClient(provider, provider.clients.web);
    const other = await peerClient(provider, provider.clients.web);
    const first = await logIn(provider, client);
    const second = await client.refresh(first.refreshToken!);
    await client.revoke(first.refreshToken!, "refresh_token"); // the superseded one
    assert.equal(client.cached(second.accessToken), undefined);
    assert.equal(await grantOf(other.refresh(second.refreshToken!)), "invalid_grant");
    assert.equal(await grantOf(client.userinfo(second.accessToken)), "invalid_token");
    await client.revoke("unknown to the provider");
  },
);

peerTest("revoke() ends an access token", async (provider) => {
  const client = await peerClient(provider, provider.clients.web);
  const { accessToken } = await logIn(provider, client);
  assert.equal((await client.userinfo(accessToken)).sub, "alice");
  await client.revoke(accessToken, "access_token");
  assert.equal(await grantOf(client.userinfo(accessToken)), "invalid_token");
  assert.equal(client.cached(accessToken), undefined);
});
