import assert from "node:assert/strict";
import { decodeJwt } from "jose";
import {
  codeOf,
  exchange,
  form,
  OTHER,
  type Parameters,
  post,
  providerTest,
  PUBLIC,
  refresh,
  start,
  userinfo,
  WEB,
} from "./identity_provider_flow.ts";

const SECRET = WEB.clientSecret;
const OTHER_CLIENT = { client_id: OTHER.clientId, client_secret: OTHER.clientSecret };

function basic(clientId: string, secret: string): string {
  return `Basic ${btoa(`${clientId}:${secret}`)}`;
}

/** Encoded as in a form (RFC 6749 §2.3.1). */
const ENCODED = form({ "": SECRET }).toString().slice(1);

providerTest(
  "/token authenticates clients by post and by Basic, and refuses others",
  async () => {
    await using idp = await start();
    interface Case extends Parameters {
      readonly authorization?: string;
    }
    const cases: readonly (readonly [Case, status: number, error?: string])[] = [
      [{ client_id: "web", client_secret: SECRET }, 200],
      [{ authorization: basic("web", ENCODED) }, 200],
      [{ authorization: basic("web", ENCODED).replace("Basic", "bAsIc ") }, 200],
      [{ authorization: basic("web", ENCODED), client_id: "web" }, 200],
      [{ client_id: "web", client_secret: `${SECRET} ` }, 401, "invalid_client"],
      [{ client_id: "web", client_secret: "" }, 401, "invalid_client"],
      [{ client_id: "web" }, 401, "invalid_client"],
      [{ client_id: "nobody", client_secret: SECRET }, 401, "invalid_client"],
      [{ client_id: "__proto__", client_secret: SECRET }, 401, "invalid_client"],
      [{ client_id: "other", client_secret: SECRET }, 401, "invalid_client"],
      [{ client_secret: SECRET }, 401, "invalid_client"],
      [{}, 401, "invalid_client"],
      [{ client_id: "public", client_secret: "guess" }, 401, "invalid_client"],
      [{ client_id: "public" }, 400, "unauthorized_client"],
      [{ authorization: basic("web", SECRET) }, 401, "invalid_client"],
      [{ authorization: basic("web", "wrong") }, 401, "invalid_client"],
      [{ authorization: basic("web", "") }, 401, "invalid_client"],
      [{ authorization: basic("", ENCODED) }, 401, "invalid_client"],
      [{ authorization: `Basic ${btoa("web")}` }, 401, "invalid_client"],
      [{ authorization: "Basic ?" }, 401, "invalid_client"],
      [{ authorization: "Bearer token" }, 401, "invalid_client"],
      [{ authorization: basic("web", ENCODED), client_id: "other" }, 400, "invalid_request"],
      [{ authorization: basic("web", ENCODED), client_secret: SECRET }, 400, "invalid_request"],
    ];
    for (const [{ authorization, ...parameters }, status, error] of cases) {
      const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
      const answer = await post({ issuer: idp.issuer, headers }, "/token", {
        grant_type: "client_credentials",
        ...parameters,
      });
      const described = `${authorization} ${JSON.stringify(parameters)}`;
      assert.equal(answer.status, status, described);
      assert.equal(answer.body.error, error, described);
      assert.equal(answer.headers.get("cache-control"), "no-store");
      const challenged = status === 401 && authorization !== undefined;
      assert.equal(
        answer.headers.get("www-authenticate"),
        challenged ? 'Basic realm="token"' : null,
      );
    }
  },
);

providerTest("/token issues a token to a client without a user", async () => {
  await using idp = await start({ accessTokenSeconds: 60 });
  const { body } = await post(idp, "/token", {
    ...OTHER_CLIENT,
    grant_type: "client_credentials",
    scope: "openid read:things",
  });
  const { access_token, ...rest } = body;
  assert.deepEqual(rest, { token_type: "Bearer", expires_in: 60, scope: "openid read:things" });
  const { iat = 0, exp = 0, jti: _, ...claims } = decodeJwt(String(access_token));
  assert.equal(exp - iat, 60);
  assert.deepEqual(claims, {
    iss: idp.issuer,
    aud: "development",
    sub: "other",
    client_id: "other",
    scope: "openid read:things",
  });
  assert.equal((await userinfo(idp, access_token)).status, 401);
});

