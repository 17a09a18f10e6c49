/**
 * What the framework decides where OAuth2 leaves things open, a test a decision: options, tokens, the
 * token endpoint, errors, the verifier and its caches, social providers and tokens of the application.
 */
import assert from "node:assert/strict";
import { exportPKCS8, generateKeyPair } from "jose";
import { controller, HttpException, module, route } from "../../mod.ts";
import { AuthnModule, JwtKey, JwtService, Principal } from "../../src/authn/mod.ts";
import {
  generatePkce,
  JwksCache,
  JwtVerifier,
  OAuth2Client,
  OAuth2Error,
  type OAuth2ErrorCode,
  oauth2Identity,
  OAuth2Options,
  PkceVerifier,
  TokenCache,
  TokenSet,
  ValidationConfig,
} from "../../src/oauth2/mod.ts";
import { apple, discord, github, google, microsoft } from "../../src/oauth2/social/mod.ts";
import { createTestApplication, DevelopmentIdentityProvider } from "../../src/testing/mod.ts";
import { captureLogs } from "../support/capture_logs.ts";
import { issuer } from "../oauth2/issuer.ts";
import { JwksServer, text } from "../oauth2/resource_server/jwks_server.ts";
import { outcomeOf } from "../oauth2/resource_server/outcome.ts";
import { printed } from "../oauth2/client/printed.ts";
import { accepting, verifierOf } from "../oauth2/resource_server/resource_server.ts";
import { rotatingProvider } from "../oauth2/client/rotating_provider.ts";
import { NOW, SigningKey } from "../oauth2/resource_server/signing_key.ts";
import { clientOf, optionsOf, SECRET, TOKENS, tokenServer } from "../oauth2/client/token_server.ts";
import { test } from "../support/test.ts";

const URLS = {
  authorizeUrl: "https://id.example/authorize",
  tokenUrl: "https://id.example/token",
  redirectUri: "https://app.example/callback",
};

const invalid = { name: "OAuth2Error", code: "InvalidConfig" };

test("OAuth2 table, options: confidential, public, or discovered from the provider's metadata", () =>
  captureLogs(["fw"], async () => {
    const confidential = new OAuth2Options({ clientId: "web", clientSecret: SECRET, ...URLS });
    assert.equal(confidential.authMethod, "client_secret_post");
    const open = OAuth2Options.publicClient({ clientId: "web", ...URLS });
    assert.equal(open.authMethod, "none");
    await using provider = await DevelopmentIdentityProvider.start();
    const { issuer, jwksUrl } = provider;
    const found = await OAuth2Options.discover(issuer, { clientId: "web" });
    assert.deepEqual([found.tokenUrl, found.jwksUrl], [`${issuer}/token`, jwksUrl]);
    await assert.rejects(OAuth2Options.discover(`${issuer}/`, { clientId: "web" }), invalid);
  }));

test("OAuth2 table, client authentication: post by default, Basic or a key by option; client_id always", async () => {
  const { privateKey } = await crypto.subtle.generateKey("Ed25519", false, [
    "sign",
    "verify",
  ]) as CryptoKeyPair;
  await using server = await tokenServer(() => ({ body: TOKENS }));
  for (
    const [authMethod, sent] of [
      [undefined, { secret: true, basic: false, assertion: false }],
      ["client_secret_basic", { secret: false, basic: true, assertion: false }],
      ["private_key_jwt", { secret: false, basic: false, assertion: true }],
    ] as const
  ) {
    await clientOf(server.url, { authMethod, privateKey }).clientCredentials();
    const { form, headers } = server.received.at(-1)!;
    assert.equal(form.get("client_id"), "web");
    assert.deepEqual({
      secret: form.get("client_secret") === SECRET,
      basic: headers.authorization?.startsWith("Basic ") ?? false,
      assertion: form.has("client_assertion"),
    }, sent);
  }
});

