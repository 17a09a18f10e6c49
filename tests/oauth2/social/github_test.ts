import assert from "node:assert/strict";
import { OAuth2Error } from "../../../src/oauth2/ground/errors.ts";
import { github } from "../../../src/oauth2/social/github.ts";
import { captureLogs } from "../../support/capture_logs.ts";
import { test } from "../../support/test.ts";
import { CALLBACK, SECRET } from "../login/login_application.ts";
import { begun } from "../login/site.ts";
import { authorizationOf, socialSite } from "./social_site.ts";

/** As GitHub's documentation has them. */
const GITHUB = {
  issuer: "https://github.com/login/oauth",
  authorizeUrl: "https://github.com/login/oauth/authorize",
  tokenUrl: "https://github.com/login/oauth/access_token",
  userinfoUrl: "https://api.github.com/user",
} as const;

const OCTOCAT = { id: 583231, login: "octocat", name: "The Octocat", email: null };

test("github() logs users in by the numeric id, and fetches no keys", async () => {
  await using it = await socialSite(GITHUB, github);
  it.provider.profile = OCTOCAT;
  it.provider.tokens = { access_token: "gho_16C7e42F292c6912E7710c838347Ae178B4a", scope: "" };
  assert.deepEqual(await authorizationOf(it), [GITHUB.authorizeUrl, {
    response_type: "code",
    client_id: "shop",
    redirect_uri: CALLBACK,
    scope: "read:user user:email",
    code_challenge_method: "S256",
  }]);
  const response = await it.browser.open(await begun(it));
  assert.deepEqual([response.status, await response.json()], [200, { user: OCTOCAT, scopes: [] }]);
  assert.deepEqual(it.provider.asked, [`POST ${GITHUB.tokenUrl}`, `GET ${GITHUB.userinfoUrl}`]);
  const [exchange, userinfo] = it.provider.received;
  assert.equal(exchange?.headers.accept, "application/json"); // else it answers a form
  assert.equal(exchange?.form.get("client_secret"), SECRET);
  assert.equal(userinfo?.headers["user-agent"], "fw"); // without, it answers 403
  assert.equal(userinfo?.headers.accept, "application/vnd.github+json");
});

test("github().grantedScopes() lists scopes that are separated by commas", async () => {
  await using it = await socialSite(GITHUB, github);
  it.provider.profile = OCTOCAT;
  const cases = [
    ["repo,gist", ["repo", "gist"]],
    ["read:user,user:email", ["read:user", "user:email"]],
    ["repo, gist", ["repo", "gist"]],
    ["repo", ["repo"]],
    ["", []],
    [undefined, ["read:user", "user:email"]], // as requested (RFC 6749 §5.1)
  ] as const;
  for (const [scope, scopes] of cases) {
    it.provider.tokens = { scope };
    const response = await it.browser.open(await begun(it));
    assert.deepEqual((await response.json()).scopes, scopes);
  }
});

test("github() treats an error with 200 as an error: 401 to one of the code, 502 to others", async () => {
  const cases = [["bad_verification_code", 401], ["incorrect_client_credentials", 502]] as const;
  for (const [error, status] of cases) {
    await captureLogs([], async (records) => {
      await using it = await socialSite(GITHUB, github);
      it.provider.answers[GITHUB.tokenUrl] = () => ({
        body: { error, error_uri: "https://docs.github.com/troubleshooting" },
      });
      assert.equal((await it.browser.open(await begun(it))).status, status);
      const errors = records.filter(({ level }) => level === "error")
        .map(({ properties: { error } }) =>
          error instanceof OAuth2Error && error.code === "Grant" && error.grant.error
        );
      assert.deepEqual(errors, status === 502 ? [error] : []);
    });
  }
});

test("github() accepts callbacks with its iss or none, and exchanges no code of another issuer", async () => {
  await using it = await socialSite(GITHUB, github);
  it.provider.profile = OCTOCAT;
  const iss = encodeURIComponent(GITHUB.issuer);
  for (const more of ["", `&iss=${iss}`]) {
    assert.equal((await it.browser.open((await begun(it)) + more)).status, 200);
  }
  const before = it.provider.asked.length;
  for (const other of ["https://github.com", "https://evil.example", `${GITHUB.issuer}/`, ""]) {
    const callback = `${await begun(it)}&iss=${encodeURIComponent(other)}`;
    assert.equal((await it.browser.open(callback)).status, 401, other);
  }
  assert.equal(it.provider.asked.length, before);
});

test("github().userinfo() refuses a user without a unique id", async () => {
  await using it = await socialSite(GITHUB, github);
  const bodies = [
    "{}",
    '{"login":"octocat"}',
    '{"id":"583231"}',
    '{"id":null}',
    '{"id":1.5}',
    '{"id":1e999}',
    '{"id":9007199254740993}', // rounded, it is another's
    '{"id":[1]}',
    '{"id":{}}',
    '{"id":true}',
  ];
  for (const body of bodies) {
    it.provider.answers[GITHUB.userinfoUrl] = () => ({ body });
    const response = await it.browser.open(await begun(it));
    const { detail } = await response.json();
    assert.deepEqual([response.status, detail], [
      401,
      "Cannot read userinfo of GitHub: it has no id",
    ], body);
  }
});

test("github().client() verifies no id_token", async () => {
  const options = { clientId: "shop", clientSecret: SECRET, redirectUri: CALLBACK };
  const verified = github(options).client().verifyIdToken("a.b.c");
  await assert.rejects(verified, { code: "InvalidConfig" });
  const login = () => github({ ...options, scopes: ["openid"] }).login();
  assert.throws(login, { code: "InvalidConfig" });
});
