import assert from "node:assert/strict";
import { createRemoteJWKSet, errors, jwtVerify, SignJWT } from "jose";
import { test } from "../../test.ts";
import {
  type OidcProvider,
  oidcProvider,
  type ResourceAlgorithm,
  RESOURCES,
  SKIP_OIDC_PROVIDER,
} from "./oidc_provider.ts";

/** The example of RFC 7636 appendix B. */
const VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

const ALGORITHMS = Object.keys(RESOURCES) as ResourceAlgorithm[];

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, string>>;
}

function providerTest(name: string, body: (provider: OidcProvider) => Promise<void>): void {
  test(`oidc-provider ${name}`, async () => {
    await using provider = await oidcProvider();
    await body(provider);
  }, { skip: SKIP_OIDC_PROVIDER });
}

async function post(
  url: string,
  parameters: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const body = new URLSearchParams(parameters);
  const response = await fetch(url, { method: "POST", headers, body });
  const text = await response.text();
  return { status: response.status, body: text ? JSON.parse(text) : {} };
}

function postSecret({ clients }: OidcProvider, name: "post" | "web"): Record<string, string> {
  const { clientId, clientSecret } = clients[name];
  return { client_id: clientId, client_secret: clientSecret };
}

function authorizationUrl(
  { endpoints, redirectUri }: OidcProvider,
  parameters: Readonly<Record<string, string>>,
): string {
  return `${endpoints.authorizeUrl}?${new URLSearchParams({
    redirect_uri: redirectUri,
    response_type: "code",
    scope: "openid profile email",
    state: "the state",
    nonce: "the nonce",
    code_challenge: CHALLENGE,
    code_challenge_method: "S256",
    ...parameters,
  })}`;
}

/** Logs in and exchanges the code. */
async function logIn(
  provider: OidcProvider,
  authentication: Readonly<Record<string, string>>,
  parameters: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const client_id = authentication.client_id ?? "";
  const callback = new URL(
    await provider.authorize(authorizationUrl(provider, { client_id, ...parameters })),
  );
  const { code, ...rest } = Object.fromEntries(callback.searchParams);
  callback.search = "";
  assert.equal(callback.href, provider.redirectUri);
  assert.deepEqual(rest, { state: "the state", iss: provider.issuer });
  return await post(provider.endpoints.tokenUrl, {
    ...authentication,
    grant_type: "authorization_code",
    redirect_uri: provider.redirectUri,
    code: code ?? "",
    code_verifier: VERIFIER,
  });
}

async function verify(
  { issuer, endpoints }: OidcProvider,
  token: string | undefined,
  { alg, audience = RESOURCES[alg] }: { alg: ResourceAlgorithm; audience?: string },
) {
  const keys = createRemoteJWKSet(new URL(endpoints.jwksUrl));
  const { payload } = await jwtVerify(token ?? "", keys, { issuer, audience, algorithms: [alg] });
  return payload;
}

async function userinfo({ endpoints }: OidcProvider, token: string | undefined): Promise<Answer> {
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(endpoints.userinfoUrl, { headers });
  return { status: response.status, body: await response.json() };
}

providerTest("authenticates clients by post, Basic and a private key", async (provider) => {
  const { issuer, clients: { basic, key } } = provider;
  const request = { grant_type: "client_credentials", scope: "read" };
  const encoded = [basic.clientId, basic.clientSecret].map((half) =>
    new URLSearchParams({ "": half }).toString().slice(1)
  );
  const assertion = await new SignJWT({ jti: crypto.randomUUID() })
    .setProtectedHeader({ alg: "ES256", kid: key.privateKeyId })
    .setIssuer(key.clientId).setSubject(key.clientId).setAudience(issuer)
    .setIssuedAt().setExpirationTime("1m")
    .sign(key.privateKey);
  const answers = {
    post: await post(provider.endpoints.tokenUrl, { ...request, ...postSecret(provider, "post") }),
    basic: await post(provider.endpoints.tokenUrl, request, {
      authorization: `Basic ${btoa(encoded.join(":"))}`,
    }),
    key: await post(provider.endpoints.tokenUrl, {
      ...request,
      client_id: key.clientId,
      client_assertion: assertion,
      client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
    }),
  };
  for (const [clientId, { status, body }] of Object.entries(answers)) {
    assert.equal(status, 200, JSON.stringify(body));
    const { sub, scope, client_id } = await verify(provider, body.access_token, { alg: "EdDSA" });
    assert.deepEqual({ sub, scope, client_id }, { sub: clientId, scope: "read", client_id: sub });
  }
  const refused = await post(provider.endpoints.tokenUrl, {
    ...request,
    ...postSecret(provider, "post"),
    client_secret: "wrong",
  });
  assert.deepEqual([refused.status, refused.body.error], [401, "invalid_client"]);
});

providerTest(
  "signs access tokens as at+jwt with the algorithm of each resource",
  async (provider) => {
    for (const alg of ALGORITHMS) {
      const { body } = await post(provider.endpoints.tokenUrl, {
        ...postSecret(provider, "post"),
        grant_type: "client_credentials",
        scope: "read write",
        resource: RESOURCES[alg],
      });
      const keys = createRemoteJWKSet(new URL(provider.endpoints.jwksUrl));
      const { protectedHeader, payload } = await jwtVerify(body.access_token ?? "", keys);
      assert.deepEqual([protectedHeader.alg, protectedHeader.typ], [alg, "at+jwt"]);
      assert.deepEqual([payload.aud, payload.scope], [RESOURCES[alg], "read write"]);
    }
  },
);