test("OAuth2 table, operations: verifyCallback() checks state and iss before it reads the code", () => {
  const issuer = "https://id.example";
  const client = clientOf(issuer, { issuer, issParameterSupported: true });
  const iss = encodeURIComponent(issuer);
  assert.equal(client.verifyCallback(`?code=c&state=s&iss=${iss}`, "s"), "c");
  for (
    const query of [
      `code=c&state=other&iss=${iss}`,
      `code=c&iss=${iss}`,
      "code=c&state=s",
      "code=c&state=s&iss=https%3A%2F%2Fevil.example",
      `code=c&code=d&state=s&iss=${iss}`,
      `error=access_denied&state=s&iss=https%3A%2F%2Fevil.example`,
    ]
  ) assert.throws(() => client.verifyCallback(`?${query}`, "s"), { code: "Validation" }, query);
});

test("OAuth2 table, operations: each sends the request of its RFC, and cached() returns the set", async () => {
  await using server = await tokenServer(({ path }) => ({
    body: path === "/userinfo" ? { sub: "tom" } : TOKENS,
  }));
  const client = clientOf(server.url);
  const set = await client.exchangeCode("c", (await generatePkce()).verifier);
  assert.equal(client.cached(set.accessToken), set);
  await client.clientCredentials(["a", "b"]);
  await client.refresh("rt-1");
  await client.revoke("rt-1", "refresh_token");
  assert.deepEqual(await client.userinfo("at-1"), { sub: "tom" });
  assert.deepEqual(
    server.received.map(({ method, path, form }) => [method, path, form.get("grant_type")]),
    [
      ["POST", "/token", "authorization_code"],
      ["POST", "/token", "client_credentials"],
      ["POST", "/token", "refresh_token"],
      ["POST", "/revoke", null],
      ["GET", "/userinfo", null],
    ],
  );
});

test("OAuth2 table, reserved parameters: extra cannot override parameters of the client", async () => {
  const { challenge: pkce } = await generatePkce();
  const client = clientOf("https://id.example");
  const { url } = client.authorizeUrl({ pkce, extra: { prompt: "login" } });
  assert.equal(new URL(url).searchParams.get("prompt"), "login");
  for (
    const name of [
      "state",
      "client_id",
      "redirect_uri",
      "response_type",
      "code_challenge",
      "code_challenge_method",
    ]
  ) assert.throws(() => client.authorizeUrl({ pkce, extra: { [name]: "x" } }), invalid, name);
});

test("OAuth2 table, URLs: https, or http to this machine, without fragment and user", () => {
  for (const tokenUrl of ["https://id.example/t", "http://localhost:1/t", "http://127.0.0.1/t"]) {
    assert.equal(optionsOf("https://id.example", { tokenUrl }).tokenUrl, tokenUrl);
  }
  for (
    const tokenUrl of [
      "http://id.example/t",
      "http://localhost.evil.example/t",
      "ftp://id.example/t",
      "https://id.example/t#x",
      "https://tom@id.example/t",
    ]
  ) assert.throws(() => optionsOf("https://id.example", { tokenUrl }), invalid, tokenUrl);
});

test("OAuth2 table, TokenSet: JSON is refused and names toDto(), every inspection is redacted", () => {
  const set = new TokenSet({
    accessToken: "the-access-token",
    tokenType: "bearer",
    refreshToken: "the-refresh-token",
    idToken: "the-id-token",
    expiresAt: new Date(1_800_000_000_000),
  });
  assert.throws(() => JSON.stringify({ set }), { name: "TypeError", message: /toDto\(\)/ });
  assert.ok(!printed(set).some((text) => /the-\w+-token/.test(text)));
  const dto = set.toDto();
  assert.equal(dto.expiresAtUnix, 1_800_000_000);
  assert.equal(
    TokenSet.fromDto(JSON.parse(JSON.stringify(dto))).refreshToken,
    "the-refresh-token",
  );
});

