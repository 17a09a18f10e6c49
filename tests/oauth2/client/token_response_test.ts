import assert from "node:assert/strict";
import { OAuth2Error } from "../../../src/oauth2/ground/errors.ts";
import { TokenSet } from "../../../src/oauth2/client/token_set.ts";
import { test } from "../../support/test.ts";
import { clientOf, type Reply, TOKENS, tokenServer } from "./token_server.ts";

const NOW = Date.UTC(2030, 0, 1);

/** The result of a refresh for an answer. */
async function outcomeOf(reply: Reply): Promise<TokenSet | OAuth2Error> {
  await using server = await tokenServer(() => reply);
  try {
    return await clientOf(server.url, { now: () => NOW }).refresh("rt-1");
  } catch (error) {
    assert.ok(error instanceof OAuth2Error, String(error));
    assert.equal(error.cause, undefined);
    return error;
  } finally {
    assert.equal(server.received.length, 1);
  }
}

async function failureOf(reply: Reply): Promise<OAuth2Error> {
  const outcome = await outcomeOf(reply);
  assert.ok(outcome instanceof OAuth2Error, `${JSON.stringify(reply)} is accepted`);
  return outcome;
}

test("OAuth2Client reads a whole token response", async () => {
  const body = {
    access_token: "at-1",
    token_type: "BEARER",
    expires_in: 3600,
    refresh_token: "rt-2",
    id_token: "id.tok.en",
    scope: "repo,gist",
    foo: { bar: [] },
  };
  const set = await outcomeOf({ body });
  assert.ok(set instanceof TokenSet);
  const { accessToken, tokenType, refreshToken, idToken, scope, expiresAt } = set;
  assert.deepEqual([accessToken, tokenType, refreshToken, idToken, scope, expiresAt], [
    "at-1",
    "bearer",
    "rt-2",
    "id.tok.en",
    "repo,gist",
    new Date(NOW + 3_600_000),
  ]);
});

test("OAuth2Client accepts expires_in as a number of seconds or its digits", async () => {
  const cases: readonly (readonly [unknown, number | undefined])[] = [
    [0, 0],
    [1.5, 1_500],
    [3600, 3_600_000],
    ["3600", 3_600_000],
    ["0", 0],
    ["007", 7_000],
    [null, undefined],
    [undefined, undefined],
  ];
  for (const [expires_in, lifetimeMs] of cases) {
    const set = await outcomeOf({ body: { ...TOKENS, expires_in } });
    assert.ok(set instanceof TokenSet, String(expires_in));
    const expected = lifetimeMs === undefined ? undefined : new Date(NOW + lifetimeMs);
    assert.deepEqual(set.expiresAt, expected, String(expires_in));
  }
});

test("OAuth2Client refuses any other expires_in with TokenEndpoint", async () => {
  const wrong = [
    ...[-1, 1e308, 9e15, true, false, [], [3600], {}, "3600abc", "abc", "", " 3600", "3600 "],
    ...["-1", "+1", "1e3", "0x10", "3600.0", "Infinity", "NaN", "9".repeat(400), "３６００"],
  ];
  for (const expires_in of wrong) {
    const error = await failureOf({ body: { ...TOKENS, expires_in } });
    assert.equal(error.code, "TokenEndpoint", JSON.stringify(expires_in));
    assert.equal(error.message, "Cannot refresh token: the answer has no valid tokens");
  }
  const body = `{"access_token":"at-1","token_type":"bearer","expires_in":1e999}`;
  assert.equal((await failureOf({ body })).code, "TokenEndpoint");
});

