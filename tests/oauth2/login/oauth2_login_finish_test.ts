import assert from "node:assert/strict";
import { Redis } from "ioredis";
import { MemoryLoginStore } from "../../../src/oauth2/login/login_store.ts";
import { RedisLoginStore } from "../../../src/oauth2/login/redis_login_store.ts";
import { REDIS_URL, SKIP_REDIS } from "../../middleware/redis.ts";
import { captureLogs } from "../../support/capture_logs.ts";
import { test } from "../../support/test.ts";
import { Browser } from "./browser.ts";
import { exampleLogin, loginApplication } from "./login_application.ts";
import { Provider } from "./provider.ts";
import { begun, site } from "./site.ts";

test("OAuth2Login.finish() returns the user and the return path", async () => {
  await using it = await site();
  const callback = await begun(it, "/auth/login?return_to=/basket%3Fa=b%23c");
  const response = await it.browser.open(`${callback}&session_state=x`);
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("cache-control"), "no-store");
  assert.deepEqual(await response.json(), {
    subject: "ada",
    returnTo: "/basket?a=b#c",
    parameters: { session_state: "x" },
  });
  assert.deepEqual(it.provider.asked, [
    "POST https://id.example.com/token",
    "GET https://id.example.com/jwks",
  ]);
});

test("OAuth2Login.finish() returns no claims without the scope openid", async () => {
  await using it = await site({ scopes: ["email"] });
  const response = await it.browser.open(await begun(it));
  assert.equal((await response.json()).subject, null);
  assert.deepEqual(it.provider.asked, ["POST https://id.example.com/token"]);
});

test("OAuth2Login.finish() accepts each state once", async () => {
  await using it = await site();
  const callback = await begun(it);
  const statuses = [];
  for (let i = 0; i < 3; i++) statuses.push((await it.browser.open(callback)).status);
  assert.deepEqual(statuses, [200, 401, 401]);
});

/** Counts the outcomes of concurrent callbacks. */
async function race(callbacks: readonly Promise<Response>[]): Promise<readonly number[]> {
  return (await Promise.all(callbacks)).map(({ status }) => status).sort();
}

test("OAuth2Login.finish() accepts one of two concurrent callbacks", async () => {
  await using it = await site();
  const callback = await begun(it);
  const statuses = await race(Array.from({ length: 5 }, () => it.browser.open(callback)));
  assert.deepEqual(statuses, [200, 401, 401, 401, 401]);
  assert.equal(it.provider.asked.filter((asked) => asked.startsWith("POST")).length, 1);
});

test(
  "OAuth2Login.finish() lets one of two callbacks win, of two processes over one Redis",
  async () => {
    const clients = [new Redis(REDIS_URL ?? ""), new Redis(REDIS_URL ?? "")];
    const prefix = `fw-test:${crypto.randomUUID()}`;
    await using provider = await Provider.start();
    try {
      const apps = await Promise.all(clients.map((client) => {
        const store = new RedisLoginStore(client, { prefix });
        return loginApplication(exampleLogin({ fetch: provider.fetch, store }));
      }));
      const browsers = apps.map((app) => new Browser(app));
      const [one, other] = browsers as [Browser, Browser];
      for (let i = 0; i < 10; i++) {
        const callback = await begun({ provider, browser: one });
        for (const [name, cookie] of one.cookies) other.cookies.set(name, cookie);
        const statuses = await race([one.open(callback), other.open(callback), one.open(callback)]);
        assert.deepEqual(statuses, [200, 401, 401]);
      }
      assert.deepEqual(await clients[0]?.keys(`${prefix}*`), []);
      await Promise.all(apps.map((app) => app.close()));
    } finally {
      await Promise.all(clients.map((client) => client.quit()));
    }
  },
  { skip: SKIP_REDIS },
);

test("OAuth2Login.finish() refuses a login that has taken ten minutes", async () => {
  let nowMs = 0;
  await using it = await site({ store: new MemoryLoginStore({ now: () => nowMs }) });
  const [inTime, late] = [await begun(it), await begun(it)];
  nowMs = 599_999;
  assert.equal((await it.browser.open(inTime)).status, 200);
  nowMs = 600_000;
  assert.equal((await it.browser.open(late)).status, 401);
});

test("OAuth2Login.finish() accepts the logins of two tabs of one browser, in any order", async () => {
  await using it = await site();
  const first = await begun(it, "/auth/login?return_to=/first");
  const second = await begun(it, "/auth/login?return_to=/second");
  assert.equal(it.browser.cookies.size, 1);
  for (const [callback, returnTo] of [[second, "/second"], [first, "/first"]] as const) {
    assert.equal((await (await it.browser.open(callback)).json()).returnTo, returnTo);
  }
});

test("OAuth2Login.finish() refuses another browser, and keeps the login for its own", async () => {
  await using it = await site();
  const victim = new Browser(it.app);
  await victim.open("/auth/login"); // it has a cookie, but another
  for (const browser of [victim, new Browser(it.app)]) {
    const callback = await begun(it);
    assert.equal((await browser.open(callback)).status, 401);
    assert.deepEqual(it.provider.asked, []);
    assert.equal((await it.browser.open(callback)).status, 200);
    it.provider.asked.length = 0;
  }
});