providerTest("/token refuses requests as in RFC 6749 §5.2", async () => {
  await using idp = await start();
  const cases: readonly (readonly [Parameters, error: string])[] = [
    [{ grant_type: undefined }, "invalid_request"],
    [{ grant_type: "password" }, "unsupported_grant_type"],
    [{ grant_type: ["client_credentials", "client_credentials"] }, "invalid_request"],
    [{ anything: ["1", "2"] }, "invalid_request"],
    [{ anything: "x".repeat(4097) }, "invalid_request"],
    [{ grant_type: "authorization_code" }, "invalid_request"],
    [{ grant_type: "authorization_code", code: "unknown" }, "invalid_request"],
    [{ grant_type: "refresh_token" }, "invalid_request"],
    [{ grant_type: "refresh_token", refresh_token: "unknown" }, "invalid_grant"],
    [{ scope: "read  write" }, "invalid_scope"],
  ];
  for (const [parameters, error] of cases) {
    const { status, headers, body } = await post(idp, "/token", {
      ...OTHER_CLIENT,
      grant_type: "client_credentials",
      ...parameters,
    });
    assert.equal(status, 400);
    assert.deepEqual(Object.keys(body), ["error", "error_description"]);
    assert.equal(body.error, error, JSON.stringify(parameters));
    assert.match(headers.get("content-type") ?? "", /^application\/json/);
  }
});

providerTest("/token reads only forms of at most 64 KiB", async () => {
  await using idp = await start();
  const send = async (type: string, body: string) => {
    const headers = { "content-type": type };
    const response = await fetch(`${idp.issuer}/token`, { method: "POST", headers, body });
    return [response.status, (await response.json()).error];
  };
  const grant = "grant_type=client_credentials&client_id=other&client_secret=other-secret";
  assert.deepEqual(await send("application/json", "{}"), [400, "invalid_request"]);
  assert.deepEqual(await send("text/plain", grant), [400, "invalid_request"]);
  const [status] = await send("application/x-www-form-urlencoded", "x".repeat(65_537));
  assert.equal(status, 413);
  assert.deepEqual(await send("application/x-www-form-urlencoded", grant), [200, undefined]);
});

providerTest(
  "a code is bound to its client, redirect URI and verifier, and is used up by an invalid request",
  async () => {
    await using idp = await start();
    const wrong: readonly Parameters[] = [
      { code_verifier: "x".repeat(43) },
      { redirect_uri: WEB.redirectUris[1] },
      { redirect_uri: "https://evil.example" },
      OTHER_CLIENT,
      { client_id: PUBLIC.clientId, client_secret: undefined },
    ];
    for (const parameters of wrong) {
      const code = codeOf(idp);
      for (const attempt of [parameters, {}]) {
        const { status, body } = await exchange(idp, code, attempt);
        assert.equal(status, 400);
        assert.equal(body.error, "invalid_grant", JSON.stringify(parameters));
      }
    }
    const code = codeOf(idp);
    const { body } = await exchange(idp, code, { code_verifier: undefined });
    assert.equal(body.error, "invalid_request");
    assert.equal((await exchange(idp, code)).status, 200);
  },
);

