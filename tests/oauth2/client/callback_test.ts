import assert from "node:assert/strict";
import { OAuth2Error } from "../../../src/oauth2/ground/errors.ts";
import { test } from "../../support/test.ts";
import { clientOf } from "./token_server.ts";

const STATE = "af0ifjsldkj-af0ifjsldkj-af0ifjsldkj";
const ISSUER = "https://id.example";
const ISS = `iss=${encodeURIComponent(ISSUER)}`;
const plain = clientOf("https://id.example");
const withIssuer = clientOf("https://id.example", { issuer: ISSUER });
const withIss = clientOf("https://id.example", { issuer: ISSUER, issParameterSupported: true });

test("OAuth2Client.verifyCallback() accepts a URL, a query and a form", () => {
  const query = `code=a%2Bb&state=${STATE}`;
  const callbacks = [
    `https://app.example/callback?${query}`,
    `https://app.example/callback?${query}#_=_`,
    `/callback?${query}`,
    `?${query}`,
    query,
    new URL(`https://app.example/callback?${query}`),
    new URLSearchParams(query),
  ];
  for (const callback of callbacks) assert.equal(plain.verifyCallback(callback, STATE), "a+b");
});

test("OAuth2Client.verifyCallback() accepts the iss of the issuer, and requires it only if it is always sent", () => {
  const query = `code=c&state=${STATE}`;
  assert.equal(withIssuer.verifyCallback(query, STATE), "c");
  assert.equal(withIssuer.verifyCallback(`${query}&${ISS}`, STATE), "c");
  assert.equal(withIss.verifyCallback(`${query}&${ISS}`, STATE), "c");
  assert.equal(plain.verifyCallback(`${query}&${ISS}`, STATE), "c");
});

test("OAuth2Client.verifyCallback() refuses an invalid callback with Validation", () => {
  const code = "code=c";
  const state = `state=${STATE}`;
  const cases: readonly [string, string][] = [
    ["", "it has no state"],
    [code, "it has no state"],
    [`${code}&state=`, "its state does not match"],
    [`${code}&state=${STATE}x`, "its state does not match"],
    [`${code}&state=${STATE.slice(1)}`, "its state does not match"],
    [`${code}&state=${STATE.toUpperCase()}`, "its state does not match"],
    [`${code}&state=${STATE}%00`, "its state does not match"],
    [`${code}&State=${STATE}`, "it has no state"],
    [`${code}&state[]=${STATE}`, "it has no state"],
    [`${code}&${state}&${state}`, "it has state more than once"],
    [`${code}&${state}&state=other`, "it has state more than once"],
    [`${code}&state=other&${state}`, "it has state more than once"],
    [`${code}&code=d&${state}&${ISS}`, "it has code more than once"],
    [`${code}&${code}&${state}&${ISS}`, "it has code more than once"],
    [`${code}&${state}&${ISS}&${ISS}`, "it has iss more than once"],
    [`error=a&error=b&${state}&${ISS}`, "it has error more than once"],
    [
      `error=a&error_description=b&error_description=c&${state}&${ISS}`,
      "it has error_description more than once",
    ],
    [`error=a&error_uri=b&error_uri=c&${state}&${ISS}`, "it has error_uri more than once"],
    [`${code}&${state}`, "it has no iss"],
    [`error=access_denied&${state}`, "it has no iss"],
    [`${code}&${state}&iss=`, "its iss does not match"],
    [`${code}&${state}&${ISS}/`, "its iss does not match"],
    [`${code}&${state}&iss=HTTPS://ID.EXAMPLE`, "its iss does not match"],
    [`${code}&${state}&iss=https://evil.example`, "its iss does not match"],
    [`error=access_denied&${state}&iss=https://evil.example`, "its iss does not match"],
    [`${state}&${ISS}`, "it has no code"],
    [`code=&${state}&${ISS}`, "it has no code"],
    [`Code=c&${state}&${ISS}`, "it has no code"],
    [`access_token=t&${state}&${ISS}`, "it has no code"],
    [`response=jwt&${state}&${ISS}`, "it has no code"],
    [`error=&${state}&${ISS}`, "its error is malformed"],
    [`error=a%22b&${state}&${ISS}`, "its error is malformed"],
    [`error=a%0Ab&${state}&${ISS}`, "its error is malformed"],
    [`error=${"e".repeat(101)}&${state}&${ISS}`, "its error is malformed"],
    [`error=access_denied&state=other&${ISS}`, "its state does not match"],
    [`https://app.example/callback`, "it has no state"],
    [`https://app.example/callback#${code}&${state}&${ISS}`, "it has no state"],
    [`https://app.example/callback#?${code}&${state}&${ISS}`, "it has no state"],
  ];
  for (const [callback, why] of cases) {
    assert.throws(() => withIss.verifyCallback(callback, STATE), {
      name: "OAuth2Error",
      code: "Validation",
      httpStatus: 401,
      message: `Cannot accept callback: ${why}`,
    }, callback);
  }
});

