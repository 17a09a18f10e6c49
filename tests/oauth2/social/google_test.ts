import assert from "node:assert/strict";
import { google } from "../../../src/oauth2/social/google.ts";
import { captureLogs } from "../../support/capture_logs.ts";
import { test } from "../../support/test.ts";
import { CALLBACK, SECRET } from "../login/login_application.ts";
import { begun } from "../login/site.ts";
import { authorizationOf, socialSite } from "./social_site.ts";

/** As Google's discovery document has them. */
const GOOGLE = {
  issuer: "https://accounts.google.com",
  authorizeUrl: "https://accounts.google.com/o/oauth2/v2/auth",
  tokenUrl: "https://oauth2.googleapis.com/token",
  jwksUrl: "https://www.googleapis.com/oauth2/v3/certs",
  userinfoUrl: "https://openidconnect.googleapis.com/v1/userinfo",
} as const;

const ADA = { sub: "ada", name: "Ada Lovelace", email: "ada@example.com", email_verified: true };

test("google() logs users in, with the secret in the body", async () => {
  await using it = await socialSite(GOOGLE, google);
  it.provider.profile = ADA;
  it.provider.tokens = { scope: "openid https://www.googleapis.com/auth/userinfo.email" };
  assert.deepEqual(await authorizationOf(it), [GOOGLE.authorizeUrl, {
    response_type: "code",
    client_id: "shop",
    redirect_uri: CALLBACK,
    scope: "openid email profile",
    nonce: "fresh",
    code_challenge_method: "S256",
  }]);
  const response = await it.browser.open(`${await begun(it)}&scope=email&authuser=0&prompt=none`);
  assert.deepEqual([response.status, await response.json()], [200, {
    user: ADA,
    scopes: ["openid", "https://www.googleapis.com/auth/userinfo.email"],
  }]);
  assert.deepEqual(it.provider.asked, [
    `POST ${GOOGLE.tokenUrl}`,
    `GET ${GOOGLE.jwksUrl}`,
    `GET ${GOOGLE.userinfoUrl}`,
  ]);
  const [exchange, , userinfo] = it.provider.received;
  assert.equal(exchange?.headers.authorization, undefined);
  assert.equal(exchange?.form.get("client_id"), "shop");
  assert.equal(exchange?.form.get("client_secret"), SECRET);
  assert.match(userinfo?.headers.authorization ?? "", /^Bearer access-/);
});

test("google() accepts only the documented issuers of Google", async () => {
  const cases = [
    ["https://accounts.google.com", 200],
    ["accounts.google.com", 200],
    ["https://accounts.google.com/", 502],
    ["http://accounts.google.com", 502],
    ["https://accounts.google.com.evil.example", 502],
    ["https://evil.example", 502],
    [undefined, 502],
    [["accounts.google.com"], 502],
  ] as const;
  await captureLogs([], async () => {
    await using it = await socialSite(GOOGLE, google);
    for (const [iss, status] of cases) {
      it.provider.claims = { iss };
      assert.equal((await it.browser.open(await begun(it))).status, status, `${iss}`);
    }
  });
});

test("google() accepts only the iss of callbacks of Google", async () => {
  await using it = await socialSite(GOOGLE, google);
  const iss = encodeURIComponent(GOOGLE.issuer);
  assert.equal((await it.browser.open(`${await begun(it)}&iss=${iss}`)).status, 200);
  const before = it.provider.asked.length;
  for (const other of ["https://evil.example", "accounts.google.com", ""]) {
    const callback = `${await begun(it)}&iss=${encodeURIComponent(other)}`;
    assert.equal((await it.browser.open(callback)).status, 401, other);
  }
  assert.equal(it.provider.asked.length, before);
});
