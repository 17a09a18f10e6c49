import assert from "node:assert/strict";
import { test } from "../../support/test.ts";
import { JwksServer } from "./jwks_server.ts";
import { assertOutcomes, type Case } from "./outcome.ts";
import { verifierOf } from "./resource_server.ts";
import { CLAIMS, encode, SigningKey } from "./signing_key.ts";

const key = await SigningKey.generate("ES256");
const HEADER = { alg: "ES256", kid: key.kid };

async function assertAll(cases: readonly Case[]): Promise<void> {
  await using server = await JwksServer.start(key.jwk);
  await assertOutcomes(verifierOf(server), cases);
}

test("JwtVerifier.verify() refuses tokens without exactly three parts", async () => {
  const good = await key.token();
  const [header = "", payload = "", signature = ""] = good.split(".");
  const broken = ["", ".", "..", "...", "....", header, `${header}.`, `${header}.${payload}`];
  broken.push(`${header}.${payload}.`, `${header}..${signature}`, `.${payload}.${signature}`);
  broken.push(`..${signature}`, `${header}..`, `.${payload}.`, `.${good}`, `${good}.`, `${good}..`);
  broken.push(`${good}.${signature}`, `${good}.${payload}.${signature}`, `${good}.AA.AA`);
  broken.push(
    `${header}.${payload}..${signature}`,
    `${header},${payload},${signature}`,
    "a.b.c.d.e",
  );
  broken.push(`Bearer ${good}`, `"${good}"`, `<${good}>`, `${good},${good}`, `${good} ${good}`);
  broken.push(`${good}\n${good}`, `${good}\n`, `\n${good}`, "a.b.c", "null", "undefined", "{}");
  broken.push(JSON.stringify({ payload, protected: header, signature }));
  broken.push(JSON.stringify({ payload, signatures: [{ protected: header, signature }] }));
  await assertAll(broken.map((token, i): Case => [`${i}: ${token}`, token, "Validation"]));
});

test("JwtVerifier.verify() refuses values that are not strings", async () => {
  const good = await key.token();
  const values: unknown[] = [undefined, null, true, 0, 1n, NaN, Symbol("x"), {}, [], [good]];
  values.push(good.split("."), new String(good), { toString: () => good }, () => good);
  values.push(new TextEncoder().encode(good), new URL(`https://example.com/${good}`));
  await assertAll(values.map((token, i): Case => [`${i}`, token, "Validation"]));
});

test("JwtVerifier.verify() refuses a token over 16 KiB, at once however long", async () => {
  const longest = await tokenOfLength(16_384);
  const cases: Case[] = [
    ["16 384 characters", longest, "accepted"],
    ["16 385 characters", tokenOfLength(16_385), "Validation"],
    ["20 000 characters", tokenOfLength(20_000), "Validation"],
    ["1 MB", tokenOfLength(1_000_000), "Validation"],
    ["1 MB of dots", ".".repeat(1_000_000), "Validation"],
    ["1 MB of one letter", "A".repeat(1_000_000), "Validation"],
    ["1 MB in the signature", `${await key.token()}${"A".repeat(1_000_000)}`, "Validation"],
    ["1 MB after a newline", `${await key.token()}\n${"A".repeat(1_000_000)}`, "Validation"],
  ];
  await assertAll(cases);
  await using server = await JwksServer.start(key.jwk);
  const verifier = verifierOf(server);
  const huge = "A".repeat(1_000_000);
  const started = performance.now();
  for (let i = 0; i < 1_000; i++) await assert.rejects(verifier.verify(huge));
  assert(performance.now() - started < 2_000, "a long token costs as much as it is long");
  assert.equal(server.requestCount, 0);
});

/** Creates a valid token of a given length. */
async function tokenOfLength(length: number): Promise<string> {
  for (const odd of ["", "x", "xy"]) {
    const rest = length - encode({ ...HEADER, odd }).length - 86 - 2;
    const bytes = Math.floor(rest * 3 / 4);
    const pad = "x".repeat(bytes - JSON.stringify({ ...CLAIMS, pad: "" }).length);
    const token = await key.forge({ ...HEADER, odd }, { ...CLAIMS, pad });
    if (token.length === length) return token;
  }
  throw new Error(`no token has ${length} characters`);
}
