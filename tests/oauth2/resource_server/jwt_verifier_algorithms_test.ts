import assert from "node:assert/strict";
import { ValidationConfig } from "../../../src/oauth2/resource_server/validation_config.ts";
import { test } from "../../support/test.ts";
import { JwksServer } from "./jwks_server.ts";
import { assertOutcomes, type Case, outcomeOf } from "./outcome.ts";
import { accepting, ALGORITHMS, verifierOf } from "./resource_server.ts";
import { CLAIMS, encode, SigningKey, withSignature } from "./signing_key.ts";

const key = await SigningKey.generate("ES256");
const rsa = await SigningKey.generate("RS256");

for (const alg of ALGORITHMS) {
  test(`JwtVerifier.verify() accepts tokens signed with ${alg}`, async () => {
    const signer = alg === "RS256" ? rsa : await SigningKey.generate(alg);
    await using server = await JwksServer.start(signer.jwk);
    const { header, claims } = await verifierOf(server, accepting(alg)).verify(
      await signer.token({ iat: 1, roles: ["admin"] }),
    );
    assert.deepEqual({ header, claims }, {
      header: { alg, kid: signer.kid },
      claims: { ...CLAIMS, iat: 1, roles: ["admin"] },
    });
  });
}

test(
  "JwtVerifier.verify() uses a key without alg for every algorithm of its type and curve",
  async () => {
    const families = [["EdDSA", "Ed25519"], ["ES256"], ["ES384"], ["ES512"], ALGORITHMS.slice(5)];
    for (const family of families as (typeof ALGORITHMS)[]) {
      const signers = await Promise.all(family.map((alg) => SigningKey.generate(alg)));
      await using server = await JwksServer.start(
        ...signers.map((signer) => signer.jwkWith({ alg: undefined, use: undefined })),
      );
      const verifier = verifierOf(server, accepting(...ALGORITHMS));
      await assertOutcomes(
        verifier,
        signers.map((signer): Case => [signer.alg, signer.token(), "accepted"]),
      );
    }
  },
  { slow: true },
);

test("JwtVerifier.verify() treats EdDSA and Ed25519 as one algorithm for keys, not for tokens", async () => {
  const old = await SigningKey.generate("EdDSA");
  const fresh = await SigningKey.generate("Ed25519");
  await using server = await JwksServer.start(old.jwk, fresh.jwk);
  await assertOutcomes(verifierOf(server, accepting("EdDSA")), [
    ["a token of the old name", old.token(), "accepted"],
    ["a key of the new name", fresh.forgeWith({ alg: "EdDSA" }), "accepted"],
    ["a token of the new name", fresh.token(), "Validation"],
    [
      "a token of the new name by a key of the old",
      old.forgeWith({ alg: "Ed25519" }),
      "Validation",
    ],
  ]);
});

test("JwtVerifier.verify() refuses an algorithm that is real but not accepted, before any key lookup", async () => {
  const signers = await Promise.all(ALGORITHMS.map((alg) => SigningKey.generate(alg)));
  await using server = await JwksServer.start(...signers.map(({ jwk }) => jwk));
  for (const { alg: accepted } of signers) {
    const others = signers.filter(({ alg }) => alg !== accepted);
    await assertOutcomes(
      verifierOf(server, accepting(accepted)),
      others.map((signer): Case => [signer.alg, signer.token(), "Validation"]),
    );
  }
  assert.equal(server.requestCount, 0);
});

test("JwtVerifier.verify() refuses alg none in every spelling before any key lookup", async () => {
  await using server = await JwksServer.start(key.jwk);
  const spellings = ["none", "None", "NONE", "nOnE", "noNe", "NonE", " none", "none ", "\tnone"];
  spellings.push(
    "none\n",
    "none\0",
    "\u200bnone",
    "nοne",
    "ｎｏｎｅ",
    "no\u200dne",
    "",
    " ",
    "null",
  );
  const cases: Case[] = [];
  for (const alg of spellings) {
    const { kid } = key;
    const name = JSON.stringify(alg);
    const header = encode({ alg, kid });
    cases.push(
      [`${name}, signed all the same`, key.forgeWith({ alg }), "Validation"],
      [`${name}, with no signature`, `${header}.${encode(CLAIMS)}.`, "Validation"],
      [`${name}, in two parts`, `${header}.${encode(CLAIMS)}`, "Validation"],
      [`${name}, a zero for a signature`, `${header}.${encode(CLAIMS)}.AA`, "Validation"],
      [`${name}, typ JWT`, key.forge({ typ: "JWT", alg, kid }), "Validation"],
    );
  }
  await assertOutcomes(verifierOf(server, accepting(...ALGORITHMS)), cases);
  assert.equal(server.requestCount, 0);
});

