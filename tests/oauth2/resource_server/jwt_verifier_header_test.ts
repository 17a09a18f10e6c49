import assert from "node:assert/strict";
import { test } from "../../support/test.ts";
import { JwksServer } from "./jwks_server.ts";
import { assertOutcomes, type Case } from "./outcome.ts";
import { accepting, verifierOf } from "./resource_server.ts";
import { SigningKey } from "./signing_key.ts";

const key = await SigningKey.generate("ES256");

test("JwtVerifier.verify() refuses a kid that is empty or not a string before any key lookup", async () => {
  await using server = await JwksServer.start(key.jwk);
  const kids: unknown[] = [undefined, null, "", 0, 1, 1e999, true, false, [], [key.kid]];
  kids.push([[key.kid]], {}, { kid: key.kid }, { toString: key.kid }, { 0: key.kid });
  await assertOutcomes(
    verifierOf(server),
    kids.map((
      kid,
      i,
    ): Case => [`${i}: ${JSON.stringify(kid)}`, key.forgeWith({ kid }), "Validation"]),
  );
  assert.equal(server.requestCount, 0);
});

test("JwtVerifier.verify() finds keys by exactly their kid, and fetches once for several", async () => {
  const plain = await SigningKey.generate("ES256", { kid: "key-1" });
  await using server = await JwksServer.start(plain.jwk);
  const kids = ["__proto__", "constructor", "toString", "hasOwnProperty", "valueOf", "prototype"];
  kids.push("get", "size", "length", "undefined", "null", "NaN", "0", "[object Object]", "*", "%");
  kids.push(
    "/etc/passwd",
    "../../../../dev/null",
    "..\\..\\key",
    "file:///dev/null",
    "key-1/../key-1",
  );
  kids.push("http://127.0.0.1:1/key-1", "//127.0.0.1/key-1", "key-1?x", "key-1#x", "./key-1");
  kids.push("key-1'; DROP TABLE keys; --", "' OR '1'='1", "${7*7}", "{{7*7}}", "$(id)", "`id`");
  kids.push(
    "KEY-1",
    "Key-1",
    "key-1 ",
    " key-1",
    "key-1\0",
    "key-1\n",
    "\ufeffkey-1",
    "key‐1",
    "key-１",
  );
  kids.push("key-", "key-11", "key", "k", " ", "\0", "\ud800", "🔑", "x".repeat(10_000));
  await assertOutcomes(
    verifierOf(server),
    kids.map((kid): Case => [JSON.stringify(kid), plain.forgeWith({ kid }), "UnknownKid"]),
  );
  assert.equal(server.requestCount, 1);
});

test("JwtVerifier.verify() finds a key by whatever kid it has", async () => {
  const kids = [
    "__proto__",
    "constructor",
    "toString",
    "../../etc/passwd",
    " ",
    "\0",
    "é",
    "e\u0301",
  ];
  kids.push("🔑", "\ud800", "a'b\"c", "x".repeat(8_000));
  const keys = await Promise.all(kids.map((kid) => SigningKey.generate("ES256", { kid })));
  await using server = await JwksServer.start(...keys.map(({ jwk }) => jwk));
  const cases = keys.map((
    each,
  ): Case => [JSON.stringify(each.kid), each.forgeWith({}), "accepted"]);
  cases.push(["of another", keys[0]?.forgeWith({ kid: "constructor" }), "InvalidSignature"]);
  await assertOutcomes(verifierOf(server), cases);
});

test("JwtVerifier.verify() refuses crit and b64 of every kind before any key lookup", async () => {
  await using server = await JwksServer.start(key.jwk);
  const crits: unknown[] = [[], ["exp"], ["b64"], ["alg"], ["kid"], ["crit"], ["x"], [""], [null]];
  crits.push(["exp", "exp"], "exp", "", null, true, false, 0, {}, { 0: "exp" }, [["exp"]]);
  crits.push(["http://example.invalid/UNDEFINED"], ["__proto__"], Array(500).fill("exp"));
  const headers = [
    ...crits.map((crit) => ({ crit })),
    ...crits.map((crit) => ({ crit, exp: 1, b64: true, x: 1 })),
    ...[true, false, null, "true", 0, 1, [], {}].map((b64) => ({ b64 })),
    { b64: false, crit: ["b64"] },
    { b64: true, crit: ["b64"] },
  ];
  assert.equal(headers.length, 54);
  await assertOutcomes(
    verifierOf(server),
    headers.map((header, i): Case => {
      const name = `${i}: ${JSON.stringify(header).slice(0, 60)}`;
      return [name, key.forgeWith(header), "Validation"];
    }),
  );
  assert.equal(server.requestCount, 0);
});

