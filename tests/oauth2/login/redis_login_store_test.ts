import assert from "node:assert/strict";
import { inspect } from "node:util";
import { Redis } from "ioredis";
import { ServiceUnavailableException } from "../../../src/core/http/http_exception.ts";
import {
  type IoRedisClient,
  type NodeRedisClient,
  RedisLoginStore,
} from "../../../src/oauth2/login/redis_login_store.ts";
import { REDIS_URL, redisLine, SKIP_REDIS } from "../../middleware/redis.ts";
import { test } from "../../support/test.ts";
import { PENDING, TEN_MINUTES_MS } from "./pending_login.ts";

const STATE = "q8Zk3vTn0yXw5sRb7uJd2hFg9mLc4pEa6iOo1tYxKzQ";

/** Clients that the store accepts: of ioredis, and with the interface of node-redis on ioredis. */
const CLIENTS: Readonly<Record<string, (redis: Redis) => IoRedisClient | NodeRedisClient>> = {
  ioredis: (redis) => redis,
  "the shape of node-redis": (redis) => ({
    sendCommand: ([command = "", ...args]) => redis.call(command, ...args),
  }),
};

/** Runs the body with a client and a unique prefix, and deletes its keys afterwards. */
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

for (const [name, clientOf] of Object.entries(CLIENTS)) {
  test(`RedisLoginStore over ${name} stores a login for its time, by its state`, async () => {
    await withRedis(async (redis, prefix) => {
      const store = new RedisLoginStore(clientOf(redis), { prefix });
      await store.save(STATE, PENDING, { ttlMs: TEN_MINUTES_MS });
      assert.deepEqual(await redis.keys(`${prefix}*`), [`${prefix}:${STATE}`]);
      const ttlMs = await redis.pttl(`${prefix}:${STATE}`);
      assert(ttlMs > TEN_MINUTES_MS - 60_000 && ttlMs <= TEN_MINUTES_MS, `${ttlMs}`);
      assert.equal(await store.take(STATE.slice(1)), undefined);
      assert.deepEqual(await store.take(STATE), PENDING);
      assert.equal(await store.take(STATE), undefined);
      const requested = { ...PENDING, maxAgeSeconds: 0, hostedDomain: "example.com" };
      await store.save(STATE, requested, { ttlMs: TEN_MINUTES_MS });
      assert.deepEqual(await store.take(STATE), requested);
      assert.deepEqual(await redis.keys(`${prefix}*`), []);
    });
  }, { skip: SKIP_REDIS });

  test(`RedisLoginStore over ${name} returns a login to one of two processes`, async () => {
    await withRedis(async (redis, prefix) => {
      const other = new Redis(REDIS_URL ?? "");
      try {
        const stores = [redis, other].map((each) =>
          new RedisLoginStore(clientOf(each), { prefix })
        );
        const states = Array.from({ length: 100 }, (_, i) => `${STATE}${i}`);
        await Promise.all(
          states.map((state) => stores[0]?.save(state, PENDING, { ttlMs: TEN_MINUTES_MS })),
        );
        for (const state of states) {
          const taken = await Promise.all(stores.map((store) => store.take(state)));
          assert.deepEqual(taken.filter((login) => login !== undefined), [PENDING]);
        }
      } finally {
        await other.quit();
      }
    });
  }, { skip: SKIP_REDIS });
}

test("RedisLoginStore removes an expired login", async () => {
  await withRedis(async (redis, prefix) => {
    const store = new RedisLoginStore(redis, { prefix });
    await store.save(STATE, PENDING, { ttlMs: 1 });
    const deadline = Date.now() + 5000;
    while (await redis.exists(`${prefix}:${STATE}`) && Date.now() < deadline);
    assert.equal(await store.take(STATE), undefined);
  });
}, { skip: SKIP_REDIS });

test("RedisLoginStore.take() returns undefined for values that are not logins", async () => {
  await withRedis(async (redis, prefix) => {
    const store = new RedisLoginStore(redis, { prefix });
    const { verifier: _, ...rest } = PENDING;
    const values = [
      "",
      "{",
      "null",
      "[]",
      "1",
      '"a"',
      "{}",
      JSON.stringify(rest),
      JSON.stringify({ ...PENDING, returnTo: 1 }),
      JSON.stringify({ ...PENDING, nonce: {} }),
      JSON.stringify({ ...PENDING, client: ["a"] }),
      JSON.stringify({ ...PENDING, maxAgeSeconds: "1" }),
      JSON.stringify({ ...PENDING, maxAgeSeconds: null }),
      JSON.stringify({ ...PENDING, hostedDomain: 1 }),
    ];
    for (const value of values) {
      await redis.set(`${prefix}:${STATE}`, value);
      assert.equal(await store.take(STATE), undefined, value);
    }
  });
}, { skip: SKIP_REDIS });

