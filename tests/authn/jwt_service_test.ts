import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import {
  createLocalJWKSet,
  decodeProtectedHeader,
  exportJWK,
  generateKeyPair,
  jwtVerify,
} from "jose";
import { JwtKey, JwtService } from "../../src/authn/mod.ts";
import { OAuth2Error } from "../../src/oauth2/ground/errors.ts";
import type { SigningAlgorithm } from "../../src/oauth2/resource_server/signing_algorithm.ts";
import { test } from "../support/test.ts";

const issuer = "https://api.example.com";

const code = (expected: string) => (error: unknown) =>
  error instanceof OAuth2Error && error.code === expected;

test("JwtService.sign() signs what verify() returns, with EdDSA by default", async () => {
  const service = new JwtService({
    issuer,
    audience: "shop",
    key: await JwtKey.generate(),
    now: () => 1_000_500,
  });
  const token = await service.sign({ subject: "tom", roles: ["admin"], claims: { tenant: "t1" } });
  const { header, claims } = await service.verify(token);
  const { jti, ...rest } = claims;
  assert.deepEqual([header.alg, header.typ], ["EdDSA", "JWT"]);
  assert.match(String(jti), /^[0-9a-f-]{36}$/);
  assert.deepEqual(rest, {
    iss: issuer,
    aud: "shop",
    sub: "tom",
    roles: ["admin"],
    tenant: "t1",
    iat: 1000,
    exp: 1900,
  });
});

const ALGORITHMS: readonly SigningAlgorithm[] = [
  "EdDSA",
  "ES256",
  "ES384",
  "RS256",
  "PS256",
  "PS512",
];

test("JwtService signs with every algorithm, and others verify it by its key set", async () => {
  for (const algorithm of ALGORITHMS) {
    const service = new JwtService({ issuer, key: await JwtKey.generate(algorithm) });
    const token = await service.sign({ subject: "tom" });
    assert.equal((await service.verify(token)).claims.sub, "tom", algorithm);
    const jwks = createLocalJWKSet(JSON.parse(JSON.stringify(service.jwks())));
    assert.equal((await jwtVerify(token, jwks, { issuer })).payload.sub, "tom", algorithm);
  }
});

test("JwtService.verify() accepts previous keys until they are left out", async () => {
  const [old, fresh] = [await JwtKey.generate(), await JwtKey.generate("ES256")];
  const token = await new JwtService({ issuer, key: old }).sign({ subject: "tom" });
  const rotating = new JwtService({ issuer, key: fresh, acceptedKeys: [old] });
  const rotated = new JwtService({ issuer, key: fresh });
  assert.equal((await rotating.verify(token)).claims.sub, "tom");
  assert.equal(decodeProtectedHeader(await rotating.sign({ subject: "tom" })).kid, fresh.kid);
  assert.deepEqual(rotating.jwks().keys.map(({ kid }) => kid), [fresh.kid, old.kid]);
  await assert.rejects(rotated.verify(token), code("Validation"));
  const another = new JwtService({ issuer, key: await JwtKey.generate() });
  await assert.rejects(another.verify(token), code("UnknownKid"));
});

test("JwtService.verify() without an audience refuses tokens for one (RFC 7519 §4.1.3)", async () => {
  const key = await JwtKey.generate();
  const resets = new JwtService({ issuer, audience: "reset-link", key });
  const sessions = new JwtService({ issuer, key });
  const caching = sessions.cachingByDefault(10);
  const token = await resets.sign({ subject: "tom" });
  const isOfAudience = (error: unknown) =>
    error instanceof OAuth2Error && error.code === "InvalidClaim" && error.claim === "aud";
  await assert.rejects(sessions.verify(token), isOfAudience);
  await assert.rejects(caching.verify(token), isOfAudience);
  assert.equal((await resets.verify(token)).claims.sub, "tom");
  const session = await sessions.sign({ subject: "tom" });
  assert.equal((await caching.verify(session)).claims.sub, "tom");
  await assert.rejects(resets.verify(session), isOfAudience);
});

test("JwtService.verify() refuses tokens of others and expired ones", async () => {
  let now = 1_000_000;
  const key = await JwtKey.generate();
  const service = new JwtService({ issuer, audience: "shop", key, now: () => now });
  const token = await service.sign({ subject: "tom", expiresInSeconds: 10 });
  now += 9_999;
  await service.verify(token);
  now += 1;
  await assert.rejects(service.verify(token), code("InvalidClaim"));
  const other = new JwtService({ issuer: "https://other.example.com", audience: "shop", key });
  await assert.rejects(service.verify(await other.sign({ subject: "tom" })), code("InvalidClaim"));
  const elsewhere = new JwtService({ issuer, audience: "depot", key });
  await assert.rejects(
    service.verify(await elsewhere.sign({ subject: "tom" })),
    code("InvalidClaim"),
  );
});