test("JwtVerifier.verify() never uses a key in a token, nor fetches one from a URL in it", async () => {
  const attacker = await SigningKey.generate("ES256", { kid: "attacker" });
  await using server = await JwksServer.start(key.jwk);
  await using evil = await JwksServer.start(attacker.jwk, attacker.jwkWith({ kid: key.kid }));
  const jwk = attacker.jwkWith({ kid: key.kid });
  const temptations: readonly (readonly [string, Record<string, unknown>])[] = [
    ["jwk", { jwk }],
    ["jwk, private", { jwk: { ...attacker.privateJwk, kid: key.kid } }],
    ["jwk, symmetric", { jwk: { kty: "oct", k: "AAAA", kid: key.kid } }],
    ["jwk, null", { jwk: null }],
    ["jwk, text", { jwk: JSON.stringify(jwk) }],
    ["jwks", { jwks: { keys: [jwk] } }],
    ["keys", { keys: [jwk] }],
    ["jku", { jku: evil.url }],
    ["jku, list", { jku: [evil.url] }],
    ["jku, protocol-relative", { jku: evil.url.slice("http:".length) }],
    ["jku, user name of the true host", { jku: evil.url.replace("//", "//id.example.com@") }],
    ["x5u", { x5u: evil.url }],
    ["x5c", { x5c: ["MIIB", evil.url] }],
    ["x5c, empty", { x5c: [] }],
    ["x5t", { x5t: "AAAA", "x5t#S256": "AAAA" }],
    ["url, as in ACME", { url: evil.url, nonce: "AAAA" }],
    ["iss", { iss: new URL(evil.url).origin }],
    ["all", { jwk, jku: evil.url, x5u: evil.url, x5c: [evil.url] }],
  ];
  const cases = temptations.flatMap(([name, header]): Case[] => [
    [
      `${name}, kid of the good key`,
      attacker.forgeWith({ ...header, kid: key.kid }),
      "InvalidSignature",
    ],
    [`${name}, kid of its own`, attacker.forgeWith(header), "UnknownKid"],
    [`${name}, signed by the good key`, key.forgeWith(header), "accepted"],
  ]);
  await assertOutcomes(verifierOf(server), cases);
  assert.deepEqual([server.requestCount, evil.requestCount], [1, 0]);
});

test("JwtVerifier.verify() accepts a token type as RFC 7515 compares it, and no other", async () => {
  await using server = await JwksServer.start(key.jwk);
  const accepted = ["at+jwt", "AT+JWT", "At+Jwt", "application/at+jwt", "Application/AT+JWT"];
  const refused: unknown[] = [
    undefined,
    null,
    "",
    "JWT",
    "jwt",
    "at",
    "at+jwt ",
    " at+jwt",
    "at jwt",
  ];
  refused.push("at%2Bjwt", "at+jwt; charset=utf-8", "at+jwt\0", "at+jwts", "aat+jwt", "id+jwt");
  refused.push(
    "application/application/at+jwt",
    "text/at+jwt",
    "application/",
    "/at+jwt",
    "x/at+jwt",
  );
  refused.push("application\\at+jwt", "dpop+jwt", "logout+jwt", "secevent+jwt", "ａt+jwt");
  refused.push(0, 1, true, ["at+jwt"], { 0: "at+jwt" }, { toString: "at+jwt" });
  const cases = [
    ...accepted.map((typ): Case => [`${typ}`, key.forgeWith({ typ }), "accepted"]),
    ...refused.map((
      typ,
    ): Case => [JSON.stringify(typ) ?? "none", key.forgeWith({ typ }), "Validation"]),
  ];
  for (const name of ["at+jwt", "AT+jwt", "application/at+jwt"]) {
    await assertOutcomes(verifierOf(server, accepting("ES256").withTokenType(name)), cases);
  }
  await assertOutcomes(
    verifierOf(server),
    cases.map(([name, token]): Case => [`${name}, any type accepted`, token, "accepted"]),
  );
});

test("JwtVerifier.verify() refuses a token of another type before any key lookup", async () => {
  await using server = await JwksServer.start(key.jwk);
  const verifier = verifierOf(server, accepting("ES256").withTokenType("at+jwt"));
  await assertOutcomes(verifier, [["JWT", key.token({}, { typ: "JWT" }), "Validation"]]);
  assert.equal(server.requestCount, 0);
});

test("JwtVerifier.verify() returns the whole header, without inherited members", async () => {
  await using server = await JwksServer.start(key.jwk);
  const header =
    `{"alg":"ES256","kid":"${key.kid}","typ":"JWT","x":{"y":[1]},"__proto__":{"crit":[]}}`;
  const verified = await verifierOf(server).verify(await key.forge(header));
  assert.deepEqual(JSON.stringify(verified.header), header);
  assert.equal(Object.getPrototypeOf(verified.header), Object.prototype);
});
