import assert from "node:assert/strict";
import { generatePkce, type PkceVerifier } from "../../../src/oauth2/client/pkce.ts";
import { test } from "../../support/test.ts";
import { clientOf, optionsOf, TOKENS, tokenServer } from "./token_server.ts";

test("OAuth2Client.exchangeCode() refuses arguments of the wrong type with a TypeError, and sends nothing", async () => {
  await using server = await tokenServer(() => ({ body: TOKENS }));
  const client = clientOf(server.url);
  for (const code of ["", undefined, null, 7, ["c"]]) {
    const { verifier } = await generatePkce();
    await assert.rejects(client.exchangeCode(code as string, verifier), TypeError);
    assert.throws(() => verifier.export(), { code: "Validation" });
  }
  for (const verifier of [undefined, "x".repeat(43), await generatePkce()]) {
    await assert.rejects(
      client.exchangeCode("the-code", verifier as unknown as PkceVerifier),
      TypeError,
    );
  }
  assert.deepEqual(server.received, []);
});

test("OAuth2Client.exchangeCode() sends no redirect_uri if none is configured", async () => {
  await using server = await tokenServer(() => ({ body: TOKENS }));
  const client = clientOf(server.url, { redirectUri: undefined, authMethod: "none" });
  const { verifier } = await generatePkce();
  const code_verifier = verifier.export();
  await client.exchangeCode("the-code", verifier);
  assert.deepEqual(Object.fromEntries(server.received[0]!.form), {
    grant_type: "authorization_code",
    client_id: "web",
    code: "the-code",
    code_verifier,
  });
});

test("OAuth2Client.clientCredentials() refuses scopes that are not an array with a TypeError", async () => {
  for (const scopes of ["a b", [1], {}]) {
    await assert.rejects(
      clientOf("http://127.0.0.1:9").clientCredentials(scopes as string[]),
      TypeError,
    );
  }
});

test("OAuth2Client never mixes up two servers that it is used with at once", async () => {
  const servers = await Promise.all(["a", "b"].map((name) =>
    tokenServer(({ form }) => ({
      body: { ...TOKENS, access_token: `${name}-${form.get("refresh_token")}` },
    }))
  ));
  try {
    const clients = servers.map(({ url }) => clientOf(url));
    const sets = await Promise.all(
      Array.from({ length: 50 }, (_, i) => clients[i % 2]!.refresh(`rt-${i}`)),
    );
    assert.deepEqual(
      sets.map(({ accessToken }) => accessToken),
      Array.from({ length: 50 }, (_, i) => `${"ab"[i % 2]}-rt-${i}`),
    );
  } finally {
    for (const server of servers) await server[Symbol.asyncDispose]();
  }
});

test("OAuth2Client.options are those of the constructor after with…()", () => {
  const options = optionsOf("https://id.example");
  const client = clientOf("https://id.example").withRevokeUrl("https://id.example/other");
  assert.deepEqual({ ...client.options }, { ...options });
});
