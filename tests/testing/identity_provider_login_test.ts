import assert from "node:assert/strict";
import { createRemoteJWKSet, jwtVerify } from "jose";
import { createHash } from "node:crypto";
import type { DevelopmentSigningAlgorithm } from "../../src/testing/mod.ts";
import {
  authorizationUrl,
  callbackOf,
  exchange,
  hiddenFields,
  open,
  type Parameters,
  press,
  providerTest,
  PUBLIC,
  refresh,
  start,
  userinfo,
  WEB,
} from "./identity_provider_flow.ts";

const ALGORITHMS: readonly DevelopmentSigningAlgorithm[] = ["EdDSA", "ES256", "RS256", "PS256"];

for (const algorithm of ALGORITHMS) {
  providerTest(
    `DevelopmentIdentityProvider logs a user in with ${algorithm}, from a click to userinfo`,
    async () => {
      await using idp = await start({ algorithm, audience: "https://api.example" });
      const metadata = await (await fetch(`${idp.issuer}/.well-known/openid-configuration`)).json();
      assert.equal(metadata.issuer, idp.issuer);
      assert.equal(metadata.jwks_uri, idp.jwksUrl);

      const { response, text } = await open(authorizationUrl(idp));
      assert.equal(response.status, 200);
      const { code, ...callback } = callbackOf(await press(idp, text, { subject: "alice" }));
      assert.deepEqual(callback, { to: WEB.redirectUris[0], state: "the state", iss: idp.issuer });

      const { status, headers, body } = await exchange(idp, code ?? "");
      assert.equal(status, 200);
      assert.equal(headers.get("cache-control"), "no-store");
      const { access_token, refresh_token, id_token, ...rest } = body;
      assert.deepEqual(rest, {
        token_type: "Bearer",
        expires_in: 3600,
        scope: "openid profile email",
      });
      assert.match(String(refresh_token), /^[\w-]{43}$/);

      const keys = createRemoteJWKSet(new URL(metadata.jwks_uri));
      const access = await jwtVerify(String(access_token), keys, {
        issuer: idp.issuer,
        audience: "https://api.example",
        typ: "at+jwt",
        algorithms: [algorithm],
      });
      const { iat = 0, exp = 0, jti, ...claims } = access.payload;
      assert.equal(exp - iat, 3600);
      assert.match(jti ?? "", /^[\da-f-]{36}$/);
      assert.deepEqual(claims, {
        iss: idp.issuer,
        aud: "https://api.example",
        sub: "alice",
        client_id: "web",
        scope: "openid profile email",
        roles: ["admin"],
      });

      const identity = await jwtVerify(String(id_token), keys, {
        issuer: idp.issuer,
        audience: "web",
        algorithms: [algorithm],
      });
      const digest = createHash(algorithm === "EdDSA" ? "sha512" : "sha256")
        .update(String(access_token)).digest();
      const { iat: issuedAt, exp: expiresAt, auth_time, ...identityClaims } = identity.payload;
      const sinceLogin = (issuedAt ?? 0) - Number(auth_time);
      assert.ok(sinceLogin >= 0 && sinceLogin < 60, `${sinceLogin} s`);
      assert.equal((expiresAt ?? 0) - (issuedAt ?? 0), 3600);
      const about = {
        sub: "alice",
        name: "Alice",
        email: "alice@example.com",
        email_verified: true,
        roles: ["admin"],
      };
      assert.deepEqual(identityClaims, {
        ...about,
        iss: idp.issuer,
        aud: "web",
        nonce: "the nonce",
        at_hash: digest.subarray(0, digest.length / 2).toString("base64url"),
      });
      assert.deepEqual((await userinfo(idp, access_token)).body, about);

      const renewed = await refresh(idp, refresh_token);
      const again = await jwtVerify(String(renewed.body.id_token), keys, { audience: "web" });
      assert.equal(again.payload.auth_time, auth_time);
      assert.equal(again.payload.nonce, undefined);
      assert.equal((await userinfo(idp, renewed.body.access_token)).status, 200);
    },
  );
}

providerTest(
  "DevelopmentIdentityProvider serves the same metadata for OAuth 2.0 and OpenID Connect",
  async () => {
    await using idp = await start();
    const [one, other] = await Promise.all(
      ["openid-configuration", "oauth-authorization-server"].map(async (name) =>
        await (await fetch(`${idp.issuer}/.well-known/${name}`)).json()
      ),
    );
    assert.deepEqual(one, other);
    assert.deepEqual(one.code_challenge_methods_supported, ["S256"]);
    assert.deepEqual(one.id_token_signing_alg_values_supported, ["EdDSA"]);
    assert.equal(one.authorization_response_iss_parameter_supported, true);
  },
);

