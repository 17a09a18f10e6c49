import assert from "node:assert/strict";
import { Hono } from "hono";
import { BrowserCookie } from "../../../src/oauth2/login/browser.ts";
import { test } from "../../support/test.ts";

interface Seen {
  readonly setCookie: string;
  readonly key: string;
  readonly keys: readonly string[];
}

/** Sets a cookie in the answer to a request with some cookies. */
async function set(
  cookie: string,
  { isSecure = true, isCrossSite = false, ttlMs = 600_000, state = "a" } = {},
): Promise<Seen> {
  const browserCookie = new BrowserCookie({ isSecure, ttlMs });
  const app = new Hono().get("/", async (c) =>
    c.json({
      key: await browserCookie.set(c, { state, isCrossSite }),
      keys: await browserCookie.keys(c, state),
    }));
  const response = await app.request("/", { headers: { cookie } });
  return { ...await response.json(), setCookie: response.headers.get("set-cookie") ?? "" };
}

const VALUE = "abcdefghijklmnopqrstu_";

test("BrowserCookie.set() sets cookies that no script and no other site can read or set", async () => {
  const cases = [
    [{}, "__Host-fw-login; Max-Age=600; Path=/; HttpOnly; Secure; SameSite=Lax"],
    [
      { isCrossSite: true },
      "__Host-fw-login-post; Max-Age=600; Path=/; HttpOnly; Secure; SameSite=None",
    ],
    [{ isSecure: false }, "fw-login; Max-Age=600; Path=/; HttpOnly; SameSite=Lax"],
    [
      { isSecure: false, isCrossSite: true },
      "fw-login-post; Max-Age=600; Path=/; HttpOnly; Secure; SameSite=None",
    ],
    [{ ttlMs: 1 }, "__Host-fw-login; Max-Age=1; Path=/; HttpOnly; Secure; SameSite=Lax"],
  ] as const;
  for (const [options, expected] of cases) {
    const { setCookie } = await set("", options);
    assert.equal(setCookie.replace(/=[\w-]{22};/, ";"), expected);
  }
});

test("BrowserCookie.set() sets 128 other bits for each browser", async () => {
  const seen = await Promise.all(Array.from({ length: 100 }, () => set("")));
  assert.equal(new Set(seen.map(({ setCookie }) => setCookie)).size, 100);
  assert.equal(new Set(seen.map(({ key }) => key)).size, 100);
});

test("BrowserCookie.set() keeps the cookie that a browser has", async () => {
  const { setCookie, key, keys } = await set(`a=b; __Host-fw-login=${VALUE}`);
  assert(setCookie.startsWith(`__Host-fw-login=${VALUE};`));
  assert.deepEqual(keys, [key]);
  assert.match(key, /^[\w-]{43}$/);
});

test("BrowserCookie.set() replaces other values", async () => {
  const cookies = [
    "__Host-fw-login=",
    "__Host-fw-login",
    `__Host-fw-login=${VALUE}x`,
    `__Host-fw-login=${VALUE.slice(1)}`,
    `__Host-fw-login="${VALUE} "`,
    `__Host-fw-login=%00${VALUE.slice(1)}`,
    `__Host-fw-login=${VALUE.slice(1)}%0a`,
    `__Host-fw-login=${"é".repeat(11)}`,
    `__Host-fw-login=${"x".repeat(4000)}`,
    "__Host-fw-login=%",
    "__Host-fw-login=__proto__",
    `fw-login=${VALUE}`, // another site of the domain can set it
    `__Secure-fw-login=${VALUE}`,
    `__host-fw-login=${VALUE}`,
    `__Host-fw-login-post=${VALUE}`, // of the other reach
  ];
  for (const cookie of cookies) {
    const { setCookie, key, keys } = await set(cookie);
    assert.match(setCookie, /^__Host-fw-login=[\w-]{22};/);
    assert(!setCookie.includes(VALUE), cookie);
    assert(!keys.includes(key), cookie);
  }
});

test("BrowserCookie.keys() returns one for the cookie of each reach and the state", async () => {
  const other = VALUE.toUpperCase();
  const cookies = `__Host-fw-login=${VALUE}; __Host-fw-login-post=${other}`;
  const lax = await set(cookies);
  const cross = await set(cookies, { isCrossSite: true });
  assert.deepEqual(lax.keys, [lax.key, cross.key]);
  const ofAnother = await set(cookies, { state: "b" });
  assert.equal(new Set([...lax.keys, ...ofAnother.keys]).size, 4);
});
