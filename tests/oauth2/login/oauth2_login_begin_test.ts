import assert from "node:assert/strict";
import { inspect } from "node:util";
import { base64url } from "jose";
import { OAuth2Error } from "../../../src/oauth2/ground/errors.ts";
import {
  MemoryLoginStore,
  type PendingLogin,
  type SaveLoginOptions,
} from "../../../src/oauth2/login/login_store.ts";
import { OAuth2Login } from "../../../src/oauth2/login/oauth2_login.ts";
import { captureLogs } from "../../support/capture_logs.ts";
import { test } from "../../support/test.ts";
import { clientOf } from "../client/token_server.ts";
import { Browser } from "./browser.ts";
import { CALLBACK, exampleLogin, loginApplication, SECRET } from "./login_application.ts";
import { EXAMPLE } from "./provider.ts";

/** Beginning a login sends nothing. */
const fetch = () => Promise.reject(new Error("a request was sent"));

/** A store that records its arguments. */
class OpenStore extends MemoryLoginStore {
  readonly saved: { key: string; login: PendingLogin; ttlMs: number }[] = [];

  override save(
    key: string,
    login: PendingLogin,
    options: SaveLoginOptions,
  ): Promise<void> {
    this.saved.push({ key, login, ...options });
    return super.save(key, login, options);
  }
}

function locationOf(response: Response): URL {
  return new URL(response.headers.get("location") ?? "");
}

test("OAuth2Login.begin() redirects to the provider and stores the data for the callback", async () => {
  const store = new OpenStore();
  await using app = await loginApplication(exampleLogin({ fetch, store }));
  const browser = new Browser(app);
  const response = await browser.open("/auth/login?return_to=/basket%3Fitem=1%23pay");
  assert.equal(response.status, 303);
  assert.equal(response.headers.get("cache-control"), "no-store");
  const { origin, pathname, searchParams } = locationOf(response);
  assert.equal(origin + pathname, EXAMPLE.authorizeUrl);
  const { state, nonce, code_challenge, ...rest } = Object.fromEntries(searchParams);
  assert.deepEqual(rest, {
    response_type: "code",
    client_id: "shop",
    redirect_uri: CALLBACK,
    scope: "openid email",
    code_challenge_method: "S256",
  });
  assert.match(state ?? "", /^[\w-]{43}$/);
  const [saved, ...others] = store.saved;
  assert.deepEqual(others, []);
  assert(saved);
  const { verifier, client, ...kept } = saved.login;
  const [cookie] = browser.cookies.values();
  const key = await challengeOf(`${state}.${cookie?.value}`);
  assert.deepEqual([saved.key, saved.ttlMs], [key, 600_000]);
  assert.deepEqual(kept, { nonce, returnTo: "/basket?item=1#pay" });
  assert.equal(await challengeOf(verifier), code_challenge);
  assert(!client.includes(SECRET));
  // the cookie only identifies the browser, and the store does not have it
  assert.match(cookie?.value ?? "", /^[\w-]{22}$/);
  assert(!JSON.stringify(store.saved).includes(cookie?.value ?? ""));
});

async function challengeOf(verifier: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  return base64url.encode(new Uint8Array(digest));
}

test("OAuth2Login.begin() generates state, nonce and proof for each login", async () => {
  await using app = await loginApplication(exampleLogin({ fetch }));
  const browser = new Browser(app);
  const locations: URL[] = [];
  for (let i = 0; i < 20; i++) locations.push(locationOf(await browser.open("/auth/login")));
  for (const name of ["state", "nonce", "code_challenge"]) {
    assert.equal(new Set(locations.map((url) => url.searchParams.get(name))).size, 20, name);
  }
});

test("OAuth2Login.begin() sends a nonce only with the scope openid", async () => {
  const cases = [[["openid"], true], [["email", "openid"], true], [["email"], false], [[], false]];
  for (const [scopes, hasNonce] of cases as [string[], boolean][]) {
    await using app = await loginApplication(exampleLogin({ fetch, scopes }));
    const { searchParams } = locationOf(await new Browser(app).open("/auth/login"));
    assert.equal(searchParams.has("nonce"), hasNonce, `${scopes}`);
    assert.equal(searchParams.get("scope"), scopes.length > 0 ? scopes.join(" ") : null);
  }
});

test("OAuth2Login.begin() sends further parameters, those of the login before those of all logins", async () => {
  const login = exampleLogin({ fetch, extra: { prompt: "login", ui_locales: "de" } });
  const begin = { extra: { prompt: "consent", login_hint: "ada" } };
  await using app = await loginApplication(login, { begin });
  const { searchParams } = locationOf(await new Browser(app).open("/auth/login"));
  const sent = ["prompt", "ui_locales", "login_hint"].map((name) => searchParams.get(name));
  assert.deepEqual(sent, ["consent", "de", "ada"]);
});

test("OAuth2Login.begin() refuses parameters of the client in extra", async () => {
  for (const name of ["state", "nonce", "redirect_uri", "client_id", "code_challenge", "scope"]) {
    const login = exampleLogin({ fetch });
    await using app = await loginApplication(login, { begin: { extra: { [name]: "evil" } } });
    assert.equal((await new Browser(app).open("/auth/login")).status, 500, name);
  }
});