providerTest("a second use of a code revokes its tokens", async () => {
  await using idp = await start();
  const code = codeOf(idp);
  const { body: first } = await exchange(idp, code);
  const { body: renewed } = await refresh(idp, first.refresh_token);
  assert.equal((await userinfo(idp, first.access_token)).status, 200);

  const { status, body } = await exchange(idp, code);
  assert.deepEqual([status, body.error], [400, "invalid_grant"]);
  for (const token of [first.access_token, renewed.access_token]) {
    const { status, headers, body } = await userinfo(idp, token);
    assert.deepEqual([status, body.error], [401, "invalid_token"]);
    assert.equal(headers.get("www-authenticate"), 'Bearer error="invalid_token"');
  }
  assert.equal((await refresh(idp, renewed.refresh_token)).body.error, "invalid_grant");

  const { body: other } = await exchange(idp, codeOf(idp));
  assert.equal((await userinfo(idp, other.access_token)).status, 200);
});

providerTest(
  "a code in two concurrent requests returns revoked tokens",
  async () => {
    await using idp = await start();
    const code = codeOf(idp);
    const answers = await Promise.all([exchange(idp, code), exchange(idp, code)]);
    const [won, lost] = answers.sort((one, other) => one.status - other.status);
    assert.deepEqual([won?.status, lost?.status], [200, 400]);
    assert.equal((await userinfo(idp, won?.body.access_token)).status, 401);
    assert.equal((await refresh(idp, won?.body.refresh_token)).status, 400);
  },
);

providerTest("a code expires after 60 s, and a second use is recognized even then", async () => {
  let now = Date.now();
  await using idp = await start({ now: () => now });
  const [inTime, late] = [codeOf(idp), codeOf(idp)];
  now += 59_999;
  const { status, body } = await exchange(idp, inTime);
  assert.equal(status, 200);
  now += 1;
  const expired = await exchange(idp, late);
  assert.deepEqual([expired.status, expired.body.error], [400, "invalid_grant"]);
  now += 60_000;
  assert.equal((await exchange(idp, inTime)).status, 400);
  assert.equal((await userinfo(idp, body.access_token)).status, 401);
});

providerTest("tokens expire by the clock", async () => {
  let now = 1_700_000_000_500;
  await using idp = await start({ now: () => now, accessTokenSeconds: 10 });
  const { body } = await exchange(idp, codeOf(idp));
  assert.equal(decodeJwt(String(body.access_token)).exp, 1_700_000_010);
  now += 9_999;
  assert.equal((await userinfo(idp, body.access_token)).status, 200);
  now += 1;
  assert.equal((await userinfo(idp, body.access_token)).status, 401);
  now += 14 * 24 * 3_600_000;
  assert.equal((await refresh(idp, body.refresh_token)).body.error, "invalid_grant");
});

providerTest(
  "a second use of a refresh token revokes all tokens of its grant",
  async () => {
    await using idp = await start();
    const { body: first } = await exchange(idp, codeOf(idp));
    const { body: second } = await refresh(idp, first.refresh_token);
    const { body: third } = await refresh(idp, second.refresh_token);
    assert.equal(new Set([first, second, third].map((body) => body.refresh_token)).size, 3);
    assert.equal(third.scope, "openid profile email");
    assert.equal((await userinfo(idp, third.access_token)).status, 200);

    const reused = await refresh(idp, first.refresh_token);
    assert.deepEqual([reused.status, reused.body.error], [400, "invalid_grant"]);
    assert.equal((await refresh(idp, third.refresh_token)).body.error, "invalid_grant");
    for (const { access_token } of [first, second, third]) {
      assert.equal((await userinfo(idp, access_token)).status, 401);
    }
  },
);

providerTest(
  "a refresh can narrow the scope, not widen it, and only by its client",
  async () => {
    await using idp = await start();
    const { body: first } = await exchange(idp, codeOf(idp));
    const widened = await refresh(idp, first.refresh_token, { scope: "openid admin" });
    assert.deepEqual([widened.status, widened.body.error], [400, "invalid_scope"]);
    const other = await refresh(idp, first.refresh_token, OTHER_CLIENT);
    assert.deepEqual([other.status, other.body.error], [400, "invalid_grant"]);

    const { body: narrowed } = await refresh(idp, first.refresh_token, { scope: "openid" });
    assert.equal(narrowed.scope, "openid");
    assert.deepEqual((await userinfo(idp, narrowed.access_token)).body, {
      sub: "alice",
      roles: ["admin"],
    });
    const { body: whole } = await refresh(idp, narrowed.refresh_token);
    assert.equal(whole.scope, "openid profile email");
  },
);

