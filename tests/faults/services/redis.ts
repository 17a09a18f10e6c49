/** The faults of Redis, under an application that limits rates by it and keeps logins in it. */
import { setTimeout as delay } from "node:timers/promises";
import { DevelopmentIdentityProvider } from "../../../src/testing/mod.ts";
import { createDatabase, SERVERS } from "../../db/support/servers.ts";
import { type TcpLine, tcpLine } from "../../db/support/tcp_line.ts";
import { compare } from "../databases/ledger.ts";
import { judge } from "../judge.ts";
import { Load } from "../load.ts";
import { type Given, type Outcome, type Scenario, skipped } from "../scenario.ts";
import { startInstance } from "../server/instance.ts";
import { LOGIN_CLIENT } from "../server/shared_redis.ts";
import { freshAddress, hit, letThrough } from "./limited_client.ts";
import { RedisServer, SKIP_REDIS_SERVER } from "./redis_server.ts";

/** The requests of a client that each of the two instances allows by itself. */
const LIMIT = 10;

/** How long a request may take: the store's time limit, and a busy machine. */
const MAX_ANSWER_MS = 500 + 5_000;

/** What breaks the Redis of a scenario, and repairs it. */
interface RedisFault {
  /** How often, in the whole part; default 5. */
  readonly times?: number;
  /** What a login may be answered with while it is broken; default 503. */
  readonly login?: readonly number[];
  break(parts: Parts): Promise<void>;
  repair(parts: Parts): Promise<void>;
}

interface Parts {
  readonly server: RedisServer;
  /** Replicates the server. */
  readonly replica: RedisServer;
  /** The way of the application to Redis. */
  readonly line: TcpLine;
}

const FAULTS: Readonly<Record<string, RedisFault>> = {
  "killed, and started empty": {
    break: ({ server }) => server.kill(),
    repair: ({ server }) => server.start(),
  },
  "slow by 2 s": {
    login: [200, 503], // each command of a login may take 5 s
    break: ({ line }) => Promise.resolve(line.slow(2_000)),
    repair: ({ line }) => line.restore(),
  },
  silent: {
    break: ({ line }) => Promise.resolve(line.hang()),
    repair: ({ line }) => line.restore(),
  },
  "full (noeviction)": {
    break: async ({ server }) => {
      await server.send("CONFIG", "SET", "maxmemory-policy", "noeviction");
      await server.send("CONFIG", "SET", "maxmemory", "1mb");
    },
    repair: async ({ server }) => void await server.send("CONFIG", "SET", "maxmemory", "0"),
  },
  "read-only, then its replica is promoted": {
    times: 1,
    break: async ({ server, replica }) => {
      await server.send("REPLICAOF", "127.0.0.1", String(replica.port));
    },
    repair: async ({ line, replica }) => {
      await replica.send("REPLICAOF", "NO", "ONE");
      line.redirect(replica.url);
      line.cut();
      await line.restore();
    },
  },
  "killed, and its replica is promoted": {
    times: 1,
    break: ({ server }) => server.kill(),
    repair: async ({ line, replica }) => {
      await replica.send("REPLICAOF", "NO", "ONE");
      line.redirect(replica.url);
    },
  },
};

const QUICK = ["killed, and started empty"];

/** The scenarios of Redis. */
export const redisScenarios: readonly Scenario[] = Object.entries(FAULTS).map(([name, fault]) => ({
  fault: `Redis: ${name}`,
  isQuick: QUICK.includes(name),
  run: (given) => breakRedis(fault, given),
}));

