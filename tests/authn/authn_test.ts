/** `app.useAuthn`, alone and together with `app.useOAuth2`. */
import assert from "node:assert/strict";
import { exportJWK, generateKeyPair } from "jose";
import {
  controller,
  cookie,
  type FwApplication,
  inject,
  module,
  optional,
  route,
} from "../../mod.ts";
import { AuthnModule, JwtKey, JwtService, Principal, principalOf } from "../../src/authn/mod.ts";
import { JwksCache, JwtVerifier, OAuth2Guard, ValidationConfig } from "../../src/oauth2/mod.ts";
import { createTestApplication } from "../../src/testing/mod.ts";
import { captureLogs } from "../support/capture_logs.ts";
import { issuer } from "../oauth2/issuer.ts";
import { test } from "../support/test.ts";

class SessionController extends controller() {
  readonly #jwt = inject(JwtService);
  create = route.post("/session", { public: true }, async () => ({
    token: await this.#jwt.sign({ subject: "ann", roles: ["admin"] }),
  }));
  me = route.get("/me", { args: { me: Principal } }, ({ me }) => ({
    subject: me.subject,
    roles: me.roles,
    source: me.source,
    issuer: me.claims.iss,
  }));
  maybe = route.get(
    "/maybe",
    { args: { me: optional(Principal) } },
    ({ me }) => ({ source: me?.source ?? null }),
  );
  admin = route.get("/admin", { roles: ["admin"] }, () => "in");
  outside = route.get("/outside", { guards: [OAuth2Guard] }, () => "in");
}

const probe = async (setUp: (app: FwApplication) => unknown) =>
  createTestApplication(
    module({
      name: "Probe",
      imports: [
        AuthnModule.forRoot({ issuer: "https://api.example.com", key: await JwtKey.generate() }),
      ],
      controllers: [SessionController],
    }),
    { setUp },
  );

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

async function session(app: FwApplication): Promise<string> {
  return (await (await app.request("/session", { method: "POST" })).json()).token;
}

test("useAuthn() refuses a verifier that accepts any issuer or audience without saying so", async () => {
  const keys = new JwksCache("https://id.example.com/jwks");
  const verifier = new JwtVerifier(keys, new ValidationConfig().withIssuer("i"));
  await assert.rejects(probe((app) => app.useAuthn(verifier)), {
    name: "TypeError",
    message: "Cannot use verifier: its ValidationConfig names no audience; " +
      "call withAudience() or anyAudience()",
  });
});

test("useAuthn() identifies callers by tokens of the application", async () => {
  await using app = await probe((app) => app.useAuthn(app.get(JwtService)));
  const token = await session(app);
  assert.deepEqual(await (await app.request("/me", bearer(token))).json(), {
    subject: "ann",
    roles: ["admin"],
    source: "authn",
    issuer: "https://api.example.com",
  });
  assert.equal((await app.request("/admin", bearer(token))).status, 200);
});

test("the scopes of the application's own tokens are the words of their claim scope", async () => {
  class OrdersController extends controller("orders") {
    mine = route.get("/", { args: { me: Principal } }, ({ me }) => me.scopes);
    create = route.post("/", { scopes: ["orders:write"] }, () => "created");
  }
  const key = await JwtKey.generate();
  const jwt = AuthnModule.forRoot({ issuer: "https://api.example.com", key });
  await using app = await createTestApplication(
    module({ imports: [jwt], controllers: [OrdersController] }),
    { setUp: (app) => app.useAuthn(app.get(JwtService), { require: true }) },
  );
  for (
    const [scope, scopes, status] of [
      ["orders:read orders:write", ["orders:read", "orders:write"], 200],
      ["orders:read", ["orders:read"], 403],
      [undefined, [], 403],
    ] as const
  ) {
    const claims = scope ? { scope } : {};
    const token = await app.get(JwtService).sign({
      subject: "ann",
      roles: ["orders:write"],
      claims,
    });
    assert.deepEqual(await (await app.request("/orders", bearer(token))).json(), scopes);
    assert.equal(
      (await app.request("/orders", { method: "POST", ...bearer(token) })).status,
      status,
    );
  }
});

test("Principal refuses with 401 and a challenge, and is optional by optional()", async () => {
  await using app = await probe((app) => app.useAuthn(app.get(JwtService)));
  const none = await app.request("/me");
  const wrong = await app.request("/me", bearer(`${await session(app)}x`));
  assert.deepEqual([none.status, none.headers.get("www-authenticate")], [401, "Bearer"]);
  assert.deepEqual([wrong.status, wrong.headers.get("www-authenticate")], [
    401,
    'Bearer error="invalid_token"',
  ]);
  assert.deepEqual(await (await app.request("/maybe")).json(), { source: null });
});

