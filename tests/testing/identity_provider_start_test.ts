import assert from "node:assert/strict";
import { networkInterfaces } from "node:os";
import { inspect } from "node:util";
import { createRemoteJWKSet, decodeProtectedHeader, errors, jwtVerify } from "jose";
import {
  DevelopmentIdentityProvider,
  type DevelopmentIdentityProviderOptions,
} from "../../src/testing/mod.ts";
import { withEnv } from "../support/with_env.ts";
import {
  authorizationUrl,
  codeOf,
  exchange,
  open,
  press,
  providerTest,
  refresh,
  start,
  userinfo,
  VERIFIER,
  WEB,
} from "./identity_provider_flow.ts";

providerTest("DevelopmentIdentityProvider.start() refuses to run in production", async () => {
  await withEnv("FW_ENV", "production", async () => {
    await assert.rejects(
      () => DevelopmentIdentityProvider.start(),
      {
        name: "TypeError",
        message: "Cannot start the development identity provider: FW_ENV is production, and it " +
          "needs no password",
      },
    );
  });
});

providerTest("DevelopmentIdentityProvider.start() refuses invalid options", async () => {
  const client = { clientId: "web", redirectUris: [] };
  const user = { subject: "alice", name: "Alice", email: "alice@example.com" };
  const redirectTo = (uri: string) => ({ clients: [{ clientId: "web", redirectUris: [uri] }] });
  const cases: readonly (readonly [DevelopmentIdentityProviderOptions, RegExp])[] = [
    [{ clients: [{ ...client, clientId: "" }] }, /^TypeError: Cannot add client "": its id/],
    [{ clients: [{ ...client, clientId: "a b" }] }, /^TypeError: Cannot add client "a b": its id/],
    [{ clients: [{ ...client, clientSecret: "" }] }, /^TypeError: .* "web": its secret is empty/],
    [{ clients: [client, client] }, /^TypeError: Cannot add client "web": it exists already/],
    [redirectTo("/callback"), /^TypeError: .* "web": \/callback is not a redirect URI/],
    [redirectTo("https://web.example/#here"), /^TypeError: .* is not a redirect URI/],
    [redirectTo("javascript:alert(1)"), /^TypeError: .* is not a redirect URI/],
    [redirectTo("data:text/html,x"), /^TypeError: .* is not a redirect URI/],
    [{ users: [user, user] }, /^TypeError: Cannot add user "alice": it exists already/],
    [{ users: [{ ...user, subject: "" }] }, /^TypeError: Cannot add a user: the subject/],
    [{ users: [{ ...user, subject: "s".repeat(256) }] }, /^TypeError: Cannot add a user/],
    [{ accessTokenSeconds: 0 }, /^RangeError: Cannot issue tokens for 0 seconds/],
    [{ accessTokenSeconds: 1.5 }, /^RangeError: Cannot issue tokens for 1.5 seconds/],
    [{ port: 65_536 }, /^RangeError: Cannot listen on port 65536/],
  ];
  for (const [options, message] of cases) {
    await assert.rejects(() => DevelopmentIdentityProvider.start(options), message);
  }
});

providerTest(
  "DevelopmentIdentityProvider listens on the loopback address by default",
  async () => {
    await using idp = await start();
    assert.match(idp.issuer, /^http:\/\/127\.0\.0\.1:\d+$/);
    assert.equal(idp.jwksUrl, `${idp.issuer}/jwks`);
    const { port } = new URL(idp.issuer);
    const outside = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
      .filter(({ family, internal }) => family === "IPv4" && !internal);
    for (const { address } of outside) {
      await assert.rejects(() => fetch(`http://${address}:${port}/jwks`));
    }
  },
);

providerTest(
  "DevelopmentIdentityProvider listens on a given port, and releases it",
  async () => {
    const first = await start();
    const port = Number(new URL(first.issuer).port);
    await assert.rejects(() => start({ port }), { name: "ListenError" });
    await first.close();
    await using second = await start({ port });
    assert.equal(second.issuer, first.issuer);
  },
);

providerTest("issueToken() signs an access token that jose verifies against /jwks", async () => {
  await using idp = await start({ audience: "api" });
  const keys = createRemoteJWKSet(new URL(idp.jwksUrl));
  const verify = (token: string) => jwtVerify(token, keys, { issuer: idp.issuer, typ: "at+jwt" });
  const { protectedHeader, payload } = await verify(await idp.issueToken({ subject: "alice" }));
  const { iat = 0, exp = 0, jti: _, ...claims } = payload;
  assert.equal(exp - iat, 3600);
  assert.equal(protectedHeader.alg, "EdDSA");
  assert.deepEqual(claims, {
    iss: idp.issuer,
    aud: "api",
    sub: "alice",
    client_id: "web",
    roles: ["admin"],
  });
  const token = await idp.issueToken({
    subject: "somebody",
    audience: ["one", "two"],
    clientId: "robot",
    scope: "read write",
    roles: ["reader"],
    claims: { tenant_id: "acme", jti: undefined },
    expiresInSeconds: 5,
  });
  const { iat: issuedAt = 0, exp: expiresAt = 0, ...rest } = (await verify(token)).payload;
  assert.equal(expiresAt - issuedAt, 5);
  assert.deepEqual(rest, {
    iss: idp.issuer,
    aud: ["one", "two"],
    sub: "somebody",
    client_id: "robot",
    scope: "read write",
    roles: ["reader"],
    tenant_id: "acme",
  });
  const expired = await idp.issueToken({ subject: "alice", expiresInSeconds: -1 });
  await assert.rejects(() => verify(expired), errors.JWTExpired);
  const foreign = await idp.issueToken({ subject: "alice", claims: { iss: "https://x.example" } });
  await assert.rejects(() => verify(foreign), errors.JWTClaimValidationFailed);
});

