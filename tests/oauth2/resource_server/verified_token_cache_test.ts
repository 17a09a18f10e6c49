import assert from "node:assert/strict";
import { JwksCache } from "../../../src/oauth2/resource_server/jwks_cache.ts";
import {
  JwtVerifier,
  type JwtVerifierOptions,
} from "../../../src/oauth2/resource_server/jwt_verifier.ts";
import { test } from "../../support/test.ts";
import { eventually } from "./eventually.ts";
import { JwksServer, text } from "./jwks_server.ts";
import { outcomeOf } from "./outcome.ts";
import { accepting } from "./resource_server.ts";
import { CLAIMS, NOW, SigningKey } from "./signing_key.ts";

const key = await SigningKey.generate("ES256", { kid: "key" });
const other = await SigningKey.generate("ES256", { kid: "other" });

/** A verifier that keeps tokens, by a clock that a test moves. */
function caching(server: JwksServer, options: JwtVerifierOptions = { cacheTokens: 10 }) {
  const clock = { ms: NOW * 1000 };
  const cache = new JwksCache(server.url, { now: () => clock.ms });
  const config = accepting("ES256");
  const verifier = new JwtVerifier(cache, config, { now: () => clock.ms, ...options });
  return { cache, clock, verifier };
}

/** Tells whether a token is found again: then its claims are the same object. */
async function isKept(verifier: JwtVerifier, token: string): Promise<boolean> {
  const { claims } = await verifier.verify(token);
  return (await verifier.verify(token)).claims === claims;
}

test("JwtVerifier caches no tokens by default", async () => {
  await using server = await JwksServer.start(key.jwk);
  const token = await key.token();
  assert.equal(await isKept(caching(server, {}).verifier, token), false);
  assert.equal(await isKept(caching(server, { cacheTokens: 0 }).verifier, token), false);
  assert.equal(await isKept(caching(server, { cacheTokens: 1 }).verifier, token), true);
});

test("JwtVerifier.cachingByDefault() caches tokens unless cacheTokens is set", async () => {
  await using server = await JwksServer.start(key.jwk);
  const token = await key.token();
  const undecided = caching(server, {}).verifier;
  const decided = [0, 5].map((cacheTokens) => caching(server, { cacheTokens }).verifier);
  assert.equal(await isKept(undecided.cachingByDefault(10), token), true);
  assert.equal(await isKept(undecided, token), false);
  for (const verifier of decided) assert.equal(verifier.cachingByDefault(10), verifier);
  const expired = await key.token({ exp: NOW - 61 });
  assert.equal(
    await outcomeOf(undecided.cachingByDefault(10).verify(expired)),
    "InvalidClaim exp",
  );
  const foreign = undecided.cachingByDefault(10).verify(await key.token({ iss: "x" }));
  assert.equal(await outcomeOf(foreign), "InvalidClaim iss");
});

test("JwtVerifier returns the same result for a cached token, and another one for another token", async () => {
  await using server = await JwksServer.start(key.jwk, other.jwk);
  const { verifier } = caching(server);
  const [ada, eve] = [await key.token(), await other.token({ sub: "eve" })];
  for (let i = 0; i < 3; i++) {
    assert.deepEqual(await verifier.verify(ada), {
      header: { alg: "ES256", kid: "key" },
      claims: { ...CLAIMS },
    });
    assert.deepEqual(await verifier.verify(eve), {
      header: { alg: "ES256", kid: "other" },
      claims: { ...CLAIMS, sub: "eve" },
    });
  }
});

test("JwtVerifier caches at most cacheTokens, and drops the oldest", async () => {
  await using server = await JwksServer.start(key.jwk);
  const { verifier } = caching(server, { cacheTokens: 3 });
  const tokens = await Promise.all([1, 2, 3, 4, 5].map((jti) => key.token({ jti })));
  const claims = [];
  for (const token of tokens) claims.push((await verifier.verify(token)).claims);
  const kept = [];
  for (const i of [4, 3, 2, 1, 0]) {
    kept.push((await verifier.verify(tokens[i] ?? "")).claims === claims[i]);
  }
  assert.deepEqual(kept, [true, true, true, false, false]);
});

