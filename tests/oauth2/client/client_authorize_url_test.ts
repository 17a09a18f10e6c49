import assert from "node:assert/strict";
import type { AuthorizeRequest } from "../../../src/oauth2/client/authorize_url.ts";
import { test } from "../../support/test.ts";
import { clientOf } from "./token_server.ts";

// RFC 7636, appendix B
const pkce = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
const client = clientOf("https://id.example");

test("OAuth2Client.authorizeUrl() requests a code with state and challenge", () => {
  const { url, state } = client.authorizeUrl({
    scopes: ["openid", "profile"],
    pkce,
    nonce: "n-0S6",
    extra: { prompt: "consent", response_mode: "form_post" },
  });
  const { origin, pathname, searchParams } = new URL(url);
  assert.equal(origin + pathname, "https://id.example/authorize");
  assert.deepEqual(Object.fromEntries(searchParams), {
    prompt: "consent",
    response_mode: "form_post",
    response_type: "code",
    client_id: "web",
    redirect_uri: "https://app.example/callback",
    scope: "openid profile",
    state,
    nonce: "n-0S6",
    code_challenge: pkce,
    code_challenge_method: "S256",
  });
});

test("OAuth2Client.authorizeUrl() generates a new state of 256 bits each time", () => {
  const states = Array.from({ length: 100 }, () => client.authorizeUrl({ pkce }).state);
  assert.equal(new Set(states).size, 100);
  for (const state of states) assert.equal(Buffer.from(state, "base64url").length, 32);
});

test("OAuth2Client.authorizeUrl() omits scope and nonce by default", () => {
  const { searchParams } = new URL(client.authorizeUrl({ pkce }).url);
  assert.deepEqual([searchParams.has("scope"), searchParams.has("nonce")], [false, false]);
});

test("OAuth2Client.authorizeUrl() keeps the query of the endpoint, except parameters of the client", () => {
  const authorizeUrl = "https://id.example/authorize?tenant=a&state=fixed&client_id=other";
  const { url, state } = clientOf("https://id.example", { authorizeUrl }).authorizeUrl({ pkce });
  const { searchParams } = new URL(url);
  assert.equal(searchParams.get("tenant"), "a");
  assert.deepEqual(searchParams.getAll("state"), [state]);
  assert.deepEqual(searchParams.getAll("client_id"), ["web"]);
});

test("OAuth2Client.authorizeUrl() refuses parameters that extra must not override", () => {
  const reserved = [
    "state",
    "client_id",
    "redirect_uri",
    "response_type",
    "code_challenge",
    "code_challenge_method",
    "nonce",
    "scope",
  ];
  for (const name of reserved) {
    assert.throws(() => client.authorizeUrl({ pkce, extra: { [name]: "x" } }), {
      code: "InvalidConfig",
      message: `Cannot make authorize URL: extra has ${name}, which the client sets itself`,
    });
  }
});

test("OAuth2Client.authorizeUrl() needs a redirectUri", () => {
  const without = clientOf("https://id.example", { redirectUri: undefined });
  assert.throws(() => without.authorizeUrl({ pkce }), {
    code: "InvalidConfig",
    message: "Cannot make authorize URL: redirectUri is missing",
  });
});

test("OAuth2Client.authorizeUrl() refuses arguments of the wrong type with a TypeError", () => {
  const wrong: readonly Record<string, unknown>[] = [
    { pkce: undefined },
    { pkce: { challenge: pkce } },
    { pkce: `${pkce}=` },
    { pkce, scopes: "openid" },
    { pkce, scopes: [1] },
    { pkce, nonce: "" },
    { pkce, extra: { prompt: undefined } },
  ];
  for (const request of wrong) {
    assert.throws(
      () => client.authorizeUrl(request as unknown as AuthorizeRequest),
      TypeError,
      JSON.stringify(request),
    );
  }
});
