/**
 * What the framework promises of OAuth2, a test a promise: the example's routes, how clients and
 * callers are authenticated, guards and extractors, and errors. `oauth2_table_conformance_test.ts` has
 * the promises of the library's parts.
 */
import assert from "node:assert/strict";
import { appModule, setUp } from "../../examples/oauth2.ts";
import { appModule as usersModule, setUp as setUpUsers } from "../../examples/users.ts";
import { controller, type FwApplication, module, optional, route } from "../../mod.ts";
import {
  generatePkce,
  JwksCache,
  JwtVerifier,
  OAuth2Guard,
  oauth2Identity,
  OAuth2Options,
  OAuth2Principal,
  ValidationConfig,
} from "../../src/oauth2/mod.ts";
import { createTestApplication } from "../../src/testing/mod.ts";
import { captureLogs } from "../support/capture_logs.ts";
import { issuer } from "../oauth2/issuer.ts";
import { JwksServer, text } from "../oauth2/resource_server/jwks_server.ts";
import { outcomeOf } from "../oauth2/resource_server/outcome.ts";
import { accepting, verifierOf } from "../oauth2/resource_server/resource_server.ts";
import { NOW, SigningKey } from "../oauth2/resource_server/signing_key.ts";
import { clientOf, optionsOf, SECRET, TOKENS, tokenServer } from "../oauth2/client/token_server.ts";
import { test } from "../support/test.ts";

class ProbeController extends controller() {
  open = route.get("/open", (_, c) => ({ subject: oauth2Identity(c)?.subject ?? null }));
  guarded = route.get("/guarded", { guards: [OAuth2Guard] }, () => "in");
  me = route.get("/me", { args: { me: OAuth2Principal } }, ({ me }) => me);
  maybe = route.get(
    "/maybe",
    { args: { me: optional(OAuth2Principal) } },
    ({ me }) => ({ subject: me?.subject ?? null }),
  );
  admin = route.get("/admin", { roles: ["admin"] }, () => "in");
  welcome = route.get("/welcome", { public: true }, () => "in");
}

const probe = (setUp: (app: FwApplication) => unknown) =>
  createTestApplication(module({ name: "Probe", controllers: [ProbeController] }), { setUp });

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

const challenge = (response: Response) => [
  response.status,
  response.headers.get("www-authenticate"),
];

const jsonOf = async (response: Promise<Response>) => await (await response).json();

async function s256(verifier: string | null): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier ?? ""));
  return btoa(String.fromCharCode(...new Uint8Array(digest)))
    .replaceAll("+", "-").replaceAll("/", "_").replace("=", "");
}

/** Runs the example with an authorization server that records requests. */
async function withExample(
  body: (app: FwApplication, exchanged: () => readonly URLSearchParams[]) => Promise<void>,
): Promise<void> {
  await captureLogs(["fw"], async () => {
    const { jwk } = await SigningKey.generate();
    await using server = await tokenServer(({ path }) => ({
      body: path === "/jwks" ? { keys: [jwk] } : TOKENS,
    }));
    const settings = {
      OAUTH2_CLIENT_ID: "web",
      OAUTH2_AUTHORIZE_URL: `${server.url}/authorize`,
      OAUTH2_TOKEN_URL: `${server.url}/token`,
      OAUTH2_JWKS_URL: `${server.url}/jwks`,
    };
    const root = await appModule(settings, "http://localhost:3000/auth/callback");
    await using app = await createTestApplication(root, { setUp });
    const exchanged = () =>
      server.received.filter(({ path }) => path === "/token").map(({ form }) => form);
    await body(app, exchanged);
  });
}

async function beginLogin(app: FwApplication) {
  const login = await app.request("/auth/login");
  const url = new URL(login.headers.get("location") ?? "");
  const cookie = login.headers.getSetCookie()[0]?.split(";")[0] ?? "";
  return { status: login.status, parameters: url.searchParams, cookie };
}

test("Endpoints: GET /auth/login answers 303 to the authorization URL, and keeps state and verifier", () =>
  withExample(async (app) => {
    const { status, parameters, cookie } = await beginLogin(app);
    assert.equal(status, 303);
    assert.match(parameters.get("state") ?? "", /^[\w-]{43}$/);
    assert.match(parameters.get("code_challenge") ?? "", /^[\w-]{43}$/);
    assert.equal(parameters.get("code_challenge_method"), "S256");
    // the browser has neither: the cookie only identifies it
    assert.ok(!cookie.includes(parameters.get("state") ?? ""));
    assert.equal(parameters.get("code_verifier"), null);
  }));

