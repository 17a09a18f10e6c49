/** `app.useOAuth2`: identities, guards, principals, roles, challenges. */
import assert from "node:assert/strict";
import * as v from "valibot";
import {
  callerIdentity,
  callerRoles,
  type Context,
  controller,
  ForbiddenException,
  type FwApplication,
  FwFactory,
  module,
  optional,
  route,
  UnauthorizedException,
} from "../../mod.ts";
import { JwksCache } from "../../src/oauth2/resource_server/jwks_cache.ts";
import { JwtVerifier } from "../../src/oauth2/resource_server/jwt_verifier.ts";
import { ValidationConfig } from "../../src/oauth2/resource_server/validation_config.ts";
import { OAuth2Error } from "../../src/oauth2/ground/errors.ts";
import { OAuth2Guard, oauth2Identity, OAuth2Principal } from "../../src/oauth2/principal.ts";
import { oauth2Middleware } from "../../src/oauth2/middleware.ts";
import { createTestApplication } from "../../src/testing/mod.ts";
import { captureLogs } from "../support/capture_logs.ts";
import { test } from "../support/test.ts";
import { issuer } from "./issuer.ts";

const NO_CREDENTIALS = "the request has no credentials of the scheme Bearer";

class ProbeController extends controller() {
  open = route.get("/open", (_, c) => ({ subject: oauth2Identity(c)?.subject ?? null }));
  guarded = route.get("/guarded", { guards: [OAuth2Guard] }, () => "in");
  me = route.get("/me", { args: { me: OAuth2Principal } }, ({ me }) => me);
  maybe = route.get(
    "/maybe",
    { args: { me: optional(OAuth2Principal) } },
    ({ me }) => ({ subject: me?.subject ?? null }),
  );
  admin = route.get("/admin", { roles: ["admin", "auditor"] }, () => "in");
  own = route.get("/own", () => UnauthorizedException.throw("No"));
  named = route.get("/named", () => {
    throw new UnauthorizedException("No", { headers: { "WWW-Authenticate": "Digest" } });
  });
  forbidden = route.get("/forbidden", () => ForbiddenException.throw("No"));
  pub = route.get("/public", { public: true }, () => "in");
}

class PublicController extends controller("site", { public: true }) {
  page = route.get("/page", () => "in");
  hidden = route.get("/hidden", { public: false }, () => "in");
}

const ProbeModule = module({ name: "Probe", controllers: [ProbeController, PublicController] });

const probe = (setUp: (app: FwApplication) => unknown) =>
  createTestApplication(ProbeModule, { setUp });

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

const challenge = (response: Response) => [
  response.status,
  response.headers.get("www-authenticate"),
];

const PROTECTED = ["/guarded", "/me", "/admin"];

test("useOAuth2() stores the identity of a verified token", async () => {
  const { verifier, sign } = await issuer();
  await using app = await probe((app) => app.useOAuth2(verifier));
  const token = await sign({ tenant_id: "t1", roles: ["admin"] });
  const me = await (await app.request("/me", bearer(token))).json();
  assert.deepEqual([me.subject, me.claims.tenant_id], ["tom", "t1"]);
  for (const path of ["/open", "/maybe"]) {
    assert.deepEqual(await (await app.request(path, bearer(token))).json(), { subject: "tom" });
  }
  for (const path of PROTECTED) {
    assert.equal((await app.request(path, bearer(token))).status, 200, path);
  }
});

test("useOAuth2() lets requests without a token pass to open routes only", async () => {
  const { verifier } = await issuer();
  await using app = await probe((app) => app.useOAuth2(verifier));
  for (const path of ["/open", "/maybe"]) {
    assert.deepEqual(await (await app.request(path)).json(), { subject: null }, path);
  }
  for (const path of PROTECTED) {
    assert.deepEqual(challenge(await app.request(path)), [401, "Bearer"], path);
  }
});

test("OAuth2Guard and OAuth2Principal refuse with the message OAuth2 identity required", async () => {
  const { verifier } = await issuer();
  await using bare = await probe((app) => app.plug({ slot: "oauth2", install: () => {} }));
  await using app = await probe((app) => app.useOAuth2(verifier));
  for (const each of [bare, app]) {
    for (const path of ["/guarded", "/me"]) {
      const response = await each.request(path);
      assert.deepEqual(challenge(response), [401, "Bearer"]);
      assert.equal((await response.json()).detail, "OAuth2 identity required");
    }
  }
});

