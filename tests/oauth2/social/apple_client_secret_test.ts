import assert from "node:assert/strict";
import { inspect } from "node:util";
import type { LogRecord } from "@logtape/logtape";
import { exportPKCS8, exportSPKI, generateKeyPair } from "jose";
import { OAuth2Error } from "../../../src/oauth2/ground/errors.ts";
import { apple } from "../../../src/oauth2/social/apple.ts";
import { captureLogs } from "../../support/capture_logs.ts";
import { test } from "../../support/test.ts";
import { Browser } from "../login/browser.ts";
import { CALLBACK } from "../login/login_application.ts";
import { begun } from "../login/site.ts";
import { appleSite, KEY_ID, logIn, MONTH_SECONDS, P8, publicKey, TEAM_ID } from "./apple_site.ts";

test("apple() signs a secret with the kid of the key, valid for at most six months", async () => {
  await using it = await appleSite();
  assert.equal((await logIn(it)).status, 200);
  const [header = "", payload = ""] =
    it.provider.received[0]?.form.get("client_secret")?.split(".") ?? [];
  assert.deepEqual(decoded(header), { alg: "ES256", kid: KEY_ID });
  const { iat, exp, ...claims } = decoded(payload);
  assert.deepEqual(claims, { iss: TEAM_ID, sub: "shop", aud: "https://appleid.apple.com" });
  assert(Number(exp) - Number(iat) <= 6 * MONTH_SECONDS);
});

function decoded(part: string): Record<string, unknown> {
  return JSON.parse(atob(part.replaceAll("-", "+").replaceAll("_", "/")));
}

test("apple() reuses its secret, and renews it in time", async () => {
  let nowMs = Date.now();
  await using it = await appleSite({ now: () => nowMs });
  const secretAfter = async (ms: number) => {
    nowMs += ms;
    it.browser.cookies.clear();
    assert.equal((await logIn(it)).status, 200, `after ${ms} ms`);
    return it.provider.received.filter(({ method }) => method === "POST").at(-1)
      ?.form.get("client_secret");
  };
  const first = await secretAfter(0);
  assert.equal(await secretAfter(60_000), first);
  const second = await secretAfter(6 * 3_600_000);
  assert.notEqual(second, first);
  assert.equal(await secretAfter(60_000), second);
  assert.notEqual(await secretAfter(7 * MONTH_SECONDS * 1000), second);
  // a secret from the future is invalid, after a clock was ahead
  assert.notEqual(await secretAfter(-7 * MONTH_SECONDS * 1000), second);
});

test("apple() signs one secret for concurrent logins", async () => {
  await using it = await appleSite();
  const browsers = Array.from({ length: 5 }, () => new Browser(it.app));
  const forms = await Promise.all(
    browsers.map(async (browser) =>
      new URLSearchParams((await begun({ ...it, browser })).split("?")[1])
    ),
  );
  const responses = await Promise.all(
    browsers.map((browser, i) => browser.post("/auth/callback", forms[i] ?? new URLSearchParams())),
  );
  assert.deepEqual(responses.map(({ status }) => status), [200, 200, 200, 200, 200]);
  await Promise.all(responses.map((response) => response.body?.cancel()));
  const secrets = it.provider.received.map(({ form }) => form.get("client_secret"));
  assert.equal(new Set(secrets.filter(Boolean)).size, 1);
});

const body = P8.split("\n").slice(1, -1).join("\n");

async function p8Of(alg: string): Promise<string> {
  return await exportPKCS8((await generateKeyPair(alg, { extractable: true })).privateKey);
}

/** Invalid keys, and whether they are refused at once. */
const MALFORMED: readonly (readonly [name: string, key: unknown, isSeenAtOnce: boolean])[] = [
  ["empty", "", true],
  ["a path", "/keys/AuthKey_ABC123DEFG.p8", true],
  ["bare", body, true],
  ["without an end", P8.split("\n").slice(0, -1).join("\n"), true],
  ["with line ends in text", P8.replaceAll("\n", "\\n"), true],
  ["public", await exportSPKI(publicKey), true],
  ["of SEC 1", P8.replaceAll("PRIVATE", "EC PRIVATE"), true],
  ["encrypted", P8.replaceAll("PRIVATE", "ENCRYPTED PRIVATE"), true],
  ["no Base64", P8.replace(body, `*${body}`), true],
  ["bytes", new TextEncoder().encode(P8), true],
  ["cut", P8.replace(body, body.slice(0, 60)), false],
  ["garbled", P8.replace(body, [...body].reverse().join("")), false],
  ["padded amid", P8.replace(body, `=${body}`), false],
  ["of P-384", await p8Of("ES384"), false],
  ["of RSA", await p8Of("RS256"), false],
  ["of Ed25519", await p8Of("EdDSA"), false],
];

for (const [name, key, isSeenAtOnce] of MALFORMED) {
  test(`apple() refuses a key that is ${name}, and never shows it`, async () => {
    await captureLogs([], async (records) => {
      const error = await refusalOf(key as string, isSeenAtOnce, records);
      assert(error instanceof OAuth2Error && error.code === "InvalidConfig", inspect(error));
      const shown = inspect([error, records], { depth: Infinity, showHidden: true });
      for (const line of String(key).split("\n").filter((line) => /^[\w+/=]{9,}$/.test(line))) {
        assert(!shown.includes(line.slice(0, 9)), shown);
      }
    });
  });
}

/** Gives the error over a key: that of making the provider, or that in the log of a login. */
async function refusalOf(
  privateKey: string,
  isSeenAtOnce: boolean,
  records: readonly LogRecord[],
): Promise<unknown> {
  try {
    await using it = await appleSite({ privateKey });
    assert(!isSeenAtOnce);
    assert.equal((await logIn(it)).status, 502);
    assert.deepEqual(it.provider.asked, []);
    return records.find(({ level }) => level === "error")?.properties.error;
  } catch (error) {
    if (!isSeenAtOnce) throw error;
    return error;
  }
}

test("apple() accepts a key with surrounding whitespace, and refuses empty identifiers", async () => {
  await using it = await appleSite({ privateKey: `\n  ${P8.replaceAll("\n", "\r\n")}\n\n` });
  assert.equal((await logIn(it)).status, 200);
  for (const name of ["teamId", "keyId", "clientId"]) {
    const options = {
      clientId: "a",
      teamId: "a",
      keyId: "a",
      privateKey: P8,
      redirectUri: CALLBACK,
    };
    assert.throws(() => apple({ ...options, [name]: "" }), { code: "InvalidConfig" });
  }
});
