/** A key set in workerd, where the promises of a finished request never settle. */
import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { test } from "../support/test.ts";
import { bundle } from "./bundle.ts";
import { Site } from "./site.ts";

interface Habits {
  /** The time after which the keys are refreshed, in milliseconds. */
  readonly windowMs: number;
  /** The time limit of a fetch, in milliseconds. */
  readonly timeoutMs: number;
  /** Whether it passes its execution context to the verifier. */
  readonly waitUntil: boolean;
}

/** A Worker that responds with the result for a token and the number of its key fetches. */
function worker({ windowMs, timeoutMs, waitUntil }: Habits): string {
  return `
import { JwksCache, JwtVerifier, ValidationConfig } from "./src/oauth2/mod.ts";

let made;
function make({ OAUTH2_ISSUER, OAUTH2_AUDIENCE, OAUTH2_JWKS_URL }) {
  const keys = new JwksCache(OAUTH2_JWKS_URL, { timeoutMs: ${timeoutMs} }).withRefreshWindow(${windowMs});
  const config = new ValidationConfig("ES256").withIssuer(OAUTH2_ISSUER);
  const verifier = new JwtVerifier(keys, config.withAudience(OAUTH2_AUDIENCE), { cacheTokens: 10 });
  return { keys, verifier };
}

export default {
  async fetch(request, env, context) {
    const { keys, verifier } = made ??= make(env);
    const token = request.headers.get("authorization").slice("Bearer ".length);
    const options = ${waitUntil ? "{ waitUntil: (work) => context.waitUntil(work) }" : "{}"};
    const subject = await verifier.verify(token, options).then(
      ({ claims }) => claims.sub,
      (error) => error.code,
    );
    return Response.json({ subject, fetches: keys.fetchCount });
  },
};`;
}

const WINDOW_MS = 2_000;

/** Until the keys are refreshed in the background: after one window, and before two. */
const PAST_WINDOW_MS = 2_500;

const [patient, hasty, forgetful] = await Promise.all([
  bundle(worker({ windowMs: 60_000, timeoutMs: 500, waitUntil: true })),
  // too long for a second fetch
  bundle(worker({ windowMs: WINDOW_MS, timeoutMs: 60_000, waitUntil: true })),
  bundle(worker({ windowMs: WINDOW_MS, timeoutMs: 500, waitUntil: false })),
]);

test("a key set is fetched once for all concurrent requests of a Worker", async () => {
  await using site = await Site.start(patient.code);
  const release = site.provider.hold();
  const answers = Array.from(
    { length: 10 },
    (_, i) => site.send("GET /", { subject: `user ${i}` }),
  );
  while (site.provider.requestCount === 0) await delay(5);
  await delay(100);
  release();
  const bodies = (await Promise.all(answers)).map(({ body }) => body);
  assert.deepEqual(bodies.map(({ subject }) => subject), bodies.map((_, i) => `user ${i}`));
  assert.equal(site.provider.requestCount, 1);
});

test("a refresh in the background outlives the request that began it", async () => {
  await using site = await Site.start(hasty.code);
  await site.send("GET /", { subject: "ada" });
  await delay(PAST_WINDOW_MS);
  const release = site.provider.hold();
  const { body } = await site.send("GET /", { subject: "ada" });
  assert.equal(body.subject, "ada");
  assert.ok(body.fetches >= 2, `${body.fetches} fetches`); // a slow machine may have needed one more
  await delay(100); // the request has ended with its response
  await site.rotate();
  const answer = site.send("GET /", { subject: "bob" });
  await delay(50);
  release();
  assert.equal((await answer).body.subject, "bob");
});

test("a refresh that was dropped with its request is repeated by a later one", async () => {
  await using site = await Site.start(forgetful.code);
  await site.send("GET /", { subject: "ada" });
  await delay(PAST_WINDOW_MS);
  const release = site.provider.hold();
  await site.send("GET /", { subject: "ada" }); // it starts a refresh, and ends
  await delay(100);
  release();
  await site.rotate();
  const beganMs = performance.now();
  const { body } = await site.send("GET /", { subject: "bob" });
  assert.equal(body.subject, "bob");
  assert.ok(performance.now() - beganMs < 10_000);
});