providerTest(
  "/authorize shows an error of the client or the redirect URI, and does not redirect",
  async () => {
    await using idp = await start();
    const [redirectUri] = WEB.redirectUris;
    const cases: readonly (readonly [Parameters, RegExp])[] = [
      [{ client_id: undefined }, /The client_id is missing/],
      [{ client_id: "" }, /The client_id is missing/],
      [{ client_id: "nobody" }, /No client with this client_id/],
      [{ client_id: ["web", "other"] }, /occurs twice/],
      [{ redirect_uri: undefined }, /The redirect_uri is missing/],
      [{ redirect_uri: [redirectUri ?? "", "https://evil.example"] }, /occurs twice/],
      ...[
        "https://evil.example/callback",
        `${redirectUri}/`,
        `${redirectUri}?a=b`,
        "https://web.example:443/callback",
        "https://web.example/x/../callback",
        "HTTPS://web.example/callback",
        "https://web.example/callbac%6B",
        "javascript:alert(1)",
      ].map((redirect_uri) => [{ redirect_uri }, /is not registered/] as const),
      [{ client_id: "web", redirect_uri: PUBLIC.redirectUris?.[0] }, /is not registered/],
    ];
    for (const [parameters, message] of cases) {
      const { response, text } = await open(authorizationUrl(idp, parameters));
      assert.equal(response.status, 400);
      assert.equal(response.headers.get("location"), null);
      assert.match(response.headers.get("content-type") ?? "", /^text\/html/);
      assert.match(text, message);
      assert.doesNotMatch(text, /evil|alert/);
    }
  },
);

providerTest(
  "/authorize sends other errors to the client, with state and iss",
  async () => {
    await using idp = await start();
    const cases: readonly (readonly [Parameters, error: string])[] = [
      [{ response_type: undefined }, "invalid_request"],
      [{ response_type: "token" }, "unsupported_response_type"],
      [{ response_type: "code id_token" }, "unsupported_response_type"],
      [{ response_type: ["code", "code"] }, "invalid_request"],
      [{ response_mode: "fragment" }, "invalid_request"],
      [{ code_challenge: undefined }, "invalid_request"],
      [{ code_challenge: "short" }, "invalid_request"],
      [{ code_challenge_method: undefined }, "invalid_request"],
      [{ code_challenge_method: "plain" }, "invalid_request"],
      [{ code_challenge_method: "s256" }, "invalid_request"],
      [{ scope: "openid  profile" }, "invalid_scope"],
      [{ scope: 'openid "quoted"' }, "invalid_scope"],
      [{ scope: "openid\nprofile" }, "invalid_scope"],
      [{ nonce: ["one", "two"] }, "invalid_request"],
      [{ nonce: "n".repeat(4097) }, "invalid_request"],
      [{ prompt: "none" }, "login_required"],
      [{ request: "e30." }, "request_not_supported"],
      [{ request_uri: "urn:x" }, "request_uri_not_supported"],
    ];
    for (const [parameters, error] of cases) {
      const { error_description, ...callback } = callbackOf(
        await open(authorizationUrl(idp, parameters)),
      );
      const expected = { to: WEB.redirectUris[0], error, state: "the state", iss: idp.issuer };
      assert.deepEqual(callback, expected, JSON.stringify(parameters));
      // RFC 6749 §4.1.2.1
      assert.match(error_description ?? "", /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
    }
    const { error_description: _, ...callback } = callbackOf(
      await open(authorizationUrl(idp, { state: ["one", "two"] })),
    );
    assert.deepEqual(callback, {
      to: WEB.redirectUris[0],
      error: "invalid_request",
      iss: idp.issuer,
    });
  },
);

providerTest("/authorize accepts its parameters as a form", async () => {
  await using idp = await start();
  const { search } = new URL(authorizationUrl(idp));
  const { response, text } = await open(`${idp.issuer}/authorize`, {
    method: "POST",
    body: new URLSearchParams(search),
  });
  assert.equal(response.status, 200);
  assert.equal(hiddenFields(text).state, "the state");
});

providerTest("/login sends access_denied when the user refuses", async () => {
  await using idp = await start();
  const { text } = await open(authorizationUrl(idp));
  assert.deepEqual(callbackOf(await press(idp, text, { refuse: "yes" })), {
    to: WEB.redirectUris[0],
    error: "access_denied",
    error_description: "The user has refused",
    state: "the state",
    iss: idp.issuer,
  });
});

providerTest(
  "/login keeps the query of the redirect URI, and omits a missing state",
  async () => {
    await using idp = await start();
    const url = authorizationUrl(idp, { redirect_uri: WEB.redirectUris[1], state: undefined });
    const { text } = await open(url);
    const { code, ...callback } = callbackOf(await press(idp, text, { subject: "bob" }));
    assert.ok(code);
    assert.deepEqual(callback, { to: WEB.redirectUris[0], tenant: "a b", iss: idp.issuer });
  },
);

providerTest("/login answers with a form for the response mode form_post", async () => {
  await using idp = await start();
  const url = authorizationUrl(idp, { response_mode: "form_post", state: `"'<&>` });
  const { text } = await open(url);
  const { response, text: page } = await press(idp, text, { subject: "alice" });
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("location"), null);
  assert.match(page, /<form method="post" action="https:\/\/web\.example\/callback">/);
  assert.match(page, /<button autofocus>/);
  const { code, ...fields } = hiddenFields(page);
  assert.match(code ?? "", /^[\w-]{43}$/);
  assert.deepEqual(fields, { state: `"'<&>`, iss: idp.issuer });
  const exchanged = await exchange(idp, code ?? "");
  assert.equal(exchanged.status, 200);
});

