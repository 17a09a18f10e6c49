import assert from "node:assert/strict";
import {
  scrub,
  scrubBeginning,
  sentSecrets,
  withoutSent,
} from "../../../src/oauth2/client/scrub.ts";
import { test } from "../../support/test.ts";

const SECRET = `p@ss/wörd+1 2"3'<4>&=😀`;

test("withoutSent() finds a value in every encoding", () => {
  const form = new URLSearchParams({ it: SECRET }).toString().slice("it=".length);
  const html = SECRET.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  const ascii = (text: string) =>
    text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  const forms = {
    raw: SECRET,
    "percent-encoded": encodeURIComponent(SECRET),
    "percent-encoded in lower case": encodeURIComponent(SECRET).toLowerCase(),
    "percent-encoded to the last": encodeURIComponent(SECRET).replaceAll("'", "%27"),
    form,
    JSON: JSON.stringify(SECRET).slice(1, -1),
    "JSON with slashes escaped": JSON.stringify(SECRET).slice(1, -1).replaceAll("/", "\\/"),
    "JSON in ASCII": ascii(JSON.stringify(SECRET).slice(1, -1)),
    HTML: html.replaceAll('"', "&quot;").replaceAll("'", "&#39;"),
    "HTML with hexadecimal references": html.replaceAll('"', "&#x22;").replaceAll("'", "&#x27;"),
  };
  for (const [name, encoded] of Object.entries(forms)) {
    assert.equal(withoutSent(`<${encoded}>`, [SECRET]), "<<redacted>>", name);
  }
});

test("withoutSent() finds the longest of values that overlap, and all of them at once", () => {
  assert.equal(
    withoutSent("secret-and-more secret-and", ["secret-and", "secret-and-more"]),
    [
      "<redacted>",
      "<redacted>",
    ].join(" "),
  );
  assert.equal(withoutSent("redacted", ["redacted", "dact"]), "<redacted>");
});

test("withoutSent() finds values under 8 characters as words only, and empty ones never", () => {
  assert.equal(
    withoutSent("code bad_verification_code (code)", ["code", ""]),
    [
      "<redacted>",
      "bad_verification_code",
      "(<redacted>)",
    ].join(" "),
  );
});

test("scrub() removes members and parameters with the name of a secret", () => {
  const cases: readonly (readonly [string, string])[] = [
    [
      '{ "access_token": "a", "x": { "clientSecret": { "y": "b" } }, "n": 1 }',
      '{"access_token":"<redacted>","x":{"clientSecret":"<redacted>"},"n":1}',
    ],
    [
      '[{"codes":["a","b"]},{"password":null}]',
      '[{"codes":"<redacted>"},{"password":"<redacted>"}]',
    ],
    ['{"m":"assertion=abc is wrong"}', '{"m":"assertion=<redacted> is wrong"}'],
    [
      "access_token=a%20b&scope=x&id_token=c",
      "access_token=<redacted>&scope=x&id_token=<redacted>",
    ],
    ['{"refresh_token":"a b","x":"cut', '{"refresh_token":"<redacted>","x":"cut'],
    ['{"refresh_token":"a \\" b","x":"cut', '{"refresh_token":"<redacted>","x":"cut'],
    ['{"tokens":["a","b"],"x":"cut', '{"tokens":<redacted>'],
    ["{'token': 'a b', x: cut", "{'token': '<redacted>', x: cut"],
    ["Token : abc, scope : x", "Token : <redacted>, scope : x"],
    ["<token>abc</token><x>y</x>", "<token><redacted></token><x>y</x>"],
    ["?code=a&state=b", "?code=<redacted>&state=b"],
    ["message: token=abc", "message: token=<redacted>"],
    ["the token is wrong, and so is the code", "the token is wrong, and so is the code"],
  ];
  for (const [text, expected] of cases) assert.equal(scrub(text), expected);
});

