import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { Hono } from "hono";
import { Redis } from "ioredis";
import { RateLimiterSQLite } from "rate-limiter-flexible";
import { HttpException } from "../../../src/core/http/http_exception.ts";
import { rateLimit } from "../../../src/middleware/rate_limit/rate_limit.ts";
import type { RateLimitOptions } from "../../../src/middleware/rate_limit/rate_limit_options.ts";
import {
  FlexibleRateLimitStore,
  RedisRateLimitStore,
  type RedisScriptClient,
} from "../../../src/middleware/rate_limit/flexible_rate_limit_store.ts";
import type { RateLimitStore } from "../../../src/middleware/rate_limit/rate_limit_store.ts";
import { test } from "../../support/test.ts";
import { captureLogs } from "../../support/capture_logs.ts";
import { REDIS_URL, redisLine, SKIP_REDIS } from "../redis.ts";

/** Clients that the store accepts: of ioredis, and with the interface of node-redis on ioredis. */
const CLIENTS: Readonly<Record<string, (redis: Redis) => RedisScriptClient>> = {
  ioredis: (redis) => redis,
  "the shape of node-redis": (redis) => ({
    eval: (script: string, options: { readonly keys: string[]; readonly arguments: string[] }) =>
      redis.eval(script, options.keys.length, ...options.keys, ...options.arguments),
  }),
};

/** Calls the body with a client and a new prefix, whose keys are deleted afterwards. */
async function withRedis(body: (redis: Redis, prefix: string) => Promise<void>): Promise<void> {
  const redis = new Redis(REDIS_URL ?? "");
  const prefix = `fw-test:${crypto.randomUUID()}`;
  try {
    await body(redis, prefix);
    const keys = await redis.keys(`${prefix}*`);
    if (keys.length > 0) await redis.del(keys);
  } finally {
    await redis.quit();
  }
}

function limitedApp(options: RateLimitOptions): Hono {
  const app = new Hono().use(rateLimit(options)).get("/", (c) => c.text("ok"));
  app.onError((error, c) => {
    const { status, headers } = HttpException.from(error);
    return c.body(null, status as 500, headers);
  });
  return app;
}

test("FlexibleRateLimitStore.hit() counts in an SQL database", async () => {
  const database = new DatabaseSync(":memory:");
  // the part of better-sqlite3 that the limiter uses; each hit is one statement
  const client = {
    prepare: (sql: string) => database.prepare(sql),
    transaction: (body: () => unknown) => body,
  };
  const limiter = await new Promise<RateLimiterSQLite>((resolve, reject) => {
    const options = { storeClient: client, storeType: "better-sqlite3", tableName: "limits" };
    const created: RateLimiterSQLite = new RateLimiterSQLite(
      { ...options, points: 1, duration: 1 },
      (error?: Error) => error ? reject(error) : resolve(created),
    );
  });
  const store = new FlexibleRateLimitStore(limiter);
  const hits = [await store.hit("a", 5000), await store.hit("a", 5000), await store.hit("b", 3000)];
  assert.deepEqual(hits.map(({ count }) => count), [1, 2, 1]);
  assert(hits.every(({ resetMs }, i) => resetMs > 1000 && resetMs <= (i < 2 ? 5000 : 3000)));
  database.close();
});

test(
  "RedisRateLimitStore.hit() shortens a window that a clock that was set back has made longer",
  async () => {
    await withRedis(async (redis, prefix) => {
      const store = new RedisRateLimitStore(redis, { prefix });
      await store.hit("a", 2000);
      await redis.pexpire(`${prefix}:a`, 3_600_000);
      const { count, resetMs } = await store.hit("a", 2000);
      assert.deepEqual([count, resetMs], [2, 2000]);
      assert.ok(await redis.pttl(`${prefix}:a`) <= 2000);
    });
  },
  { skip: SKIP_REDIS },
);

for (const [name, clientOf] of Object.entries(CLIENTS)) {
  test(`RedisRateLimitStore.hit() over ${name} counts in windows that Redis ends`, async () => {
    await withRedis(async (redis, prefix) => {
      const store = new RedisRateLimitStore(clientOf(redis), { prefix });
      const hits = [
        await store.hit("a", 2000),
        await store.hit("a", 2000),
        await store.hit("b", 2000),
      ];
      assert.deepEqual(hits.map(({ count }) => count), [1, 2, 1]);
      assert(hits.every(({ resetMs }) => resetMs > 1000 && resetMs <= 2000));
      assert.deepEqual((await redis.keys(`${prefix}*`)).sort(), [`${prefix}:a`, `${prefix}:b`]);
      await redis.pexpire(`${prefix}:a`, 1);
      await new Promise((resolve) => setTimeout(resolve, 10));
      assert.equal((await store.hit("a", 2000)).count, 1);
      await redis.persist(`${prefix}:a`);
      assert.deepEqual(await store.hit("a", 2000), { count: 2, resetMs: 2000 });
      assert((await redis.pttl(`${prefix}:a`)) > 0);
    });
  }, { skip: SKIP_REDIS });
}