test("an invalid token is invalid_token for any reason", async () => {
  const own = await issuer();
  const other = await issuer();
  await using app = await probe((app) => app.useOAuth2(own.verifier));
  const tokens = [
    "x",
    "a.b.c",
    await other.sign(),
    await own.sign({ exp: 1 }),
    await own.sign({ iss: "https://evil.example.com" }),
  ];
  const unknown = await app.request("/me", bearer(await own.sign({}, "k2")));
  assert.deepEqual(challenge(unknown), [401, 'Bearer error="invalid_token"']);
  for (const token of tokens) {
    assert.deepEqual(await (await app.request("/open", bearer(token))).json(), { subject: null });
    assert.deepEqual(await (await app.request("/maybe", bearer(token))).json(), { subject: null });
    for (const path of PROTECTED) {
      const response = await app.request(path, bearer(token));
      assert.deepEqual(challenge(response), [401, 'Bearer error="invalid_token"'], path);
    }
  }
});

test("a token with an invalid sub has no identity", async () => {
  const { verifier, sign } = await issuer();
  await using app = await probe((app) => app.useOAuth2(verifier));
  for (const sub of [undefined, "", 7, null, ["tom"], { id: "tom" }]) {
    const token = await sign({ sub: sub as string });
    assert.deepEqual(
      challenge(await app.request("/me", bearer(token))),
      [401, 'Bearer error="invalid_token"'],
      JSON.stringify(sub),
    );
  }
});

test("credentials are one Bearer token of RFC 6750's characters, the scheme in any case", async () => {
  const { verifier, sign } = await issuer();
  await using app = await probe((app) => app.useOAuth2(verifier));
  const token = await sign();
  const status = async (authorization: string) =>
    challenge(await app.request("/me", { headers: { authorization } }));
  for (const scheme of ["Bearer", "bearer", "BEARER", "bEaReR", "Bearer  "]) {
    assert.deepEqual(await status(`${scheme} ${token}`), [200, null], scheme);
  }
  const malformed = [
    "Bearer",
    `Bearer ${token} ${token}`,
    `Bearer ${token}, Bearer ${token}`,
    `Bearer "${token}"`,
    `Bearer ${token},`,
    `Bearer ${token};`,
    `Bearer \t${token}`,
    `Bearer =${token}`,
  ];
  for (const authorization of malformed) {
    assert.deepEqual(
      await status(authorization),
      [401, 'Bearer error="invalid_token"'],
      authorization,
    );
  }
  for (const other of [`Basic ${token}`, `DPoP ${token}`, `Bearer${token}`, `X Bearer ${token}`]) {
    assert.deepEqual(await status(other), [401, "Bearer"], other);
  }
});

test("roles are read from roles and realm_access.roles, and not from scopes; 403 is insufficient_scope", async () => {
  const { verifier, sign } = await issuer();
  await using app = await probe((app) => app.useOAuth2(verifier));
  const call = async (claims: Record<string, unknown>) =>
    challenge(await app.request("/admin", bearer(await sign(claims))));
  const enough = [
    { roles: ["x", "admin"] },
    { realm_access: { roles: ["auditor"] } },
  ];
  for (const claims of enough) assert.deepEqual(await call(claims), [200, null]);
  const tooLittle = [
    {},
    { roles: [] },
    { roles: "admin" },
    { roles: [["admin"]] },
    { roles: ["Admin"] },
    { realm_access: "admin" },
    { realm_access: null },
    { realm_access: { roles: { admin: true } } },
    { scope: "openid admin" },
    { scope: "admin", roles: [] },
    { scope: ["admin"] },
    { scp: "admin" },
    { scp: ["admin", "auditor"] },
  ];
  for (const claims of tooLittle) {
    assert.deepEqual(
      await call(claims),
      [403, 'Bearer error="insufficient_scope"'],
      JSON.stringify(claims),
    );
  }
});

test("useRoles() replaces how roles are read, whenever it is called", async () => {
  const { verifier, sign } = await issuer();
  await using app = await probe((app) =>
    app.useOAuth2(verifier).useRoles(({ groups }) => groups === "staff" ? ["admin"] : [])
  );
  const status = async (claims: Record<string, unknown>) =>
    (await app.request("/admin", bearer(await sign(claims)))).status;
  assert.deepEqual([await status({ groups: "staff" }), await status({ roles: ["admin"] })], [
    200,
    403,
  ]);
});

