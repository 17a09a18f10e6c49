import { base64url } from "jose";
import { test } from "../../support/test.ts";
import { assertSkipped, changed, type Skipped } from "./skipped_keys.ts";
import { SigningKey } from "./signing_key.ts";

const ec = await SigningKey.generate("ES256");
const p384 = await SigningKey.generate("ES384");
const p521 = await SigningKey.generate("ES512");
const rsa = await SigningKey.generate("RS256");
const weak = await SigningKey.generate("RS256", { rsaBits: 1024 });
const almost = await SigningKey.generate("PS256", { rsaBits: 2040 });
const ed = await SigningKey.generate("EdDSA");

test("KeySet.read() skips a key that is private or symmetric", async () => {
  const members = ["d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"];
  await assertSkipped([
    ["RSA, private", { ...rsa.privateJwk, kid: rsa.kid, key_ops: undefined }, rsa.token()],
    ["EC, private", { ...ec.privateJwk, kid: ec.kid, key_ops: undefined }, ec.token()],
    ["Ed25519, private", { ...ed.privateJwk, kid: ed.kid, key_ops: undefined }, ed.token()],
    [
      "EC, private, that may verify",
      { ...ec.privateJwk, kid: ec.kid, key_ops: ["verify"] },
      ec.token(),
    ],
    ["oct", { kty: "oct", k: "c2VjcmV0", kid: ec.kid, alg: "HS256" }, ec.token()],
    ["oct without alg", { kty: "oct", k: "c2VjcmV0", kid: ec.kid }, ec.token()],
    ["oct that says ES256", { kty: "oct", k: "c2VjcmV0", kid: ec.kid, alg: "ES256" }, ec.token()],
    ...[ec, rsa, ed].flatMap((key) =>
      members.flatMap((member): Skipped[] => [
        [`${key.alg} with ${member}`, key.jwkWith({ [member]: "AQAB" }), key.token()],
        [`${key.alg} with ${member} null`, key.jwkWith({ [member]: null }), key.token()],
      ])
    ),
  ]);
});

test("KeySet.read() skips an RSA key that is too short, or has an invalid exponent", async () => {
  const { n = "" } = rsa.jwk;
  const zeros = "A".repeat(200); // 150 bytes
  await assertSkipped([
    ["1024 bits", weak.jwk, weak.forgeWith({})],
    ["1024 bits without alg", weak.jwkWith({ alg: undefined }), weak.forgeWith({})],
    ["1024 bits after zeros", weak.jwkWith({ n: zeros + weak.jwk.n }), weak.forgeWith({})],
    ["2040 bits", almost.jwk, almost.forgeWith({})],
    ...changed(rsa, {
      "without n": { n: undefined },
      "without e": { e: undefined },
      "n empty": { n: "" },
      "n null": { n: null },
      "n a number": { n: 65537 },
      "n a list": { n: [n] },
      "n not Base64url": { n: "§" },
      "n of zeros": { n: "A".repeat(n.length) },
      "n the half": { n: n.slice(0, n.length / 2) },
      "e empty": { e: "" },
      "e null": { e: null },
      "e a number": { e: 65537 },
      "e = 0": { e: "AA" },
      "e = 1": { e: "AQ" },
      "e = 1 after zeros": { e: "AAAB" },
      "e = 2": { e: "Ag" },
      "e = 65536": { e: "AQAA" },
      "with a curve": { crv: "P-256" },
    }),
  ]);
});

test("KeySet.read() skips a point that is not on its curve, or incomplete", async () => {
  const changes = (key: SigningKey) => {
    const x = base64url.decode(key.jwk.x ?? "");
    const y = base64url.decode(key.jwk.y ?? "");
    const size = x.length;
    const text = (bytes: Uint8Array) => base64url.encode(bytes);
    return changed(key, {
      "y off by one bit": { y: text(y.with(size - 1, (y[size - 1] ?? 0) ^ 1)) },
      "x off by one bit": { x: text(x.with(size - 1, (x[size - 1] ?? 0) ^ 1)) },
      "x and y exchanged": { x: key.jwk.y, y: key.jwk.x },
      "x twice": { y: key.jwk.x },
      "zero": { x: text(x.map(() => 0)), y: text(x.map(() => 0)) },
      "x zero": { x: text(x.map(() => 0)) },
      "y zero": { y: text(x.map(() => 0)) },
      "all ones": { x: text(x.map(() => 255)), y: text(x.map(() => 255)) },
      "x cut": { x: text(x.slice(0, -1)) },
      "y cut": { y: text(y.slice(0, -1)) },
      "without x": { x: undefined },
      "without y": { y: undefined },
      "without crv": { crv: undefined },
      "x empty": { x: "" },
      "x null": { x: null },
      "x a number": { x: 1 },
      "y a list": { y: [key.jwk.y] },
      "y not Base64url": { y: "§" },
      "crv null": { crv: null },
      "crv Ed25519": { crv: "Ed25519" },
      "crv secp256k1": { crv: "secp256k1" },
      "crv in small letters": { crv: key.jwk.crv?.toLowerCase() },
      "crv of another, alg too": key === ec
        ? { crv: "P-384", alg: "ES384" }
        : { crv: "P-256", alg: "ES256" },
    });
  };
  await assertSkipped([
    ...changes(ec),
    ...changes(p384),
    ...changes(p521),
    ...changed(ed, {
      "without x": { x: undefined },
      "x empty": { x: "" },
      "x null": { x: null },
      "x cut": { x: ed.jwk.x?.slice(0, 40) },
      "x too long": { x: `${ed.jwk.x}AAAA` },
      "x not Base64url": { x: "§" },
      "crv missing": { crv: undefined },
      "crv X25519": { crv: "X25519", alg: undefined },
      "crv Ed448": { crv: "Ed448", alg: undefined },
      "crv P-256": { crv: "P-256" },
    }),
  ]);
});
