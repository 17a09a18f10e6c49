import assert from "node:assert/strict";
import type { OAuth2Client } from "../../../src/oauth2/client/client.ts";
import type { ConfidentialClientOptions } from "../../../src/oauth2/client/client_options.ts";
import { test } from "../../support/test.ts";
import { JwksServer } from "../resource_server/jwks_server.ts";
import { outcomeOf } from "../resource_server/outcome.ts";
import { ISSUER, NOW, SigningKey } from "../resource_server/signing_key.ts";
import { clientOf } from "./token_server.ts";

const NONCE = "n-0S6_WzA2Mj-n-0S6_WzA2Mj";
const CLAIMS = { aud: "web", iat: NOW - 10, nonce: NONCE };

function verifying(
  jwks: JwksServer,
  options: Partial<ConfidentialClientOptions> = {},
): OAuth2Client {
  return clientOf("https://id.example.com", {
    issuer: ISSUER,
    jwksUrl: jwks.url,
    idTokenAlgorithms: ["ES256"],
    now: () => NOW * 1000,
    ...options,
  });
}

test("OAuth2Client.verifyIdToken() returns the claims of a valid id_token", async () => {
  const key = await SigningKey.generate("ES256");
  await using jwks = await JwksServer.start(key.jwk);
  const sound: readonly Record<string, unknown>[] = [
    {},
    { azp: "web" },
    { aud: ["web"] },
    { aud: ["web", "other"], azp: "web" },
    { sub: "s".repeat(255) },
  ];
  const client = verifying(jwks);
  for (const more of sound) {
    const claims = await client.verifyIdToken(await key.token({ ...CLAIMS, ...more }), {
      nonce: NONCE,
    });
    assert.deepEqual(claims, {
      iss: ISSUER,
      sub: "ada",
      exp: NOW + 600,
      ...CLAIMS,
      ...more,
    });
  }
  const without = await key.token({ ...CLAIMS, nonce: undefined });
  assert.equal((await client.verifyIdToken(without)).sub, "ada");
  assert.equal(jwks.requestCount, 1);
});

test("OAuth2Client.verifyIdToken() refuses invalid claims, and names them", async () => {
  const key = await SigningKey.generate("ES256");
  await using jwks = await JwksServer.start(key.jwk);
  const client = verifying(jwks);
  const cases: readonly (readonly [Record<string, unknown>, string])[] = [
    [{ iss: "https://evil.example" }, "iss"],
    [{ iss: `${ISSUER}/` }, "iss"],
    [{ iss: undefined }, "iss"],
    [{ aud: "other" }, "aud"],
    [{ aud: "WEB" }, "aud"],
    [{ aud: ["other"] }, "aud"],
    [{ aud: [] }, "aud"],
    [{ aud: ["web", 7], azp: "web" }, "aud"],
    [{ aud: undefined }, "aud"],
    [{ exp: NOW - 61 }, "exp"],
    [{ exp: undefined }, "exp"],
    [{ nbf: NOW + 61 }, "nbf"],
    [{ sub: undefined }, "sub"],
    [{ sub: "" }, "sub"],
    [{ sub: 7 }, "sub"],
    [{ sub: ["ada"] }, "sub"],
    [{ sub: "s".repeat(256) }, "sub"],
    [{ iat: undefined }, "iat"],
    [{ iat: null }, "iat"],
    [{ iat: String(NOW) }, "iat"],
    [{ aud: ["web", "other"] }, "azp"],
    [{ aud: ["web", "other"], azp: "other" }, "azp"],
    [{ azp: "other" }, "azp"],
    [{ azp: ["web"] }, "azp"],
    [{ azp: null }, "azp"],
    [{ azp: "" }, "azp"],
    [{ nonce: undefined }, "nonce"],
    [{ nonce: null }, "nonce"],
    [{ nonce: "" }, "nonce"],
    [{ nonce: [NONCE] }, "nonce"],
    [{ nonce: `${NONCE}x` }, "nonce"],
    [{ nonce: NONCE.slice(1) }, "nonce"],
    [{ nonce: NONCE.toLowerCase() }, "nonce"],
  ];
  for (const [wrong, claim] of cases) {
    const token = await key.token({ ...CLAIMS, ...wrong });
    const outcome = await outcomeOf(client.verifyIdToken(token, { nonce: NONCE }));
    assert.equal(outcome, `InvalidClaim ${claim}`, JSON.stringify(wrong));
  }
  const infinite = await key.forgeWith(
    {},
    JSON.stringify({ ...CLAIMS, iss: ISSUER, sub: "ada" })
      .replace(String(NOW - 10), "1e999").replace("}", `,"exp":${NOW + 60}}`),
  );
  assert.equal(
    await outcomeOf(client.verifyIdToken(infinite, { nonce: NONCE })),
    "InvalidClaim iat",
  );
});

