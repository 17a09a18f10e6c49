import assert from "node:assert/strict";
import { KeySet } from "../../../src/oauth2/resource_server/key_set.ts";
import { test } from "../../support/test.ts";
import { JwksServer } from "./jwks_server.ts";
import { assertOutcomes } from "./outcome.ts";
import { accepting, verifierOf } from "./resource_server.ts";
import { SigningKey } from "./signing_key.ts";

const KID = "shared";
const first = await SigningKey.generate("ES256", { kid: KID });
const second = await SigningKey.generate("ES256", { kid: KID });
const third = await SigningKey.generate("ES256", { kid: KID });
const ed = await SigningKey.generate("EdDSA", { kid: KID });
const rsa = await SigningKey.generate("RS256", { kid: KID });

test("KeySet.find() returns all keys of a repeated kid", async () => {
  for (const keys of [[first, second], [second, first]]) {
    await using server = await JwksServer.start(...keys.map(({ jwk }) => jwk));
    await assertOutcomes(verifierOf(server), [
      ["of the first", first.token(), "accepted"],
      ["of the second", second.token(), "accepted"],
      ["of a third", third.token(), "InvalidSignature"],
    ]);
  }
});

test("KeySet.find() returns the keys of a kid for the algorithm", async () => {
  await using server = await JwksServer.start(ed.jwk, first.jwk, rsa.jwkWith({ alg: undefined }));
  await assertOutcomes(verifierOf(server, accepting("ES256", "EdDSA", "RS256", "PS256", "ES384")), [
    ["ES256", first.token(), "accepted"],
    ["EdDSA", ed.token(), "accepted"],
    ["RS256", rsa.token(), "accepted"],
    ["PS256 that is RS256", rsa.forgeWith({ alg: "PS256" }), "InvalidSignature"],
    ["ES384 that is ES256", first.forgeWith({ alg: "ES384" }), "UnknownKid"],
    ["EdDSA that is ES256", first.forgeWith({ alg: "EdDSA" }), "InvalidSignature"],
  ]);
});

test("KeySet.read() counts the same key once, and skips its private double", async () => {
  const double = { ...first.privateJwk, kid: KID, alg: "ES256", key_ops: undefined };
  const set = await KeySet.read({
    keys: [first.jwk, double, first.jwk, first.jwkWith({ use: undefined, x5t: "x" }), second.jwk],
  });
  assert.deepEqual([set.size, set.find(KID, "ES256").length], [2, 2]);
});

test("KeySet.read() keeps the keys that it had as the same objects, and no others", async () => {
  const before = await KeySet.read({ keys: [first.jwk, ed.jwk] });
  const [kept] = before.find(KID, "ES256");
  const after = await KeySet.read({
    keys: [second.jwk, first.jwkWith({ use: undefined, new: 1 })],
  }, before);
  assert.deepEqual([after.size, after.find(KID, "ES256").length], [2, 2]);
  assert(kept && after.find(KID, "ES256").includes(kept));
  assert.deepEqual(after.find(KID, "EdDSA"), []);
  const other = await KeySet.read({ keys: [first.jwkWith({ kid: "new" })] }, before);
  assert.deepEqual([other.find("new", "ES256").includes(kept), other.find(KID, "ES256")], [
    false,
    [],
  ]);
  assert.deepEqual([before.size, before.find(KID, "EdDSA").length], [2, 1]);
});

test("KeySet.read() accepts only an object with a list of at most 200 keys", async () => {
  const wrong: unknown[] = [undefined, null, true, 1, "", "{}", [], [first.jwk], {}, { key: [] }];
  wrong.push({ keys: undefined }, { keys: null }, { keys: {} }, { keys: "x" }, { keys: 1 });
  wrong.push({ keys: { 0: first.jwk, length: 1 } }, { KEYS: [first.jwk] }, first.jwk);
  wrong.push({ keys: Array(201).fill(first.jwk) }, { keys: Array(201).fill(null) });
  for (const json of wrong) await assert.rejects(KeySet.read(json), TypeError);
  const many = Array.from({ length: 199 }, (_, i) => ed.jwkWith({ kid: `${i}` }));
  assert.equal((await KeySet.read({ keys: [...many, first.jwk] })).size, 200);
  assert.equal((await KeySet.read({ keys: [] })).size, 0);
});