test("OAuth2Client.verifyCallback() refuses the iss of another server even if iss is optional (RFC 9207)", () => {
  const mixUp = `code=c&state=${STATE}&iss=https://evil.example`;
  assert.throws(() => withIssuer.verifyCallback(mixUp, STATE), { code: "Validation" });
});

test("OAuth2Client.verifyCallback() expects a state", () => {
  assert.throws(() => plain.verifyCallback("code=c&state=", ""), {
    code: "Validation",
    message: "Cannot accept callback: the expected state is empty",
  });
  const wrong: readonly (readonly [unknown, unknown])[] = [
    ["code=c&state=undefined", undefined],
    ["code=c&state=null", null],
    [undefined, STATE],
    [7, STATE],
  ];
  for (const [callback, state] of wrong) {
    assert.throws(() => plain.verifyCallback(callback as string, state as string), TypeError);
  }
});

test("OAuth2Client.verifyCallback() throws the error of the server as Grant, even with a code", () => {
  const query = `error=access_denied&error_description=No%20thanks&code=c&state=${STATE}` +
    `&error_uri=${encodeURIComponent("https://id.example/help")}&${ISS}`;
  assert.throws(() => withIss.verifyCallback(query, STATE), (error) => {
    assert.ok(error instanceof OAuth2Error && error.code === "Grant");
    assert.equal(error.message, "Cannot accept callback: the server refused with access_denied");
    assert.deepEqual(error.grant, {
      error: "access_denied",
      description: "No thanks",
      uri: "https://id.example/help",
    });
    return true;
  });
});

test("OAuth2Client.verifyCallback() removes secrets and URIs that are not web pages from an error", () => {
  const jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.sflKxwRJSM";
  const query = new URLSearchParams({
    error: "server_error",
    error_description: `token=abc ${jwt} state ${STATE} ${"x ".repeat(500)}`,
    error_uri: "javascript:alert(1)",
    state: STATE,
  });
  assert.throws(() => plain.verifyCallback(query, STATE), (error) => {
    assert.ok(error instanceof OAuth2Error && error.code === "Grant");
    const { description = "", ...rest } = error.grant;
    assert.deepEqual(rest, { error: "server_error" });
    assert.equal(description.length, 500);
    assert.ok(description.startsWith("token=<redacted> <redacted> state <redacted> x x"));
    return true;
  });
});

test("OAuth2Client.verifyCallback() refuses parameters that are too long", () => {
  for (const name of ["code", "iss", "error"]) {
    const callback = new URLSearchParams({ state: STATE, [name]: "-".repeat(4_097) });
    assert.throws(() => plain.verifyCallback(callback, STATE), {
      code: "Validation",
      message: `Cannot accept callback: its ${name} is too long`,
    });
  }
});