test("useRoles() is refused without useOAuth2(), as its reader would not run", async () => {
  const { verifier } = await issuer();
  const refusal = {
    name: "TypeError",
    message: "Cannot read roles: useRoles() applies to tokens of useOAuth2(), which is not called",
  };
  await assert.rejects(
    probe((app) => app.useAuthn(verifier).useRoles(() => [])).then((app) => app.request("/own")),
    refusal,
  );
  await assert.rejects(
    probe((app) => app.useRoles(() => [])).then((app) => app.request("/own")),
    refusal,
  );
});

test("a 401 of the application gets a challenge, unless it has one", async () => {
  const { verifier, sign } = await issuer();
  await using app = await probe((app) => app.useOAuth2(verifier));
  const token = await sign();
  assert.deepEqual(challenge(await app.request("/own")), [401, "Bearer"]);
  assert.deepEqual(challenge(await app.request("/own", bearer(token))), [401, "Bearer"]);
  assert.deepEqual(challenge(await app.request("/named")), [401, "Digest"]);
  assert.deepEqual(challenge(await app.request("/forbidden", bearer(token))), [403, null]);
});

test("without keys, a token is answered with 503 where an identity is required", async () => {
  const provider = await issuer();
  provider.isDown = true;
  await captureLogs(["fw"], async () => {
    await using app = await probe((app) => app.useOAuth2(provider.verifier));
    const token = await provider.sign();
    assert.equal((await app.request("/open", bearer(token))).status, 200);
    for (const path of [...PROTECTED, "/maybe"]) {
      assert.equal((await app.request(path, bearer(token))).status, 503, path);
      assert.ok((await app.request(path)).status < 500, path);
    }
  });
});

test("require: true requires an identity for every route that is not public", async () => {
  const { verifier, sign } = await issuer();
  await using app = await probe((app) =>
    app.useOAuth2(verifier, { require: true }).enableHealthCheck("/health")
  );
  const token = await sign();
  for (const path of ["/public", "/site/page", "/health"]) {
    assert.equal((await app.request(path)).status, 200, path);
  }
  for (const path of ["/open", "/maybe", "/site/hidden", ...PROTECTED]) {
    assert.deepEqual(challenge(await app.request(path)), [401, "Bearer"], path);
  }
  assert.equal((await app.request("/open", bearer(token))).status, 200);
  assert.equal((await app.request("/nothing")).status, 404);
});

test("HTTP table, open routes: app.routes() shows how each route is protected by an identity", async () => {
  const { verifier } = await issuer();
  const protection = async (setUp: (app: FwApplication) => unknown) => {
    await using app = await probe(setUp);
    return Object.fromEntries(app.routes().map(({ path, protection }) => [path, protection]));
  };
  const open = await protection((app) => app.useOAuth2(verifier));
  const required = await protection((app) => app.useOAuth2(verifier, { require: true }));
  const paths = ["/open", "/guarded", "/me", "/maybe", "/admin", "/public", "/site/page"];
  assert.deepEqual(paths.map((path) => open[path]), [
    "open",
    "identity",
    "identity",
    "open",
    "roles",
    "public",
    "public",
  ]);
  assert.deepEqual(paths.map((path) => required[path]), [
    "identity",
    "identity",
    "identity",
    "identity",
    "roles",
    "public",
    "public",
  ]);
  assert.equal(required["/site/hidden"], "identity");
});

test("a public route with roles is refused at declaration", () => {
  assert.throws(() => route.get("/x", { public: true, roles: ["admin"] }, () => 1), {
    name: "TypeError",
    message: "Cannot declare GET /x: it is public, so its roles have no effect",
  });
});

test("failures are logged at debug with a reason, never with the token", () =>
  captureLogs(["fw"], async (records) => {
    const { verifier, sign } = await issuer();
    await using app = await probe((app) => app.useOAuth2(verifier));
    const token = await sign({ exp: 1 });
    await app.request("/open", bearer(token));
    await app.request("/open", bearer("no.token.this"));
    await app.request("/open");
    await app.request("/%0Aadmin"); // decoded, it would be two lines
    const failures = records.filter(({ category }) => category.join(".") === "fw.oauth2");
    assert.deepEqual(
      failures.map(({ level, properties: { path, code, reason } }) => [level, path, code, reason]),
      [
        ["debug", "/open", "InvalidClaim", "Cannot verify token: exp has passed"],
        ["debug", "/open", "Validation", "Cannot verify token: its Base64url is not canonical"],
        ["debug", "/open", undefined, NO_CREDENTIALS],
        ["debug", "/%0Aadmin", undefined, NO_CREDENTIALS],
      ],
    );
    const text = JSON.stringify(records.map(({ message, properties }) => [message, properties]));
    assert.ok(!text.includes(token) && !text.includes("no.token.this"));
  }));

