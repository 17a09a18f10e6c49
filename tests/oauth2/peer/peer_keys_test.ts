import assert from "node:assert/strict";
import { JwksCache } from "../../../src/oauth2/resource_server/jwks_cache.ts";
import { outcomeOf } from "../resource_server/outcome.ts";
import { peerClient, peerTest, peerVerifier } from "./peer.ts";

peerTest(
  "keys rotate: a token is valid while its key is published, a new one at once",
  async (provider) => {
    const client = await peerClient(provider, provider.clients.post);
    const keys = new JwksCache(provider.endpoints.jwksUrl);
    const verifier = peerVerifier(provider, "EdDSA", { keys });
    const issue = async () => (await client.clientCredentials()).accessToken;
    const outcomes = (...tokens: readonly string[]) =>
      Promise.all(tokens.map((token) => outcomeOf(verifier.verify(token))));

    const first = await issue();
    assert.deepEqual(await outcomes(first), ["accepted"]);
    assert.deepEqual([keys.size, keys.fetchCount], [4, 1]);

    await provider.rotateKeys({ keepPrevious: true });
    const second = await issue();
    assert.deepEqual(await outcomes(first, second, second), ["accepted", "accepted", "accepted"]);
    assert.deepEqual([keys.size, keys.fetchCount], [8, 2]);
    assert.deepEqual(await outcomes(first), ["accepted"]);

    await provider.rotateKeys();
    // a verifier that has not refreshed yet uses the published keys
    assert.deepEqual(await outcomes(first, second), ["accepted", "accepted"]);
    await keys.refresh();
    assert.deepEqual(await outcomes(first, second), ["UnknownKid", "UnknownKid"]);
    assert.deepEqual(await outcomes(await issue()), ["accepted"]);
    assert.equal(keys.size, 4);
  },
  { slow: true },
);

peerTest(
  "keys rotate: 1 000 tokens of a new key at once are accepted after one fetch",
  async (provider) => {
    const client = await peerClient(provider, provider.clients.post);
    const keys = new JwksCache(provider.endpoints.jwksUrl);
    const verifier = peerVerifier(provider, "EdDSA", { keys });
    await verifier.verify((await client.clientCredentials()).accessToken);
    await provider.rotateKeys();
    const { accessToken } = await client.clientCredentials();
    await Promise.all(Array.from({ length: 1000 }, () => verifier.verify(accessToken)));
    assert.equal(keys.fetchCount, 2);
  },
  { slow: true },
);
