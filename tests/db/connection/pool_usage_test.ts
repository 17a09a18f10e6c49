import assert from "node:assert/strict";
import { FwFactory, module } from "../../../mod.ts";
import { DbModule, DbOptions } from "../../../src/db/mod.ts";
import { Db, type TestDatabase, testOnEach } from "../support/database.ts";

function poolName({ brand, url }: TestDatabase): string {
  if (brand === "sqlite") return url.slice("sqlite:".length);
  const { hostname, port, pathname } = new URL(url);
  return `${hostname}:${port || (brand === "mysql" ? 3306 : 5432)}${pathname}`;
}

testOnEach("poolUsage() counts connections in use, idle and waited for", async (database) => {
  await using db = await Db.open(DbOptions.fromUrl(database.url).poolMax(2));
  const isServer = database.brand !== "sqlite";
  const max = isServer ? 2 : 1;
  const fixed = { name: poolName(database), max };
  const idle = isServer ? 1 : undefined;
  assert.deepEqual(db.poolUsage(), { ...fixed, used: 0, idle, waiting: 0 });
  const { promise: end, resolve: release } = Promise.withResolvers<void>();
  const begun = Array.from({ length: max }, () => Promise.withResolvers<void>());
  const holding = begun.map(({ resolve }) =>
    db.transaction(async () => {
      resolve();
      await end;
    })
  );
  await Promise.all(begun.map(({ promise }) => promise));
  const waiting = db.transaction(() => {});
  assert.deepEqual(db.poolUsage(), {
    ...fixed,
    used: max,
    idle: isServer ? 0 : undefined,
    waiting: 1,
  });
  release();
  await Promise.all([...holding, waiting]);
  assert.deepEqual(db.poolUsage(), {
    ...fixed,
    used: 0,
    idle: isServer ? 2 : undefined,
    waiting: 0,
  });
});

testOnEach("enableMetrics() serves the usage of the pools that it is given", async (database) => {
  const DatabaseModule = DbModule.forRoot(Db, DbOptions.fromUrl(database.url));
  const app = await FwFactory.create(module({ imports: [DatabaseModule] }));
  try {
    app.enableMetrics("/metrics", { pools: [app.get(Db)] });
    const text = await (await app.request("/metrics")).text();
    const lines = text.split("\n").filter((line) => line.startsWith("db_client_connection_"));
    const [pool, state] = ["name", "state"].map((it) =>
      `db_client_connection_${it === "name" ? "pool_" : ""}${it}`
    );
    const name = `${pool}="${poolName(database)}"`;
    const isServer = database.brand !== "sqlite";
    assert.deepEqual(lines, [
      `db_client_connection_count{${name},${state}="used"} 0`,
      ...isServer ? [`db_client_connection_count{${name},${state}="idle"} 1`] : [],
      `db_client_connection_pending_requests{${name}} 0`,
      `db_client_connection_max{${name}} ${isServer ? 10 : 1}`,
    ]);
  } finally {
    await app.close();
  }
});