test("cached tokens are not verified again, and their claims cannot be changed", async () => {
  const { verifier, sign } = await issuer();
  const seen: unknown[] = [];
  await using app = await probe((app) =>
    app.useOAuth2(verifier).useGlobalGuards((c) => seen.push(oauth2Identity(c)?.claims) > 0)
  );
  const token = await sign();
  await app.request("/open", bearer(token));
  await app.request("/open", bearer(token));
  assert.equal(seen[0], seen[1]);
  assert.ok(Object.isFrozen(seen[0]));
});

test("a limit by address applies before tokens are verified, one by caller afterwards", async () => {
  const { verifier, sign } = await issuer();
  let verified = 0;
  const counting = { verify: (token: string) => (verified++, verifier.verify(token)) };
  await using app = await probe((app) =>
    app
      .useOAuth2(counting)
      .useRateLimit({ max: 4 })
      .useRateLimit({
        name: "caller",
        max: 2,
        key: (c) => oauth2Identity(c)?.subject,
        afterAuthentication: true,
      })
  );
  const status = async (sub: string) =>
    (await app.request("/open", bearer(await sign({ sub })))).status;
  assert.deepEqual(
    [await status("tom"), await status("tom"), await status("tom"), await status("ann")],
    [200, 200, 429, 200],
  );
  assert.equal(verified, 4);
  assert.deepEqual([await status("ann"), verified], [429, 4]);
});

test("OAuth2Principal refuses before interceptors answer, and before the input is read", async () => {
  const { verifier, sign } = await issuer();
  const read: string[] = [];
  const body = v.pipeAsync(v.any(), v.checkAsync(() => (read.push("body"), Promise.resolve(true))));
  class CachingController extends controller() {
    answered = route.get("/answered", {
      args: { me: OAuth2Principal },
      interceptors: [() => ({ balance: 42 })],
    }, () => "never");
    posted = route.post("/posted", { args: { me: OAuth2Principal }, body }, () => "in");
  }
  await using app = await createTestApplication(module({ controllers: [CachingController] }), {
    setUp: (app) => app.useOAuth2(verifier),
  });
  assert.equal((await app.request("/answered")).status, 401);
  assert.equal((await app.request("/answered", bearer(await sign()))).status, 200);
  assert.equal((await app.request("/posted", { json: {} })).status, 401);
  assert.deepEqual(read, []);
});

test("a second oauth2Middleware replaces the decision of the first", async () => {
  const one = await issuer();
  const other = await issuer();
  await using app = await probe((app) =>
    app.plug({
      slot: "oauth2",
      install: (router) =>
        void router.use(
          "/guarded",
          oauth2Middleware(one.verifier),
          oauth2Middleware(other.verifier),
        ),
    })
  );
  const mine = bearer(await one.sign({ roles: ["admin"] }));
  assert.deepEqual(
    challenge(await app.request("/guarded", mine)),
    [401, 'Bearer error="invalid_token"'],
  );
  assert.equal((await app.request("/guarded", bearer(await other.sign()))).status, 200);
});

test("useRoles() accepts a missing claim; another value than a list of strings answers 500", () =>
  captureLogs(["fw"], async () => {
    const { verifier, sign } = await issuer();
    await using app = await probe((app) =>
      app.useOAuth2(verifier, { require: true }).useRoles(({ groups }) => groups as string[])
    );
    const status = async (path: string, claims: Record<string, unknown>) =>
      (await app.request(path, bearer(await sign(claims)))).status;
    assert.equal(await status("/open", {}), 200);
    assert.equal(await status("/admin", {}), 403);
    for (const groups of ["not-admin", 7, { admin: true }, ["admin", 7]]) {
      assert.equal(await status("/admin", { groups }), 500);
    }
  }));