test("RedisRateLimitStore refuses what is no client", () => {
  const client = {} as RedisScriptClient;
  assert.throws(() => new RedisRateLimitStore(client), {
    name: "TypeError",
    message: "Cannot count in Redis: the client has no eval()",
  });
});

test("RedisRateLimitStore refuses unknown options", () => {
  const options: object = { keyPrefix: "shop" };
  assert.throws(() => new RedisRateLimitStore({ eval: () => Promise.resolve() }, options), {
    name: "TypeError",
    message: "Cannot count in Redis: keyPrefix is not an option",
  });
});

test("rateLimit() counts in Redis although the event loop is held up", async () => {
  await withRedis(async (redis, prefix) => {
    const inRedis = new RedisRateLimitStore(redis, { prefix });
    await inRedis.hit("other", 1000); // which is connected from here on
    const store: RateLimitStore = {
      hit(key, windowMs) {
        const pending = inRedis.hit(key, windowMs);
        queueMicrotask(holdUp);
        return pending;
      },
    };
    const app = limitedApp({ max: 3, store, storeTimeoutMs: 100 });
    await captureLogs(["fw", "rate-limit"], async (records) => {
      const responses = Array.from({ length: 6 }, () => app.request("/"));
      const statuses = (await Promise.all(responses)).map(({ status }) => status);
      assert.deepEqual(statuses, [200, 200, 200, 429, 429, 429]);
      assert.deepEqual(await redis.get(`${prefix}:default:3:60000:unknown`), "6");
      assert.deepEqual(records, []);
    });
  });
}, { skip: SKIP_REDIS });

test("RedisRateLimitStore shares one exact limit among processes", async () => {
  await withRedis(async (redis, prefix) => {
    const other = new Redis(REDIS_URL ?? "");
    try {
      const apps = [redis, other].map((client) =>
        limitedApp({ max: 50, store: new RedisRateLimitStore(client, { prefix }) })
      );
      const responses = await Promise.all(
        Array.from({ length: 120 }, (_, i) => apps[i % 2]?.request("/")),
      );
      const statuses = responses.map((response) => response?.status);
      assert.equal(statuses.filter((status) => status === 200).length, 50);
      assert.equal(statuses.filter((status) => status === 429).length, 70);
      const remaining = responses.map((response) =>
        /r=(\d+)/.exec(response?.headers.get("ratelimit") ?? "")?.[1]
      );
      assert.equal(new Set(remaining.slice(0, 120)).size, 50, "each hit was counted once");
      assert.deepEqual(await redis.keys(`${prefix}*`), [`${prefix}:default:50:60000:unknown`]);
    } finally {
      await other.quit();
    }
  });
}, { skip: SKIP_REDIS });

test(
  "rateLimit() counts in the process while Redis is down or hangs, and then in Redis again",
  async () => {
    const line = await redisLine();
    const redis = new Redis(line.url, { retryStrategy: () => 20 });
    redis.on("error", () => {});
    const prefix = `fw-test:${crypto.randomUUID()}`;
    const store = new RedisRateLimitStore(redis, { prefix });
    const app = limitedApp({ max: 1000, windowMs: 60_000, store, storeTimeoutMs: 1000 });
    const direct = new Redis(REDIS_URL ?? "");
    const key = `${prefix}:default:1000:60000:unknown`;
    const countInRedis = async () => Number(await direct.get(key));
    const count = async () => {
      const before = await countInRedis();
      const response = await app.request("/");
      assert.equal(response.status, 200);
      assert.ok(response.headers.has("ratelimit"));
      return await countInRedis() > before;
    };
    try {
      await captureLogs(["fw", "rate-limit"], async (records) => {
        for (const fail of [line.hang, line.cut]) {
          assert.equal(await count(), true);
          fail();
          const startMs = performance.now();
          for (let i = 0; i < 20; i++) assert.equal(await count(), false);
          assert(
            performance.now() - startMs < 10_000,
            "one request waits for the time limit, not all",
          );
          line.restore();
          const deadlineMs = performance.now() + 30_000;
          while (!await count()) {
            assert(performance.now() < deadlineMs, "counts again");
            await new Promise((resolve) => setTimeout(resolve, 50));
          }
        }
        assert.deepEqual(records.map(({ level }) => level), ["error", "info", "error", "info"]);
      });
      await direct.del(key);
    } finally {
      redis.disconnect();
      await direct.quit();
      await line.close();
    }
  },
  { skip: SKIP_REDIS },
);

/** Holds the event loop up, so that no answer of Redis is read meanwhile. */
function holdUp(): void {
  const endMs = performance.now() + 200;
  while (performance.now() < endMs);
}