test("Endpoints: GET /auth/callback rejects a mismatched or unknown state before it touches the code", () =>
  withExample(async (app, exchanged) => {
    const { parameters, cookie } = await beginLogin(app);
    const other = await beginLogin(app);
    const status = async (state: string | null, query = "&code=the-code") => {
      const headers = { cookie };
      return (await app.request(`/auth/callback?state=${state}${query}`, { headers })).status;
    };
    assert.equal(await status("x".repeat(43)), 401);
    assert.equal(await status(other.parameters.get("state")), 401);
    assert.equal(await status("", "&code=the-code"), 400);
    assert.equal(await status(parameters.get("state"), ""), 400);
    assert.deepEqual(exchanged(), []);

    assert.equal(await status(parameters.get("state")), 200);
    const [form] = exchanged();
    assert.equal(form?.get("code"), "the-code");
    assert.equal(await s256(form.get("code_verifier")), parameters.get("code_challenge"));
  }));

test("Endpoints: GET /me answers 401 without a valid token, else the principal's subject", async () => {
  const { verifier, sign } = await issuer();
  await using app = await probe((app) => app.useOAuth2(verifier));
  assert.equal((await app.request("/me")).status, 401);
  assert.equal((await app.request("/me", bearer("no.valid.token"))).status, 401);
  assert.equal((await jsonOf(app.request("/me", bearer(await sign())))).subject, "tom");
});

test("Authentication: the code flow is authorizeUrl(), verifyCallback() and exchangeCode()", async () => {
  await using server = await tokenServer(() => ({ body: TOKENS }));
  const client = clientOf(server.url);
  const { challenge, verifier } = await generatePkce();
  const { url, state } = client.authorizeUrl({ scopes: ["openid"], pkce: challenge });
  assert.equal(new URL(url).searchParams.get("state"), state);
  assert.throws(() => client.verifyCallback("?state=other&code=c", state), { code: "Validation" });
  assert.equal(server.received.length, 0);
  await client.exchangeCode(client.verifyCallback(`?state=${state}&code=c`, state), verifier);
  assert.equal(await s256(server.received[0]!.form.get("code_verifier")), challenge);
  assert.throws(() => verifier.export(), { code: "Validation" });
});

test("Authentication: client credentials authenticate the client, without user or PKCE", async () => {
  await using server = await tokenServer(() => ({ body: TOKENS }));
  await clientOf(server.url).clientCredentials(["read"]);
  assert.deepEqual(Object.fromEntries(server.received[0]!.form), {
    grant_type: "client_credentials",
    scope: "read",
    client_id: "web",
    client_secret: SECRET,
  });
});

test("Authentication: a public client omits the secret, and relies on PKCE", async () => {
  await using server = await tokenServer(() => ({ body: TOKENS }));
  const { challenge, verifier } = await generatePkce();
  const client = clientOf(server.url, { authMethod: "none" });
  assert.match(client.authorizeUrl({ pkce: challenge }).url, /[?&]code_challenge_method=S256/);
  await client.exchangeCode("the-code", verifier);
  const [{ form, headers }] = server.received as [typeof server.received[0]];
  assert.ok(form.get("code_verifier"));
  assert.deepEqual([form.get("client_secret"), headers.authorization], [null, undefined]);
});

test("Authentication: a secret shows in no output, but that there is one does", () => {
  const shown = String(optionsOf("https://id.example"));
  assert.match(shown, /clientSecret: <redacted>/);
  assert.ok(!shown.includes(SECRET));
  const { href } = new URL("https://id.example");
  const options = { clientId: "web", authorizeUrl: href, tokenUrl: href };
  assert.doesNotMatch(String(OAuth2Options.publicClient(options)), /clientSecret/);
});

test("Authentication: the algorithm is checked before any key is looked up; by default it is EdDSA", async () => {
  const [ed, es] = await Promise.all([SigningKey.generate("EdDSA"), SigningKey.generate("ES256")]);
  await using server = await JwksServer.start(ed.jwk, es.jwk);
  const verifier = verifierOf(server, new ValidationConfig());
  const none = await es.forgeWith({ alg: "none" });
  assert.equal(await outcomeOf(verifier.verify(await es.token())), "Validation");
  assert.equal(await outcomeOf(verifier.verify(none)), "Validation");
  assert.equal(server.requestCount, 0);
  assert.equal(await outcomeOf(verifier.verify(await ed.token())), "accepted");
});