/** Asserts 503, and that nothing shows the login. */
async function assertUnavailable(operation: Promise<unknown>): Promise<string> {
  const error = await operation.then(() => undefined, (error: unknown) => error);
  assert(error instanceof ServiceUnavailableException, inspect(error));
  const shown = inspect(error, { depth: Infinity, showHidden: true });
  for (const secret of [STATE, PENDING.verifier, PENDING.nonce ?? ""]) {
    assert(!shown.includes(secret), `the error shows ${secret}`);
  }
  return shown;
}

test("RedisLoginStore answers 503 when Redis refuses, and shows nothing of the login", async () => {
  await withRedis(async (redis, prefix) => {
    await redis.lpush(`${prefix}:${STATE}`, "a");
    const onAList = new RedisLoginStore(redis, { prefix });
    assert.match(await assertUnavailable(onAList.take(STATE)), /WRONGTYPE/);
    // an old Redis repeats the arguments of GETDEL, which is unknown to it
    const old = new RedisLoginStore({
      call: (command, ...args) => redis.call(`${command}OLD`, ...args),
    }, { prefix });
    assert.match(await assertUnavailable(old.take(STATE)), /unknown command/);
    assert.match(
      await assertUnavailable(old.save(STATE, PENDING, { ttlMs: 1000 })),
      /unknown command/,
    );
    // an invalid time: the error of the client has the whole command
    assert.match(await assertUnavailable(onAList.save(STATE, PENDING, { ttlMs: -1 })), /expire/);
  });
}, { skip: SKIP_REDIS });

test(
  "RedisLoginStore answers 503 in time while Redis hangs or is gone, and works again",
  async () => {
    await using line = await redisLine();
    const redis = new Redis(line.url, { retryStrategy: () => 20 });
    redis.on("error", () => {});
    const prefix = `fw-test:${crypto.randomUUID()}`;
    const impatient = new RedisLoginStore(redis, { prefix, timeoutMs: 100 });
    const patient = new RedisLoginStore(redis, { prefix });
    try {
      for (const fail of [line.hang, line.cut]) {
        await patient.save(STATE, PENDING, { ttlMs: TEN_MINUTES_MS });
        fail();
        await assertUnavailable(impatient.take("another"));
        await assertUnavailable(impatient.save("another", PENDING, { ttlMs: 1 }));
        await line.restore();
        assert.deepEqual(await patient.take(STATE), PENDING);
      }
    } finally {
      await redis.quit();
    }
  },
  { skip: SKIP_REDIS },
);

test("RedisLoginStore keeps at most 1000 commands for a Redis that is away", async () => {
  await using line = await redisLine();
  const redis = new Redis(line.url, { retryStrategy: () => 20, maxRetriesPerRequest: null });
  redis.on("error", () => {});
  let sent = 0;
  const counted = {
    call(command: string, ...args: string[]) {
      sent++;
      return redis.call(command, ...args);
    },
  };
  const prefix = `fw-test:${crypto.randomUUID()}`;
  const store = new RedisLoginStore(counted, { prefix, timeoutMs: 100 });
  try {
    await store.take(STATE);
    line.cut();
    for (let burst = 0; burst < 2; burst++) {
      const takes = Array.from({ length: 600 }, () => store.take(STATE));
      const ends = await Promise.allSettled(takes);
      assert(ends.every(({ status }) => status === "rejected"));
    }
    assert.equal(sent, 1001);
    assert.match(await assertUnavailable(store.take(STATE)), /1000 commands are pending/);
    assert.equal(sent, 1001);
    await line.restore();
    const patient = new RedisLoginStore(redis, { prefix });
    await patient.save(STATE, PENDING, { ttlMs: TEN_MINUTES_MS });
    assert.deepEqual(await store.take(STATE), PENDING);
  } finally {
    redis.disconnect();
  }
}, { skip: SKIP_REDIS });

test("RedisLoginStore refuses a time limit that no timer has", () => {
  for (const timeoutMs of [0, -1, NaN, Infinity, 2 ** 31]) {
    const client = { call: () => Promise.resolve(null) };
    assert.throws(() => new RedisLoginStore(client, { timeoutMs }), RangeError);
  }
});

test("RedisLoginStore refuses unknown options", () => {
  const options: object = { keyPrefix: "shop" };
  assert.throws(() => new RedisLoginStore({ call: () => Promise.resolve(null) }, options), {
    name: "TypeError",
    message: "Cannot keep logins: keyPrefix is not an option",
  });
});