test("OAuth2 table, refresh: once for all clients of a cache, and a superseded token is never sent again", async () => {
  await using provider = await rotatingProvider();
  const cache = new TokenCache();
  const clients = [1, 2].map(() => clientOf(provider.url).withCache(cache));
  const sets = await Promise.all(
    Array.from({ length: 100 }, (_, i) => clients[i % 2]!.refresh("rt-1")),
  );
  assert.equal(new Set(sets).size, 1);
  assert.equal(await clients[0]!.refresh("rt-1"), sets[0]);
  assert.equal(cache.byRefresh("rt-1"), sets[0]);
  assert.deepEqual([provider.refreshed, provider.isCompromised], [["rt-1"], false]);
});

test("OAuth2 table, refresh: a failure is not cached, and a token that is not replaced is kept", async () => {
  const replies = [{ status: 503 }, { body: { ...TOKENS } }];
  await using server = await tokenServer(() => replies.shift());
  const client = clientOf(server.url);
  assert.equal(await outcomeOf(client.refresh("rt")), "TokenEndpoint");
  assert.equal((await client.refresh("rt")).refreshToken, "rt");
});

test("OAuth2 table, PKCE verifier: one use, even if the exchange fails, and a second one sends nothing", async () => {
  await using server = await tokenServer(() => ({ status: 500 }));
  const client = clientOf(server.url);
  const { verifier } = await generatePkce();
  const exported = verifier.export();
  assert.equal(await outcomeOf(client.exchangeCode("c", verifier)), "TokenEndpoint");
  assert.equal(await outcomeOf(client.exchangeCode("c", verifier)), "Validation");
  assert.equal(server.received.length, 1);
  const restored = PkceVerifier.restore(exported);
  assert.equal(restored.export(), exported);
});

test("OAuth2 table, id_token: it is given as received; verifyIdToken() checks it with its nonce", () =>
  captureLogs(["fw"], async () => {
    await using server = await tokenServer(() => ({ body: { ...TOKENS, id_token: "not a JWT" } }));
    assert.equal((await clientOf(server.url).clientCredentials()).idToken, "not a JWT");

    const redirectUri = URLS.redirectUri;
    await using provider = await DevelopmentIdentityProvider.start({
      clients: [{ clientId: "web", redirectUris: [redirectUri] }],
    });
    const client = new OAuth2Client(
      await OAuth2Options.discover(provider.issuer, { clientId: "web", redirectUri }),
    );
    const { challenge: pkce, verifier } = await generatePkce();
    const { url, state } = client.authorizeUrl({ scopes: ["openid"], pkce, nonce: "n" });
    const code = client.verifyCallback(provider.signIn(url).url, state);
    const { idToken = "" } = await client.exchangeCode(code, verifier);
    assert.equal((await client.verifyIdToken(idToken, { nonce: "n" })).sub, "alice");
    const replayed = client.verifyIdToken(idToken, { nonce: "other" });
    assert.equal(await outcomeOf(replayed), "InvalidClaim nonce");
  }));

test("OAuth2 table, token endpoint: one request, no redirect, a time limit and 1 MiB for the body", async () => {
  await using server = await tokenServer(({ form }, response) => {
    switch (form.get("refresh_token")) {
      case "redirect":
        return { status: 307, headers: { location: "/other" } };
      case "huge":
        return { body: { ...TOKENS, padding: "x".repeat(2 ** 20) } };
      default:
        response.writeHead(200, { "content-type": "application/json" }).write('{"access_token":');
        return undefined;
    }
  });
  const client = clientOf(server.url);
  assert.equal(await outcomeOf(client.refresh("redirect")), "TokenEndpoint");
  assert.equal(await outcomeOf(client.refresh("huge")), "Transport");
  const hurried = client.withTimeout(50);
  assert.equal(await outcomeOf(hurried.clientCredentials()), "Transport");
  assert.deepEqual(server.received.map(({ path }) => path), ["/token", "/token", "/token"]);
});

