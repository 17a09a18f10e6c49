/** What the parameters `max_age` and `hd` of a login ask for, and the id_token must state. */
import assert from "node:assert/strict";
import { MemoryLoginStore } from "../../../src/oauth2/login/login_store.ts";
import { google } from "../../../src/oauth2/social/google.ts";
import { captureLogs } from "../../support/capture_logs.ts";
import { test, testOn } from "../../support/test.ts";
import { Browser } from "./browser.ts";
import { CALLBACK, exampleLogin, loginApplication, SECRET } from "./login_application.ts";
import { Provider } from "./provider.ts";
import { begun, site } from "./site.ts";

const seconds = () => Math.floor(Date.now() / 1000);

test("OAuth2Login.finish() refuses an id_token whose auth_time is missing or older than max_age", () =>
  captureLogs(["fw"], async () => {
    await using it = await site({ extra: { max_age: "600" } });
    const cases = [
      [seconds(), 200],
      [seconds() - 500, 200],
      [seconds() - 640, 200], // the clocks may differ by 60 s
      [seconds() - 670, 401],
      [seconds() - 86_400, 401],
      [undefined, 401],
      [null, 401],
      [String(seconds()), 401],
    ] as const;
    for (const [auth_time, status] of cases) {
      it.provider.claims = { auth_time };
      assert.equal((await it.browser.open(await begun(it))).status, status, `${auth_time}`);
    }
  }));

test("OAuth2Login.begin() takes max_age from its own extra too, and sends it", () =>
  captureLogs(["fw"], async () => {
    await using provider = await Provider.start();
    const login = exampleLogin({ fetch: provider.fetch, extra: { max_age: "86400" } });
    await using app = await loginApplication(login, { begin: { extra: { max_age: "0" } } });
    const browser = new Browser(app);
    const location = (await browser.open("/auth/login")).headers.get("location") ?? "";
    assert.equal(new URL(location).searchParams.get("max_age"), "0");
    provider.claims = { auth_time: seconds() - 100 };
    assert.equal((await browser.open(await begun({ provider, browser }))).status, 401);
    provider.claims = { auth_time: seconds() };
    assert.equal((await browser.open(await begun({ provider, browser }))).status, 200);
  }));

const GOOGLE = {
  issuer: "https://accounts.google.com",
  authorizeUrl: "https://accounts.google.com/o/oauth2/v2/auth",
  tokenUrl: "https://oauth2.googleapis.com/token",
  jwksUrl: "https://www.googleapis.com/oauth2/v3/certs",
} as const;

for (
  const [hd, cases] of [
    ["corp.com", [
      ["corp.com", 200],
      ["other.com", 403],
      ["corp.com.evil.example", 403],
      [undefined, 403],
      [["corp.com"], 403],
    ]],
    ["Corp.com", [["corp.com", 200], ["other.com", 403]]],
    ["*", [["any.com", 200], [undefined, 403], ["", 403]]],
  ] as const
) {
  test(`google() logs only users of the hd ${hd} in, whatever the browser makes of the URL`, () =>
    captureLogs(["fw"], async () => {
      await using provider = await Provider.start(GOOGLE);
      const { fetch } = provider;
      const social = google({
        clientId: "shop",
        clientSecret: SECRET,
        redirectUri: CALLBACK,
        fetch,
      });
      const login = social.login({ extra: { hd } });
      await using app = await loginApplication(login);
      const browser = new Browser(app);
      for (const [claim, status] of cases) {
        provider.claims = { hd: claim };
        const { status: received } = await browser.open(await begun({ provider, browser }));
        assert.equal(received, status, `${claim}`);
      }
    }));
}

testOn(["deno"], "the result does not depend on the runtime")(
  "OAuth2Login refuses a max_age and an hd that cannot be checked",
  async () => {
    const fetch = () => Promise.reject(new Error("a request was sent"));
    const noAge = "max_age is not a whole number of seconds";
    const cases: readonly (readonly [Record<string, string>, string])[] = [
      [{ max_age: "" }, noAge],
      [{ max_age: "-1" }, noAge],
      [{ max_age: "1.5" }, noAge],
      [{ max_age: "1h" }, noAge],
      [{ hd: "" }, "hd is empty"],
    ];
    for (const [extra, why] of cases) {
      const expected = { name: "TypeError", message: `Cannot log users in: ${why}` };
      assert.throws(() => exampleLogin({ fetch, extra }), expected);
    }
    for (const name of ["max_age", "hd"]) {
      assert.throws(() => exampleLogin({ fetch, extra: { [name]: "5" }, scopes: ["email"] }), {
        name: "TypeError",
        message: `Cannot log users in: ${name} needs the scope openid, whose id_token states it`,
      });
    }
    await captureLogs(["fw"], async () => {
      const store = new MemoryLoginStore();
      const begin = { extra: { max_age: "soon" } };
      await using app = await loginApplication(exampleLogin({ fetch, store }), { begin });
      assert.equal((await new Browser(app).open("/auth/login")).status, 500);
      assert.equal(store.size, 0);
    });
  },
);
