/** Twenty minutes of a mixed load, with caches, limiters and prepared statements at their bounds. */
import { setTimeout as delay } from "node:timers/promises";
import { DevelopmentIdentityProvider } from "../../../src/testing/mod.ts";
import { createDatabase } from "../../db/support/servers.ts";
import type { Given, Outcome, Scenario } from "../scenario.ts";
import { type Instance, startInstance } from "../server/instance.ts";
import type { Measures } from "../server/measures.ts";
import { MixedLoad } from "./mixed_load.ts";
import { judgeSamples, type Sample } from "./samples.ts";

/** The scenarios of endurance. */
export const endurance: readonly Scenario[] = [
  { fault: "20 minutes of mixed load", run: endure },
];

const MINUTES = 20;
/**
 * After so many requests, caches, pools and compiled code are full, however slow the machine is: the
 * heap grows up to about 75 000.
 */
const WARM_UP_REQUESTS = 80_000;
/** More than the 1000 that are cached. */
const TOKENS = 1_500;
/** Fewer than the clients of the load. */
const LIMITED_CLIENTS = 5_000;
const SAMPLE_MS = 5_000;

async function endure({ runtime, seed, minutes = MINUTES }: Given): Promise<Outcome> {
  await using provider = await DevelopmentIdentityProvider.start({
    algorithm: "ES256",
    audience: "shop",
    accessTokenSeconds: 24 * 3600,
  });
  const tokens = await Promise.all(
    Array.from({ length: TOKENS }, (_, user) =>
      provider.issueToken({
        subject: `user ${user}`,
        claims: { tenant_id: `tenant ${user % 10}` },
      })),
  );
  await using database = await createDatabase("postgres");
  await using instance = await startInstance(runtime, {
    env: {
      DATABASE_URL: database.url,
      POOL_MAX: "2", // each connection keeps 1000 statements
      ISSUER: provider.issuer,
      LIMITED_CLIENTS: String(LIMITED_CLIENTS),
      MEASURED: "1",
      DENO_V8_FLAGS: "--expose-gc",
    },
    maxRunMs: (minutes + 60) * 60_000,
  });
  const samples: Sample[] = [];
  await using load = new MixedLoad(instance.origin, { tokens, seed, clients: 8, pauseMs: 5 });
  while (load.counts.requests < WARM_UP_REQUESTS) await delay(1_000);
  const unwanted = await sampling(instance, { samples, minutes });
  await load[Symbol.asyncDispose]();
  const { failures, note } = judgeSamples(samples);
  const { requests, asExpected, abandoned } = load.counts;
  return {
    injected: abandoned,
    requests,
    asExpected,
    note,
    failures: [...failures, ...load.wrong, ...unwanted],
  };
}

/** Measures the process for a time; returns what its output should not have. */
async function sampling(
  instance: Instance,
  { samples, minutes }: { readonly samples: Sample[]; readonly minutes: number },
): Promise<readonly string[]> {
  const end = performance.now() + minutes * 60_000;
  while (performance.now() < end) {
    await delay(SAMPLE_MS);
    const response = await fetch(`${instance.origin}/api/measures`);
    const measures = await response.json() as Measures;
    samples.push({ ...measures, descriptors: instance.descriptors() });
  }
  return instance.unexpectedOutput();
}
