import assert from "node:assert/strict";
import { test } from "../../support/test.ts";
import { JwksServer } from "./jwks_server.ts";
import { assertOutcomes, type Case } from "./outcome.ts";
import { accepting, ALGORITHMS, verifierOf } from "./resource_server.ts";
import { CLAIMS, encode, signatureOf, SigningKey, withSignature } from "./signing_key.ts";

const WITH_ONE_FAMILY = ["EdDSA", "ES256", "ES384", "ES512", "RS256", "PS256"] as const;

/** The orders of the groups that signatures are numbers of (FIPS 186-5, RFC 8032 §5.1). */
const ORDERS = {
  ES256: 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n,
  EdDSA: 2n ** 252n + 27742317777372353535851937790883648493n,
};

for (const alg of WITH_ONE_FAMILY) {
  test(`JwtVerifier.verify() refuses every signature of ${alg} but the right one`, async () => {
    const key = await SigningKey.generate(alg);
    const other = await SigningKey.generate(alg);
    await using server = await JwksServer.start(key.jwk, other.jwk);
    const token = await key.token();
    const right = signatureOf(token);
    const wrong = (name: string, signature: Uint8Array): Case => [
      name,
      withSignature(token, signature),
      "InvalidSignature",
    ];
    const flipped = (byte: number, bit: number) =>
      right.map((value, i) => i === byte ? value ^ (1 << bit) : value);
    const cases: Case[] = [
      ["right", token, "accepted"],
      ["empty", withSignature(token, new Uint8Array()), "Validation"],
      wrong("of one zero", new Uint8Array(1)),
      wrong("all zero", right.map(() => 0)),
      wrong("all ones", right.map(() => 0xff)),
      wrong("all zero but the last bit", right.map((_, i) => i === right.length - 1 ? 1 : 0)),
      wrong("without the first byte", right.slice(1)),
      wrong("without the last byte", right.slice(0, -1)),
      wrong("half", right.slice(0, right.length / 2)),
      wrong("a zero before", new Uint8Array([0, ...right])),
      wrong("a zero after", new Uint8Array([...right, 0])),
      wrong("twice", new Uint8Array([...right, ...right])),
      wrong("reversed", right.slice().reverse()),
      wrong("negated", right.map((value) => value ^ 0xff)),
      wrong("8 KiB", new Uint8Array(8 * 1024)),
      wrong("as hexadecimal", new TextEncoder().encode(hex(right))),
      wrong("in Base64 twice", new TextEncoder().encode(encode(right))),
      wrong("of the payload alone", await key.sign(encode(CLAIMS))),
      wrong("of the text with its dots", await key.sign(token)),
      wrong("of a newline more", await key.sign(`${token.slice(0, token.lastIndexOf("."))}\n`)),
      wrong("of another token", signatureOf(await key.token({ sub: "eve" }))),
      wrong("of another key", signatureOf(await other.token({}, { kid: key.kid }))),
      ["another header", swapPart(token, 0, await key.token({}, { typ: "x" })), "InvalidSignature"],
      ["another payload", swapPart(token, 1, await key.token({ sub: "x" })), "InvalidSignature"],
      ["the kid of another key", key.token({}, { kid: other.kid }), "InvalidSignature"],
    ];
    for (const byte of [0, 1, right.length / 2 - 1, right.length / 2, right.length - 1]) {
      for (const bit of [0, 3, 7]) {
        cases.push(wrong(`bit ${bit} of byte ${byte} flipped`, flipped(byte, bit)));
      }
    }
    await assertOutcomes(verifierOf(server, accepting(alg)), cases);
  });
}

