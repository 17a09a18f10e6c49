import assert from "node:assert/strict";
import { generatePkce, PkceVerifier } from "../../../src/oauth2/client/pkce.ts";
import { type ResourceAlgorithm, RESOURCES } from "./oidc_provider.ts";
import { outcomeOf } from "../resource_server/outcome.ts";
import { comeBack, grantOf, logIn, peerClient, peerVerifier, sharedPeerTest } from "./peer.ts";

const peerTest = await sharedPeerTest();

const NONCE = "the nonce of this login";

for (const name of ["web", "public"] as const) {
  peerTest(
    `a ${name} client logs a user in, verifies the id_token and fetches userinfo`,
    async (provider) => {
      const client = await peerClient(provider, provider.clients[name]);
      assert.equal(client.options.authMethod, name === "web" ? "client_secret_post" : "none");
      const { callback, state, verifier } = await comeBack(provider, client, {
        scopes: ["openid", "profile", "email"],
        nonce: NONCE,
      });
      assert.equal(callback.searchParams.get("iss"), provider.issuer);
      const code = client.verifyCallback(callback, state);
      const set = await client.exchangeCode(code, verifier);
      assert.equal(set.scope, "openid profile email");
      assert.ok(set.refreshToken && set.expiresAt);

      const claims = await client.verifyIdToken(set.idToken ?? "", { nonce: NONCE });
      assert.deepEqual([claims.sub, claims.aud, claims.iss], [
        "alice",
        client.options.clientId,
        provider.issuer,
      ]);
      assert.deepEqual(await client.userinfo(set.accessToken), {
        sub: "alice",
        name: "Alice",
        email: "alice@example.com",
        email_verified: true,
      });
      assert.equal(client.cached(set.accessToken), set);
    },
  );
}

peerTest("access tokens of each algorithm are verified as at+jwt", async (provider) => {
  const client = await peerClient(provider, provider.clients.web);
  for (const [alg, resource] of Object.entries(RESOURCES) as [ResourceAlgorithm, string][]) {
    const { accessToken, idToken = "" } = await logIn(provider, client, {
      scopes: ["openid", "read"],
      extra: { resource, login_hint: "bob" },
    });
    const { header, claims } = await peerVerifier(provider, alg).verify(accessToken);
    assert.deepEqual([header.alg, header.typ], [alg, "at+jwt"]);
    assert.deepEqual([claims.sub, claims.aud, claims.scope], ["bob", resource, "read"]);
    assert.deepEqual(claims.roles, ["admin"]);
    // an id_token is signed by the same provider, and no access token
    assert.equal(await outcomeOf(peerVerifier(provider, "RS256").verify(idToken)), "Validation");
  }
});

peerTest("verifyIdToken() refuses the id_token of another login or client", async (provider) => {
  const client = await peerClient(provider, provider.clients.web);
  const other = await peerClient(provider, provider.clients.public);
  const { idToken = "" } = await logIn(provider, client, { nonce: NONCE });
  const { idToken: without = "" } = await logIn(provider, client);
  const outcomes = [
    client.verifyIdToken(idToken, { nonce: NONCE }),
    client.verifyIdToken(idToken, { nonce: "another" }),
    client.verifyIdToken(idToken),
    client.verifyIdToken(without),
    client.verifyIdToken(without, { nonce: NONCE }),
    other.verifyIdToken(idToken, { nonce: NONCE }),
  ];
  assert.deepEqual(await Promise.all(outcomes.map(outcomeOf)), [
    "accepted",
    "InvalidClaim nonce",
    "InvalidClaim nonce",
    "accepted",
    "InvalidClaim nonce",
    "InvalidClaim aud",
  ]);
});

peerTest(
  "verifyCallback() refuses another state, and another or missing issuer, and reports a refusal",
  async (provider) => {
    const client = await peerClient(provider, provider.clients.web);
    const { callback, state } = await comeBack(provider, client);
    const changed = (name: string, value?: string) => {
      const url = new URL(callback);
      if (value === undefined) url.searchParams.delete(name);
      else url.searchParams.set(name, value);
      return outcomeOf(Promise.resolve().then(() => client.verifyCallback(url, state)));
    };
    assert.deepEqual(
      await Promise.all([
        changed("state", "another"),
        changed("state"),
        changed("iss", "https://evil.example"),
        changed("iss"),
        changed("code"),
        changed("unknown", "is left alone"),
      ]),
      ["Validation", "Validation", "Validation", "Validation", "Validation", "accepted"],
    );
    const refused = await comeBack(provider, client, { extra: { login_hint: "refuse" } });
    assert.throws(() => client.verifyCallback(refused.callback, refused.state), {
      code: "Grant",
      grant: { error: "access_denied", description: "Refused" },
    });
  },
);

peerTest(
  "exchangeCode() is refused a code with another verifier, client, or a second time",
  async (provider) => {
    const client = await peerClient(provider, provider.clients.web);
    const other = await peerClient(provider, provider.clients.public);
    const started = async () => {
      const { callback, state, verifier } = await comeBack(provider, client);
      return { code: client.verifyCallback(callback, state), verifier };
    };
    const first = await started();
    const { verifier: another } = await generatePkce();
    assert.equal(await grantOf(client.exchangeCode(first.code, another)), "invalid_grant");
    const second = await started();
    assert.equal(await grantOf(other.exchangeCode(second.code, second.verifier)), "invalid_grant");

    const { code, verifier } = await started();
    const again = PkceVerifier.restore(verifier.export());
    const { accessToken } = await client.exchangeCode(code, verifier);
    assert.equal(await outcomeOf(client.exchangeCode(code, verifier)), "Validation");
    assert.equal((await client.userinfo(accessToken)).sub, "alice"); // nothing was sent
    assert.equal(await grantOf(client.exchangeCode(code, again)), "invalid_grant");
    // a repeated code revokes its tokens (RFC 6749 §4.1.2)
    assert.equal(await grantOf(client.userinfo(accessToken)), "invalid_token");
  },
);

peerTest(
  "a login under an issuer that is not the provider's to the letter is refused",
  async (provider) => {
    const slash = { issuer: `${provider.issuer}/`, redirectUri: provider.redirectUri };
    await assert.rejects(peerClient(slash, provider.clients.web), {
      code: "InvalidConfig",
      message:
        "Cannot discover issuer: its metadata have another issuer (a slash at the end counts)",
    });
  },
);