test("OAuth2 table, OAuth2Error: its code narrows it, and determines an HTTP status", () => {
  const statuses: Readonly<Record<OAuth2ErrorCode, number>> = {
    InvalidConfig: 500,
    Grant: 401,
    TokenEndpoint: 502,
    Transport: 502,
    JwksFetch: 503,
    InvalidSignature: 401,
    InvalidClaim: 401,
    Validation: 401,
    UnknownKid: 401,
  };
  for (const [code, status] of Object.entries(statuses)) {
    const failure = { code, grant: { error: "x" }, status: 418, body: "", claim: "exp" };
    const error = new OAuth2Error(failure as { code: "UnknownKid" }, "Cannot");
    assert.equal(HttpException.from(error).status, status, code);
  }
  const error: unknown = new OAuth2Error({ code: "InvalidClaim", claim: "exp" }, "Cannot");
  assert.ok(error instanceof OAuth2Error && error.code === "InvalidClaim");
  assert.equal(error.claim, "exp");
});

test("OAuth2 table, OAuth2Error: Transport is a server that cannot be reached, or does not answer", async () => {
  assert.equal(await outcomeOf(clientOf("http://127.0.0.1:1").refresh("rt")), "Transport");
  await using server = await tokenServer(() => {});
  const client = clientOf(server.url).withTimeout(50);
  assert.equal(await outcomeOf(client.clientCredentials()), "Transport");
});

test("OAuth2 table, Grant or TokenEndpoint: an error object is Grant below 500, and in a 200 body", async () => {
  const body = JSON.stringify({ error: "invalid_grant" });
  for (
    const [status, type, expected] of [
      [400, "application/json", "Grant"],
      [403, "text/html", "Grant"],
      [200, "text/plain", "Grant"],
      [500, "application/json", "TokenEndpoint"],
    ] as const
  ) {
    await using server = await tokenServer(() => ({
      status,
      headers: { "content-type": type },
      body,
    }));
    assert.equal(await outcomeOf(clientOf(server.url).refresh("rt")), expected, `${status}`);
  }
});

test("OAuth2 table, verifier: its configuration is checked, immutable, and EdDSA with 60 s by default", async () => {
  const config = new ValidationConfig();
  assert.deepEqual([config.algorithms, config.leewaySeconds], [["EdDSA"], 60]);
  assert.notEqual(config.withIssuer("x"), config);
  assert.equal(config.issuer, undefined);
  for (const alg of ["none", "HS256", "HS384", "HS512"]) {
    assert.throws(() => new ValidationConfig(alg as "EdDSA"), invalid, alg);
  }
  assert.throws(() => config.withLeeway(301), invalid);
  const key = await SigningKey.generate();
  await using server = await JwksServer.start(key.jwk);
  const typed = verifierOf(server, accepting("ES256").withTokenType("at+jwt"));
  assert.equal(await outcomeOf(typed.verify(await key.token({}, { typ: "at+jwt" }))), "accepted");
  assert.equal(await outcomeOf(typed.verify(await key.token({}, { typ: "JWT" }))), "Validation");
  const eager = await JwtVerifier.fromUrl(server.url, accepting("ES256"));
  assert.ok(eager instanceof JwtVerifier);
  assert.equal(server.requestCount, 2);
});

test("OAuth2 table, strictness: tokens are canonical, small, and without unsupported extensions", async () => {
  const key = await SigningKey.generate();
  const attacker = await SigningKey.generate();
  await using server = await JwksServer.start(key.jwk);
  const verifier = verifierOf(server);
  const token = await key.token();
  const jku = server.url.replace("/jwks", "/evil");
  const cases: Readonly<Record<string, readonly [string, string]>> = {
    "no exp": [await key.token({ exp: undefined }), "InvalidClaim exp"],
    "exp without end": [await key.forgeWith({}, '{"sub":"a","exp":1e999}'), "InvalidClaim exp"],
    "padded": [`${token}=`, "Validation"],
    "an unknown crit": [await key.forgeWith({ crit: ["x"], x: 1 }), "Validation"],
    "b64": [await key.forgeWith({ b64: false, crit: ["b64"] }), "Validation"],
    "no kid": [await key.forgeWith({ kid: undefined }), "Validation"],
    "a kid that is no text": [await key.forgeWith({ kid: 7 }), "Validation"],
    "over 16 KiB": [await key.token({ pad: "x".repeat(16 * 1024) }), "Validation"],
    "the attacker's jwk": [
      await attacker.forgeWith({ kid: key.kid, jwk: attacker.jwk, jku }),
      "InvalidSignature",
    ],
  };
  for (const [name, [token, expected]] of Object.entries(cases)) {
    assert.equal(await outcomeOf(verifier.verify(token)), expected, name);
  }
  assert.equal(server.requestCount, 1);
});