providerTest("a public client gets tokens with PKCE only", async () => {
  await using idp = await start();
  const redirect_uri = PUBLIC.redirectUris?.[0];
  const code = codeOf(idp, { client_id: "public", redirect_uri, scope: undefined });
  const as = { client_id: "public", client_secret: undefined };
  const { status, body } = await exchange(idp, code, { ...as, redirect_uri });
  assert.equal(status, 200);
  assert.deepEqual(Object.keys(body), [
    "access_token",
    "token_type",
    "expires_in",
    "refresh_token",
  ]);
  assert.equal((await userinfo(idp, body.access_token)).body.error, "insufficient_scope");
  assert.equal((await refresh(idp, body.refresh_token, as)).status, 200);
});

providerTest(
  "/revoke revokes an access token, or all tokens of the grant of a refresh token",
  async () => {
    await using idp = await start();
    const { body } = await exchange(idp, codeOf(idp));
    const revoke = (token: unknown, parameters: Parameters = {}) =>
      post(idp, "/revoke", {
        client_id: "web",
        client_secret: SECRET,
        token: String(token),
        ...parameters,
      });
    const accepted = async (token: unknown) => (await userinfo(idp, token)).status === 200;

    assert.equal((await revoke("unknown")).status, 200);
    assert.equal((await revoke("")).body.error, "invalid_request");
    assert.equal((await revoke(body.access_token, { client_secret: "wrong" })).status, 401);
    for (const token of [body.access_token, body.refresh_token]) {
      assert.equal((await revoke(token, OTHER_CLIENT)).body.error, "invalid_grant");
    }
    assert.equal(await accepted(body.access_token), true);

    const answer = await revoke(body.access_token, { token_type_hint: "refresh_token" });
    assert.deepEqual([answer.status, answer.body], [200, {}]);
    assert.equal(await accepted(body.access_token), false);

    const { body: renewed } = await refresh(idp, body.refresh_token);
    assert.equal(await accepted(renewed.access_token), true);
    await revoke(renewed.refresh_token);
    assert.equal(await accepted(renewed.access_token), false);
    assert.equal((await refresh(idp, renewed.refresh_token)).body.error, "invalid_grant");
  },
);

providerTest(
  "/userinfo answers as in RFC 6750 §3 if the token is missing or malformed",
  async () => {
    await using idp = await start();
    const cases = [
      [undefined, 401, "Bearer"],
      ["Basic eDp5", 400, 'Bearer error="invalid_request"'],
      ["Bearer a b", 400, 'Bearer error="invalid_request"'],
      ["Bearer forged", 401, 'Bearer error="invalid_token"'],
    ] as const;
    for (const [authorization, status, challenge] of cases) {
      for (const method of ["GET", "POST"]) {
        const headers: HeadersInit = authorization === undefined ? {} : { authorization };
        const response = await fetch(`${idp.issuer}/userinfo`, { method, headers });
        await response.body?.cancel();
        assert.equal(response.status, status);
        assert.equal(response.headers.get("www-authenticate"), challenge);
      }
    }
  },
);

providerTest(
  "pages of any origin can call the endpoints of clients, but not those of users",
  async () => {
    await using idp = await start();
    const paths = ["/token", "/jwks", "/userinfo", "/revoke", "/.well-known/openid-configuration"];
    for (const path of [...paths, "/authorize", "/login"]) {
      const response = await fetch(idp.issuer + path, {
        method: "OPTIONS",
        headers: { origin: "http://localhost:5173", "access-control-request-method": "POST" },
      });
      await response.body?.cancel();
      const allowed = response.headers.get("access-control-allow-origin");
      assert.equal(allowed, paths.includes(path) ? "*" : null, path);
    }
  },
);
