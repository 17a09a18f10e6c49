import assert from "node:assert/strict";
import { type AddressInfo, createServer } from "node:net";
import process from "node:process";
import { JwksCache } from "../../../src/oauth2/resource_server/jwks_cache.ts";
import { JwtVerifier } from "../../../src/oauth2/resource_server/jwt_verifier.ts";
import { ValidationConfig } from "../../../src/oauth2/resource_server/validation_config.ts";
import { test } from "../../support/test.ts";
import {
  breakOff,
  drip,
  endless,
  gzipBomb,
  hang,
  JwksServer,
  redirect,
  type Reply,
  text,
} from "./jwks_server.ts";
import { outcomeOf } from "./outcome.ts";
import { verifierBy } from "./skipped_keys.ts";
import { NOW, SigningKey } from "./signing_key.ts";

const HOUR_MS = 60 * 60_000;
const TIMEOUT_MS = 300;
const LIMIT = 1024 * 1024;

const key = await SigningKey.generate("ES256", { kid: "known" });
const KNOWN = await key.token();
const UNKNOWN = await key.forgeWith({ kid: "unknown" });
const SET = JSON.stringify({ keys: [key.jwk] });

/** A key of an algorithm that the verifier does not accept. */
const other = await SigningKey.generate("RS256");

const NO_KEY = "it has no key that can verify signatures";

/** Failures, and their messages. */
const OUTAGES: readonly (readonly [string, Reply, string])[] = [
  ["400", text(SET, { status: 400 }), "the answer is 400"],
  ["401", text(SET, { status: 401 }), "the answer is 401"],
  ["404", text("Not Found", { status: 404 }), "the answer is 404"],
  ["429", text("{}", { status: 429 }), "the answer is 429"],
  ["500", text(SET, { status: 500 }), "the answer is 500"],
  ["503", text("", { status: 503 }), "the answer is 503"],
  ["201 with a key set", text(SET, { status: 201 }), "the answer is 201"],
  ["204", text("", { status: 204 }), "the answer is 204"],
  ["206 with a key set", text(SET, { status: 206 }), "the answer is 206"],
  ["nothing", text(""), "the answer is not JSON"],
  [
    "HTML",
    text("<html>Down for maintenance</html>", { type: "text/html" }),
    "the answer is not JSON",
  ],
  ["half JSON", text(SET.slice(0, SET.length / 2)), "the answer is not JSON"],
  ["two key sets", text(SET + SET), "the answer is not JSON"],
  ["JSONP", text(`callback(${SET})`), "the answer is not JSON"],
  ["null", text("null"), "it is not a key set"],
  ["a text", text(JSON.stringify(SET)), "it is not a key set"],
  ["a list", text(`[${SET}]`), "it is not a key set"],
  ["a list of keys", text(JSON.stringify([key.jwk])), "it is not a key set"],
  ["one key", text(JSON.stringify(key.jwk)), "it is not a key set"],
  ["an empty object", text("{}"), "it is not a key set"],
  ["keys null", text('{"keys":null}'), "it is not a key set"],
  ["keys an object", text(JSON.stringify({ keys: { 0: key.jwk } })), "it is not a key set"],
  ["an error object", text('{"error":"server_error"}'), "it is not a key set"],
  ["no keys", text('{"keys":[]}'), NO_KEY],
  ["keys that are not keys", text('{"keys":[null,{},"key",7,[]]}'), NO_KEY],
  ["a key for encryption", text(setOf({ use: "enc" })), NO_KEY],
  ["a key without kid", text(setOf({ kid: undefined })), NO_KEY],
  ["a key of another type", text(setOf({ kty: "RSA" })), NO_KEY],
  ["half a key", text(setOf({ y: undefined })), NO_KEY],
  ["a point that is not on the curve", text(setOf({ x: key.jwk.y })), NO_KEY],
  [
    "keys of another algorithm",
    text(JSON.stringify({ keys: [other.jwk] })),
    "it has no key for ES256",
  ],
  ["a thousand keys", text(manyKeys(1_000)), "it has more than 200 keys"],
  ["a body over the limit", text(SET + " ".repeat(LIMIT)), `the answer is over ${LIMIT} bytes`],
  ["a body that never ends", endless(), `the answer is over ${LIMIT} bytes`],
  [
    "a key set that never ends",
    endless(`{"keys":[${"null,".repeat(9_999)}`),
    `the answer is over ${LIMIT} bytes`,
  ],
  ["100 MB, packed", gzipBomb(100), `the answer is over ${LIMIT} bytes`],
  ["silence", hang(), `no answer in ${TIMEOUT_MS} ms`],
  ["silence after the head", hang({ after: "" }), `no answer in ${TIMEOUT_MS} ms`],
  ["silence amid a key set", hang({ after: SET.slice(0, 20) }), `no answer in ${TIMEOUT_MS} ms`],
  ["drop by drop", drip(), `no answer in ${TIMEOUT_MS} ms`],
  ["silence after a key set", hang({ after: SET }), `no answer in ${TIMEOUT_MS} ms`],
  ["a closed connection", breakOff(), "the connection failed"],
  ["a closed connection amid a key set", breakOff({ after: SET }), "the connection failed"],
];