test("OAuth2 table, strictness: weak, symmetric and private keys of a set are skipped", async () => {
  const key = await SigningKey.generate();
  const weak = await SigningKey.generate("RS256", { rsaBits: 1024 });
  const symmetric = { kty: "oct", kid: "oct", k: "c2VjcmV0", alg: "HS256" };
  await using server = await JwksServer.start(
    weak.jwk,
    symmetric,
    { ...key.privateJwk, kid: "private" },
    key.jwk,
  );
  const keys = new JwksCache(server.url);
  await keys.refresh();
  assert.equal(keys.size, 1);
  assert.equal(keys.find(key.kid, "ES256").length, 1);
});

test("OAuth2 table, JWKS cache: stale keys work up to maxStale while the provider is down", () =>
  captureLogs(["fw"], async () => {
    let nowMs = 0;
    const key = await SigningKey.generate();
    await using server = await JwksServer.start(key.jwk);
    const keys = new JwksCache(server.url, { now: () => nowMs });
    const known = () => keys.find(key.kid, "ES256").length;
    await keys.refresh();
    server.reply = text("down", { status: 500 });
    nowMs = 24 * 3_600_000;
    assert.equal((await keys.resolve(key.kid, "ES256")).length, 1); // once a fetch has failed
    assert.equal(known(), 1);
    nowMs++;
    assert.equal(known(), 0);
    assert.equal(await outcomeOf(keys.resolve(key.kid, "ES256")), "JwksFetch");
  }));

test("OAuth2 table, JWKS cache: a flood of unknown kids is bounded, and hides no new key", async () => {
  const [key, old, attacker] = await Promise.all(
    [SigningKey.generate(), SigningKey.generate(), SigningKey.generate()],
  );
  await using server = await JwksServer.start(old.jwk);
  const verifier = verifierOf(server);
  const forged = await Promise.all(
    Array.from({ length: 200 }, (_, i) => attacker.token({}, { kid: `forged-${i}` })),
  );
  const outcomes = await Promise.all(forged.map((token) => outcomeOf(verifier.verify(token))));
  assert.deepEqual([...new Set(outcomes)], ["UnknownKid"]);
  assert.equal(server.requestCount, 1);
  server.keys = [key.jwk];
  assert.equal(await outcomeOf(verifier.verify(await key.token())), "accepted");
  assert.equal(server.requestCount, 2);
});

test("OAuth2 table, verified-token cache: frozen, never past exp, dropped with its key", async () => {
  let nowMs = NOW * 1000;
  const key = await SigningKey.generate();
  await using server = await JwksServer.start(key.jwk);
  const keys = new JwksCache(server.url);
  const verifier = new JwtVerifier(keys, accepting("ES256").withLeeway(0), {
    cacheTokens: 10,
    now: () => nowMs,
  });
  const token = await key.token({ exp: NOW + 10 });
  const first = await verifier.verify(token);
  assert.equal(await verifier.verify(token), first);
  assert.ok(Object.isFrozen(first.claims));
  nowMs += 10_000;
  assert.equal(await outcomeOf(verifier.verify(token)), "InvalidClaim exp");
  nowMs -= 10_000;
  await verifier.verify(token);
  server.keys = [(await SigningKey.generate("ES256", { kid: "next" })).jwk];
  await keys.refresh();
  assert.equal(await outcomeOf(verifier.verify(token)), "UnknownKid");
});

