import assert from "node:assert/strict";
import { base64url } from "jose";
import { readCompactJws } from "../../../src/oauth2/resource_server/compact_jws.ts";
import { OAuth2Error } from "../../../src/oauth2/ground/errors.ts";
import { test } from "../../support/test.ts";
import { JwksServer } from "./jwks_server.ts";
import { assertOutcomes, type Case } from "./outcome.ts";
import { verifierOf } from "./resource_server.ts";
import { CLAIMS, encode, SigningKey } from "./signing_key.ts";

const key = await SigningKey.generate("ES256");
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const HEADER = { alg: "ES256", kid: key.kid };

/** Every case here is signed by the good key over the text as it is: only its form is wrong. */
async function assertAll(cases: readonly Case[]): Promise<void> {
  await using server = await JwksServer.start(key.jwk);
  await assertOutcomes(verifierOf(server), cases);
}

/** Encodes JSON so that the text has a given rest modulo 4: 0, 2 or 3. */
function encodeWithRest(json: object, rest: number): string {
  for (let pad = 0;; pad++) {
    const text = encode(JSON.stringify(json) + " ".repeat(pad));
    if (text.length % 4 === rest) return text;
  }
}

test("JwtVerifier.verify() refuses parts that are not Base64url, even if they are signed", async () => {
  const header = encodeWithRest(HEADER, 2);
  const payload = encodeWithRest(CLAIMS, 3);
  const oddities: readonly (readonly [string, (part: string) => string])[] = [
    ["padding =", (part) => `${part}=`],
    ["padding ==", (part) => `${part}==`],
    ["padding ===", (part) => `${part}===`],
    ["padding in percent", (part) => `${part}%3D`],
    ["a leading space", (part) => ` ${part}`],
    ["a trailing space", (part) => `${part} `],
    ["a space within", (part) => `${part.slice(0, 4)} ${part.slice(4)}`],
    ["a newline within", (part) => `${part.slice(0, 4)}\n${part.slice(4)}`],
    ["a trailing newline", (part) => `${part}\n`],
    ["a trailing CR LF", (part) => `${part}\r\n`],
    ["a tab", (part) => `\t${part}`],
    ["a form feed", (part) => `\f${part}`],
    ["a no-break space", (part) => `\u00a0${part}`],
    ["a NUL", (part) => `${part}\0`],
    ["a BOM", (part) => `\ufeff${part}`],
    ["a zero-width space", (part) => `${part}\u200b`],
    ["+ of standard Base64", (part) => `${part.slice(0, 8)}+${part.slice(9)}`],
    ["/ of standard Base64", (part) => `${part.slice(0, 8)}/${part.slice(9)}`],
    ["a comma", (part) => `${part.slice(0, 8)},${part.slice(9)}`],
    ["a tilde", (part) => `${part.slice(0, 8)}~${part.slice(9)}`],
    ["a letter with an accent", (part) => `${part.slice(0, 8)}é${part.slice(9)}`],
    ["a fullwidth letter", (part) => `${part.slice(0, 8)}Ａ${part.slice(9)}`],
    ["a Cyrillic letter", (part) => `${part.slice(0, 8)}А${part.slice(9)}`],
    ["a lone surrogate", (part) => `${part.slice(0, 8)}\ud800${part.slice(9)}`],
    ["a percent code", (part) => `${part.slice(0, 8)}%41${part.slice(9)}`],
    ["one character too many", (part) => part + "A".repeat(4 - part.length % 4 + 1)],
    ["nothing", () => ""],
  ];
  const signature = (await key.signText(header, payload)).split(".")[2] ?? "";
  await assertAll([
    ...oddities.flatMap(([name, change]): Case[] => [
      [`${name}, in the header`, key.signText(change(header), payload), "Validation"],
      [`${name}, in the payload`, key.signText(header, change(payload)), "Validation"],
      [`${name}, in the signature`, `${header}.${payload}.${change(signature)}`, "Validation"],
    ]),
    ["none of it", key.signText(header, payload), "accepted"],
  ]);
});

test("JwtVerifier.verify() refuses every last character but the canonical one of four and sixteen", async () => {
  const cases: Case[] = [];
  for (const rest of [2, 3]) {
    const group = rest === 2 ? 16 : 4; // as many characters decode to the same last byte
    for (const [name, json] of [["header", HEADER], ["payload", CLAIMS]] as const) {
      const canonical = encodeWithRest(json, rest);
      const first = ALPHABET.indexOf(canonical.slice(-1));
      assert.equal(first % group, 0);
      for (let i = first; i < first + group; i++) {
        const part = canonical.slice(0, -1) + ALPHABET.charAt(i);
        assert.deepEqual(base64url.decode(part), base64url.decode(canonical));
        const token = name === "header"
          ? key.signText(part, encode(CLAIMS))
          : key.signText(encode(HEADER), part);
        const label = `${name} with rest ${rest}, ${i - first} after the canonical`;
        cases.push([label, token, i === first ? "accepted" : "Validation"]);
      }
    }
  }
  const good = await key.token();
  const first = ALPHABET.indexOf(good.slice(-1));
  for (let i = first; i < first + 16; i++) {
    const token = good.slice(0, -1) + ALPHABET.charAt(i);
    cases.push([`signature, ${i - first} after`, token, i === first ? "accepted" : "Validation"]);
  }
  assert.equal(cases.length, 2 * 16 + 2 * 4 + 16);
  await assertAll(cases);
});

test("readCompactJws() reads exactly the last characters whose unused bits are 0", () => {
  const read: Record<string, string> = { "": "", "A": "", "AA": "", "AAA": "" };
  for (const before of Object.keys(read)) {
    for (const last of ALPHABET) {
      const part = before + last;
      for (const token of [`${encode(HEADER)}.${part}.AAAA`, `${encode(HEADER)}.AAAA.${part}`]) {
        try {
          readCompactJws(token);
          read[before] += last;
        } catch (error) {
          assert(error instanceof OAuth2Error && error.code === "Validation");
        }
      }
    }
  }
  const twice = (characters: string) => characters.replaceAll(/./g, "$&$&");
  assert.deepEqual(read, {
    "": "",
    "A": twice("AQgw"),
    "AA": twice("AEIMQUYcgkosw048"),
    "AAA": twice(ALPHABET),
  });
});
