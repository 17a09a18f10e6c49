/** Two processes of an application behind one address, with their own database and Redis. */
import { Redis } from "ioredis";
import { DevelopmentIdentityProvider } from "../../src/testing/mod.ts";
import { captureLogs } from "../support/capture_logs.ts";
import { createDatabase, SERVERS } from "../db/support/servers.ts";
import { freePort } from "../support/free_port.ts";
import { REDIS_URL, SKIP_REDIS } from "../middleware/redis.ts";
import { Subprocess } from "../support/subprocess.ts";
import { test } from "../support/test.ts";
import { RoundRobinProxy } from "./round_robin_proxy.ts";

/** The instances, for a test. */
export interface TwoInstances {
  /** The address of both. */
  readonly origin: string;
  readonly provider: DevelopmentIdentityProvider;
  /** A token that both accept. */
  readonly token: string;
  readonly instances: readonly [Subprocess, Subprocess];
}

const CLIENT_SECRET = "the-secret-of-the-shop";

/** Runs a test on two instances that start at once on an empty database. */
export function testTwoInstances(
  name: string,
  body: (given: TwoInstances) => Promise<void>,
  { slow = false }: { readonly slow?: boolean } = {},
): void {
  test(name, () => captureLogs(["fw"], () => withTwoInstances(body)), {
    skip: SERVERS.postgres.skip ?? SKIP_REDIS,
    slow,
  });
}

async function withTwoInstances(body: (given: TwoInstances) => Promise<void>): Promise<void> {
  await using database = await createDatabase("postgres");
  await using proxy = await RoundRobinProxy.start();
  const redirectUri = `${proxy.origin}/auth/callback`;
  await using provider = await DevelopmentIdentityProvider.start({
    audience: "shop",
    clients: [{ clientId: "shop", clientSecret: CLIENT_SECRET, redirectUris: [redirectUri] }],
  });
  const prefix = `fw-test-${crypto.randomUUID()}`;
  const first = await freePort(2);
  const start = (index: number) =>
    new Subprocess("tests/deploying/instance_fixture.ts", {
      env: {
        INSTANCE: String(index),
        PORT: String(first + index),
        DATABASE_URL: database.url,
        REDIS_URL: REDIS_URL ?? "",
        REDIS_PREFIX: prefix,
        ISSUER: provider.issuer,
        CLIENT_SECRET,
        REDIRECT_URI: redirectUri,
      },
    });
  try {
    await using one = start(0);
    await using other = start(1);
    await Promise.all([one, other].map((instance) => instance.until(/Listening on /)));
    proxy.ports = [first, first + 1];
    const token = await provider.issueToken({ subject: "alice" });
    await body({ origin: proxy.origin, provider, token, instances: [one, other] });
  } finally {
    await forget(prefix);
  }
}

/** Removes the keys of a test from Redis. */
async function forget(prefix: string): Promise<void> {
  const redis = new Redis(REDIS_URL ?? "");
  const keys = await redis.keys(`${prefix}*`);
  if (keys.length > 0) await redis.del(...keys);
  await redis.quit();
}
