/** Random `Authorization` headers: malformed, truncated, forged, huge. */
import { Buffer } from "node:buffer";
import { createHmac, generateKeyPairSync, sign } from "node:crypto";
import type { DevelopmentIdentityProvider } from "../../../src/testing/mod.ts";
import type { Random } from "../random.ts";

/** Header lines, and what they deserve. */
export interface BearerHeaders {
  readonly kind: string;
  /** In latin1. */
  readonly lines: readonly string[];
  /**
   * `valid` for a token of the provider; `either` where it is there beside something else; `refused`
   * for all others.
   */
  readonly verdict: "valid" | "either" | "refused";
}

/** What headers are made of. */
export interface BearerMaterial {
  /** Tokens of the provider. */
  readonly valid: readonly string[];
  /** Tokens that the provider has signed, whose claims are wrong. */
  readonly wrong: readonly string[];
  /** The public key of the provider, in the forms in which attackers use it as a secret. */
  readonly secrets: readonly string[];
  readonly kid: string;
}

const CLAIMS: readonly Readonly<Record<string, unknown>>[] = [
  { exp: 1 },
  { exp: -1 },
  { exp: "4000000000" },
  { exp: null },
  { exp: undefined },
  { exp: [4e9] },
  { nbf: 4e9 },
  { nbf: "0" },
  { iss: "https://evil.example" },
  { iss: undefined },
  { iss: ["x"] },
  { iss: "" },
  { aud: "other" },
  { aud: undefined },
  { aud: [] },
  { aud: ["other", "SHOP"] },
  { aud: { shop: true } },
];

const attacker = generateKeyPairSync("ed25519");
const KINDS: readonly (readonly [
  kind: string,
  make: (material: BearerMaterial, random: Random) => string | readonly string[],
])[] = [
  ["a truncated token", ({ valid }, random) => {
    const token = random.pick(valid);
    return `Bearer ${token.slice(0, random.below(token.length - 2))}`;
  }],
  ["a changed letter", ({ valid }, random) => {
    const token = random.pick(valid);
    const at = random.below(token.length - 1); // the last letter has bits that do not count
    return `Bearer ${token.slice(0, at)}${otherThan(token[at], random)}${token.slice(at + 1)}`;
  }],
  ["a letter too many", ({ valid }, random) => {
    const token = random.pick(valid);
    const at = random.below(token.length + 1);
    return `Bearer ${token.slice(0, at)}${otherThan("", random)}${token.slice(at)}`;
  }],
  ["wrong claims", ({ wrong }, random) => `Bearer ${random.pick(wrong)}`],
  ["no signature", ({ valid }, random) => {
    const alg = random.pick(["none", "None", "NONE", "nOnE", "", null, 0, ["none"]]);
    return `Bearer ${encoded({ alg, typ: "at+jwt" })}.${claimsOf(random.pick(valid))}.`;
  }],
  ["the public key as a secret", ({ valid, secrets, kid }, random) => {
    const signed = `${encoded({ alg: "HS256", kid })}.${claimsOf(random.pick(valid))}`;
    const secret = random.pick(secrets);
    return `Bearer ${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`;
  }],
  ["the key of an attacker", ({ valid, kid }, random) => {
    const jwk = attacker.publicKey.export({ format: "jwk" });
    const url = "http://127.0.0.1:9/jwks";
    const header = {
      alg: "EdDSA",
      kid,
      ...random.pick<object>([
        {},
        { jwk },
        { jku: url },
        { x5u: url },
        { x5c: ["MAo="] },
        { kid: "../../../dev/null" },
        { kid: "' or 1=1 --" },
        { kid: "x".repeat(1000) },
        { kid: null },
        { kid: { $ne: "" } },
        { kid: "__proto__" },
        { crit: ["exp"] },
        { b64: false, crit: ["b64"] },
        { zip: "DEF" },
        { alg: "Ed25519" },
        { alg: "ES256" },
        { alg: "RS256" },
        { alg: "__proto__" },
        { typ: "JOSE" },
      ]),
    };
    const signed = `${encoded(header)}.${claimsOf(random.pick(valid))}`;
    const signature = sign(null, Buffer.from(signed), attacker.privateKey);
    return `Bearer ${signed}.${signature.toString("base64url")}`;
  }],
  ["odd JSON", (_, random) => {
    const texts = [
      "{}",
      "[]",
      "null",
      '"x"',
      "1",
      "{",
      "",
      '{"alg":"EdDSA","alg":"none"}',
      '{"__proto__":{"alg":"EdDSA"}}',
      `${"[".repeat(3000)}${"]".repeat(3000)}`,
      '{"alg":"EdDSA","x":"\ud800"}',
      "\ufeff{}",
      "\0",
      "1e999",
    ];
    const parts = Array.from(
      { length: 3 },
      () => Buffer.from(random.pick(texts)).toString("base64url"),
    );
    return `Bearer ${parts.join(".")}`;
  }],
  [
    "other counts of parts",
    (_, random) => `Bearer ${Array(random.pick([0, 1, 2, 4, 5, 6, 1000])).fill("e30").join(".")}`,
  ],
  ["random bytes", (_, random) => {
    const length = random.below(random.pick([4, 40, 400]));
    const text = Array.from({ length }, () => String.fromCharCode(1 + random.below(255)));
    return `${random.pick(["Bearer ", "Bearer", "bearer ", ""])}${
      text.join("").replace(/[\r\n]/g, "")
    }`;
  }],
  ["Unicode", (_, random) => {
    const texts = ["é", "ß", "漢字", "\u202e", "💥", "\u0000", "ａ．ｂ．ｃ", "\ud800", "\ufeff"];
    const text = Array.from({ length: 1 + random.below(30) }, () => random.pick(texts)).join("");
    return `Bearer ${Buffer.from(text).toString("latin1")}`;
  }],
  ["another scheme", ({ valid }, random) => {
    const token = random.pick(valid);
    return random.pick([
      `Basic ${token}`,
      `Bearer: ${token}`,
      `Bearer=${token}`,
      `Bearer"${token}"`,
      `Token ${token}`,
      `Bearers ${token}`,
      token,
      `DPoP ${token}`,
      `Bearer\xa0${token}`,
      "Bearer",
      "Bearer ",
      "",
      ",",
      "Bearer ,",
    ]);
  }],
  ["huge", (_, random) => {
    const length = random.pick([4_000, 8_000, 20_000, 70_000, 300_000]);
    return `Bearer ${random.pick(["a", "a.", ".", "e30.", "\xff"]).repeat(length)}`.slice(
      0,
      length,
    );
  }],
  ["several headers without a valid one", () => [
    "Authorization: Bearer a.b.c",
    "Authorization: Basic YTpi",
    "AUTHORIZATION: Bearer d.e.f",
  ]],
];