test("OAuth2 table, verified-token cache: useOAuth2() keeps tokens by default, JwtVerifier does not", async () => {
  const { verifier, sign } = await issuer();
  const seen: unknown[] = [];
  class ProbeController extends controller() {
    probe = route.get("/", (_, c) => void seen.push(oauth2Identity(c)?.claims));
  }
  await using app = await createTestApplication(module({ controllers: [ProbeController] }), {
    setUp: (app) => app.useOAuth2(verifier),
  });
  const token = await sign();
  for (let i = 0; i < 2; i++) {
    await app.request("/", { headers: { authorization: `Bearer ${token}` } });
  }
  assert.ok(seen[0] !== undefined && seen[0] === seen[1]);
  assert.notEqual(await verifier.verify(token), await verifier.verify(token));
});

test("OAuth2 table, middleware: one Bearer credential of RFC 6750's characters, with a sub that is text", async () => {
  const { verifier, sign } = await issuer();
  class ProbeController extends controller() {
    probe = route.get("/", (_, c) => ({ subject: oauth2Identity(c)?.subject ?? null }));
  }
  await using app = await createTestApplication(module({ controllers: [ProbeController] }), {
    setUp: (app) => app.useOAuth2(verifier),
  });
  const token = await sign();
  for (
    const [authorization, subject] of [
      [`bEARER ${token}`, "tom"],
      [`Bearer ${token}, Bearer ${token}`, null],
      [`Bearer "${token}"`, null],
      [`Basic ${token}`, null],
      [`Bearer ${await sign({ sub: "" })}`, null],
      [`Bearer ${await sign({ sub: 7 as unknown as string })}`, null],
    ] as const
  ) {
    const response = await app.request("/", { headers: { authorization } });
    assert.deepEqual(await response.json(), { subject }, authorization);
  }
});

test("OAuth2 table, social: five providers are endpoints and default scopes over one class", async () => {
  const { redirectUri } = URLS;
  const options = { clientId: "web", clientSecret: SECRET, redirectUri };
  const { clientSecret: _, ...withoutSecret } = options;
  const { privateKey } = await generateKeyPair("ES256", { extractable: true });
  const key = { teamId: "TEAM", keyId: "KEY", privateKey: await exportPKCS8(privateKey) };
  const providers = {
    "accounts.google.com": google(options),
    "github.com": github(options),
    "login.microsoftonline.com": microsoft(options),
    "appleid.apple.com": apple({ ...withoutSecret, ...key }),
    "discord.com": discord(options),
  };
  for (const [host, provider] of Object.entries(providers)) {
    assert.equal(new URL(provider.client().options.authorizeUrl ?? "").host, host);
    assert.ok(provider.scopes.length > 0, host);
  }
  assert.equal(new Set(Object.values(providers).map(({ constructor }) => constructor)).size, 1);
});

test("OAuth2 table, authn: tokens of the application, and a Principal with the source of the token", async () => {
  const { verifier, sign } = await issuer();
  class MeController extends controller() {
    me = route.get("/me", { args: { me: Principal } }, ({ me: { subject, roles, source } }) => ({
      subject,
      roles,
      source,
    }));
  }
  const root = module({
    imports: [
      AuthnModule.forRoot({
        issuer: "https://api.example",
        audience: "https://api.example",
        key: await JwtKey.generate(),
      }),
    ],
    controllers: [MeController],
  });
  await using app = await createTestApplication(root, {
    setUp: (app) => app.useAuthn(app.get(JwtService)).useOAuth2(verifier),
  });
  const me = async (token: string) => {
    const response = await app.request("/me", { headers: { authorization: `Bearer ${token}` } });
    return await response.json();
  };
  const own = await app.get(JwtService).sign({ subject: "ann", roles: ["admin"] });
  assert.equal((await app.get(JwtService).verify(own)).claims.sub, "ann");
  assert.deepEqual(await me(own), { subject: "ann", roles: ["admin"], source: "authn" });
  assert.deepEqual(await me(await sign()), { subject: "tom", roles: [], source: "oauth2" });
  assert.equal((await app.request("/me")).status, 401);
});