test("OAuth2Client refuses a response without valid tokens with TokenEndpoint and its status", async () => {
  const wrong: readonly (readonly [status: number, body: unknown])[] = [
    [200, ""],
    [200, "access_token=at-1&token_type=bearer"],
    [200, "<html>"],
    [200, '{"access_token":"at-1","token_type":"bearer"'],
    [200, '{"access_token":"at-1","token_type":"bearer"}}'],
    [200, "null"],
    [200, "[]"],
    [200, [TOKENS]],
    [200, '"a text"'],
    [200, "7"],
    [200, {}],
    [200, { token_type: "bearer" }],
    [200, { ...TOKENS, access_token: "" }],
    [200, { ...TOKENS, access_token: null }],
    [200, { ...TOKENS, access_token: 7 }],
    [200, { ...TOKENS, access_token: ["at-1"] }],
    [200, { ...TOKENS, access_token: { token: "at-1" } }],
    [200, { access_token: "at-1" }],
    [200, { ...TOKENS, token_type: "" }],
    [200, { ...TOKENS, token_type: null }],
    [200, { ...TOKENS, token_type: 7 }],
    [200, { ...TOKENS, token_type: "mac" }],
    [200, { ...TOKENS, token_type: "DPoP" }],
    [200, { ...TOKENS, token_type: "N_A" }],
    [200, { ...TOKENS, refresh_token: "" }],
    [200, { ...TOKENS, refresh_token: 7 }],
    [200, { ...TOKENS, refresh_token: {} }],
    [200, { ...TOKENS, scope: 7 }],
    [200, { ...TOKENS, scope: ["a"] }],
    [200, { ...TOKENS, id_token: "" }],
    [200, { ...TOKENS, id_token: 7 }],
    [200, { ...TOKENS, id_token: {} }],
    [200, { error: 7 }],
    [200, { error: {} }],
    [200, { error: "" }],
    [200, { error: 'a"b' }],
    [201, TOKENS],
    [202, TOKENS],
    [206, TOKENS],
    [204, ""],
    [400, TOKENS],
    [400, ""],
    [400, "invalid_grant"],
    [400, "error=invalid_grant"],
    [400, {}],
    [400, []],
    [400, { error: null }],
    [400, { error: { code: 400, message: "Bad" } }],
    [400, { error: "invalid\ngrant" }],
    [400, { error: "é" }],
    [400, { error: "x".repeat(101) }],
    [400, { Error: "invalid_grant" }],
    [404, "Not found"],
    [429, "Slow down"],
    [500, ""],
    [500, { error: "server_error" }],
    [500, TOKENS],
    [502, "<html>Bad gateway</html>"],
    [503, { error: "temporarily_unavailable" }],
    [599, { error: "invalid_grant" }],
  ];
  for (const [status, body] of wrong) {
    const error = await failureOf({ status, body });
    const what = `${status} ${JSON.stringify(body)}`;
    assert.ok(error.code === "TokenEndpoint", what);
    assert.equal(error.status, status);
    assert.equal(error.httpStatus, 502);
    const why = status === 200 ? "has no valid tokens" : `is ${status}`;
    assert.equal(error.message, `Cannot refresh token: the answer ${why}`);
    assert.doesNotMatch(error.body, /at-1/, what);
  }
});

test("OAuth2Client throws the error of the server as Grant, with any status below 500 and any type", async () => {
  const body = {
    error: "invalid_grant",
    error_description: "It has expired",
    error_uri: "https://id.example/errors#invalid_grant",
  };
  for (const status of [200, 201, 302, 400, 401, 403, 404, 418, 429, 499]) {
    for (const type of ["application/json", "text/html", "application/problem+json", ""]) {
      const error = await failureOf({ status, body, headers: { "content-type": type } });
      assert.ok(error.code === "Grant", `${status} ${type} ${error}`);
      assert.equal(error.message, "Cannot refresh token: the server refused with invalid_grant");
      assert.equal(error.httpStatus, 401);
      assert.deepEqual(error.grant, {
        error: "invalid_grant",
        description: "It has expired",
        uri: "https://id.example/errors#invalid_grant",
      });
    }
  }
});

test("OAuth2Client accepts the error codes of RFC 6749 §5.2 and others", async () => {
  const codes = [
    ...["invalid_request", "invalid_client", "invalid_grant", "unauthorized_client"],
    ...["unsupported_grant_type", "invalid_scope", "bad_verification_code", "use_dpop_nonce"],
  ];
  for (const code of codes) {
    const error = await failureOf({ status: 400, body: { error: code } });
    assert.deepEqual(error.code === "Grant" && error.grant, { error: code });
  }
});

test("OAuth2Client omits an invalid description and an invalid URI", async () => {
  const wrong = [
    { error_description: null, error_uri: null },
    { error_description: 7, error_uri: 7 },
    { error_description: ["a"], error_uri: "a page" },
    { error_uri: "javascript:alert(1)" },
    { error_uri: "data:text/html,x" },
    { error_uri: "/relative" },
  ];
  for (const more of wrong) {
    const error = await failureOf({ status: 400, body: { error: "invalid_grant", ...more } });
    assert.deepEqual(error.code === "Grant" && error.grant, { error: "invalid_grant" });
  }
});

test("OAuth2Client prefers an error in a 200 answer to its tokens, and ignores an error of null", async () => {
  const refused = await failureOf({ body: { ...TOKENS, error: "access_denied" } });
  assert.equal(refused.code, "Grant");
  const set = await outcomeOf({ body: { ...TOKENS, error: null } });
  assert.ok(set instanceof TokenSet);
});

test("OAuth2Client cuts the body of TokenEndpoint, and a description, to 500 characters", async () => {
  const unforeseen = await failureOf({ status: 500, body: "oh ".repeat(200_000) });
  assert.equal(unforeseen.code === "TokenEndpoint" && unforeseen.body.length, 500);
  const body = { error: "invalid_grant", error_description: "oh ".repeat(200_000) };
  const refused = await failureOf({ status: 400, body });
  assert.equal(refused.code === "Grant" && refused.grant.description?.length, 500);
});

test("OAuth2Client reads JSON with a byte order mark, and with __proto__ in it", async () => {
  for (
    const body of [
      `\ufeff${JSON.stringify(TOKENS)}`,
      `{"__proto__":{"error":"x"},"access_token":"at-1","token_type":"bearer"}`,
    ]
  ) {
    const set = await outcomeOf({ body });
    assert.ok(set instanceof TokenSet);
    assert.equal(set.accessToken, "at-1");
  }
});
