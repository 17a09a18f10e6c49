/** Malformed and refused callbacks, and those of another provider: none is sent to the provider. */
import assert from "node:assert/strict";
import { controller, module, route } from "../../../mod.ts";
import { createTestApplication } from "../../../src/testing/mod.ts";
import { MemoryLoginStore, type PendingLogin } from "../../../src/oauth2/login/login_store.ts";
import { captureLogs } from "../../support/capture_logs.ts";
import { test } from "../../support/test.ts";
import { withEnv } from "../../support/with_env.ts";
import { Browser } from "./browser.ts";
import { exampleLogin } from "./login_application.ts";
import { EXAMPLE, Provider } from "./provider.ts";
import { begun, site } from "./site.ts";

const ISS = encodeURIComponent(EXAMPLE.issuer);
const UNSUPPORTED = "unsupported_response_type";

/** Changes to a callback with a code `C` and a state `S`, the status, and words of the answer. */
const CALLBACKS: readonly (readonly [query: string, status: number, detail: string])[] = [
  ["", 400, "no state"],
  ["state=", 400, "no state"],
  ["code=C", 400, "no state"],
  ["code=C&state=", 400, "no state"],
  ["code=C&State=S", 400, "no state"],
  ["code=C#state=S", 400, "no state"],
  ["error=access_denied", 400, "no state"],
  ["state=S", 400, "no code"],
  ["state=S&code=", 400, "no code"],
  ["state=S&error=", 400, "no code"],
  ["state=S&Code=C", 400, "no code"],
  ["state=S&code[]=C", 400, "no code"],
  ["state=S&state=S&code=C", 400, "state more than once"],
  ["state=S&state=other&code=C", 400, "state more than once"],
  ["state=&state=S&code=C", 400, "state more than once"],
  ["state=S&code=C&code=C", 400, "code more than once"],
  ["state=S&code=C&code=other", 400, "code more than once"],
  ["state=S&code=&code=C", 400, "code more than once"],
  ["state=S&error=a&error=b", 400, "error more than once"],
  [`state=S&code=C&iss=${ISS}&iss=${ISS}`, 400, "iss more than once"],
  [`state=S&code=C&iss=${ISS}&iss=https://evil.example`, 400, "iss more than once"],
  ["state=s&code=C", 401, "unknown"],
  ["state=Sx&code=C", 401, "unknown"],
  ["state=S%00&code=C", 401, "unknown"],
  ["state=%20S&code=C", 401, "unknown"],
  ["state=other&code=C", 401, "unknown"],
  ["state=__proto__&code=C", 401, "unknown"],
  [`state=${"x".repeat(6000)}&code=C`, 401, "unknown"],
  ["state=%ff%fe&code=C", 401, "unknown"],
  ["state=%&code=C", 401, "unknown"],
  ["state=other&error=access_denied", 401, "unknown"],
  // RFC 9207 §2.4: of another provider
  ["state=S&code=C&iss=https://evil.example", 401, "its iss does not match"],
  ["state=S&code=C&iss=", 401, "its iss does not match"],
  [`state=S&code=C&iss=${ISS}/`, 401, "its iss does not match"],
  [`state=S&code=C&iss=${ISS.toUpperCase()}`, 401, "its iss does not match"],
  ["state=S&error=access_denied&iss=https://evil.example", 401, "its iss does not match"],
  // RFC 6749 §4.1.2.1: refused
  ["state=S&error=access_denied", 401, "access_denied"],
  [`state=S&error=access_denied&iss=${ISS}`, 401, "access_denied"],
  ["state=S&error=access_denied&code=C", 401, "access_denied"],
  ["state=S&error=server_error&error_description=C", 502, "server_error"],
  [`state=S&error=${UNSUPPORTED}&error_uri=javascript:C`, 502, UNSUPPORTED],
  ["state=S&error=S", 401, "an unusual error"],
  ["state=S&error=%22%0d%0a", 401, "its error is malformed"],
  ["state=S&error=&code=C", 401, "its error is malformed"],
  ["state=S&error=%3Cscript%3E", 401, "an unusual error"],
  [
    "state=S&error=a&error_description=b&error_description=c",
    401,
    "error_description more than once",
  ],
];

test("OAuth2Login.finish() refuses callbacks, before anything is sent", () =>
  withEnv("FW_ENV", "development", () =>
    captureLogs([], async (records) => {
      await using it = await site();
      const outcomes: [string, number | string][] = [];
      for (const [query, , detail] of CALLBACKS) {
        const [code = "", state = ""] = new URLSearchParams((await begun(it)).split("?")[1])
          .values();
        const callback = query.replaceAll(/\bC\b/g, code).replaceAll(/=S/g, `=${state}`)
          .replaceAll("%20S", `%20${state}`);
        const response = await it.browser.open(`/auth/callback?${callback}`);
        const body = await response.text();
        const isAsSaid = body.includes(JSON.stringify(detail).slice(1, -1));
        outcomes.push([query, isAsSaid ? response.status : body]);
        assert.equal(response.headers.get("content-type"), "application/problem+json", query);
        assert.equal(response.headers.get("cache-control"), "no-store", query);
        assert.equal(response.headers.get("location"), null, query);
        for (const secret of [code, state]) assert(!body.includes(secret), body);
      }
      assert.deepEqual(outcomes, CALLBACKS.map(([query, status]) => [query, status]));
      assert.deepEqual(it.provider.asked, []);
      assert.deepEqual(
        records.filter(({ level, properties }) => level !== "debug" && properties.status !== 502),
        [],
      );
    })));