test("OAuth2Login.begin() refuses a return path to another site, and stores nothing", async () => {
  const store = new OpenStore();
  await using app = await loginApplication(exampleLogin({ fetch, store }));
  const browser = new Browser(app);
  for (const path of ["//evil.example", "/\\evil.example", "/\t/evil", "https://evil", "a"]) {
    const response = await browser.open(`/auth/login?return_to=${encodeURIComponent(path)}`);
    assert.equal(response.status, 400, path);
    assert.equal(response.headers.get("cache-control"), "no-store");
    assert.equal(response.headers.get("location"), null);
    assert(!(await response.text()).includes("evil"));
  }
  assert.deepEqual(store.saved, []);
  assert.equal(browser.cookies.size, 0);
});

test("OAuth2Login.begin() sets the cookie that the callback requires", async () => {
  const formPost = { response_mode: "form_post" };
  const local = { redirectUri: "http://localhost:3000/auth/callback" };
  const cases = [
    [{}, {}, "__Host-fw-login", "samesite=lax"],
    [{ extra: formPost }, {}, "__Host-fw-login-post", "samesite=none"],
    [{}, { extra: formPost }, "__Host-fw-login-post", "samesite=none"],
    [{ extra: formPost }, { extra: { response_mode: "query" } }, "__Host-fw-login", "samesite=lax"],
    [{ client: local }, {}, "fw-login", "samesite=lax"],
    [{ client: local, extra: formPost }, {}, "fw-login-post", "samesite=none"],
  ] as const;
  for (const [options, begin, name, sameSite] of cases) {
    await using app = await loginApplication(exampleLogin({ fetch, ...options }), { begin });
    const browser = new Browser(app);
    await browser.open("/auth/login");
    assert.deepEqual([...browser.cookies.keys()], [name]);
    const { attributes } = browser.cookies.get(name) ?? { attributes: new Set() };
    assert(attributes.has(sameSite) && attributes.has("max-age=600"), `${[...attributes]}`);
    assert.equal(
      attributes.has("secure"),
      name.startsWith("__Host-") || sameSite !== "samesite=lax",
    );
  }
});

test("OAuth2Login refuses a client that cannot log users in", () => {
  const url = "https://id.example.com";
  const cases = [
    [{ redirectUri: undefined }, [], "no redirectUri"],
    [{}, ["openid"], "no issuer or no jwksUrl"],
    [{ issuer: url }, ["openid"], "no issuer or no jwksUrl"],
    [{ jwksUrl: url }, ["openid"], "no issuer or no jwksUrl"],
  ] as const;
  for (const [options, scopes, why] of cases) {
    const create = () => new OAuth2Login(clientOf(url, options), { scopes });
    assert.throws(
      create,
      (error) =>
        error instanceof OAuth2Error && error.code === "InvalidConfig" &&
        error.message.includes(why),
    );
  }
  new OAuth2Login(clientOf(url, { issuer: url, jwksUrl: url }), { scopes: ["openid"] });
  new OAuth2Login(clientOf(url), { scopes: ["email"] });
});

test("OAuth2Login refuses an invalid time limit", () => {
  for (const ttlMs of [0, -1, 0.5, NaN, Infinity, 86_400_001]) {
    assert.throws(() => exampleLogin({ fetch, ttlMs }), RangeError, `${ttlMs}`);
  }
  for (const ttlMs of [1, 86_400_000]) exampleLogin({ fetch, ttlMs });
});

test("OAuth2Login refuses scopes and options that it would take for others", () => {
  const url = "https://id.example.com";
  const create = (options: object) => new OAuth2Login(clientOf(url), options);
  for (const scopes of [["openid email"], ["email", ""], ['a"b'], "openid", [1]]) {
    assert.throws(() => create({ scopes }), TypeError, JSON.stringify(scopes));
  }
  assert.throws(() => create({ ttl: 1 }), {
    name: "TypeError",
    message: "Cannot log users in: ttl is not an option",
  });
});

test("OAuth2Login.begin() refuses unknown options, such as a parameter that is not in extra", async () => {
  const begin: object = { prompt: "login" };
  const store = new OpenStore();
  await captureLogs(["fw"], async (records) => {
    await using app = await loginApplication(exampleLogin({ fetch, store }), { begin });
    assert.equal((await new Browser(app).open("/auth/login")).status, 500);
    assert.match(inspect(records), /Cannot begin login: prompt is not an option/);
  });
  assert.deepEqual(store.saved, []);
});

test("OAuth2Login refuses a store without the methods of one, such as a Redis client", () => {
  const client = { call: () => Promise.resolve(null) };
  for (const store of [client, { save: () => {} }, "redis", null] as never[]) {
    assert.throws(() => exampleLogin({ fetch, store }), {
      name: "TypeError",
      message: "Cannot log users in: store has no methods save and take; wrap a Redis client in " +
        "a RedisLoginStore",
    });
  }
});
