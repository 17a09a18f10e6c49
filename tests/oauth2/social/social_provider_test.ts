/** The common behaviour of public providers. */
import assert from "node:assert/strict";
import { inspect } from "node:util";
import { exportPKCS8, generateKeyPair } from "jose";
import { OAuth2Client } from "../../../src/oauth2/client/client.ts";
import { OAuth2Error } from "../../../src/oauth2/ground/errors.ts";
import { MemoryLoginStore } from "../../../src/oauth2/login/login_store.ts";
import {
  apple,
  discord,
  github,
  google,
  microsoft,
  type SocialOptions,
  type SocialProvider,
} from "../../../src/oauth2/social/mod.ts";
import { TokenSet } from "../../../src/oauth2/client/token_set.ts";
import { captureLogs } from "../../support/capture_logs.ts";
import { test } from "../../support/test.ts";
import { Browser } from "../login/browser.ts";
import { CALLBACK, loginApplication, SECRET } from "../login/login_application.ts";
import { EXAMPLE, Provider } from "../login/provider.ts";
import { begun } from "../login/site.ts";
import { socialSite } from "./social_site.ts";

const { privateKey } = await generateKeyPair("ES256", { extractable: true });
const P8 = await exportPKCS8(privateKey);

const OPTIONS: SocialOptions = { clientId: "shop", clientSecret: SECRET, redirectUri: CALLBACK };
const APPLE = { clientId: "shop", redirectUri: CALLBACK, teamId: "T", keyId: "K", privateKey: P8 };
const GOOGLE = {
  ...EXAMPLE,
  issuer: "https://accounts.google.com",
  tokenUrl: "https://oauth2.googleapis.com/token",
  jwksUrl: "https://www.googleapis.com/oauth2/v3/certs",
  userinfoUrl: "https://openidconnect.googleapis.com/v1/userinfo",
};

/** The options of each client, as in the documentation of the provider. */
const SERVERS: readonly (readonly [SocialProvider<object>, Readonly<Record<string, unknown>>])[] = [
  [google(OPTIONS), {
    issuer: "https://accounts.google.com",
    authorizeUrl: "https://accounts.google.com/o/oauth2/v2/auth",
    tokenUrl: "https://oauth2.googleapis.com/token",
    revokeUrl: "https://oauth2.googleapis.com/revoke",
    userinfoUrl: "https://openidconnect.googleapis.com/v1/userinfo",
    jwksUrl: "https://www.googleapis.com/oauth2/v3/certs",
    scopes: ["openid", "email", "profile"],
  }],
  [github(OPTIONS), {
    issuer: "https://github.com/login/oauth",
    authorizeUrl: "https://github.com/login/oauth/authorize",
    tokenUrl: "https://github.com/login/oauth/access_token",
    revokeUrl: undefined,
    userinfoUrl: "https://api.github.com/user",
    jwksUrl: undefined,
    scopes: ["read:user", "user:email"],
  }],
  [microsoft(OPTIONS), {
    issuer: undefined,
    authorizeUrl: "https://login.microsoftonline.com/common/oauth2/v2.0/authorize",
    tokenUrl: "https://login.microsoftonline.com/common/oauth2/v2.0/token",
    revokeUrl: undefined,
    userinfoUrl: "https://graph.microsoft.com/oidc/userinfo",
    jwksUrl: "https://login.microsoftonline.com/common/discovery/v2.0/keys",
    scopes: ["openid", "profile", "email"],
  }],
  [apple(APPLE), {
    issuer: "https://appleid.apple.com",
    authorizeUrl: "https://appleid.apple.com/auth/authorize",
    tokenUrl: "https://appleid.apple.com/auth/token",
    revokeUrl: "https://appleid.apple.com/auth/revoke",
    userinfoUrl: undefined,
    jwksUrl: "https://appleid.apple.com/auth/keys",
    scopes: ["openid", "name", "email"],
  }],
  [discord(OPTIONS), {
    issuer: undefined,
    authorizeUrl: "https://discord.com/oauth2/authorize",
    tokenUrl: "https://discord.com/api/oauth2/token",
    revokeUrl: "https://discord.com/api/oauth2/token/revoke",
    userinfoUrl: "https://discord.com/api/v10/users/@me",
    jwksUrl: undefined,
    scopes: ["identify", "email"],
  }],
];

test("SocialProvider.client() returns the client of the provider", () => {
  for (const [provider, { scopes, ...urls }] of SERVERS) {
    const client = provider.client();
    assert(client instanceof OAuth2Client && provider.client() === client);
    const { options } = client;
    const { issuer, authorizeUrl, tokenUrl, revokeUrl, userinfoUrl, jwksUrl } = options;
    assert.deepEqual(
      { issuer, authorizeUrl, tokenUrl, revokeUrl, userinfoUrl, jwksUrl },
      urls,
    );
    assert.deepEqual(
      [provider.scopes, options.clientId, options.redirectUri, options.authMethod],
      [scopes, "shop", CALLBACK, "client_secret_post"],
    );
    assert.deepEqual(options.idTokenAlgorithms, ["RS256"]);
  }
});