test("apparent protection is reported by routes(), or refused at boot", async () => {
  const { verifier } = await issuer();
  class LaxGuard extends OAuth2Guard {
    override canActivate() {
      return true;
    }
  }
  class LaxController extends controller() {
    lax = route.get("/lax", { guards: [LaxGuard] }, () => "in");
  }
  class AdminController extends controller("", { roles: ["admin"] }) {
    secret = route.get("/secret", () => "in");
    about = route.get("/about", { public: true }, () => "in");
  }
  await using app = await createTestApplication(
    module({ controllers: [LaxController, AdminController] }),
    { setUp: (app) => app.useOAuth2(verifier, { require: true }) },
  );
  assert.equal((await app.request("/about")).status, 200);
  assert.equal((await app.request("/secret")).status, 401);
  await using lax = await createTestApplication(module({ controllers: [LaxController] }));
  assert.deepEqual(lax.routes().map(({ protection }) => protection), ["guarded"]);
  assert.throws(() => controller("none", { roles: [] }), {
    message: 'Cannot declare controller("none"): roles is empty: name at least one',
  });
});

test("a custom verifier that fails with another error than OAuth2Error answers 500", async () => {
  await captureLogs(["fw"], async () => {
    const broken = { verify: () => Promise.reject(new Error("broken")) };
    const refusing = {
      verify: () => Promise.reject(new OAuth2Error({ code: "Validation" }, "Cannot")),
    };
    await using one = await probe((app) => app.useOAuth2(broken));
    await using two = await probe((app) => app.useOAuth2(refusing));
    assert.equal((await one.request("/open", bearer("x"))).status, 200);
    assert.equal((await one.request("/me", bearer("x"))).status, 500);
    assert.equal((await two.request("/me", bearer("x"))).status, 401);
  });
});

test("require: true accepts the identity that a guard has set", async () => {
  const { verifier } = await issuer();
  function session(c: Context) {
    if (c.req.header("cookie") === "session=1") {
      callerIdentity.set(c, { subject: "ann" });
      callerRoles.set(c, ["admin"]);
    }
    return true;
  }
  class SessionController extends controller() {
    page = route.get("/page", { guards: [session] }, () => "in");
    admin = route.get("/admin", { guards: [session], roles: ["admin"] }, () => "in");
  }
  await using app = await createTestApplication(module({ controllers: [SessionController] }), {
    setUp: (app) => app.useOAuth2(verifier, { require: true }),
  });
  for (const path of ["/page", "/admin"]) {
    assert.equal((await app.request(path, { headers: { cookie: "session=1" } })).status, 200);
    assert.equal((await app.request(path)).status, 401);
  }
});

test("a second useOAuth2() replaces the verifier, and keeps the requirement", async () => {
  const one = await issuer();
  const other = await issuer();
  await using app = await probe((app) =>
    app.useOAuth2(one.verifier, { require: true }).useOAuth2(other.verifier)
  );
  assert.equal((await app.request("/open")).status, 401);
  assert.equal((await app.request("/open", bearer(await one.sign()))).status, 401);
  assert.equal((await app.request("/open", bearer(await other.sign()))).status, 200);
});

test("useOAuth2() refuses a verifier that accepts any issuer or audience without saying so", async () => {
  await using app = await FwFactory.create(ProbeModule);
  const keys = new JwksCache("https://id.example.com/jwks");
  const use = (config: ValidationConfig) => () => app.useOAuth2(new JwtVerifier(keys, config));
  const config = new ValidationConfig();
  const bounded = [
    config.withIssuer("i").withAudience("a"),
    config.withIssuer(() => "i").anyAudience(),
    config.anyIssuer().withAudience("a"),
    config.anyIssuer().anyAudience(),
    config.withIssuer("i").noAudience(),
  ];
  for (const each of bounded) use(each)();
  const anyIssuer = "its ValidationConfig names no issuer; call withIssuer() or anyIssuer()";
  const anyAudience =
    "its ValidationConfig names no audience; call withAudience() or anyAudience()";
  const unbounded: readonly [ValidationConfig, string][] = [
    [config.withAudience("a"), anyIssuer],
    [config.anyAudience(), anyIssuer],
    [config.withIssuer("i"), anyAudience],
    [config.anyIssuer(), anyAudience],
    [
      config.withTokenType("at+jwt"),
      "its ValidationConfig names no issuer and no audience; " +
      "call withIssuer() or anyIssuer(), and withAudience() or anyAudience()",
    ],
  ];
  for (const [each, why] of unbounded) {
    assert.throws(use(each), { name: "TypeError", message: `Cannot use verifier: ${why}` });
  }
});