async function breakRedis(fault: RedisFault, { runtime, isQuick }: Given): Promise<Outcome> {
  const missing = SKIP_REDIS_SERVER ?? SERVERS.postgres.skip;
  if (missing) return skipped(missing);
  await using server = await RedisServer.start();
  await using replica = await RedisServer.start();
  await replicate(server, replica);
  await using line = await tcpLine(server.url);
  const parts = { server, replica, line };
  await using database = await createDatabase("postgres");
  await using provider = await DevelopmentIdentityProvider.start({
    clients: [{ ...LOGIN_CLIENT, redirectUris: [LOGIN_CLIENT.redirectUri] }],
  });
  const env = {
    DATABASE_URL: database.url,
    REDIS_URL: line.url,
    RATE_LIMIT: String(LIMIT),
    LOGIN_ISSUER: provider.issuer,
  };
  await using one = await startInstance(runtime, { env });
  await using other = await startInstance(runtime, { env });
  const origins = [one.origin, other.origin];
  let turn = 0;
  await using load = new Load(() => origins[turn++ % 2]!, {
    clients: 4,
    headers: () => ({ "x-forwarded-for": freshAddress() }),
  });
  const failures: string[] = [];
  const expect = (what: string, found: unknown, expected: unknown) => {
    if (found !== expected) failures.push(`${what}: ${found}, expected ${expected}`);
  };

  await load.succeeded(50);
  const early = freshAddress();
  await isShared(origins);
  expect("let through by both before", await letThrough(origins, early, 2 * LIMIT), LIMIT);
  expect("login before", await logIn(origins, provider), 200);

  let recoveryMs = 0;
  const times = isQuick ? 1 : fault.times ?? 5;
  for (let time = 0; time < times; time++) {
    const late = freshAddress();
    await fault.break(parts);
    const login = time === 0 ? logIn(origins, provider) : undefined;
    expect("an early client over its limit", await letThrough(origins, early, LIMIT), 0);
    expect("let through by each while away", await letThrough(origins, late, 2 * LIMIT), 2 * LIMIT);
    const answered = await login ?? 503;
    if (!(fault.login ?? [503]).includes(answered)) failures.push(`login while away: ${answered}`);
    await load.succeeded(50);
    if (!isQuick) await delay(5_000);
    const repairedAt = performance.now();
    await fault.repair(parts);
    await isShared(origins);
    recoveryMs = Math.max(recoveryMs, performance.now() - repairedAt);
    for (const address of [early, late]) {
      expect("over its limit after", await letThrough(origins, address, LIMIT), 0);
    }
    expect("let through by both after", await letThroughByBoth(origins), LIMIT);
  }
  expect("login after", await logIn(origins, provider), 200);
  await load.succeeded(50);
  await load.stop();

  // Redis is no reason for a 503
  const judged = judge(load, { from: -Infinity, to: -Infinity });
  const { lost, failures: half } = await compare(database.url, load);
  const slowestMs = Math.max(...load.answers.map(({ sentAt, answeredAt }) => answeredAt - sentAt));
  if (slowestMs > MAX_ANSWER_MS) failures.push(`a request took ${Math.round(slowestMs)} ms`);
  return {
    injected: times,
    ...judged,
    lost,
    recoveryMs,
    note: `slowest answer ${Math.round(slowestMs)} ms`,
    failures: [...failures, ...judged.failures, ...half],
  };
}

async function replicate(server: RedisServer, replica: RedisServer): Promise<void> {
  await replica.send("REPLICAOF", "127.0.0.1", String(server.port));
  while (!String(await replica.send("INFO", "replication")).includes("master_link_status:up")) {
    await delay(20);
  }
}

/** Waits until the instances share their counts: each sees the hit that the other has counted. */
async function isShared([one = "", other = ""]: readonly string[]): Promise<void> {
  for (const endMs = performance.now() + 20_000; performance.now() < endMs;) {
    const address = freshAddress();
    await hit(one, address);
    const { remaining } = await hit(other, address);
    if (remaining === LIMIT - 2) return;
    await delay(20);
  }
  throw new Error("The instances do not share their counts");
}

/**
 * Returns how many requests of a new client the instances let through together; again if a busy
 * machine kept one of them from Redis for longer than the store waits.
 */
async function letThroughByBoth(origins: readonly string[]): Promise<number> {
  let count = 0;
  for (let attempt = 0; attempt < 5 && count !== LIMIT; attempt++) {
    await isShared(origins);
    count = await letThrough(origins, freshAddress(), LIMIT);
  }
  return count;
}

/** Begins a login at one instance and finishes it at the other; returns the last status. */
async function logIn(
  [one = "", other = ""]: readonly string[],
  provider: DevelopmentIdentityProvider,
): Promise<number> {
  const headers = { "x-forwarded-for": freshAddress() };
  const begun = await fetch(`${one}/api/auth/login`, { redirect: "manual", headers });
  await begun.body?.cancel();
  if (begun.status !== 303) return begun.status;
  const [cookie = ""] = begun.headers.getSetCookie();
  const callback = new URL(provider.signIn(begun.headers.get("location") ?? "").url);
  const finished = await fetch(other + callback.pathname + callback.search, {
    headers: { ...headers, cookie: cookie.split(";")[0]! },
  });
  await finished.body?.cancel();
  return finished.status;
}