test("Authentication: the signature is checked by the key that the token's kid names", async () => {
  const [one, two] = await Promise.all([SigningKey.generate(), SigningKey.generate()]);
  await using server = await JwksServer.start(one.jwk, two.jwk);
  const verifier = verifierOf(server);
  assert.equal(await outcomeOf(verifier.verify(await one.token())), "accepted");
  const misnamed = await one.token({}, { kid: two.kid });
  assert.equal(await outcomeOf(verifier.verify(misnamed)), "InvalidSignature");
});

test("Authentication: exp and nbf are checked, with the leeway for clocks that differ", async () => {
  const key = await SigningKey.generate();
  await using server = await JwksServer.start(key.jwk);
  const outcome = async (claims: Record<string, unknown>, leeway: number) =>
    outcomeOf(
      verifierOf(server, accepting("ES256").withLeeway(leeway)).verify(await key.token(claims)),
    );
  assert.deepEqual(
    await Promise.all([
      outcome({ exp: NOW - 9 }, 10),
      outcome({ exp: NOW - 10 }, 10),
      outcome({ nbf: NOW + 10 }, 10),
      outcome({ nbf: NOW + 11 }, 10),
      outcome({ exp: NOW }, 0),
    ]),
    ["accepted", "InvalidClaim exp", "accepted", "InvalidClaim nbf", "InvalidClaim exp"],
  );
});

test("Authentication: iss and aud are enforced when they are set, and not otherwise", async () => {
  const key = await SigningKey.generate();
  await using server = await JwksServer.start(key.jwk);
  const token = await key.token({ iss: "https://a.example", aud: "b" });
  const any = new ValidationConfig("ES256");
  const outcome = (config: ValidationConfig) => outcomeOf(verifierOf(server, config).verify(token));
  assert.deepEqual(
    await Promise.all([
      outcome(any),
      outcome(any.withIssuer("https://a.example").withAudience("b")),
      outcome(any.withIssuer("https://other.example")),
      outcome(any.withAudience("other")),
    ]),
    ["accepted", "accepted", "InvalidClaim iss", "InvalidClaim aud"],
  );
});

test("Authentication: an unknown kid causes one refresh, shared by concurrent lookups", async () => {
  const [old, rotated] = await Promise.all([SigningKey.generate(), SigningKey.generate()]);
  await using server = await JwksServer.start(old.jwk);
  const verifier = verifierOf(server);
  await verifier.verify(await old.token());
  server.keys = [rotated.jwk];
  const token = await rotated.token();
  await Promise.all(Array.from({ length: 100 }, () => verifier.verify(token)));
  assert.equal(server.requestCount, 2);
  assert.equal(await outcomeOf(verifier.verify(await old.token())), "UnknownKid");
});

test("Authentication: the refresh window of the keys is 15 minutes unless it is set", async () => {
  const key = await SigningKey.generate();
  for (const [windowMs, set] of [[900_000, false], [1_000, true]] as const) {
    let nowMs = 0;
    let fetches = 0;
    const fetch = () => {
      fetches++;
      return Promise.resolve(Response.json({ keys: [key.jwk] }));
    };
    const cache = new JwksCache("https://id.example/jwks", { fetch, now: () => nowMs });
    const keys = set ? cache.withRefreshWindow(windowMs) : cache;
    await keys.refresh();
    for (const [ageMs, expected] of [[windowMs, 1], [windowMs + 1, 2]] as const) {
      nowMs = ageMs;
      assert.equal(keys.find(key.kid, "ES256").length, 1);
      await new Promise((resolve) => setTimeout(resolve, 0));
      assert.equal(fetches, expected, `${ageMs} ms`);
    }
    await keys.refresh();
  }
});

test("Authentication: an opaque token is invalid for the verifier, and valid for the userinfo of the provider", async () => {
  await using server = await tokenServer(() => ({ body: { login: "tom" } }));
  const verifier = new JwtVerifier(new JwksCache(`${server.url}/jwks`), new ValidationConfig());
  assert.equal(await outcomeOf(verifier.verify("gho_opaque")), "Validation");
  assert.deepEqual(await clientOf(server.url).userinfo("gho_opaque"), { login: "tom" });
  assert.equal(server.received[0]?.headers.authorization, "Bearer gho_opaque");
});

test("Authentication: of each request, the scheme Bearer is matched in any case", async () => {
  const { verifier, sign } = await issuer();
  await using app = await probe((app) => app.useOAuth2(verifier));
  for (const scheme of ["Bearer", "bearer", "BEARER"]) {
    const headers = { authorization: `${scheme} ${await sign()}` };
    assert.deepEqual(await jsonOf(app.request("/open", { headers })), { subject: "tom" });
  }
});

