import { test } from "../../support/test.ts";
import { JwksServer } from "./jwks_server.ts";
import { assertOutcomes, type Case } from "./outcome.ts";
import { accepting, verifierOf } from "./resource_server.ts";
import { CLAIMS, SigningKey } from "./signing_key.ts";

const key = await SigningKey.generate("ES256");
const HEADER = { alg: "ES256", kid: key.kid };

/** Every case here is signed by the good key over the text as it is: only its form is wrong. */
async function assertAll(cases: readonly Case[]): Promise<void> {
  await using server = await JwksServer.start(key.jwk);
  await assertOutcomes(verifierOf(server), cases);
}

test("JwtVerifier.verify() refuses a header or a payload that is not a JSON object in UTF-8", async () => {
  const bytes = (...values: number[]) => new Uint8Array(values);
  const utf16 = (text: string, isLittleEndian: boolean) => {
    const view = new DataView(new ArrayBuffer(text.length * 2));
    for (let i = 0; i < text.length; i++) view.setUint16(i * 2, text.charCodeAt(i), isLittleEndian);
    return new Uint8Array(view.buffer);
  };
  const wrap = (json: object): readonly (readonly [string, unknown])[] => {
    const text = JSON.stringify(json);
    const withBytes = (...values: number[]) =>
      bytes(
        ...new TextEncoder().encode(`${text.slice(0, -1)},"x":"`),
        ...values,
        ...new TextEncoder().encode('"}'),
      );
    return [
      ["a BOM", bytes(0xef, 0xbb, 0xbf, ...new TextEncoder().encode(text))],
      ["UTF-16 LE", utf16(text, true)],
      ["UTF-16 BE", utf16(text, false)],
      ["UTF-16 with a BOM", bytes(0xff, 0xfe, ...utf16(text, true))],
      ["an invalid byte", withBytes(0xff)],
      ["a lone continuation", withBytes(0x80)],
      ["a lead without continuation", withBytes(0xc3, 0x28)],
      ["an overlong slash", withBytes(0xc0, 0xaf)],
      ["an overlong NUL", withBytes(0xc0, 0x80)],
      ["a surrogate in UTF-8", withBytes(0xed, 0xa0, 0x80)],
      ["beyond Unicode", withBytes(0xf4, 0x90, 0x80, 0x80)],
      ["cut in a character", bytes(...new TextEncoder().encode(text), 0xe2, 0x82)],
      ["an array", [json]],
      ["an empty array", "[]"],
      ["null", "null"],
      ["true", "true"],
      ["a number", "1"],
      ["a string", '"x"'],
      ["a string of JSON", JSON.stringify(text)],
      ["no JSON", "foo"],
      ["a single NUL", bytes(0)],
      ["two values", `${text}${text}`],
      ["two lines", `${text}\n${text}`],
      ["garbage after", `${text}x`],
      ["garbage before", `x${text}`],
      ["a NUL after", `${text}\0`],
      ["a comment", `${text}//`],
      ["a comment within", text.replace("{", "{/**/")],
      ["a trailing comma", text.replace(/}$/, ",}")],
      ["single quotes", text.replaceAll('"', "'")],
      ["names without quotes", text.replace(/"(\w+)":/, "$1:")],
      ["NaN", text.replace(/}$/, ',"x":NaN}')],
      ["a hexadecimal number", text.replace(/}$/, ',"x":0x10}')],
      ["a leading zero", text.replace(/}$/, ',"x":01}')],
      ["undefined", text.replace(/}$/, ',"x":undefined}')],
      ["a raw newline in a string", text.replace(/}$/, ',"x":"\n"}')],
      ["cut short", text.slice(0, -1)],
      ["a no-break space before", `\u00a0${text}`],
      ["a vertical tab before", `\v${text}`],
      ["HTML", `<html>${text}</html>`],
      ["a prefix against hijacking", `)]}',\n${text}`],
    ];
  };
  await assertAll([
    ...wrap(HEADER).map(([name, header]): Case => [
      `${name} as the header`,
      key.forge(header),
      "Validation",
    ]),
    ...wrap(CLAIMS).map(([name, payload]): Case => [
      `${name} as the payload`,
      key.forge(HEADER, payload),
      "Validation",
    ]),
  ]);
});

test("JwtVerifier.verify() reads JSON as in RFC 8259: white space, escapes, the last of repeated names", async () => {
  const header = JSON.stringify(HEADER);
  const claims = JSON.stringify(CLAIMS);
  const head = (extra: string) => header.replace(/}$/, `,${extra}}`);
  const body = (extra: string) => claims.replace(/}$/, `,${extra}}`);
  await assertAll([
    ["white space", key.forge(` \t\r\n${header}\n`, `\n ${claims} \n`), "accepted"],
    ["an escaped name", key.forge(header.replace("alg", "\\u0061lg")), "accepted"],
    ["an escaped value", key.forge(header.replace("ES", "\\u0045S")), "accepted"],
    ["an escaped claim", key.forge(HEADER, claims.replace("exp", "\\u0065xp")), "accepted"],
    ["a lone surrogate, escaped", key.forge(HEADER, body('"x":"\\ud800"')), "accepted"],
    ["an empty name", key.forge(HEADER, body('"":1')), "accepted"],
    ["alg none, then ES256", key.forge(`{"alg":"none",${header.slice(1)}`), "accepted"],
    ["alg ES256, then none", key.forge(head('"alg":"none"')), "Validation"],
    ["alg ES256, then an escaped none", key.forge(head('"\\u0061lg":"none"')), "Validation"],
    ["kid twice, the last unknown", key.forge(head('"kid":"other"')), "UnknownKid"],
    ["kid twice, the first unknown", key.forge(`{"kid":"other",${header.slice(1)}`), "accepted"],
    ["exp twice, the last over", key.forge(HEADER, body('"exp":1')), "InvalidClaim exp"],
    ["exp twice, the first over", key.forge(HEADER, `{"exp":1,${claims.slice(1)}`), "accepted"],
    ["iss twice, the last another", key.forge(HEADER, body('"iss":"x"')), "InvalidClaim iss"],
    ["crit in other case", key.forge(head('"Crit":["x"]')), "accepted"],
    ["ALG beside alg", key.forge(head('"ALG":"none"')), "accepted"],
    ["__proto__ in the header", key.forge('{"__proto__":' + header + "}"), "Validation"],
    ["__proto__ in the claims", key.forge(HEADER, `{"__proto__":${claims}}`), "InvalidClaim exp"],
  ]);
});

test("JwtVerifier.verify() verifies deeply nested claims, cached or not", async () => {
  await using server = await JwksServer.start(key.jwk);
  const nested = `{"deep":${"[".repeat(5_900)}${"]".repeat(5_900)},${
    JSON.stringify(CLAIMS).slice(1)
  }`;
  for (const cacheTokens of [0, 10]) {
    await assertOutcomes(verifierOf(server, accepting("ES256"), { cacheTokens }), [
      ["5 900 deep", key.forge(HEADER, nested), "accepted"],
    ]);
  }
});