test("SocialProvider shows no secret", () => {
  const shownBy: ((value: unknown) => string | undefined)[] = [
    (value) => inspect(value, { depth: Infinity, showHidden: true }),
    String,
    JSON.stringify,
    (value) => JSON.stringify(Object.entries(value as object)),
  ];
  for (const [provider] of SERVERS) {
    for (const value of [provider, provider.login(), provider.client(), { ...provider }]) {
      const shown = shownBy.map((show) => show(value)).join("\n");
      assert(!shown.includes(SECRET) && !shown.includes(P8.slice(40, 60)), shown);
    }
  }
});

test("SocialProvider requests the configured scopes", async () => {
  const social = github({ ...OPTIONS, scopes: ["repo"] });
  assert.deepEqual(social.scopes, ["repo"]);
  await using app = await loginApplication(social.login({ extra: { allow_signup: "false" } }));
  const response = await new Browser(app).open("/auth/login");
  const { searchParams } = new URL(response.headers.get("location") ?? "");
  assert.equal(searchParams.get("scope"), "repo");
  assert.equal(searchParams.get("allow_signup"), "false");
});

test("SocialProvider refuses invalid options, and shows no secret", () => {
  const creators = [google, github, microsoft, discord] as const;
  for (const create of creators) {
    for (const wrong of [{ clientId: "" }, { clientSecret: "" }, { redirectUri: "http://a.b" }]) {
      assert.throws(() => create({ ...OPTIONS, ...wrong }), (error) => {
        assert(error instanceof OAuth2Error && error.code === "InvalidConfig");
        return !inspect(error).includes(SECRET);
      });
    }
  }
});

test("SocialProvider.login() finishes the login of another one with the same store", async () => {
  await using provider = await Provider.start(GOOGLE);
  const social = google({ ...OPTIONS, fetch: provider.fetch });
  const store = new MemoryLoginStore();
  const cases = [
    [social.login(), social.login(), 200],
    [social.login({ store }), social.login({ store }), 200],
    [social.login({ store }), social.login(), 401],
  ] as const;
  for (const [first, second, status] of cases) {
    await using one = await loginApplication(first);
    await using other = await loginApplication(second);
    const [before, after] = [new Browser(one), new Browser(other)];
    const callback = await begun({ provider, browser: before });
    for (const [name, cookie] of before.cookies) after.cookies.set(name, cookie);
    assert.equal((await after.open(callback)).status, status);
  }
});

test("SocialProvider.userinfo() refuses another user than that of the id_token", async () => {
  await using it = await socialSite(GOOGLE, google);
  for (const sub of ["eve", "Ada", "ada ", "ad", "adaa"]) {
    it.provider.profile = { sub, email: "ada@example.com" };
    const response = await it.browser.open(await begun(it));
    const { detail } = await response.json();
    assert.deepEqual([response.status, detail], [401, "Cannot verify token: sub does not match"]);
  }
});

test("SocialProvider.userinfo() refuses a profile without an identifier", async () => {
  await using it = await socialSite(GOOGLE, google);
  for (const profile of [{}, { sub: "" }, { sub: 1 }, { sub: null }, { sub: ["ada"] }]) {
    it.provider.profile = profile;
    const response = await it.browser.open(await begun(it));
    const { detail } = await response.json();
    assert.deepEqual([response.status, detail], [
      401,
      "Cannot read userinfo of Google: it has no sub",
    ]);
  }
});

test("SocialProvider.userinfo() reports a provider without userinfo", async () => {
  await captureLogs([], async () => {
    await using it = await socialSite(GOOGLE, google);
    const challenge = 'Bearer error="invalid_token"';
    const cases = [
      [{ status: 401, headers: { "www-authenticate": challenge } }, 401],
      [{ status: 401 }, 502],
      [{ status: 500, body: "<h1>Sorry</h1>" }, 502],
      [{ status: 200, body: "<h1>Hello</h1>" }, 502],
      [{ status: 200, body: [] }, 502],
      [{ status: 302, headers: { location: "https://evil.example" } }, 502],
    ] as const;
    for (const [reply, status] of cases) {
      it.provider.answers[GOOGLE.userinfoUrl] = () => reply;
      assert.equal((await it.browser.open(await begun(it))).status, status, inspect(reply));
    }
  });
});

test("SocialProvider.userinfo() accepts tokens without claims", async () => {
  await using provider = await Provider.start(GOOGLE);
  provider.profile = { sub: "eve" };
  const social = google({ ...OPTIONS, fetch: provider.fetch });
  const tokens = new TokenSet({ accessToken: "at", tokenType: "bearer", scope: "openid email" });
  assert.deepEqual({ ...await social.userinfo({ tokens }) }, { sub: "eve" });
  assert.deepEqual(social.grantedScopes({ tokens }), ["openid", "email"]);
});

test("SocialProvider refuses unknown options, and its login those it sets itself", () => {
  const unknown = { tenantId: "x" };
  const creations = [
    () => google({ ...OPTIONS, ...unknown }),
    () => github({ ...OPTIONS, ...unknown }),
    () => discord({ ...OPTIONS, ...unknown }),
    () => microsoft({ ...OPTIONS, ...unknown }),
    () => apple({ ...APPLE, ...unknown }),
  ];
  for (const create of creations) {
    assert.throws(create, {
      name: "OAuth2Error",
      code: "InvalidConfig",
      message: /^Cannot use \w+: tenantId is not an option$/,
    });
  }
  const scopes: object = { scopes: ["openid"] };
  assert.throws(() => google(OPTIONS).login(scopes), {
    name: "TypeError",
    message: "Cannot log users in: scopes is not an option",
  });
});