test("Authentication: the identity of a request is the sub and all claims of its token", async () => {
  const { verifier, sign } = await issuer();
  await using app = await probe((app) => app.useOAuth2(verifier));
  const { subject, claims } = await jsonOf(
    app.request("/me", bearer(await sign({ tenant_id: "t1" }))),
  );
  assert.deepEqual([subject, claims.sub, claims.tenant_id], ["tom", "tom", "t1"]);
});

test("Authentication: the middleware rejects no request; failures are logged at debug", () =>
  captureLogs(["fw", "oauth2"], async (records) => {
    const { verifier } = await issuer();
    await using app = await probe((app) => app.useOAuth2(verifier));
    assert.deepEqual(await jsonOf(app.request("/open")), { subject: null });
    assert.deepEqual(await jsonOf(app.request("/open", bearer("bad"))), { subject: null });
    assert.deepEqual(records.map(({ level }) => level), ["debug", "debug"]);
  }));

test("Authentication, guard and extractor: OAuth2Guard passes with an identity, else it is 401", async () => {
  const { verifier, sign } = await issuer();
  await using app = await probe((app) => app.useOAuth2(verifier));
  assert.equal((await app.request("/guarded", bearer(await sign()))).status, 200);
  const refused = await app.request("/guarded");
  assert.equal(refused.status, 401);
  assert.equal((await refused.json()).detail, "OAuth2 identity required");
});

test("Authentication, guard and extractor: OAuth2Principal hands the identity over, else it is 401", async () => {
  const { verifier, sign } = await issuer();
  await using app = await probe((app) => app.useOAuth2(verifier));
  const { subject } = await jsonOf(app.request("/me", bearer(await sign())));
  assert.equal(subject, "tom");
  const refused = await app.request("/me");
  assert.equal(refused.status, 401);
  assert.equal((await refused.json()).detail, "OAuth2 identity required");
});

test("Authentication, guard and extractor: optional(OAuth2Principal) serves anonymous callers too", async () => {
  const { verifier, sign } = await issuer();
  await using app = await probe((app) => app.useOAuth2(verifier));
  assert.deepEqual(await jsonOf(app.request("/maybe")), { subject: null });
  assert.deepEqual(await jsonOf(app.request("/maybe", bearer(await sign()))), { subject: "tom" });
});

test("Authentication: a route without guard, principal or roles is reachable without a token", async () => {
  const { verifier } = await issuer();
  await using app = await probe((app) => app.useOAuth2(verifier));
  assert.equal((await app.request("/open")).status, 200);
});

test("Authentication, tenant: it comes from the verified token, never from input", async () => {
  const { verifier, sign } = await issuer();
  await using app = await createTestApplication(usersModule("sqlite::memory:"), {
    setUp: (app) => setUpUsers(app).useOAuth2(verifier, { require: true }),
  });
  const as = async (tenant_id: string) => bearer(await sign({ tenant_id }));
  const json = { email: "tom@example.com", name: "Tom", tenant_id: "two" };
  const created = await app.request("/api/v1/users", { ...await as("one"), json });
  assert.equal(created.status, 201);
  const path = created.headers.get("location") ?? "";
  assert.equal((await app.request(path, await as("one"))).status, 200);
  assert.equal((await app.request(path, await as("two"))).status, 404);
  assert.equal((await app.request(path, bearer(await sign()))).status, 403);
  const renamed = { ...await as("two"), method: "PATCH", json: { name: "Tim" } };
  assert.equal((await app.request(path, renamed)).status, 403);
  assert.equal((await jsonOf(app.request(path, await as("one")))).name, "Tom");
});

test("Builder methods: useOAuth2() installs the middleware on every request", async () => {
  const { verifier, sign } = await issuer();
  const seen: unknown[] = [];
  await using app = await probe((app) =>
    app.useOAuth2(verifier).useGlobalGuards((c) => seen.push(oauth2Identity(c)?.subject) > 0)
  );
  const token = bearer(await sign());
  for (const path of ["/open", "/welcome", "/me"]) await app.request(path, token);
  assert.deepEqual(seen, ["tom", "tom", "tom"]);
});

test("HTTP table, OAuth2 on 401/403: WWW-Authenticate names what is missing", async () => {
  const { verifier, sign } = await issuer();
  await using app = await probe((app) => app.useOAuth2(verifier));
  assert.deepEqual(challenge(await app.request("/me")), [401, "Bearer"]);
  const failed = await app.request("/me", bearer(await sign({ exp: 1 })));
  assert.deepEqual(challenge(failed), [401, 'Bearer error="invalid_token"']);
  const forbidden = await app.request("/admin", bearer(await sign()));
  assert.deepEqual(challenge(forbidden), [403, 'Bearer error="insufficient_scope"']);
});