test("OAuth2Login.finish() keeps the login of a malformed callback, and removes that of a refused one", async () => {
  await using it = await site();
  const cases = [["&state=other", 200], ["&code=other", 200], ["&iss=https://evil.example", 401]];
  for (const [more, then] of cases as [string, number][]) {
    const callback = await begun(it);
    assert.notEqual((await it.browser.open(callback + more)).status, 200);
    assert.equal((await it.browser.open(callback)).status, then, more);
  }
});

test("OAuth2Login.finish() requires the iss of a provider that always sends it", async () => {
  await using it = await site({ client: { issParameterSupported: true } });
  assert.equal((await it.browser.open(await begun(it))).status, 401);
  assert.deepEqual(it.provider.asked, []);
  assert.equal((await it.browser.open(`${await begun(it)}&iss=${ISS}`)).status, 200);
});

/** Bodies of a POST to the callback, their types, and the status. */
const BODIES: readonly (readonly [type: string | undefined, body: BodyInit, status: number])[] = [
  ["application/x-www-form-urlencoded", "", 400],
  ["application/x-www-form-urlencoded", "state=other&code=C", 401],
  ["application/x-www-form-urlencoded", "state=%ff&code=%fe", 401],
  ["application/x-www-form-urlencoded", "state=a&state=b&code=C", 400],
  ["application/x-www-form-urlencoded; charset=UTF-8", "state=other&code=C", 401],
  ["application/json", '{"state":"other","code":"C"}', 400],
  ["text/plain", "state=other&code=C", 400],
  ["multipart/form-data", "state=other", 400],
  ["multipart/form-data; boundary=x", "--x\r\nstate", 400],
  [undefined, new Uint8Array([0xff, 0xfe]), 400],
  ["application/x-www-form-urlencoded", `state=${"x".repeat(1024 * 1024)}`, 413],
  ["application/x-www-form-urlencoded", "a&".repeat(500_000), 413],
  [
    "application/x-www-form-urlencoded",
    new ReadableStream({
      pull: (controller) => controller.enqueue(new TextEncoder().encode("&state=x")),
    }),
    413,
  ],
  [
    "application/x-www-form-urlencoded",
    new ReadableStream({ pull: (controller) => controller.error(new Error("gone")) }),
    400,
  ],
];

test("OAuth2Login.finish() answers 4xx to any body", async () => {
  await using it = await site({ extra: { response_mode: "form_post" } });
  const outcomes = [];
  for (const [type, body, expected] of BODIES) {
    const response = await it.app.request("https://shop.example/auth/callback", {
      method: "POST",
      body,
      headers: type === undefined ? {} : { "content-type": type },
      duplex: "half",
    } as RequestInit);
    assert.equal(response.headers.get("cache-control"), "no-store", type);
    outcomes.push(response.status);
    await response.body?.cancel();
    assert(expected < 500);
  }
  assert.deepEqual(outcomes, BODIES.map(([, , status]) => status));
  assert.deepEqual(it.provider.asked, []);
});

test("OAuth2Login.finish() reads a form that was read before", async () => {
  await using provider = await Provider.start();
  const login = exampleLogin({ fetch: provider.fetch, extra: { response_mode: "form_post" } });
  for (const read of ["text", "formData", "parseBody", "arrayBuffer"] as const) {
    class AuthController extends controller("auth") {
      login = route.get("/login", (_, c) => login.begin(c));
      callback = route.post("/callback", async (_, c) => {
        await c.req[read]();
        return { subject: (await login.finish(c)).claims?.sub };
      });
    }
    await using app = await createTestApplication(module({ controllers: [AuthController] }));
    const browser = new Browser(app);
    const callback = await begun({ provider, browser });
    const form = new URLSearchParams(callback.split("?")[1]);
    const response = await browser.post("/auth/callback", form);
    assert.deepEqual(await response.json(), { subject: "ada" }, read);
  }
});

/** A store that records what it is asked for. */
class AskedStore extends MemoryLoginStore {
  readonly asked: string[] = [];

  override take(key: string): Promise<PendingLogin | undefined> {
    this.asked.push(key);
    return super.take(key);
  }
}

test("OAuth2Login.finish() asks the store only for a state of the form of its own, and a browser with a cookie", async () => {
  const store = new AskedStore();
  await using it = await site({ store });
  const own = new URLSearchParams((await begun(it)).split("?")[1]).get("state") ?? "";
  const others = ["x", own.slice(1), `${own}A`, "x".repeat(16_000), `${own.slice(1)}.`, `${own}\n`];
  others.push(`${own.slice(1)}%`, ` ${own.slice(1)}`, `${own.slice(1)}\0`, "__proto__");
  for (const state of others) {
    const callback = `/auth/callback?code=a&state=${encodeURIComponent(state)}`;
    assert.equal((await it.browser.open(callback)).status, 401, state);
  }
  assert.deepEqual(store.asked, []);
  const unknown = `${own.slice(1)}A`;
  assert.equal((await it.browser.open(`/auth/callback?code=a&state=${unknown}`)).status, 401);
  assert.equal((await new Browser(it.app).open(`/auth/callback?code=a&state=${own}`)).status, 401);
  assert.equal(store.asked.length, 1);
});