providerTest(
  "issueToken() includes the claims of the user, which cannot replace those of the protocol",
  async () => {
    const claims = { tenant_id: "acme", sub: "root", iss: "x", aud: "x", exp: 1, client_id: "x" };
    await using idp = await start({
      users: [{ subject: "carol", name: "Carol", email: "carol@example.com", claims }],
    });
    const keys = createRemoteJWKSet(new URL(idp.jwksUrl));
    const expected = { issuer: idp.issuer, subject: "carol" };
    const token = await idp.issueToken({ subject: "carol", scope: "openid" });
    const access = await jwtVerify(token, keys, { ...expected, audience: "development" });
    assert.equal(access.payload.tenant_id, "acme");
    assert.equal(access.payload.client_id, "web");
    const { body } = await exchange(idp, codeOf(idp));
    const identity = await jwtVerify(String(body.id_token), keys, { ...expected, audience: "web" });
    assert.equal(identity.payload.tenant_id, "acme");
    const expired = await idp.issueToken({
      subject: "carol",
      scope: "openid",
      expiresInSeconds: -1,
    });
    assert.equal((await userinfo(idp, expired)).status, 401);
    const answer = await userinfo(idp, token);
    assert.deepEqual([answer.body.sub, answer.body.tenant_id], ["carol", "acme"]);
  },
);

providerTest(
  "rotateKeys() signs with another key, and keeps three old ones published or none",
  async () => {
    await using idp = await start();
    const published = async (): Promise<readonly string[]> => {
      const { keys } = await (await fetch(idp.jwksUrl)).json();
      for (const key of keys) {
        assert.deepEqual(Object.keys(key).sort(), ["alg", "crv", "kid", "kty", "use", "x"]);
      }
      return keys.map(({ kid }: { readonly kid: string }) => kid);
    };
    const signing = async () =>
      decodeProtectedHeader(await idp.issueToken({ subject: "bob" })).kid ?? "";
    const kids = [await signing()];
    assert.deepEqual(await published(), kids);
    for (let i = 0; i < 4; i++) {
      await idp.rotateKeys();
      kids.unshift(await signing());
    }
    assert.equal(new Set(kids).size, 5);
    assert.deepEqual(await published(), kids.slice(0, 4));
    await idp.rotateKeys({ keepPrevious: false });
    assert.deepEqual(await published(), [await signing()]);
  },
);

providerTest(
  "signIn() and refuse() return the request that a browser would send",
  async () => {
    await using idp = await start();
    const url = authorizationUrl(idp);
    const got = idp.signIn(url, "bob");
    assert.equal(got.method, "GET");
    const { searchParams } = new URL(got.url);
    assert.equal(searchParams.get("state"), "the state");
    const { body } = await exchange(idp, searchParams.get("code") ?? "");
    assert.equal((await userinfo(idp, body.access_token)).body.sub, "bob");

    const posted = idp.signIn(`${url}&response_mode=form_post`);
    assert.equal(posted.method, "POST");
    assert.equal(posted.url, WEB.redirectUris[0]);
    const sent = new URLSearchParams(await posted.text());
    assert.deepEqual([...sent.keys()], ["code", "state", "iss"]);

    const refused = new URL(idp.refuse(url).url).searchParams;
    assert.equal(refused.get("error"), "access_denied");
    assert.throws(
      () => idp.signIn(url, "mallory"),
      /^TypeError: Cannot sign in: the user is unknown/,
    );
    assert.throws(
      () => idp.signIn(authorizationUrl(idp, { redirect_uri: "https://evil.example" })),
      /^TypeError: Cannot sign in: The redirect_uri is not registered/,
    );
  },
);

providerTest(
  "DevelopmentIdentityProvider logs and shows no secret, code or token",
  async (records) => {
    await using idp = await start();
    const { text } = await open(authorizationUrl(idp));
    await press(idp, text, { subject: "alice" });
    const code = codeOf(idp);
    const { body } = await exchange(idp, code);
    await refresh(idp, body.refresh_token);
    await refresh(idp, body.refresh_token);
    await exchange(idp, code, { client_secret: "wrong-secret" });
    const shown = inspect([records, idp], { depth: 8, showHidden: true }) + JSON.stringify(idp);
    const secrets = [code, body.access_token, body.refresh_token, body.id_token, VERIFIER];
    for (const secret of [...secrets, WEB.clientSecret, "wrong-secret"]) {
      assert.ok(!shown.includes(String(secret)));
    }
    assert.deepEqual(records.map(({ rawMessage }) => rawMessage), ["Listening on {url}"]);
  },
);