test("JwtService refuses invalid content and options", async () => {
  const key = await JwtKey.generate();
  const service = new JwtService({ issuer, key });
  await assert.rejects(service.sign({ subject: "" }), TypeError);
  for (const name of ["iss", "aud", "sub", "exp", "nbf", "iat", "jti", "roles"]) {
    await assert.rejects(service.sign({ subject: "tom", claims: { [name]: "x" } }), {
      message: `Cannot sign token: the service sets ${name}`,
    });
  }
  await assert.rejects(service.sign({ subject: "x".repeat(16_000) }), {
    name: "RangeError",
    message: /^Cannot sign token: it has \d{5} characters of 16384$/,
  });
  for (const expiresInSeconds of [0, -1, 1.5, NaN, Infinity]) {
    await assert.rejects(service.sign({ subject: "tom", expiresInSeconds }), RangeError);
    assert.throws(() => new JwtService({ issuer, key, expiresInSeconds }), RangeError);
  }
  assert.throws(() => new JwtService({ issuer: "", key }), code("InvalidConfig"));
  assert.throws(() => new JwtService({ issuer, key, acceptedKeys: [key] }), code("InvalidConfig"));
});

test("JwtService refuses names that it does not know, and roles that are no list", async () => {
  const key = await JwtKey.generate();
  const options = { issuer: "https://api.example.com", key, audiance: "shop" };
  assert.throws(() => new JwtService(options), {
    name: "TypeError",
    message: "Cannot issue tokens: audiance is not an option",
  });
  const service = new JwtService({ issuer: "https://api.example.com", key });
  for (
    const [content, why] of [
      [{ role: ["admin"] }, "role is not an option, roles is"],
      [{ roles: "admin" }, "roles is not a list of texts"],
      [{ roles: ["admin", 1] }, "roles is not a list of texts"],
    ] as const
  ) {
    await assert.rejects(service.sign({ subject: "tom", ...content } as never), {
      name: "TypeError",
      message: `Cannot sign token: ${why}`,
    });
  }
});

test("JwtKey reads JSON Web Keys and PEM, and names a key by its thumbprint", async () => {
  const { privateKey } = await generateKeyPair("ES256", { extractable: true });
  const jwk = { ...await exportJWK(privateKey), alg: "ES256" };
  const key = await JwtKey.fromJwk(jwk);
  assert.match(key.kid, /^[\w-]{43}$/);
  assert.equal((await JwtKey.fromJwk(JSON.stringify(jwk))).kid, key.kid);
  assert.equal((await JwtKey.fromJwk({ ...jwk, kid: "mine" })).kid, "mine");
  assert.deepEqual(Object.keys(key.publicJwk).sort(), [
    "alg",
    "crv",
    "kid",
    "kty",
    "use",
    "x",
    "y",
  ]);

  const pem = generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" });
  const fromPem = await JwtKey.fromPem(String(pem).replaceAll("\n", "\\n"));
  const service = new JwtService({ issuer, key: fromPem });
  assert.equal((await service.verify(await service.sign({ subject: "tom" }))).claims.sub, "tom");
});

test("JwtKey refuses values that are not a safe private key, and quotes nothing", async () => {
  const secret = "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LXNlY3I";
  const { publicKey } = await generateKeyPair("EdDSA", { extractable: true });
  const weak = generateKeyPairSync("rsa", { modulusLength: 1024 }).privateKey;
  const unfit: unknown[] = [
    "",
    secret,
    `{"kty":"oct","k":"${secret}","alg":"HS256"}`,
    { kty: "oct", k: secret, alg: "HS256" },
    { kty: "OKP", crv: "Ed25519", d: secret, x: secret, alg: "none" },
    { kty: "OKP", crv: "Ed25519", d: secret },
    await exportJWK(publicKey),
    { ...weak.export({ format: "jwk" }), alg: "RS256" },
    null,
    7,
  ];
  for (const jwk of unfit) {
    await assert.rejects(JwtKey.fromJwk(jwk as string), (error: Error) => {
      assert.ok(code("InvalidConfig")(error) && !("cause" in error));
      return error.message === "Cannot use key: it is not a private key that is safe for signing";
    });
  }
  await assert.rejects(JwtKey.fromPem(secret), {
    code: "InvalidConfig",
    message:
      "Cannot use key: it is not a private key of EdDSA in PKCS #8 (`openssl pkey` converts it)",
  });
});

test("JwtKey refuses a private part and a public part of different keys", async () => {
  for (const algorithm of ["EdDSA", "ES256", "RS256"]) {
    const [one, other] = await Promise.all([1, 2].map(async () => {
      const { privateKey } = await generateKeyPair(algorithm, { extractable: true });
      return await exportJWK(privateKey);
    }));
    const { x, y, n, e } = other!;
    const mixed = { ...one, ...(x && { x }), ...(y && { y }), ...(n && { n, e }), alg: algorithm };
    await assert.rejects(JwtKey.fromJwk(mixed), code("InvalidConfig"), algorithm);
  }
});
