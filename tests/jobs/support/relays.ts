/** Queues of BullMQ, over which the applications of a database run their jobs. */
import { Queue } from "bullmq";
import { Redis } from "ioredis";
import type { JobsOptions } from "../../../src/jobs/mod.ts";
import { bullmq } from "../../../src/jobs/relay/bullmq.ts";
import { REDIS_URL, SKIP_REDIS } from "../../middleware/redis.ts";

/** Why tests of relays are skipped, if they are. */
export const SKIP_RELAY: string | undefined = SKIP_REDIS;

/** The relays by the URLs of the databases. */
const relays = new Map<string, JobsOptions["relay"]>();

/** Returns the options of a relay to a queue. */
export function relayTo(queue: string): Required<Pick<JobsOptions, "relay">> {
  return { relay: bullmq({ connection: { url: REDIS_URL }, queue }) };
}

/** Returns the options of the relay of a database, if it has one. */
export function relayOf(url: string): Pick<JobsOptions, "relay"> {
  const relay = relays.get(url);
  return relay ? { relay } : {};
}

/** Opens a queue, which the caller closes. */
export function openQueue(name: string): Queue {
  return new Queue(name, { connection: { url: REDIS_URL! } });
}

/** Runs a function while the applications of a database have a queue, removed at the end. */
export async function withRelay(
  url: string,
  run: (queue: string) => Promise<void>,
): Promise<void> {
  const name = `fw-test-${crypto.randomUUID()}`;
  relays.set(url, relayTo(name).relay);
  try {
    await run(name);
  } finally {
    relays.delete(url);
    await flushQueue(name);
  }
}

/** Removes all keys of a queue, as a `FLUSHALL` does. */
export async function flushQueue(name: string): Promise<void> {
  const redis = new Redis(REDIS_URL!);
  for await (const keys of redis.scanStream({ match: `bull:${name}:*`, count: 1000 })) {
    if (keys.length > 0) await redis.unlink(keys);
  }
  await redis.quit();
}