test("Principal reads either identity, and each token is verified once", async () => {
  const provider = await issuer();
  provider.isDown = true; // tokens of the application need no provider
  await using app = await probe((app) =>
    app
      .useOAuth2(provider.verifier)
      .useAuthn(app.get(JwtService), { require: true })
      .useRoles(({ groups }) => groups) // only for tokens of others
  );
  const own = await session(app);
  assert.equal((await (await app.request("/me", bearer(own))).json()).source, "authn");
  assert.equal((await app.request("/outside", bearer(own))).status, 401);
  provider.isDown = false;
  const theirs = await provider.sign({ groups: ["admin"], roles: ["none"] });
  assert.equal((await app.request("/admin", bearer(own))).status, 200);
  assert.deepEqual(await (await app.request("/me", bearer(theirs))).json(), {
    subject: "tom",
    roles: ["admin"],
    source: "oauth2",
    issuer: "https://id.example.com",
  });
  assert.equal((await app.request("/outside", bearer(theirs))).status, 200);
  assert.equal((await app.request("/admin")).status, 401);
});

test("an expired token of the application is refused without a request to the provider", async () => {
  const provider = await issuer();
  provider.isDown = true;
  let now = Date.now();
  const jwt = new JwtService({
    issuer: "https://api.example.com",
    key: await JwtKey.generate(),
    now: () => now,
  });
  await using app = await probe((app) => app.useOAuth2(provider.verifier).useAuthn(jwt));
  const token = await jwt.sign({ subject: "ann" });
  now += 1_000_000;
  const response = await app.request("/me", bearer(token));
  assert.deepEqual([response.status, response.headers.get("www-authenticate")], [
    401,
    'Bearer error="invalid_token"',
  ]);
});

test("a provider may have a key of the same kid as the application", async () => {
  const provider = await issuer();
  const { privateKey } = await generateKeyPair("EdDSA", { extractable: true });
  const key = await JwtKey.fromJwk({ ...await exportJWK(privateKey), kid: "k1" });
  const jwt = new JwtService({ issuer: "https://api.example.com", key });
  await using app = await probe((app) => app.useOAuth2(provider.verifier).useAuthn(jwt));
  const theirs = await provider.sign({}, "k1", "JWT");
  assert.equal((await app.request("/me", bearer(theirs))).status, 200);
});

test("the failure of a verifier is reported unless another one accepts the token", () =>
  captureLogs(["fw"], async () => {
    const provider = await issuer();
    const broken = { verify: () => Promise.reject(new Error("broken")) };
    await using app = await probe((app) => app.useOAuth2(provider.verifier).useAuthn(broken));
    const theirs = await provider.sign();
    assert.equal((await app.request("/me", bearer(theirs))).status, 200);
    assert.equal((await app.request("/me", bearer(`${theirs}x`))).status, 500);
  }));

test("principalOf() returns the caller of either kind to audit middleware, and never throws", async () => {
  const provider = await issuer();
  const seen: string[] = [];
  await using app = await probe((app) =>
    app
      .use(async (c, next) => {
        assert.equal(principalOf(c), undefined); // before authentication
        await next();
      })
      .use(async (c, next) => {
        const { subject, roles, source } = principalOf(c) ?? {};
        await next();
        seen.push([c.req.method, c.res.status, subject, roles, source].join(" "));
      }, { afterAuthentication: true })
      .useAuthn(app.get(JwtService), { from: cookie("session") })
      .useOAuth2(provider.verifier)
  );
  const own = { cookie: `session=${await session(app)}` };
  await app.request("/me", { headers: own });
  await app.request("/session", {
    method: "POST",
    headers: { ...own, "sec-fetch-site": "cross-site" },
  });
  await app.request("/me", bearer(await provider.sign({ sub: "tom", roles: ["staff"] })));
  await app.request("/me");
  assert.deepEqual(seen, [
    "POST 200   ", // the session of the test
    "GET 200 ann admin authn",
    "POST 200   ",
    "GET 200 tom staff oauth2",
    "GET 401   ",
  ]);
});

test("useAuthn() and useOAuth2() refuse an unknown option and a `require` that is no boolean", async () => {
  const provider = await issuer();
  for (
    const [options, why] of [
      [{ required: true }, "required is not an option"],
      [{ require: "true" }, "require is not a boolean"],
      [{ require: null }, "require is not a boolean"],
      [{ require: undefined }, "require is undefined; omit it for the default"],
    ] as [never, string][]
  ) {
    const refusal = { name: "TypeError", message: `Cannot authenticate: ${why}` };
    await assert.rejects(probe((app) => app.useAuthn(app.get(JwtService), options)), refusal);
    await assert.rejects(probe((app) => app.useOAuth2(provider.verifier, options)), refusal);
  }
});

test("useAuthn() and useOAuth2() refuse a `from` that is not a token source", async () => {
  const provider = await issuer();
  for (const from of ["cookie", null, {}, () => "token"] as never[]) {
    const refusal = {
      name: "TypeError",
      message: "Cannot authenticate: from is not a TokenSource; use bearer(), scheme() or cookie()",
    };
    await assert.rejects(probe((app) => app.useAuthn(app.get(JwtService), { from })), refusal);
    await assert.rejects(probe((app) => app.useOAuth2(provider.verifier, { from })), refusal);
  }
});