/** A set of the known key, with other members. */
function setOf(members: Readonly<Record<string, unknown>>): string {
  return JSON.stringify({ keys: [key.jwkWith(members)] });
}

function manyKeys(count: number): string {
  const keys = Array.from({ length: count }, (_, i) => key.jwkWith({ kid: `${i}` }));
  return JSON.stringify({ keys: [key.jwk, ...keys] });
}

/** A cache by a clock that a test moves, with the keys of a server that is well. */
async function loadedCache(server: JwksServer, timeoutMs = TIMEOUT_MS) {
  const clock = { ms: NOW * 1000 };
  const cache = new JwksCache(server.url, { now: () => clock.ms, timeoutMs });
  const verifier = verifierBy(cache);
  await verifier.verify(KNOWN);
  return { cache, clock, verifier };
}

async function timed<T>(operation: Promise<T>): Promise<[T, number]> {
  const started = performance.now();
  return [await operation, performance.now() - started];
}

for (const [name, reply, reason] of OUTAGES) {
  // where it is not the time that is up, there is enough of it
  const timeoutMs = reason.startsWith("no answer") ? TIMEOUT_MS : 5_000;
  test(`JwksCache uses the keys it has while the provider answers ${name}`, async () => {
    await using server = await JwksServer.start(key.jwk);
    const { cache, clock, verifier } = await loadedCache(server, timeoutMs);
    server.reply = reply;

    const refresh = cache.refresh();
    const [miss, missMs] = await timed(outcomeOf(verifier.verify(UNKNOWN)));
    assert.equal(miss, "JwksFetch");
    assert(missMs < TIMEOUT_MS + 2_000, `a miss took ${missMs} ms`);
    await assert.rejects(refresh, {
      name: "OAuth2Error",
      code: "JwksFetch",
      httpStatus: 503,
      message: `Cannot fetch keys: ${reason}`,
    });

    const outcomes = [];
    for (const hours of [0, 1, 24]) {
      clock.ms = NOW * 1000 + hours * HOUR_MS;
      const before = server.requestCount;
      outcomes.push(await outcomeOf(verifier.verify(KNOWN)));
      const isTried = hours > 0; // nothing was tried lately
      if (timeoutMs === TIMEOUT_MS) assert.equal(server.requestCount, before + Number(isTried));
    }
    clock.ms++;
    outcomes.push(await outcomeOf(verifier.verify(KNOWN)));
    server.reply = undefined;
    let last = "";
    const attempts = timeoutMs === TIMEOUT_MS ? 5 : 1; // a busy machine exceeds the short limit
    for (let i = 0; i < attempts && last !== "accepted"; i++) {
      last = await outcomeOf(verifier.verify(KNOWN));
    }
    outcomes.push(last);
    // keys of another algorithm are good as soon as those of the last one are too old
    const late = name === "keys of another algorithm" ? "UnknownKid" : "JwksFetch";
    assert.deepEqual(outcomes, ["accepted", "accepted", "accepted", late, "accepted"]);
    assert.equal(cache.size, 1);
  });
}

test("JwksCache follows no redirect, wherever it leads", async () => {
  await using target = await JwksServer.start(key.jwk);
  await using server = await JwksServer.start(key.jwk);
  for (const status of [301, 302, 303, 307, 308]) {
    for (
      const location of [target.url, "/jwks", "data:application/json,{}", "file:///etc/passwd", ""]
    ) {
      server.reply = redirect(location, status);
      await assert.rejects(new JwksCache(server.url).refresh(), {
        message: `Cannot fetch keys: the answer is ${status}`,
      });
    }
  }
  assert.deepEqual([server.requestCount, target.requestCount], [25, 0]);
});