test("OAuth2Client.verifyIdToken() refuses an unexpected nonce, and an empty expected nonce", async () => {
  const key = await SigningKey.generate("ES256");
  await using jwks = await JwksServer.start(key.jwk);
  const client = verifying(jwks);
  const token = await key.token(CLAIMS);
  const empty = await key.token({ ...CLAIMS, nonce: "" });
  const cases: readonly (readonly [string, { readonly nonce?: string }])[] = [
    [token, {}],
    [token, { nonce: "" }],
    [empty, { nonce: "" }],
    [empty, {}],
  ];
  for (const [idToken, expected] of cases) {
    const outcome = await outcomeOf(client.verifyIdToken(idToken, expected));
    assert.equal(outcome, "InvalidClaim nonce");
  }
  assert.equal(await outcomeOf(client.verifyIdToken(token)), "InvalidClaim nonce");
});

test("OAuth2Client.verifyIdToken() refuses other keys, algorithms and forms than the server's", async () => {
  const [key, other] = [await SigningKey.generate("ES256"), await SigningKey.generate("ES256")];
  const eddsa = await SigningKey.generate("EdDSA");
  await using jwks = await JwksServer.start(key.jwk, eddsa.jwk);
  const client = verifying(jwks);
  const token = await key.token(CLAIMS);
  const cases: readonly (readonly [string, string])[] = [
    [await other.token(CLAIMS), "UnknownKid"],
    [await other.token(CLAIMS, { kid: key.kid }), "InvalidSignature"],
    [await eddsa.token(CLAIMS), "Validation"],
    [`${token.split(".").slice(0, 2).join(".")}.`, "Validation"],
    ["not.a.jwt", "Validation"],
    ["x", "Validation"],
  ];
  for (const [forged, expected] of cases) {
    assert.equal(await outcomeOf(client.verifyIdToken(forged, { nonce: NONCE })), expected);
  }
  for (const none of ["", undefined, 7]) {
    await assert.rejects(client.verifyIdToken(none as string), TypeError);
  }
});

test("OAuth2Client.verifyIdToken() accepts only RS256 by default", async () => {
  const [rs256, es256] = [await SigningKey.generate("RS256"), await SigningKey.generate("ES256")];
  await using jwks = await JwksServer.start(rs256.jwk, es256.jwk);
  const client = verifying(jwks, { idTokenAlgorithms: undefined });
  const nonce = NONCE;
  assert.equal(
    await outcomeOf(client.verifyIdToken(await rs256.token(CLAIMS), { nonce })),
    "accepted",
  );
  assert.equal(
    await outcomeOf(client.verifyIdToken(await es256.token(CLAIMS), { nonce })),
    "Validation",
  );
});

test("OAuth2Client.verifyIdToken() needs issuer and jwksUrl, and shares keys with the client's copies", async () => {
  const key = await SigningKey.generate("ES256");
  await using jwks = await JwksServer.start(key.jwk);
  const token = await key.token(CLAIMS);
  for (const missing of [{ issuer: undefined }, { jwksUrl: undefined }]) {
    await assert.rejects(verifying(jwks, missing).verifyIdToken(token, { nonce: NONCE }), {
      code: "InvalidConfig",
      message: "Cannot verify id_token: issuer or jwksUrl is missing",
    });
  }
  const client = verifying(jwks);
  for (
    const copy of [client, client.withTimeout(1_000), client.withRevokeUrl("https://x.example")]
  ) {
    await copy.verifyIdToken(token, { nonce: NONCE });
  }
  assert.equal(jwks.requestCount, 1);
});

test("OAuth2Client.verifyIdToken() fails with JwksFetch without keys", async () => {
  const key = await SigningKey.generate("ES256");
  await using jwks = await JwksServer.start(key.jwk);
  jwks.reply = (response) => void response.writeHead(503).end();
  const token = await key.token(CLAIMS);
  assert.equal(
    await outcomeOf(verifying(jwks).verifyIdToken(token, { nonce: NONCE })),
    "JwksFetch",
  );
});
