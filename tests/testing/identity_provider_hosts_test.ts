import assert from "node:assert/strict";
import { request } from "node:http";
import { DevelopmentIdentityProvider } from "../../src/testing/mod.ts";
import { captureLogs } from "../support/capture_logs.ts";
import { test } from "../support/test.ts";

function statusFor(issuer: string, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const headers = { host };
    request(`${issuer}/jwks`, { headers, agent: false }, (response) => {
      response.resume().on("end", () => resolve(response.statusCode));
    }).on("error", reject).end();
  });
}

test("DevelopmentIdentityProvider answers requests to addresses and localhost only", () =>
  captureLogs(["fw"], async () => {
    await using idp = await DevelopmentIdentityProvider.start();
    const { port, host } = new URL(idp.issuer);
    assert.equal(await statusFor(idp.issuer, host), 200);
    assert.equal(await statusFor(idp.issuer, `localhost:${port}`), 200);
    assert.equal(await statusFor(idp.issuer, `[::1]:${port}`), 200);
    assert.equal(await statusFor(idp.issuer, `evil.example:${port}`), 421);
    assert.equal(await statusFor(idp.issuer, `127.0.0.1.evil.example:${port}`), 421);
  }));

test("DevelopmentIdentityProvider grants known scopes only", () =>
  captureLogs(["fw"], async () => {
    const redirectUri = "http://127.0.0.1:1/callback";
    await using idp = await DevelopmentIdentityProvider.start({
      clients: [{ clientId: "web", redirectUris: [redirectUri] }],
      scopes: ["orders:read"],
    });
    const verifier = "v".repeat(43);
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
    const url = new URL(`${idp.issuer}/authorize`);
    url.search = new URLSearchParams({
      response_type: "code",
      client_id: "web",
      redirect_uri: redirectUri,
      scope: "openid admin orders:read",
      code_challenge: btoa(String.fromCharCode(...new Uint8Array(digest)))
        .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", ""),
      code_challenge_method: "S256",
    }).toString();
    const code = new URL(idp.signIn(url.href).url).searchParams.get("code") ?? "";
    const response = await fetch(`${idp.issuer}/token`, {
      method: "POST",
      body: new URLSearchParams({
        grant_type: "authorization_code",
        client_id: "web",
        redirect_uri: redirectUri,
        code,
        code_verifier: verifier,
      }),
    });
    assert.equal((await response.json()).scope, "openid orders:read");
  }));
