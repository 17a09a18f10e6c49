import assert from "node:assert/strict";
import process from "node:process";
import { JwksCache } from "../../../src/oauth2/resource_server/jwks_cache.ts";
import type { JwtVerifier } from "../../../src/oauth2/resource_server/jwt_verifier.ts";
import { testOnce } from "../../support/test.ts";
import { JwksServer } from "./jwks_server.ts";
import { outcomeOf } from "./outcome.ts";
import { verifierBy } from "./skipped_keys.ts";
import { CLAIMS, encode, SigningKey } from "./signing_key.ts";

const FORGED = 30_000;
const PHASES = 5;
/** How many forged tokens are sent at a time. */
const CHUNK = 200;
/** No fetch may fail for the load of the machine. */
const TIMEOUT_MS = 300_000;

testOnce("JwksCache survives 30 000 forged kids while keys rotate four times", async () => {
  const keys = await Promise.all(
    Array.from({ length: PHASES }, (_, i) => SigningKey.generate("ES256", { kid: `key-${i}` })),
  );
  await using server = await JwksServer.start(keys[0]?.jwk);
  const cache = new JwksCache(server.url, { timeoutMs: TIMEOUT_MS });
  const verifier = verifierBy(cache);
  const rssBefore = process.memoryUsage().rss;
  const started = performance.now();
  const flood = new Flood(verifier);
  const honest = new HonestCaller(verifier, keys);

  const calling = honest.callUntilStopped();
  for (let phase = 0; phase < PHASES; phase++) {
    honest.phase = phase;
    server.keys = [keys[phase]?.jwk, keys[phase - 1]?.jwk].filter((jwk) => jwk !== undefined);
    await flood.send(FORGED / PHASES);
    await honest.verified(phase); // by then the keys of earlier phases are not needed any more
  }
  honest.stop();
  await calling;
  const forged = await flood.tally();
  const elapsedMs = performance.now() - started;

  assert.deepEqual(forged, { UnknownKid: FORGED });
  assert.deepEqual(Object.keys(honest.outcomes), ["key-0", "key-1", "key-2", "key-3", "key-4"]);
  assert.deepEqual(Object.values(honest.outcomes).flatMap((outcomes) => Object.keys(outcomes)), [
    ...Array(5).fill("accepted"),
  ]);
  const total = Object.values(honest.outcomes).reduce((sum, { accepted = 0 }) => sum + accepted, 0);
  assert(total > 100, `only ${total} valid tokens were verified`);
  // five in a row, then one every 1.25 s: a machine that needs more than six seconds sends more
  const most = Math.max(10, 5 + Math.ceil(elapsedMs / 1_250));
  assert(server.requestCount <= most, `${server.requestCount} fetches in ${elapsedMs} ms`);
  assert.equal(cache.fetchCount, server.requestCount);
  assert.equal(cache.size, 2);
  const grownBytes = process.memoryUsage().rss - rssBefore;
  assert(grownBytes < 300 * 1024 * 1024, `the process has grown by ${grownBytes} bytes`);
}, { slow: true });

type Tally = Record<string, number>;

/** Sends forged tokens, each with a unique kid, and counts their outcomes. */
class Flood {
  readonly #verifier: JwtVerifier;
  readonly #rest = `${encode(CLAIMS)}.${encode(new Uint8Array(64).fill(7))}`;
  readonly #pending: Promise<void>[] = [];
  readonly #tally: Tally = {};

  constructor(verifier: JwtVerifier) {
    this.#verifier = verifier;
  }

  /** Sends tokens in chunks, without waiting for their outcomes. */
  async send(tokens: number): Promise<void> {
    for (let sent = 0; sent < tokens; sent++) {
      if (sent % CHUNK === 0) await pause(5);
      const kid = `forged-${this.#pending.length}`;
      const outcome = outcomeOf(
        this.#verifier.verify(`${encode({ alg: "ES256", kid })}.${this.#rest}`),
      );
      this.#pending.push(outcome.then((said) => count(this.#tally, said)));
    }
  }

  /** Waits for all outcomes. */
  async tally(): Promise<Tally> {
    await Promise.all(this.#pending);
    return this.#tally;
  }
}

/** Verifies tokens of the newest key all the time, several at once; counts outcomes by key. */
class HonestCaller {
  phase = 0;
  readonly outcomes: Record<string, Tally> = {};
  readonly #verifier: JwtVerifier;
  readonly #keys: readonly SigningKey[];
  readonly #pending: Promise<void>[][] = [];
  #isStopped = false;

  constructor(verifier: JwtVerifier, keys: readonly SigningKey[]) {
    this.#verifier = verifier;
    this.#keys = keys;
  }

  async callUntilStopped(): Promise<void> {
    for (let i = 0; !this.#isStopped; i++) {
      const { phase } = this;
      (this.#pending[phase] ??= []).push(this.#call(this.#keys[phase]!, i));
      await pause(10);
    }
    await Promise.all(this.#pending.flat());
  }

  /** Waits for the outcomes of enough tokens of a phase, and of all that were sent in earlier ones. */
  async verified(phase: number): Promise<void> {
    while ((this.#pending[phase]?.length ?? 0) < 25) await pause(10);
    await Promise.all(this.#pending.flat());
  }

  stop(): void {
    this.#isStopped = true;
  }

  async #call(key: SigningKey, id: number): Promise<void> {
    const token = await key.token({ jti: `${id}` });
    count(this.outcomes[key.kid] ??= {}, await outcomeOf(this.#verifier.verify(token)));
  }
}

function count(tally: Tally, outcome: string): void {
  tally[outcome] = (tally[outcome] ?? 0) + 1;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
