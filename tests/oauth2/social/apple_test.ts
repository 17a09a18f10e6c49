import assert from "node:assert/strict";
import { captureLogs } from "../../support/capture_logs.ts";
import { test } from "../../support/test.ts";
import { Browser } from "../login/browser.ts";
import { CALLBACK } from "../login/login_application.ts";
import { begun } from "../login/site.ts";
import { APPLE, appleSite, logIn } from "./apple_site.ts";
import { authorizationOf } from "./social_site.ts";

const USER = '{"name":{"firstName":"Ada","lastName":"Lovelace"},"email":"evil@example.com"}';
const NOBODY = { sub: "ada", email_verified: false, is_private_email: false };

test("apple() logs users in by a form that Apple posts, with the name at the first login", async () => {
  await using it = await appleSite();
  it.provider.claims = { email: "ada@privaterelay.appleid.com", email_verified: true };
  assert.deepEqual(await authorizationOf(it), [APPLE.authorizeUrl, {
    response_mode: "form_post",
    response_type: "code",
    client_id: "shop",
    redirect_uri: CALLBACK,
    scope: "openid name email",
    nonce: "fresh",
    code_challenge_method: "S256",
  }]);
  const [cookie, ...others] = [...it.browser.cookies];
  assert.deepEqual(others, []);
  assert.equal(cookie?.[0], "__Host-fw-login-post");
  assert(cookie[1].attributes.has("samesite=none") && cookie[1].attributes.has("secure"));

  const user = {
    ...NOBODY,
    email: "ada@privaterelay.appleid.com", // from the id_token, not from the browser
    email_verified: true,
  };
  const first = await (await logIn(it, USER)).json();
  assert.deepEqual(first.user, { ...user, name: { firstName: "Ada", lastName: "Lovelace" } });
  assert.deepEqual((await (await logIn(it)).json()).user, user);
  assert.deepEqual(it.provider.asked, [
    `POST ${APPLE.tokenUrl}`,
    `GET ${APPLE.jwksUrl}`,
    `POST ${APPLE.tokenUrl}`,
  ]);
  assert.equal(it.provider.received[0]?.headers.authorization, undefined);
});

test("apple() reads booleans that are text", async () => {
  await using it = await appleSite();
  const cases = [
    [true, true],
    ["true", true],
    [false, false],
    ["false", false],
    [undefined, false],
    [null, false],
    ["True", false],
    ["", false],
    [1, false],
    [["true"], false],
    [{ toString: null }, false],
  ] as const;
  for (const [claim, expected] of cases) {
    it.provider.claims = { email_verified: claim, is_private_email: claim };
    const { user } = await (await logIn(it)).json();
    assert.deepEqual([user.email_verified, user.is_private_email], [expected, expected]);
  }
});

test("apple() reads only names from the user of the browser", async () => {
  await using it = await appleSite();
  const long = "x".repeat(201);
  const cases: readonly (readonly [user: string, name: unknown])[] = [
    ['{"name":{"firstName":"Ada"}}', { firstName: "Ada" }],
    ['{"name":{"lastName":"<script>"}}', { lastName: "<script>" }],
    ['{"name":{"firstName":"Ada","lastName":null}}', { firstName: "Ada" }],
    [`{"name":{"firstName":"${long}","lastName":"L"}}`, { lastName: "L" }],
    ['{"sub":"evil","email_verified":true,"name":{"sub":"evil","firstName":"A"}}', {
      firstName: "A",
    }],
    ['{"name":{"firstName":"","lastName":""}}', undefined],
    ['{"name":{"firstName":1,"lastName":["x"]}}', undefined],
    ['{"name":{"firstName":{"toString":"x"}}}', undefined],
    ['{"name":{"__proto__":{"firstName":"evil"}}}', undefined],
    ['{"__proto__":{"name":{"firstName":"evil"}}}', undefined],
    ['{"name":"Ada"}', undefined],
    ['{"name":null}', undefined],
    ['{"name":[]}', undefined],
    ['{"name":1}', undefined],
    ["{}", undefined],
    ["[]", undefined],
    ["null", undefined],
    ['"Ada"', undefined],
    ["1", undefined],
    ["", undefined],
    ["{", undefined],
    ["Ada", undefined],
    ["[".repeat(30_000), undefined],
    ['{"a":'.repeat(30_000), undefined],
    ["\0", undefined],
  ];
  for (const [user, name] of cases) {
    const response = await logIn(it, user);
    const expected = name ? { ...NOBODY, name } : NOBODY;
    assert.deepEqual((await response.json()).user, expected, user.slice(0, 80));
  }
});

test("apple() always requests the id_token, which identifies the user", async () => {
  for (const scopes of [[], ["email"], ["email", "openid"]]) {
    await using it = await appleSite({ scopes });
    assert.deepEqual(it.social.scopes, ["openid", ...scopes.filter((it) => it !== "openid")]);
    assert.deepEqual((await (await logIn(it)).json()).user, NOBODY);
  }
  await using it = await appleSite();
  const { social } = it;
  const tokens = { accessToken: "at", tokenType: "bearer" };
  await assert.rejects(social.userinfo({ tokens: tokens as never }), { code: "Validation" });
});

test("apple() refuses a login that the user refuses, or that another site forges", async () => {
  await using it = await appleSite();
  const state = (await begun(it)).split("state=")[1] ?? "";
  const cancelled = new URLSearchParams({ state, error: "user_cancelled_authorize" });
  assert.equal((await it.browser.post("/auth/callback", cancelled)).status, 401);
  const form = new URLSearchParams((await begun(it)).split("?")[1]);
  assert.equal((await new Browser(it.app).post("/auth/callback", form)).status, 401);
  assert.deepEqual(it.provider.asked, []);
});

test("apple() accepts only id_tokens of Apple", async () => {
  await captureLogs([], async () => {
    await using it = await appleSite();
    for (const iss of ["https://account.apple.com", "https://appleid.apple.com/", undefined]) {
      it.provider.claims = { iss };
      assert.equal((await logIn(it)).status, 502);
    }
    it.provider.claims = { nonce: "another" };
    assert.equal((await logIn(it)).status, 401);
  });
});
