import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { RateLimiterSQLite } from "rate-limiter-flexible";
import { FlexibleRateLimitStore } from "../../../src/middleware/rate_limit/flexible_rate_limit_store.ts";
import { test } from "../../support/test.ts";

test("FlexibleRateLimitStore.hit() counts in an SQL database", async () => {
  const database = new DatabaseSync(":memory:");
  // What the limiter uses of better-sqlite3; each hit is one statement
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