test("JwtVerifier counts a token once that many verify at the same time", async () => {
  await using server = await JwksServer.start(key.jwk);
  const { verifier } = caching(server, { cacheTokens: 2 });
  const [first = "", second = ""] = await Promise.all([1, 2].map((jti) => key.token({ jti })));
  const before = await verifier.verify(first);
  await Promise.all(Array.from({ length: 100 }, () => verifier.verify(second)));
  assert.equal((await verifier.verify(first)).claims, before.claims);
});

test("JwtVerifier does not use a cached token after exp, not even within the leeway", async () => {
  await using server = await JwksServer.start(key.jwk);
  const { clock, verifier } = caching(server);
  const token = await key.token({ exp: NOW + 10 });
  const { claims } = await verifier.verify(token);
  clock.ms = (NOW + 10) * 1000 - 1;
  assert.equal((await verifier.verify(token)).claims, claims);
  for (const ms of [0, 1, 59_999]) {
    clock.ms = (NOW + 10) * 1000 + ms;
    assert.notEqual((await verifier.verify(token)).claims, claims); // verified again
    assert.equal(await isKept(verifier, token), false);
  }
  clock.ms = (NOW + 70) * 1000;
  assert.equal(await outcomeOf(verifier.verify(token)), "InvalidClaim exp");
});

test("JwtVerifier replaces an expired token in its cache", async () => {
  await using server = await JwksServer.start(key.jwk);
  const { clock, verifier } = caching(server, { cacheTokens: 2 });
  const first = await key.token();
  const { claims } = await verifier.verify(first);
  const short = await key.token({ exp: NOW + 1 });
  await verifier.verify(short);
  clock.ms += 100_000;
  assert.equal(await outcomeOf(verifier.verify(short)), "InvalidClaim exp");
  await verifier.verify(await key.token({ jti: "another" }));
  assert.equal((await verifier.verify(first)).claims, claims);
});

test("JwtVerifier drops a cached token when its key leaves the key set", async () => {
  await using server = await JwksServer.start(key.jwk, other.jwk);
  const { cache, verifier } = caching(server);
  const token = await key.token();
  await verifier.verify(token);
  server.keys = [other.jwk];
  assert.equal(await outcomeOf(verifier.verify(token)), "accepted");
  await cache.refresh();
  assert.equal(await outcomeOf(verifier.verify(token)), "UnknownKid");
});

test("JwtVerifier drops a cached token when another key has its kid", async () => {
  await using server = await JwksServer.start(key.jwk);
  const { cache, verifier } = caching(server);
  const token = await key.token();
  await verifier.verify(token);
  server.keys = [other.jwkWith({ kid: "key" })];
  await cache.refresh();
  assert.equal(await outcomeOf(verifier.verify(token)), "InvalidSignature");
  server.keys = [other.jwkWith({ kid: "key" }), key.jwk];
  await cache.refresh();
  assert.equal(await outcomeOf(verifier.verify(token)), "accepted");
});

test("JwtVerifier keeps a cached token while its key stays in the key set, when other keys change", async () => {
  await using server = await JwksServer.start(key.jwk);
  const { cache, verifier } = caching(server);
  const token = await key.token();
  const { claims } = await verifier.verify(token);
  await cache.refresh();
  assert.equal((await verifier.verify(token)).claims, claims);
  server.keys = [other.jwk, key.jwk];
  await cache.refresh();
  assert.equal((await verifier.verify(token)).claims, claims);
  server.reply = text("", { status: 500 });
  await cache.refresh().catch(() => {});
  assert.equal((await verifier.verify(token)).claims, claims);
});

test("JwtVerifier does not use a cached token when its keys are too stale", async () => {
  await using server = await JwksServer.start(key.jwk);
  const { cache, clock, verifier } = caching(server);
  const token = await key.token({ exp: NOW + 10 * 24 * 3600 });
  await verifier.verify(token);
  server.reply = text("", { status: 500 });
  clock.ms += 24 * 3600_000;
  assert.equal(await outcomeOf(verifier.verify(token)), "accepted");
  await cache.refresh().catch(() => {}); // the one in the background
  clock.ms += 1;
  assert.equal(await outcomeOf(verifier.verify(token)), "JwksFetch");
});

test("JwtVerifier refreshes keys that are due even if all tokens are cached", async () => {
  await using server = await JwksServer.start(key.jwk);
  const { cache, clock, verifier } = caching(server);
  const token = await key.token({ exp: NOW + 24 * 3600 });
  await verifier.verify(token);
  clock.ms += 16 * 60_000;
  await verifier.verify(token);
  await eventually("a fetch is begun", () => cache.fetchCount === 2);
  await cache.refresh();
});