test("HTTP table, roles: they are read from roles and realm_access.roles, or by useRoles()", async () => {
  const { verifier, sign } = await issuer();
  await using app = await probe((app) => app.useOAuth2(verifier));
  await using own = await probe((app) =>
    app.useOAuth2(verifier).useRoles(({ groups }) => groups as string[] ?? [])
  );
  const admin = ["admin"];
  for (
    const [claims, status, ownStatus] of [
      [{ roles: admin }, 200, 403],
      [{ realm_access: { roles: admin } }, 200, 403],
      [{ scope: "openid admin" }, 403, 403],
      [{ scp: admin }, 403, 403],
      [{ groups: admin }, 403, 200],
    ] as const
  ) {
    const token = bearer(await sign(claims));
    assert.equal((await app.request("/admin", token)).status, status);
    assert.equal((await own.request("/admin", token)).status, ownStatus);
  }
});

test("HTTP table, open routes: require protects all routes except public ones", async () => {
  const { verifier, sign } = await issuer();
  await using app = await probe((app) => app.useOAuth2(verifier, { require: true }));
  assert.equal((await app.request("/open")).status, 401);
  assert.equal((await app.request("/open", bearer(await sign()))).status, 200);
  assert.equal((await app.request("/welcome")).status, 200);
  assert.deepEqual(
    Object.fromEntries(app.routes().map(({ path, protection }) => [path, protection])),
    {
      "/open": "identity",
      "/guarded": "identity",
      "/me": "identity",
      "/maybe": "identity",
      "/admin": "roles",
      "/welcome": "public",
    },
  );
});

test("OAuth2 errors: InvalidConfig is for an empty clientId, a malformed URL, and credentials of a public client", async () => {
  const isInvalid = { name: "OAuth2Error", code: "InvalidConfig" };
  assert.throws(() => optionsOf("https://id.example", { clientId: "" }), isInvalid);
  assert.throws(() => optionsOf("https://id.example", { tokenUrl: "id.example" }), isInvalid);
  const client = clientOf("https://id.example", { authMethod: "none" });
  await assert.rejects(client.clientCredentials(), isInvalid);
});

test("OAuth2 errors: Grant is for an error response of RFC 6749 §5.2", async () => {
  const body = { error: "invalid_grant", error_description: "It is over" };
  await using server = await tokenServer(() => ({ status: 400, body }));
  await assert.rejects(clientOf(server.url).refresh("rt"), {
    name: "OAuth2Error",
    code: "Grant",
    grant: { error: "invalid_grant", description: "It is over" },
  });
});

test("OAuth2 errors: TokenEndpoint is for any other answer, with status and body", async () => {
  await using server = await tokenServer(() => ({ status: 418, body: "I am a teapot" }));
  await assert.rejects(clientOf(server.url).refresh("rt"), {
    name: "OAuth2Error",
    code: "TokenEndpoint",
    status: 418,
    body: "I am a teapot",
  });
});

test("OAuth2 errors: JwksFetch is for keys that cannot be fetched", () =>
  captureLogs(["fw"], async () => {
    await using server = await JwksServer.start();
    server.reply = text("down", { status: 500 });
    const key = await SigningKey.generate();
    assert.equal(await outcomeOf(verifierOf(server).verify(await key.token())), "JwksFetch");
    const verifier = JwtVerifier.fromUrl(server.url, new ValidationConfig());
    assert.equal(await outcomeOf(verifier), "JwksFetch");
  }));

test("OAuth2 errors: InvalidSignature, InvalidClaim, Validation and UnknownKid are for tokens", async () => {
  const [key, unknown] = await Promise.all([SigningKey.generate(), SigningKey.generate()]);
  await using server = await JwksServer.start(key.jwk);
  const verifier = verifierOf(server);
  const tokens: Readonly<Record<string, Promise<string>>> = {
    accepted: key.token(),
    InvalidSignature: unknown.token({}, { kid: key.kid }),
    "InvalidClaim exp": key.token({ exp: NOW - 600 }),
    "InvalidClaim nbf": key.token({ nbf: NOW + 600 }),
    "InvalidClaim iss": key.token({ iss: "https://evil.example" }),
    "InvalidClaim aud": key.token({ aud: "other" }),
    Validation: key.forgeWith({ alg: "HS256" }),
    UnknownKid: unknown.token(),
  };
  for (const [expected, token] of Object.entries(tokens)) {
    assert.equal(await outcomeOf(verifier.verify(await token)), expected);
  }
});