providerTest("logs a user in for a confidential and for a public client", async (provider) => {
  for (
    const authentication of [
      postSecret(provider, "web"),
      { client_id: provider.clients.public.clientId },
    ]
  ) {
    const { status, body } = await logIn(provider, authentication);
    assert.equal(status, 200, JSON.stringify(body));
    const identity = await verify(provider, body.id_token, {
      alg: "RS256",
      audience: authentication.client_id ?? "",
    });
    assert.deepEqual([identity.sub, identity.nonce], ["alice", "the nonce"]);
    assert.deepEqual(await userinfo(provider, body.access_token), {
      status: 200,
      body: { sub: "alice", name: "Alice", email: "alice@example.com", email_verified: true },
    });
  }
});

providerTest(
  "gives a user's access token for a resource, and to whom login_hint says",
  async (provider) => {
    const web = postSecret(provider, "web");
    const { body } = await logIn(provider, web, {
      resource: RESOURCES.ES256,
      login_hint: "bob",
      scope: "openid read",
    });
    const { sub, roles, scope } = await verify(provider, body.access_token, { alg: "ES256" });
    assert.deepEqual({ sub, roles, scope }, { sub: "bob", roles: ["admin"], scope: "read" });

    const url = authorizationUrl(provider, { client_id: "web", login_hint: "refuse" });
    const refused = new URL(await provider.authorize(url)).searchParams;
    assert.deepEqual(Object.fromEntries(refused), {
      error: "access_denied",
      error_description: "Refused",
      state: "the state",
      iss: provider.issuer,
    });
  },
);

providerTest(
  "rotates refresh tokens, and revokes the family of one that is reused",
  async (provider) => {
    const web = postSecret(provider, "web");
    const { body: first } = await logIn(provider, web);
    const refresh = (token: string | undefined) =>
      post(provider.endpoints.tokenUrl, {
        ...web,
        grant_type: "refresh_token",
        refresh_token: token ?? "",
      });
    const { status, body: second } = await refresh(first.refresh_token);
    assert.equal(status, 200);
    assert.ok(second.refresh_token && second.refresh_token !== first.refresh_token);
    assert.equal((await userinfo(provider, second.access_token)).status, 200);

    assert.equal((await refresh(first.refresh_token)).body.error, "invalid_grant");
    assert.equal((await refresh(second.refresh_token)).body.error, "invalid_grant");
    assert.equal((await userinfo(provider, second.access_token)).status, 401);
  },
);

providerTest("revokes tokens", async (provider) => {
  const web = postSecret(provider, "web");
  const { body } = await logIn(provider, web);
  const revoke = (token: string | undefined) =>
    post(provider.endpoints.revokeUrl, { ...web, token: token ?? "" });
  assert.equal((await revoke("unknown")).status, 200);
  assert.equal((await revoke(body.refresh_token)).status, 200);
  const refreshed = await post(provider.endpoints.tokenUrl, {
    ...web,
    grant_type: "refresh_token",
    refresh_token: body.refresh_token ?? "",
  });
  assert.equal(refreshed.body.error, "invalid_grant");
  assert.equal((await userinfo(provider, body.access_token)).status, 401);
});

providerTest("rotates its keys, and remembers logins", async (provider) => {
  const web = postSecret(provider, "web");
  const { body } = await logIn(provider, web, { resource: RESOURCES.PS256 });
  await verify(provider, body.access_token, { alg: "PS256" });

  await provider.rotateKeys({ keepPrevious: true });
  const { body: next } = await post(provider.endpoints.tokenUrl, {
    ...web,
    grant_type: "refresh_token",
    refresh_token: body.refresh_token ?? "",
  });
  const kidOf = (token = "") => JSON.parse(atob(token.split(".")[0] ?? "")).kid;
  assert.notEqual(kidOf(next.access_token), kidOf(body.access_token));
  await verify(provider, body.access_token, { alg: "PS256" });
  await verify(provider, next.access_token, { alg: "PS256" });

  await provider.rotateKeys();
  await assert.rejects(
    () => verify(provider, next.access_token, { alg: "PS256" }),
    errors.JWKSNoMatchingKey,
  );
});

providerTest("is discovered", async (provider) => {
  const response = await fetch(`${provider.issuer}/.well-known/openid-configuration`);
  const metadata = await response.json();
  assert.equal(metadata.issuer, provider.issuer);
  assert.equal(metadata.authorization_response_iss_parameter_supported, true);
  assert.deepEqual(provider.endpoints, {
    authorizeUrl: metadata.authorization_endpoint,
    tokenUrl: metadata.token_endpoint,
    jwksUrl: metadata.jwks_uri,
    revokeUrl: metadata.revocation_endpoint,
    userinfoUrl: metadata.userinfo_endpoint,
  });
});

test("oidcProvider() tells what the provider wrote when it cannot start", async () => {
  await assert.rejects(
    () => oidcProvider({ redirectUri: "no URL" }),
    /^Error: Cannot start oidc-provider: it has ended\n[^]*redirect_uris/,
  );
}, { skip: SKIP_OIDC_PROVIDER });