providerTest("/login checks the request again, and the user", async () => {
  await using idp = await start();
  const { text } = await open(authorizationUrl(idp));
  const cases: readonly Parameters[] = [
    { subject: "mallory" },
    { subject: undefined },
    { subject: "__proto__" },
    { subject: ["alice", "bob"] },
    { subject: "alice", redirect_uri: "https://evil.example" },
    { subject: "alice", client_id: "nobody" },
  ];
  for (const parameters of cases) {
    const { response } = await press(idp, text, parameters);
    assert.equal(response.status, 400, JSON.stringify(parameters));
    assert.equal(response.headers.get("location"), null);
  }
  const refused = callbackOf(await press(idp, text, { subject: "alice", code_challenge: "" }));
  assert.equal(refused.error, "invalid_request");
});

providerTest("/login refuses a form of another site", async () => {
  await using idp = await start();
  const { text } = await open(authorizationUrl(idp));
  const origins = [undefined, "https://evil.example", "null", idp.issuer.replace(/\d+$/, "1")];
  for (const origin of origins) {
    const { response } = await open(`${idp.issuer}/login`, {
      method: "POST",
      headers: origin === undefined ? {} : { origin },
      body: new URLSearchParams({ ...hiddenFields(text), subject: "alice" }),
    });
    assert.equal(response.status, 403, origin);
  }
});

providerTest(
  "the login page has a notice, a button for each user, and no scripts",
  async () => {
    await using idp = await start();
    const { response, text } = await open(authorizationUrl(idp));
    assert.match(text, /Development identity provider: not for production/);
    const buttons = [...text.matchAll(/<button name="(\w+)" value="(\w+)">/g)];
    assert.deepEqual(buttons.map(([, name, value]) => [name, value]), [
      ["subject", "alice"],
      ["subject", "bob"],
      ["refuse", "yes"],
    ]);
    assert.doesNotMatch(text, /<script|javascript:|\son\w+=|\sstyle=/i);
    const [, nonce] = /<style nonce="([^"]+)">/.exec(text) ?? [];
    assert.deepEqual(Object.fromEntries(response.headers), {
      ...Object.fromEntries(response.headers),
      "cache-control": "no-store",
      "content-security-policy": "default-src 'none'; " +
        `style-src 'nonce-${nonce}'; form-action 'self' http: https:; ` +
        "frame-ancestors 'none'; base-uri 'none'",
      "referrer-policy": "same-origin",
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
    });
    const other = await open(authorizationUrl(idp));
    assert.notEqual(/nonce="([^"]+)"/.exec(other.text)?.[1], nonce);
  },
);

providerTest("the login page allows its form to lead to the scheme of an application", async () => {
  await using idp = await start();
  const [redirectUri] = PUBLIC.redirectUris ?? [];
  const { response, text } = await open(
    authorizationUrl(idp, { client_id: PUBLIC.clientId, redirect_uri: redirectUri }),
  );
  assert.match(
    response.headers.get("content-security-policy") ?? "",
    /form-action 'self' http: https: com\.example\.app:;/,
  );
  const { to } = callbackOf(await press(idp, text, { subject: "bob" }));
  assert.equal(to, redirectUri);
});

providerTest("the pages escape the values of clients, users and requests", async () => {
  const hostile = `</title><script>alert("1")</script>'\`&lt;`;
  await using idp = await start({
    clients: [{ ...WEB, name: hostile, redirectUris: [`https://web.example/"><b>`] }],
    users: [{ subject: hostile, name: hostile, email: hostile, roles: [hostile] }],
  });
  const redirect_uri = `https://web.example/"><b>`;
  for (const response_mode of ["query", "form_post"]) {
    const url = authorizationUrl(idp, {
      redirect_uri,
      response_mode,
      state: hostile,
      nonce: hostile,
      scope: "openid <img/src=x>",
    });
    const { text } = await open(url);
    const pages = [text, (await press(idp, text, { subject: hostile })).text];
    for (const page of pages) assert.doesNotMatch(page, /<script|<b>|<img|value="[^"]*<|"><b/);
    assert.deepEqual(hiddenFields(text).state, hostile);
    assert.deepEqual(hiddenFields(text).redirect_uri, redirect_uri);
    assert.match(text, /&lt;\/title&gt;&lt;script&gt;alert\(&quot;1&quot;\)/);
    assert.equal(callbackOrForm(await press(idp, text, { subject: hostile })).state, hostile);
  }
});

function callbackOrForm(
  opened: Awaited<ReturnType<typeof open>>,
): Readonly<Record<string, string>> {
  return opened.response.status === 303 ? callbackOf(opened) : hiddenFields(opened.text);
}