for (const alg of ["ES256", "ES384", "ES512"] as const) {
  test(`JwtVerifier.verify() refuses a signature of ${alg} in DER, or of zeros (CVE-2022-21449)`, async () => {
    const key = await SigningKey.generate(alg);
    await using server = await JwksServer.start(key.jwk);
    const token = await key.token();
    const right = signatureOf(token);
    const half = right.length / 2;
    const [r, s] = [right.slice(0, half), right.slice(half)];
    const zero = new Uint8Array(half);
    const one = zero.with(half - 1, 1);
    const der = derOf(r, s);
    const signatures: readonly (readonly [string, readonly Uint8Array[]])[] = [
      ["DER", [der]],
      ["DER, filled up with zeros", [der, new Uint8Array(right.length)]],
      ["DER, cut to the length", [der.slice(0, right.length)]],
      ["r = 0", [zero, s]],
      ["s = 0", [r, zero]],
      ["r = s = 0", [zero, zero]],
      ["r = 0, s = 1", [zero, one]],
      ["r = 1, s = 0", [one, zero]],
      ["r = s = 1", [one, one]],
      ["s before r", [s, r]],
      ["r twice", [r, r]],
      ["s twice", [s, s]],
      ["halves of their own length", [new Uint8Array(1), r, new Uint8Array(1), s]],
      ["without leading bytes", [r.slice(1), s.slice(1)]],
    ];
    await assertOutcomes(
      verifierOf(server, accepting(alg)),
      signatures.map(([name, parts]): Case => [
        name,
        withSignature(token, concat(...parts)),
        "InvalidSignature",
      ]),
    );
  });
}

test("JwtVerifier.verify() refuses numbers of ES256 that are out of range", async () => {
  const key = await SigningKey.generate("ES256");
  await using server = await JwksServer.start(key.jwk);
  const token = await key.token();
  const [r, s] = numbersOf(signatureOf(token), 32, false);
  const n = ORDERS.ES256;
  const of = (...numbers: readonly bigint[]) =>
    withSignature(token, concat(...numbers.map((number) => bytesOf(number, 32, false))));
  const top = 2n ** 256n - 1n;
  await assertOutcomes(verifierOf(server), [
    ["as they are", of(r, s), "accepted"],
    // a signature has two forms, and RFC 7518 §3.4 requires neither of them
    ["s turned into n - s", of(r, n - s), "accepted"],
    ["r turned into n - r", of(n - r, s), "InvalidSignature"],
    ["r = n", of(n, s), "InvalidSignature"],
    ["s = n", of(r, n), "InvalidSignature"],
    ["r = s = n", of(n, n), "InvalidSignature"],
    ["r = n, s = 0", of(n, 0n), "InvalidSignature"],
    ["r = 0, s = n", of(0n, n), "InvalidSignature"],
    ["r = n, s = 1", of(n, 1n), "InvalidSignature"],
    ["r = n - 1, s = n - 1", of(n - 1n, n - 1n), "InvalidSignature"],
    ["r = n + 1", of(n + 1n, s), "InvalidSignature"],
    ["s = n + 1", of(r, n + 1n), "InvalidSignature"],
    ["r as large as can be", of(top, s), "InvalidSignature"],
    ["s as large as can be", of(r, top), "InvalidSignature"],
    [
      "r + n in more bytes",
      withSignature(token, bytesOf(r + n << 256n | s, 65, false)),
      "InvalidSignature",
    ],
  ]);
});

test("JwtVerifier.verify() refuses the second form of a signature of EdDSA (RFC 8032 §5.1.7)", async () => {
  const key = await SigningKey.generate("EdDSA");
  await using server = await JwksServer.start(key.jwk);
  const token = await key.token();
  const [r, s] = numbersOf(signatureOf(token), 32, true);
  const of = (...numbers: readonly bigint[]) =>
    withSignature(token, concat(...numbers.map((number) => bytesOf(number, 32, true))));
  const order = ORDERS.EdDSA;
  const cases: Case[] = [["as they are", of(r, s), "accepted"]];
  for (let times = 1n; times < 16n; times++) {
    cases.push([`S and ${times} times the order`, of(r, s + times * order), "InvalidSignature"]);
  }
  cases.push(["S less than 0", of(r, order - s), "InvalidSignature"]);
  cases.push(["R is the identity, S is 0", of(1n, 0n), "InvalidSignature"]);
  await assertOutcomes(verifierOf(server, accepting("EdDSA")), cases);
});

