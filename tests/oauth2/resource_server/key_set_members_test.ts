import assert from "node:assert/strict";
import { JwksCache } from "../../../src/oauth2/resource_server/jwks_cache.ts";
import { test } from "../../support/test.ts";
import { JwksServer } from "./jwks_server.ts";
import { assertSkipped, type Skipped, verifierBy } from "./skipped_keys.ts";
import { SigningKey } from "./signing_key.ts";

const ec = await SigningKey.generate("ES256");
const p384 = await SigningKey.generate("ES384");
const rsa = await SigningKey.generate("RS256");
const ed = await SigningKey.generate("EdDSA");

test("KeySet.read() skips values that are not keys, and keeps the valid keys", async () => {
  const things: unknown[] = [null, true, false, 0, 1, "", "key", JSON.stringify(ec.jwk), [], {}];
  things.push([ec.jwk], [[]], { keys: [ec.jwk] }, { kid: ec.kid }, { kty: "EC" }, { x: 1 });
  await assertSkipped(
    things.map((jwk): Skipped => [JSON.stringify(jwk).slice(0, 40), jwk, ec.token()]),
  );
});

test("KeySet.read() skips a key whose kid is missing or not a string", async () => {
  const kids = [undefined, null, "", 0, 1, true, [], [ec.kid], {}, { 0: ec.kid }];
  await assertSkipped(
    kids.map((kid): Skipped => [`${JSON.stringify(kid)}`, ec.jwkWith({ kid }), ec.token()]),
  );
});

test("KeySet.read() skips a key of an unknown or missing type", async () => {
  const types = [undefined, null, "", "ec", "Ec", "EC ", "RSA", "OKP", "oct", "AKP", "X", 1, [
    "EC",
  ]];
  types.push({ 0: "EC" } as never, "__proto__", "constructor");
  await assertSkipped([
    ...types.map((kty): Skipped => [`${JSON.stringify(kty)}`, ec.jwkWith({ kty }), ec.token()]),
    ["RSA as EC", rsa.jwkWith({ kty: "EC" }), rsa.token()],
    ["OKP as EC", ed.jwkWith({ kty: "EC" }), ed.token()],
  ]);
});

test("KeySet.read() skips a key for another use", async () => {
  const uses = ["enc", "SIG", "sig ", "Sig", "", "verify", null, true, 1, ["sig"], { 0: "sig" }];
  const operations: unknown[] = [
    [],
    ["encrypt"],
    ["sign"],
    ["VERIFY"],
    ["verify "],
    "verify",
    null,
  ];
  operations.push({}, true, [["verify"]], ["wrapKey", "deriveKey"], { 0: "verify" });
  await assertSkipped([
    ...uses.map((use): Skipped => [`use ${JSON.stringify(use)}`, ec.jwkWith({ use }), ec.token()]),
    ...operations.map((key_ops): Skipped => [
      `key_ops ${JSON.stringify(key_ops)}`,
      ec.jwkWith({ key_ops }),
      ec.token(),
    ]),
  ]);
});

test("KeySet.read() skips a key whose alg is not of its type and curve, or unknown", async () => {
  const names = ["none", "HS256", "es256", "ES256K", "ES384", "ES512", "EdDSA", "RS256", "PS256"];
  const others: unknown[] = [
    "ECDH-ES",
    "RSA-OAEP",
    "A128KW",
    "",
    "__proto__",
    null,
    1,
    ["ES256"],
    {},
  ];
  await assertSkipped([
    ...[...names, ...others].map((alg): Skipped => [
      `ES256 as ${JSON.stringify(alg)}`,
      ec.jwkWith({ alg }),
      ec.token(),
    ]),
    ["RS256 as ES256", rsa.jwkWith({ alg: "ES256" }), rsa.token()],
    ["RS256 as RSA1_5", rsa.jwkWith({ alg: "RSA1_5" }), rsa.token()],
    ["RS256 as RSA-OAEP", rsa.jwkWith({ alg: "RSA-OAEP" }), rsa.token()],
    ["EdDSA as ES256", ed.jwkWith({ alg: "ES256" }), ed.token()],
    ["EdDSA as Ed448", ed.jwkWith({ alg: "Ed448" }), ed.token()],
  ]);
});

test("KeySet.read() skips a member that nests deeper than the stack, or is very long", async () => {
  let deep: unknown = 1;
  for (let i = 0; i < 4_000; i++) deep = [deep];
  const members = ["kty", "alg", "crv", "x", "y", "n", "e", "use", "key_ops", "kid"];
  await assertSkipped([
    ...members.map((member): Skipped => [
      `${member}, deep`,
      ec.jwkWith({ [member]: deep }),
      ec.token(),
    ]),
    ...["x", "y", "crv", "kty"].map((member): Skipped => [
      `${member}, long`,
      ec.jwkWith({ [member]: "A".repeat(100_000) }),
      ec.token(),
    ]),
  ]);
});

test("KeySet.read() reads the valid keys of a set with all kinds of invalid ones", async () => {
  const keys = [null, ec.jwkWith({ use: "enc" }), ec.jwkWith({ y: ec.jwk.x }), "x", 1];
  const others = [p384, rsa, ed];
  await using server = await JwksServer.start(
    ...keys,
    ...others.flatMap(({ jwk }) => [{ kty: "oct", k: "AAAA", kid: jwk.kid }, jwk, []]),
    ...keys,
  );
  const cache = new JwksCache(server.url);
  const verifier = verifierBy(cache);
  for (const key of others) await verifier.verify(await key.token());
  assert.deepEqual([cache.size, server.requestCount], [3, 1]);
});

test("KeySet.read() accepts unknown members, and key_ops with verify", async () => {
  await using server = await JwksServer.start(
    ec.jwkWith({ key_ops: ["verify"], ext: true, x5c: ["x"], x5t: "y", iat: 1, __proto__: null }),
    rsa.jwkWith({ use: undefined, key_ops: ["sign", "verify"], issuer: "https://example.com" }),
  );
  const cache = new JwksCache(server.url);
  const verifier = verifierBy(cache);
  for (const key of [ec, rsa]) await verifier.verify(await key.token());
  assert.equal(cache.size, 2);
});