test("OAuth2Login.finish() accepts only the cookie of the login", async () => {
  await using it = await site();
  const old = it.browser.cookies;
  await begun(it);
  const [name = "", own] = [...old][0] ?? [];
  const { value = "" } = own ?? {};
  const state = (callback: string) =>
    new URLSearchParams(callback.split("?")[1]).get("state") ?? "";
  const cookies: readonly ((callback: string) => string)[] = [
    () => "",
    () => `${name}=`,
    () => `${name}`,
    () => `${name}=${value.slice(0, -1)}`,
    () => `${name}=${value}x`,
    () => `${name}=${[...value].reverse().join("")}`,
    () => `${name}=${value.toLowerCase()}a`.slice(0, name.length + 23),
    () => `fw-login=${value}`,
    () => `__Secure-fw-login=${value}`,
    () => `${name.toLowerCase()}=${value}`,
    (callback) => `${name}=${state(callback)}`,
    (callback) => `${name}=${state(callback).slice(0, 22)}`,
    (callback) => `state=${state(callback)}; ${name}=${"A".repeat(22)}`,
    () => `${name}=%00; ${name}=__proto__`,
    () => ";=;;",
  ];
  for (const cookieOf of cookies) {
    const callback = await begun(it);
    const cookie = cookieOf(callback);
    const response = await it.app.request(`https://shop.example${callback}`, {
      headers: { cookie },
    });
    assert.equal(response.status, 401, cookie);
  }
  assert.deepEqual(it.provider.asked, []);
  const response = await it.app.request(`https://shop.example${await begun(it)}`, {
    headers: { cookie: `a=b; ${name}=${value}` },
  });
  assert.equal(response.status, 200);
});

test("OAuth2Login.finish() refuses the login of another client with the same store", async () => {
  const store = new MemoryLoginStore();
  await using it = await site({ store });
  const others = [
    { clientId: "another" },
    { authorizeUrl: "https://evil.example/authorize" },
    { redirectUri: "https://shop.example/auth/other/callback" },
  ];
  for (const client of others) {
    const login = exampleLogin({ fetch: it.provider.fetch, store, client });
    await using other = await loginApplication(login);
    const browser = new Browser(other);
    for (const [name, cookie] of it.browser.cookies) browser.cookies.set(name, cookie);
    const callback = await begun({ provider: it.provider, browser });
    for (const [name, cookie] of browser.cookies) it.browser.cookies.set(name, cookie);
    assert.equal((await it.browser.open(callback)).status, 401, JSON.stringify(client));
  }
  assert.deepEqual(it.provider.asked, []);
  assert.equal(store.size, 0);
});

test("OAuth2Login.finish() refuses a HEAD with 405, and keeps the login for the GET", async () => {
  await using it = await site();
  const callback = await begun(it);
  const head = await it.browser.open(callback, { method: "HEAD" });
  assert.deepEqual([head.status, head.headers.get("allow")], [405, "GET"]);
  assert.deepEqual(it.provider.asked, []);
  assert.equal((await it.browser.open(callback)).status, 200);
});

test("OAuth2Login.finish() accepts a form that the site of the provider posts", async () => {
  await using it = await site({ extra: { response_mode: "form_post" } });
  const callback = await begun(it, "/auth/login?return_to=/a");
  const form = new URLSearchParams(callback.split("?")[1]);
  form.set("user", '{"name":{}}');
  const response = await it.browser.post("/auth/callback", form);
  assert.deepEqual([response.status, await response.json()], [200, {
    subject: "ada",
    returnTo: "/a",
    parameters: { user: '{"name":{}}' },
  }]);
  assert.equal((await it.browser.post("/auth/callback", form)).status, 401);
  assert.equal((await new Browser(it.app).post("/auth/callback", form)).status, 401);
});

test("OAuth2Login.finish() accepts a form and a query of one browser, in any order", async () => {
  await using provider = await Provider.start();
  const store = new MemoryLoginStore();
  const { fetch } = provider;
  const byQuery = exampleLogin({ fetch, store });
  const byForm = exampleLogin({ fetch, store, extra: { response_mode: "form_post" } });
  await using queryApp = await loginApplication(byQuery);
  await using formApp = await loginApplication(byForm);
  const [one, two] = [new Browser(queryApp), new Browser(formApp)];
  const share = () => {
    const all = [...one.cookies, ...two.cookies];
    for (const [name, cookie] of all) one.cookies.set(name, cookie);
    for (const [name, cookie] of all) two.cookies.set(name, cookie);
  };
  const form = (await begun({ provider, browser: two })).split("?")[1];
  share();
  const query = await begun({ provider, browser: one });
  share();
  assert.equal((await two.post("/auth/callback", new URLSearchParams(form))).status, 200);
  assert.equal((await one.open(query)).status, 200);
});

test("OAuth2Login.finish() refuses a form where the cookie did not cross sites", async () => {
  await using it = await site();
  const form = new URLSearchParams((await begun(it)).split("?")[1]);
  assert.equal((await it.browser.post("/auth/callback", form)).status, 401);
  assert.deepEqual(it.provider.asked, []);
});

test("OAuth2Login.finish() does not read the query of a form", async () => {
  await using it = await site({ extra: { response_mode: "form_post" } });
  const callback = await begun(it);
  const response = await it.browser.post(callback, new URLSearchParams());
  assert.equal(response.status, 400);
});

test("OAuth2Login.finish() logs at debug why a login is refused, and does not send the reason to the browser", () =>
  captureLogs(["fw"], async (records) => {
    await using it = await site();
    const callback = await begun(it);
    const stranger = await new Browser(it.app).open(callback);
    assert.equal((await it.browser.open(callback)).status, 200);
    const again = await it.browser.open(callback);
    const details = [(await stranger.json()).detail, (await again.json()).detail];
    assert.deepEqual([stranger.status, again.status, details[0]], [401, 401, details[1]]);
    const reasons = records.filter(({ rawMessage }) => rawMessage === "Login refused: {reason}")
      .map(({ properties }) => properties.reason);
    assert.deepEqual(reasons, [
      "another browser, or another host of this site, has begun it",
      "its state is unknown, used, expired or of another browser",
    ]);
  }));