test("JwtVerifier.verify() refuses signatures of RSA with another salt, hash or range", async () => {
  const key = await SigningKey.generate("PS256");
  await using server = await JwksServer.start(key.jwkWith({ alg: undefined }));
  const token = await key.token();
  const n = numbersOf(fromBase64Url(key.jwk.n ?? ""), 256, false)[0];
  const [signature] = numbersOf(signatureOf(token), 256, false);
  const cases: Case[] = [
    ["as it is", token, "accepted"],
    [
      "and the modulus",
      withSignature(token, bytesOf(signature + n, 257, false)),
      "InvalidSignature",
    ],
    [
      "modulus less it",
      withSignature(token, bytesOf(n - signature, 256, false)),
      "InvalidSignature",
    ],
    ["the modulus", withSignature(token, bytesOf(n, 256, false)), "InvalidSignature"],
    ["0", withSignature(token, bytesOf(0n, 256, false)), "InvalidSignature"],
    ["1", withSignature(token, bytesOf(1n, 256, false)), "InvalidSignature"],
    ["modulus less 1", withSignature(token, bytesOf(n - 1n, 256, false)), "InvalidSignature"],
  ];
  const pss = await crypto.subtle.importKey(
    "jwk",
    { ...key.privateJwk, alg: "PS256", key_ops: ["sign"] },
    { name: "RSA-PSS", hash: "SHA-256" },
    false,
    ["sign"],
  );
  const input = token.slice(0, token.lastIndexOf("."));
  for (const saltLength of [0, 16, 20, 31, 33, 64]) {
    const salted = await crypto.subtle.sign(
      { name: "RSA-PSS", saltLength },
      pss,
      new TextEncoder().encode(input),
    );
    const name = `a salt of ${saltLength} bytes`;
    cases.push([name, withSignature(token, new Uint8Array(salted)), "InvalidSignature"]);
  }
  for (const alg of ALGORITHMS.slice(5).filter((name) => name !== "PS256")) {
    cases.push([`of PS256, but ${alg}`, key.forgeWith({ alg }), "InvalidSignature"]);
  }
  await assertOutcomes(verifierOf(server, accepting(...ALGORITHMS)), cases);
});

for (const alg of ["RS256", "PS256"] as const) {
  test(`JwtVerifier.verify() refuses a signature of ${alg} without its leading zero (RFC 8017 §8.1.2)`, async () => {
    const key = await SigningKey.generate(alg);
    await using server = await JwksServer.start(key.jwk);
    let token: string;
    let jti = 0;
    do token = await key.token({ jti: jti++ }); while (signatureOf(token)[0] !== 0); // one in 256
    const right = signatureOf(token);
    await assertOutcomes(verifierOf(server, accepting(alg)), [
      ["as it is", token, "accepted"],
      ["without its zero", withSignature(token, right.slice(1)), "InvalidSignature"],
      ["with one more", withSignature(token, new Uint8Array([0, ...right])), "InvalidSignature"],
    ]);
  });
}

function swapPart(token: string, index: number, other: string): string {
  return token.split(".").with(index, other.split(".")[index] ?? "").join(".");
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function concat(...parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(parts.flatMap((part) => [...part]));
}

/** Reads bytes as numbers of a given size. */
function numbersOf(bytes: Uint8Array, size: number, isLittleEndian: boolean): [bigint, bigint] {
  const numbers = [];
  for (let i = 0; i < bytes.length; i += size) {
    const number = bytes.slice(i, i + size);
    numbers.push(BigInt(`0x${hex(isLittleEndian ? number.reverse() : number)}`));
  }
  return [numbers[0] ?? 0n, numbers[1] ?? 0n];
}

function bytesOf(number: bigint, size: number, isLittleEndian: boolean): Uint8Array {
  const digits = number.toString(16).padStart(size * 2, "0");
  assert.equal(digits.length, size * 2);
  const bytes = Uint8Array.from(digits.match(/../g) ?? [], (pair) => parseInt(pair, 16));
  return isLittleEndian ? bytes.reverse() : bytes;
}

function fromBase64Url(text: string): Uint8Array {
  return signatureOf(`.${text}`);
}

/** Writes two numbers as ASN.1 does (RFC 3279 §2.2.3). */
function derOf(r: Uint8Array, s: Uint8Array): Uint8Array {
  const integer = (bytes: Uint8Array) => {
    const start = bytes.findIndex((byte) => byte !== 0);
    const number = bytes.slice(start);
    const value = (number[0] ?? 0) > 127 ? concat(new Uint8Array(1), number) : number;
    return concat(new Uint8Array([2, value.length]), value);
  };
  const body = concat(integer(r), integer(s));
  const length = body.length < 128 ? [body.length] : [0x81, body.length];
  return concat(new Uint8Array([0x30, ...length]), body);
}