test("JwksCache uses the keys it has while the provider is gone", async () => {
  const server = await JwksServer.start(key.jwk);
  const { cache, clock, verifier } = await loadedCache(server);
  await server[Symbol.asyncDispose]();
  clock.ms += 23 * HOUR_MS;
  assert.equal(await outcomeOf(verifier.verify(UNKNOWN)), "JwksFetch");
  assert.equal(await outcomeOf(verifier.verify(KNOWN)), "accepted");
  await assert.rejects(cache.refresh(), { message: "Cannot fetch keys: the connection failed" });
});

test("JwksCache treats an answer that is not HTTP as a failed connection", async () => {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.end("SSH-2.0-OpenSSH_9.9\r\n\r\n", () => socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const { port } = server.address() as AddressInfo;
    await assert.rejects(
      new JwksCache(`http://127.0.0.1:${port}/`, { timeoutMs: 2_000 }).refresh(),
      {
        code: "JwksFetch",
      },
    );
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
});

test("JwksCache reads up to 1 MiB", async () => {
  await using server = await JwksServer.start();
  const cache = new JwksCache(server.url);
  server.reply = text(SET.padEnd(LIMIT));
  await cache.refresh();
  assert.equal(cache.size, 1);
  server.reply = text(SET.padEnd(LIMIT + 1));
  await assert.rejects(cache.refresh(), { code: "JwksFetch" });

  const rssBefore = process.memoryUsage().rss;
  server.reply = endless();
  const caches = Array.from({ length: 20 }, () => new JwksCache(server.url));
  const outcomes = await Promise.all(caches.map((each) => outcomeOf(each.refresh())));
  assert.deepEqual(new Set(outcomes), new Set(["JwksFetch"]));
  const grownBytes = process.memoryUsage().rss - rssBefore;
  assert(grownBytes < 200 * LIMIT, `the process has grown by ${grownBytes} bytes`);
});

test("JwksCache fails with JwksFetch for all lookups while the provider hangs, each within the time limit", async () => {
  await using server = await JwksServer.start(key.jwk);
  const { cache, verifier } = await loadedCache(server);
  server.reply = hang();
  const misses = Array.from({ length: 500 }, (_, i) => key.forgeWith({ kid: `${i}` }));
  const tokens = await Promise.all(misses);
  const [outcomes, tookMs] = await timed(
    Promise.all(tokens.map((token) => outcomeOf(verifier.verify(token)))),
  );
  assert.deepEqual(new Set(outcomes), new Set(["JwksFetch"]));
  assert(tookMs >= TIMEOUT_MS - 50 && tookMs < TIMEOUT_MS + 2_000, `it took ${tookMs} ms`);
  assert.deepEqual([server.requestCount, cache.fetchCount], [2, 2]);
});

test("JwksCache fails with JwksFetch until it has keys, and recovers with the provider", async () => {
  await using server = await JwksServer.start(key.jwk);
  server.reply = text("", { status: 503 });
  const cache = new JwksCache(server.url);
  const verifier = verifierBy(cache);
  assert.deepEqual([await outcomeOf(verifier.verify(KNOWN)), cache.ageMs], [
    "JwksFetch",
    undefined,
  ]);
  server.reply = undefined;
  assert.deepEqual([await outcomeOf(verifier.verify(KNOWN)), cache.size], ["accepted", 1]);
});

test("JwtVerifier.fromUrl() fetches the keys, and fails if that fails", async () => {
  await using server = await JwksServer.start(key.jwk);
  const verifier = await JwtVerifier.fromUrl(server.url, new ValidationConfig("ES256"), {
    now: () => NOW * 1000,
  });
  assert.equal(server.requestCount, 1);
  assert.equal(await outcomeOf(verifier.verify(KNOWN)), "accepted");
  assert.equal(server.requestCount, 1);
  server.reply = text("", { status: 500 });
  const config = new ValidationConfig();
  assert.deepEqual(
    [
      await outcomeOf(JwtVerifier.fromUrl(server.url, config)),
      await outcomeOf(JwtVerifier.fromUrl("http://example.com/jwks", config)),
      await outcomeOf(JwtVerifier.fromUrl(server.url, config, { cacheTokens: -1 })),
      await outcomeOf(JwtVerifier.fromUrl(server.url, config, { timeoutMs: 0 })),
      server.requestCount,
    ],
    ["JwksFetch", "InvalidConfig", "InvalidConfig", "InvalidConfig", 2],
  );
});
