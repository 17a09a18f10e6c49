import assert from "node:assert/strict";
import { test } from "../../support/test.ts";
import { JwksServer } from "./jwks_server.ts";
import { assertOutcomes, type Case } from "./outcome.ts";
import { accepting, ALGORITHMS, verifierOf } from "./resource_server.ts";
import { CLAIMS, encode, SigningKey } from "./signing_key.ts";

const key = await SigningKey.generate("ES256");
const rsa = await SigningKey.generate("RS256");

test("JwtVerifier.verify() refuses HS* made with the public key as the secret, before any key lookup", async () => {
  await using server = await JwksServer.start(key.jwk, rsa.jwk);
  const cases: Case[] = [];
  for (const { kid, jwk } of [key, rsa]) {
    for (const [name, secret] of await publicSecrets(jwk)) {
      for (const bits of [256, 384, 512]) {
        for (const alg of [`HS${bits}`, `hs${bits}`, `HS${bits} `, `Hs${bits}`]) {
          const token = hmacToken({ alg, kid }, secret, `SHA-${bits}`);
          cases.push([`${alg} by ${jwk.kty} ${name}`, token, "Validation"]);
        }
      }
    }
  }
  assert.equal(cases.length, 2 * 4 * 12);
  await assertOutcomes(verifierOf(server, accepting(...ALGORITHMS)), cases);
  assert.equal(server.requestCount, 0);
});

test("JwtVerifier.verify() never checks an HMAC for any algorithm of a token", async () => {
  await using server = await JwksServer.start(key.jwk, rsa.jwk);
  const cases: Case[] = [];
  for (const { kid, jwk, alg } of [key, rsa]) {
    for (const [name, secret] of await publicSecrets(jwk)) {
      cases.push([`${alg} by ${name}`, hmacToken({ alg, kid }, secret), "InvalidSignature"]);
    }
  }
  await assertOutcomes(verifierOf(server, accepting("ES256", "RS256")), cases);
});

/** Returns the forms of a public key that a careless library could use as a shared secret. */
async function publicSecrets(jwk: JsonWebKey): Promise<[string, Uint8Array<ArrayBuffer>][]> {
  const algorithm = jwk.kty === "EC"
    ? { name: "ECDSA", namedCurve: "P-256" }
    : { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };
  const publicKey = await crypto.subtle.importKey("jwk", jwk, algorithm, true, ["verify"]);
  const der = new Uint8Array(await crypto.subtle.exportKey("spki", publicKey));
  const lines = btoa(String.fromCharCode(...der)).replaceAll(/.{64}/g, "$&\n");
  const pem = `-----BEGIN PUBLIC KEY-----\n${lines}\n-----END PUBLIC KEY-----`;
  const encoder = new TextEncoder();
  return [
    ["PEM", encoder.encode(pem)],
    ["PEM and a newline", encoder.encode(`${pem}\n`)],
    ["DER", der],
    ["JWK", encoder.encode(JSON.stringify(jwk))],
  ];
}

async function hmacToken(
  header: unknown,
  secret: Uint8Array<ArrayBuffer>,
  hash = "SHA-256",
): Promise<string> {
  const input = `${encode(header)}.${encode(CLAIMS)}`;
  const algorithm = { name: "HMAC", hash };
  const secretKey = await crypto.subtle.importKey("raw", secret, algorithm, false, ["sign"]);
  const mac = await crypto.subtle.sign("HMAC", secretKey, new TextEncoder().encode(input));
  return `${input}.${encode(new Uint8Array(mac))}`;
}