test("JwtVerifier freezes cached results deeply", async () => {
  await using server = await JwksServer.start(key.jwk);
  const { verifier } = caching(server);
  const token = await key.forgeWith({ x: { y: [{}] } }, {
    ...CLAIMS,
    roles: ["user"],
    realm_access: { roles: ["user"], deep: [{ er: {} }] },
    empty: {},
    none: null,
  });
  for (let i = 0; i < 2; i++) {
    const { header, claims } = await verifier.verify(token);
    assert.deepEqual(thawed({ header, claims }), []);
    assert.throws(() => (claims.roles as string[]).push("admin"), TypeError);
    assert.throws(() => Object.assign(claims, { sub: "eve" }), TypeError);
    assert.throws(() => Object.assign(header, { kid: "eve" }), TypeError);
  }
});

test("JwtVerifier without a cache returns new claims for each call, and a frozen header", async () => {
  await using server = await JwksServer.start(key.jwk);
  const { verifier } = caching(server, {});
  const token = await key.token({ roles: ["user"] });
  const first = await verifier.verify(token);
  Object.assign(first.claims, { sub: "eve" });
  (first.claims.roles as string[]).push("admin");
  assert.throws(() => Object.assign(first.header, { kid: "eve" }), TypeError);
  const second = await verifier.verify(token);
  assert.deepEqual(second.claims, { ...CLAIMS, roles: ["user"] });
});

test("JwtVerifier does not confuse a cached token with one that differs in a single character", async () => {
  await using server = await JwksServer.start(key.jwk);
  const { verifier } = caching(server);
  const token = await key.token();
  await verifier.verify(token);
  // in the header it may select another key: below
  for (let i = token.indexOf("."); i < token.length; i++) {
    for (
      const character of ["A", "B", token.charAt(i).toUpperCase(), token.charAt(i).toLowerCase()]
    ) {
      if (character === token.charAt(i)) continue;
      const changed = token.slice(0, i) + character + token.slice(i + 1);
      assert.notEqual(await outcomeOf(verifier.verify(changed)), "accepted", `character ${i}`);
    }
  }
  for (const changed of [` ${token}`, `${token} `, `${token}\n`, `${token}=`, token.slice(0, -1)]) {
    assert.equal(await outcomeOf(verifier.verify(changed)), "Validation");
  }
  const header = await key.forgeWith({ kid: `${key.kid}\0` });
  const swapped = token.replace(/^[^.]+/, header.split(".")[0] ?? "");
  assert.equal(await outcomeOf(verifier.verify(swapped)), "UnknownKid");
  assert.equal(await isKept(verifier, token), true);
});

test("JwtVerifier does not cache refused tokens", async () => {
  await using server = await JwksServer.start(key.jwk);
  const { clock, verifier } = caching(server);
  const early = await key.token({ nbf: NOW + 100 });
  assert.equal(await outcomeOf(verifier.verify(early)), "InvalidClaim nbf");
  clock.ms += 40_000;
  assert.equal(await outcomeOf(verifier.verify(early)), "accepted");
  const foreign = await key.token({ aud: "x" });
  for (let i = 0; i < 2; i++) {
    assert.equal(await outcomeOf(verifier.verify(foreign)), "InvalidClaim aud");
  }
});

test("two JwtVerifiers of one JwksCache do not share cached tokens", async () => {
  await using server = await JwksServer.start(key.jwk);
  const { cache, verifier } = caching(server);
  const stricter = new JwtVerifier(cache, accepting("ES256").withAudience("other"), {
    cacheTokens: 10,
    now: () => NOW * 1000,
  });
  const token = await key.token();
  assert.equal(await outcomeOf(verifier.verify(token)), "accepted");
  assert.equal(await outcomeOf(stricter.verify(token)), "InvalidClaim aud");
});

/** Lists the paths of members that are not frozen. */
function thawed(value: unknown, path = ""): string[] {
  if (typeof value !== "object" || value === null) return [];
  const inside = Object.entries(value).flatMap(([name, member]) =>
    thawed(member, `${path}.${name}`)
  );
  // the pair itself is created for each caller, or frozen
  return Object.isFrozen(value) || path === "" ? inside : [path, ...inside];
}