test("scrub() removes words that look like tokens, and keeps others", () => {
  const tokens = [
    "eyJhbGciOiJub25lIn0..",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.sflKxwRJSMeKKF2QT4",
    "gho_16C7e42F292c6912E7710c838347Ae178B4a",
    "ya29.a0AfB_byC-1234567890abcdefghij/xyz",
    "1//0gAbCdEf1234567890ABCDEFGHIJ",
    "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
    "dBjftJeZcCVPkmBaaKbbuhbUJUapqrzwWcgFWFOEjXk",
    "d41d8cd98f00b204e9800998ecf8427e",
    "123456789012345678901234567890",
    "6f1c2d3e-4b5a-6789-8abc-def012345678",
  ];
  for (const token of tokens) assert.equal(scrub(`see ${token}, please`), "see <redacted>, please");
  const words = [
    "invalid_client_metadata_configuration",
    "https://id.example/docs/troubleshooting-authorization-request-errors",
    "2030-01-01T00:00:00.000Z",
    "org.springframework.security.InvalidGrantException",
    "AADSTS70008",
  ];
  for (const word of words) assert.equal(scrub(`see ${word}, please`), `see ${word}, please`);
});

test("scrub() needs time linear in the length of its text", () => {
  const unit = ["a", "a.", "a ", '"', '"code":"', "code", "code=", "[", '{"a":', "\\", "a=", "%"];
  const startedAt = performance.now();
  for (const each of unit) {
    scrub(each.repeat(2 ** 20 / each.length), ["aaaaaaaaaaaaaab", "%%%%%%%%b"]);
  }
  assert.ok(performance.now() - startedAt < 20_000);
}, { slow: true });

test("sentSecrets() lists credentials and all parameters except public ones, also in Base64", () => {
  const basic = btoa("we%62:s%2F+t");
  const secrets = new Set(sentSecrets({
    headers: { authorization: `Basic ${basic}` },
    body: new URLSearchParams({
      grant_type: "x",
      client_id: "web",
      redirect_uri: "x",
      scope: "x",
      token_type_hint: "x",
      client_assertion_type: "x",
      code: "the code",
      anything: "else",
    }),
  }));
  const expected = [
    "the code",
    "else",
    basic,
    "s%2F+t",
    "s/ t",
    btoa("web:s/ t").replace(/=+$/, ""),
    btoa("else").replace(/=+$/, ""),
  ];
  assert.deepEqual(expected.filter((each) => !secrets.has(each)), []);
  assert.ok(!secrets.has("x") && !secrets.has(""));
  assert.deepEqual(sentSecrets({ headers: {} }), []);
});

test("scrub() removes values of any length in little time, and never fails", () => {
  const secret = "SuperSecretValue1234567890";
  for (const value of ["-".repeat(16_000), "%+/=".repeat(4_000), "\u{1F600}".repeat(4_000)]) {
    const start = performance.now();
    const text = scrub(`${secret} ${value} ${encodeURIComponent(value)}`, [value, secret]);
    assert.ok(performance.now() - start < 1_000);
    assert.ok(!text.includes(secret) && text.length < 2_000, text.slice(0, 100));
  }
});

test("withoutSent() removes runs of backslashes in little time, in any encoding", () => {
  const value = `${"\\".repeat(60)}X-secret-value`;
  const start = performance.now();
  const echoes = [JSON.stringify(value), value, encodeURIComponent(value)];
  for (const echo of echoes) assert.doesNotMatch(withoutSent(echo, [value]), /secret-value/);
  withoutSent(JSON.stringify(`${value.slice(0, 58)}...`), [value]);
  assert.ok(performance.now() - start < 500);
});

test("scrubBeginning() returns no part of a secret across its end", () => {
  const secret = "correct-horse-battery-staple-over-the-fence";
  for (let at = 4096 - secret.length; at < 4096; at++) {
    const text = `eyJ.${"a".repeat(at - 8)}    ${secret} and more`;
    const kept = scrubBeginning(text, [secret]);
    assert.ok(!kept.includes("correct") && kept.length <= 500, kept);
  }
});

test("scrub() removes keys and Base64 that were not sent", () => {
  const lines = "MC4CAQAwBQYDK2VwBCIEIIa5\nSMGt2/LbGEG4w/JQPI5M\nsJXiCgmMNU/LLNgBfvG/VGTU";
  const pem = `-----BEGIN PRIVATE KEY-----\n${lines}\n-----END PRIVATE KEY-----\n`;
  for (const text of [pem, JSON.stringify({ pem }), pem.slice(0, 90)]) {
    assert.doesNotMatch(scrub(text), /MC4|SMGt|sJXi/, text);
  }
  assert.equal(scrub("Ia5SMGt2/LbGEG4w/JQPI5MsJXiCgmMNU/LLNgBfvG"), "<redacted>");
  assert.equal(
    scrub("see https://id.example.com/docs/errors/v2"),
    "see https://id.example.com/docs/errors/v2",
  );
});