test("JwtVerifier.verify() refuses every other spelling of an algorithm before any key lookup", async () => {
  await using server = await JwksServer.start(key.jwk);
  const spellings = ["es256", "Es256", "eS256", "ES-256", "ES_256", "ES256 ", " ES256", "ES256\0"];
  spellings.push("ES256\n", "ＥＳ256", "ES２56", "ЕS256", "ES256K", "ES2560", "ES25", "ES", "256");
  spellings.push("ES256,ES256", "ES256;none", "ES256/none", "ECDSA", "P-256", "SHA256withECDSA");
  spellings.push("EDDSA", "eddsa", "Eddsa", "Ed448", "ed25519", "ED25519", "RSA", "RS1", "rs256");
  spellings.push("RSA256", "PS1", "ESP256", "RSA-OAEP", "dir", "A128KW", "A256GCM", "ECDH-ES");
  spellings.push("PBES2-HS256+A128KW", "ML-DSA-44", "__proto__", "constructor", "toString", "has");
  spellings.push("http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256", "-7", "ES256".repeat(500));
  await assertOutcomes(
    verifierOf(server, accepting(...ALGORITHMS)),
    spellings.map((alg): Case => [JSON.stringify(alg), key.forgeWith({ alg }), "Validation"]),
  );
  assert.equal(server.requestCount, 0);
});

test("JwtVerifier.verify() refuses an alg that is not a string before any key lookup", async () => {
  await using server = await JwksServer.start(key.jwk);
  const values: unknown[] = [undefined, null, true, false, 0, 1, -7, 256, 1.5, [], ["ES256"]];
  values.push(["none"], [["ES256"]], {}, { alg: "ES256" }, { toString: "ES256" }, { 0: "ES256" });
  await assertOutcomes(
    verifierOf(server),
    values.map((alg): Case => [`${JSON.stringify(alg)}`, key.forgeWith({ alg }), "Validation"]),
  );
  assert.equal(server.requestCount, 0);
});

test("JwtVerifier.verify() uses a key only for its algorithm", async () => {
  const ps256 = await SigningKey.generate("PS256");
  const es384 = await SigningKey.generate("ES384");
  const ed = await SigningKey.generate("EdDSA");
  const anyRsa = await SigningKey.generate("RS256");
  const declared = { ...anyRsa.jwkWith({ alg: "PS256" }) as object };
  const open = { ...anyRsa.jwkWith({ alg: undefined, kid: "open" }) as object };
  await using server = await JwksServer.start(
    key.jwk,
    ps256.jwk,
    es384.jwk,
    ed.jwk,
    declared,
    open,
  );
  const verifier = verifierOf(server, accepting(...ALGORITHMS));
  const sameCurve = withSignature(
    await key.forgeWith({ alg: "ES384", kid: es384.kid }),
    new Uint8Array(96).fill(1),
  );
  await assertOutcomes(verifier, [
    ["RS256 by a key that is declared for PS256", anyRsa.token(), "UnknownKid"],
    ["RS256 by a key that is open", anyRsa.token({}, { kid: "open" }), "accepted"],
    ["PS256 that is RS256", anyRsa.forgeWith({ alg: "PS256" }), "InvalidSignature"],
    [
      "PS384 that is RS256, open",
      anyRsa.forgeWith({ alg: "PS384", kid: "open" }),
      "InvalidSignature",
    ],
    [
      "RS512 that is RS256, open",
      anyRsa.forgeWith({ alg: "RS512", kid: "open" }),
      "InvalidSignature",
    ],
    ["RS256 that is PS256", ps256.forgeWith({ alg: "RS256" }), "UnknownKid"],
    ["PS256", ps256.token(), "accepted"],
    ["ES256 with the kid of a P-384 key", key.token({}, { kid: es384.kid }), "UnknownKid"],
    ["ES384 with the kid of a P-256 key", es384.token({}, { kid: key.kid }), "UnknownKid"],
    ["ES384 of the wrong key", sameCurve, "InvalidSignature"],
    ["EdDSA with the kid of an EC key", ed.token({}, { kid: key.kid }), "UnknownKid"],
    ["ES256 with the kid of an Ed25519 key", key.token({}, { kid: ed.kid }), "UnknownKid"],
    ["ES256 with the kid of an RSA key", key.token({}, { kid: "open" }), "UnknownKid"],
    ["RS256 with the kid of an EC key", anyRsa.token({}, { kid: key.kid }), "UnknownKid"],
    ["EdDSA that is ES256", key.forgeWith({ alg: "EdDSA", kid: ed.kid }), "InvalidSignature"],
    ["ES256 that is EdDSA", ed.forgeWith({ alg: "ES256", kid: key.kid }), "InvalidSignature"],
  ]);
});

test("JwtVerifier.verify() accepts only EdDSA by default", async () => {
  const ed = await SigningKey.generate("EdDSA");
  await using server = await JwksServer.start(ed.jwk, key.jwk);
  const verifier = verifierOf(server, new ValidationConfig());
  assert.deepEqual(
    [await outcomeOf(verifier.verify(await key.token())), server.requestCount],
    ["Validation", 0],
  );
  assert.equal(await outcomeOf(verifier.verify(await ed.token())), "accepted");
});