/** Returns the next headers. */
export function bearerHeaders(material: BearerMaterial, random: Random): BearerHeaders {
  const chance = random.next();
  const token = random.pick(material.valid);
  if (chance < 0.05) {
    return { kind: "valid", lines: [`Authorization: Bearer ${token}`], verdict: "valid" };
  }
  if (chance < 0.1) {
    const lines = random.pick([
      [`Authorization: Bearer ${token}`, "Authorization: Bearer a.b.c"],
      ["Authorization: Bearer a.b.c", `Authorization: Bearer ${token}`],
      [`Authorization: Bearer ${token},`],
      [`Authorization: Bearer   ${token}  `],
      [`Authorization: bEARER ${token}`],
      [`Authorization:\tBearer ${token}`],
      [`Authorization: Bearer ${token}==`],
      [`Authorization: Bearer ${token}, Bearer ${token}`],
    ]);
    return { kind: "valid beside something", lines, verdict: "either" };
  }
  const [kind, make] = random.pick(KINDS);
  const made = make(material, random);
  const lines = typeof made === "string" ? [`Authorization: ${made}`] : made;
  return { kind, lines, verdict: "refused" };
}

/** Gets the material from a provider. */
export async function bearerMaterial(
  provider: DevelopmentIdentityProvider,
): Promise<BearerMaterial> {
  const common = { subject: "alice", expiresInSeconds: 24 * 3600 };
  const valid = await Promise.all(
    Array.from(
      { length: 50 },
      (_, tenant) => provider.issueToken({ ...common, claims: { tenant_id: `tenant ${tenant}` } }),
    ),
  );
  const wrong = await Promise.all(
    CLAIMS.map((claims) =>
      provider.issueToken({ ...common, claims: { tenant_id: "t1", ...claims } })
    ),
  );
  const { keys: [key] } = await (await fetch(provider.jwksUrl)).json();
  return { valid, wrong, kid: key.kid, secrets: [key.x, JSON.stringify(key), "", "secret"] };
}

function otherThan(letter: string | undefined, random: Random): string {
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  for (;;) {
    const other = letters[random.below(64)] ?? "A";
    if (other !== letter) return other;
  }
}

function encoded(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

function claimsOf(token: string): string {
  return token.split(".")[1] ?? "";
}
