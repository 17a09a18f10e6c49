import assert from "node:assert/strict";
import process from "node:process";
import { JwksCache } from "../../../src/oauth2/resource_server/jwks_cache.ts";
import type { JwtVerifier } from "../../../src/oauth2/resource_server/jwt_verifier.ts";
import { test } from "../../support/test.ts";
import { JwksServer } from "./jwks_server.ts";
import { outcomeOf } from "./outcome.ts";
import { verifierBy } from "./skipped_keys.ts";
import { CLAIMS, encode, SigningKey } from "./signing_key.ts";

const FORGED = 30_000;
const FLOOD_MS = 4_900;
const ROTATIONS_MS = [900, 1_900, 2_900, 3_900];

test("JwksCache outlives 30 000 forged kids in five seconds while keys rotate four times", async () => {
  const keys = await Promise.all(
    [0, 1, 2, 3, 4].map((i) => SigningKey.generate("ES256", { kid: `key-${i}` })),
  );
  await using server = await JwksServer.start(keys[0]?.jwk);
  const cache = new JwksCache(server.url);
  const verifier = verifierBy(cache);
  const rssBefore = process.memoryUsage().rss;
  const started = performance.now();
  const elapsedMs = () => performance.now() - started;

  let current = 0;
  async function rotate(): Promise<void> {
    for (const atMs of ROTATIONS_MS) {
      await pause(atMs - elapsedMs());
      current++;
      server.keys = [keys[current]?.jwk, keys[current - 1]?.jwk];
    }
  }
  const [forged, honest] = await Promise.all([
    flood(verifier, elapsedMs),
    verifyHonestly(verifier, elapsedMs, () => keys[current]),
    rotate(),
  ]);

  assert.deepEqual(forged, { UnknownKid: FORGED });
  assert.deepEqual(Object.keys(honest), ["key-0", "key-1", "key-2", "key-3", "key-4"]);
  assert.deepEqual(Object.values(honest).flatMap((outcomes) => Object.keys(outcomes)), [
    ...Array(5).fill("accepted"),
  ]);
  const total = Object.values(honest).reduce((sum, { accepted = 0 }) => sum + accepted, 0);
  assert(total > 100, `only ${total} valid tokens were verified`);
  // five at once and one in 1.25 s: a machine that takes longer than six seconds sends more
  const most = Math.max(10, 5 + Math.ceil(elapsedMs() / 1_250));
  assert(server.requestCount <= most, `${server.requestCount} fetches in ${elapsedMs()} ms`);
  assert.equal(cache.fetchCount, server.requestCount);
  assert.equal(cache.size, 2);
  const grownBytes = process.memoryUsage().rss - rssBefore;
  assert(grownBytes < 300 * 1024 * 1024, `the process has grown by ${grownBytes} bytes`);
});

type Tally = Record<string, number>;

/** Sends forged tokens evenly over the time of the flood, and counts what becomes of them. */
async function flood(verifier: JwtVerifier, elapsedMs: () => number): Promise<Tally> {
  const rest = `${encode(CLAIMS)}.${encode(new Uint8Array(64).fill(7))}`;
  const tally: Tally = {};
  const pending: Promise<void>[] = [];
  for (let sent = 0; sent < FORGED;) {
    const due = Math.min(FORGED, Math.ceil(FORGED * elapsedMs() / FLOOD_MS));
    for (; sent < due; sent++) {
      const token = `${encode({ alg: "ES256", kid: `forged-${sent}` })}.${rest}`;
      pending.push(outcomeOf(verifier.verify(token)).then((outcome) => count(tally, outcome)));
    }
    await pause(5);
  }
  await Promise.all(pending);
  return tally;
}

/** Verifies tokens of the newest key all the time, several at once; counts by key. */
async function verifyHonestly(
  verifier: JwtVerifier,
  elapsedMs: () => number,
  newest: () => SigningKey | undefined,
): Promise<Record<string, Tally>> {
  const byKid: Record<string, Tally> = {};
  const pending: Promise<void>[] = [];
  for (let i = 0; elapsedMs() < FLOOD_MS; i++) {
    const key = newest();
    if (!key) break;
    const token = await key.token({ jti: `${i}` });
    const outcome = outcomeOf(verifier.verify(token));
    pending.push(outcome.then((said) => count(byKid[key.kid] ??= {}, said)));
    await pause(10);
  }
  await Promise.all(pending);
  return byKid;
}

function count(tally: Tally, outcome: string): void {
  tally[outcome] = (tally[outcome] ?? 0) + 1;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
