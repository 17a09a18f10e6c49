import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import { controller, FwFactory, module, route } from "../../../mod.ts";
import { Replicas } from "../../../src/db/connection/replicas.ts";
import type { DbConnection } from "../../../src/db/connection/connection.ts";
import {
  belongsTo,
  DbModule,
  DbOptions,
  DbService,
  field,
  hasMany,
  model,
} from "../../../src/db/mod.ts";
import { withOpenTelemetry } from "../../support/open_telemetry.ts";
import { test } from "../../support/test.ts";
import { type EachOptions, openDb, testOnEach } from "../support/database.ts";
import { administer, createDatabase } from "../support/servers.ts";
import { killSessions, type ServerBrand } from "../support/sessions.ts";
import { tcpLine } from "../support/tcp_line.ts";

const Place = model("places", {
  id: field.integer().primaryKey(),
  name: field.text(),
  version: field.version(),
});
const Visit = model("visits", {
  id: field.integer().primaryKey(),
  place_id: field.integer().references(Place),
});
class Db extends DbService.with({ place: Place, visit: Visit }, {
  place: { visits: hasMany(Visit.place_id) },
  visit: { place: belongsTo(Visit.place_id) },
}) {}

interface Replicated {
  readonly brand: ServerBrand;
  readonly primary: string;
  readonly replicas: readonly string[];
}

/**
 * Each database has a row by its own name: it shows where a read went. As most is the same on both
 * servers, by default it is slow on one.
 */
function testReplicated(
  name: string,
  run: (databases: Replicated) => Promise<void>,
  { slow = ["postgres"] }: Pick<EachOptions, "slow"> = {},
): void {
  testOnEach(name, async (database) => {
    const brand = database.brand as ServerBrand;
    await using one = await createDatabase(brand);
    await using two = await createDatabase(brand);
    for (const [name, { url }] of Object.entries({ primary: database, one, two })) {
      await using db = await Db.open(DbOptions.fromUrl(url));
      await db.createTables();
      await db.place.create({ data: { id: 1, name } });
    }
    await run({ brand, primary: database.url, replicas: [one.url, two.url] });
  }, { brands: ["postgres", "mysql"], slow });
}

async function placeIn(db: Db): Promise<string | undefined> {
  return (await db.place.findUnique({ where: { id: 1 } }))?.name;
}

async function manyIn(db: Db, times: number): Promise<readonly (string | undefined)[]> {
  const names: (string | undefined)[] = [];
  for (let i = 0; i < times; i++) names.push(await placeIn(db));
  return names.toSorted();
}

testReplicated("whether a row has another version is read where it is written", async (
  { primary, replicas },
) => {
  await using db = await Db.open(DbOptions.fromUrl(primary).replicas(replicas));
  await db.place.create({ data: { id: 2, name: "new" } }); // which the replicas lack
  const update = (id: number) =>
    db.place.update({ where: { id, version: 9 }, data: { name: "x" } });
  await assert.rejects(update(2), { code: "Conflict" });
  await assert.rejects(db.place.delete({ where: { id: 2, version: 9 } }), { code: "Conflict" });
  await assert.rejects(update(3), { code: "RowNotFound" });
});

testReplicated("reads go to the replicas in turn, all else to the database", async (
  { primary, replicas },
) => {
  await using db = await Db.open(DbOptions.fromUrl(primary).replicas(replicas));
  assert.deepEqual(await manyIn(db, 4), ["one", "one", "two", "two"]);
  const replica = (name: string | undefined) => assert.ok(["one", "two"].includes(name ?? ""));
  replica((await db.place.findFirst())?.name);
  replica((await db.place.findMany())[0]?.name);
  replica((await db.place.findMany({ timeoutMs: 5000 }))[0]?.name);
  replica((await db.place.aggregate({ _max: { name: true } }))._max.name ?? undefined);
  replica((await db.place.groupBy({ by: ["name"] }))[0]?.name);
  for await (const { name } of db.place.stream()) replica(name);
  const where = { name: "primary" };
  assert.deepEqual([await db.place.count({ where }), await db.place.exists({ where })], [0, false]);
  const { rows } = await sql<{ name: string }>`select name from places`.execute(db.kysely);
  assert.deepEqual(rows.map(({ name }) => name), ["primary"]);
  assert.equal(await db.transaction(() => placeIn(db)), "primary");
  assert.equal(await db.transaction(() => placeIn(db.primary())), "primary");
  const data = { id: 1, name: "other" };
  const upserted = await db.place.upsert({ where: { id: 1 }, create: data, update: {} });
  assert.equal(upserted.name, "primary");
  assert.equal(await db.place.updateMany({ where, data: {} }), 1);
  assert.equal((await db.place.update({ where: { id: 1 }, data: { name: "new" } })).name, "new");
  assert.equal(
    (await db.place.updateManyAndReturn({ all: true, data: { name: "new" } })).length,
    1,
  );
  replica(await placeIn(db));
  const own = db.primary();
  assert.ok(own instanceof Db);
  assert.equal(own, db.primary());
  assert.equal(own, own.primary());
  assert.deepEqual(await manyIn(own, 2), ["new", "new"]);
  assert.equal(await own.place.scoped({ name: "new" }).count(), 1);
  await db.checkTables();
  await db.ping();
}, { slow: [] });

testReplicated("a request that writes reads from the database from then on", async (
  { primary, replicas },
) => {
  await using db = await Db.open(DbOptions.fromUrl(primary).replicas(replicas));
  const select = db.kysely.selectFrom("places").select("id").compile();
  const deletion = db.kysely.deleteFrom("visits").compile();
  class Places extends controller("/places") {
    show = route.get("/", async () => await manyIn(db, 2));
    create = route.post("/", async () => {
      const before = await placeIn(db);
      const other = await placeIn(db);
      await db.place.create({ data: { name: "created" } });
      await Promise.resolve();
      return [before === other, before === "primary", await placeIn(db)];
    });
    raw = route.post("/raw", async () => {
      await db.kysely.selectFrom("places").select("id").execute();
      const before = await placeIn(db);
      await db.kysely.deleteFrom("visits").execute();
      return [before === "primary", await placeIn(db)];
    });
    transaction = route.post("/transaction", async () => {
      await db.transaction(() => {});
      return [await placeIn(db)];
    });
    primary = route.post("/primary", async () => {
      await db.primary().place.create({ data: { name: "created" } });
      return [await placeIn(db)];
    });
    primaryRaw = route.post("/primary-raw", async () => {
      await db.primary().kysely.deleteFrom("visits").execute();
      return [await placeIn(db)];
    });
    withoutFrom = route.post("/without-from", async () => {
      await db.kysely.selectNoFrom((eb) => eb.lit(1).as("one")).execute(); // it may call a function
      return [await placeIn(db)];
    });
    withoutPlugins = route.post("/without-plugins", async () => {
      await db.kysely.withoutPlugins().deleteFrom("visits").execute();
      return [await placeIn(db)];
    });
    streamed = route.post("/streamed", async () => {
      await Array.fromAsync(db.kysely.selectFrom("places").select("id").stream());
      const before = await placeIn(db);
      await Array.fromAsync(db.kysely.selectNoFrom((eb) => eb.lit(1).as("one")).stream());
      return [before === "primary", await placeIn(db)];
    });
    compiled = route.post("/compiled", async () => {
      await db.kysely.executeQuery(select);
      const before = await placeIn(db);
      await db.kysely.executeQuery(deletion);
      return [before === "primary", await placeIn(db)];
    });
    failed = route.post("/failed", async () => {
      await db.place.delete({ where: { id: 5000 } }).catch(() => {});
      return [await placeIn(db)];
    });
  }
  await using server = await FwFactory.create(module({ controllers: [Places] }));
  const post = async (path: string) =>
    await (await server.request(`/places${path}`, { method: "POST" })).json();
  assert.deepEqual(await post("/"), [true, false, "primary"]);
  assert.deepEqual(await post("/raw"), [false, "primary"]);
  assert.deepEqual(await post("/transaction"), ["primary"]);
  assert.deepEqual(await post("/failed"), ["primary"]);
  assert.deepEqual(await post("/primary"), ["primary"]);
  assert.deepEqual(await post("/primary-raw"), ["primary"]);
  assert.deepEqual(await post("/compiled"), [false, "primary"]);
  assert.deepEqual(await post("/without-from"), ["primary"]);
  assert.deepEqual(await post("/without-plugins"), ["primary"]);
  assert.deepEqual(await post("/streamed"), [false, "primary"]);
  const shown = await (await server.request("/places")).json();
  assert.ok(shown[0] !== "primary" && shown[0] === shown[1], "the same replica");
  await db.place.create({ data: { name: "created" } });
  assert.notEqual(await placeIn(db), "primary");
});

testReplicated("an operation outside a request reads from one replica", async (
  { primary, replicas },
) => {
  const visits = [[1, 2], [3, 4, 5]];
  for (const [index, url] of replicas.entries()) {
    await using db = await Db.open(DbOptions.fromUrl(url));
    const data = (visits[index] ?? []).map((id) => ({ id, place_id: 1 }));
    await db.visit.createMany({ data });
  }
  await using db = await Db.open(DbOptions.fromUrl(primary).replicas(replicas));
  const orderBy = { id: "asc" } as const;
  const results = {
    include: async () => {
      const rows = await db.visit.findMany({ orderBy, include: { place: true } });
      return rows.map(({ id, place }) => [id, place.name]);
    },
    counts: async () => {
      const include = { visits: { orderBy }, _count: { visits: true } } as const;
      const place = await db.place.findUnique({ where: { id: 1 }, include });
      return [place?.name, place?.visits.map(({ id }) => id), place?._count.visits];
    },
    page: async () => {
      const { rows, total } = await db.visit.page({ orderBy, take: 1, withTotal: true });
      return [rows[0]?.id, total];
    },
    stream: async () => {
      const ids: number[] = [];
      for await (const { id } of db.visit.stream({ batchSize: 1 })) ids.push(id);
      return ids;
    },
  };
  const expected: Record<keyof typeof results, readonly unknown[]> = {
    include: [[[1, "one"], [2, "one"]], [[3, "two"], [4, "two"], [5, "two"]]],
    counts: [["one", [1, 2], 2], ["two", [3, 4, 5], 3]],
    page: [[1, 2], [3, 3]],
    stream: visits,
  };
  for (const [name, read] of Object.entries(results)) {
    const both = [await read(), await read()].toSorted();
    assert.deepEqual(both, expected[name as keyof typeof results], name);
  }
});

testReplicated("a request whose replica is lost goes on with the database", async (
  { primary, replicas },
) => {
  const lines = await Promise.all(replicas.map((url) => tcpLine(url)));
  await using db = await Db.open(DbOptions.fromUrl(primary).replicas(lines.map(({ url }) => url)));
  class Places extends controller("/places") {
    show = route.get("/", async () => {
      const before = await placeIn(db);
      lines[before === "one" ? 0 : 1]?.cut();
      return [before === "primary", await placeIn(db), await placeIn(db)];
    });
  }
  await using server = await FwFactory.create(module({ controllers: [Places] }));
  const show = async () => await (await server.request("/places")).json();
  assert.deepEqual(await show(), [false, "primary", "primary"]);
  const other = await placeIn(db);
  assert.notEqual(other, "primary");
  assert.deepEqual(await manyIn(db, 2), [other, other]);
  await Promise.all(lines.map((line) => line.close()));
});

testReplicated("a replica that cannot be reached is left out, and others answer", async (
  { brand, primary, replicas: [one = "", two = ""] },
) => {
  await using line = await tcpLine(one);
  await using other = await tcpLine(two);
  await using db = await Db.open(DbOptions.fromUrl(primary).replicas([line.url, other.url]));
  assert.deepEqual(await manyIn(db, 2), ["one", "two"]);
  await killSessions(brand, one);
  assert.ok(!(await manyIn(db, 4)).includes("primary"));
  line.cut();
  assert.deepEqual(await manyIn(db, 4), ["two", "two", "two", "two"]);
  other.cut();
  assert.deepEqual(await manyIn(db, 2), ["primary", "primary"]);
  assert.deepEqual(await db.place.findMany({ timeoutMs: 5000 }), [
    { id: 1, name: "primary", version: 1 },
  ]);
});

testReplicated("a replica that hangs is left out, however short the limits of reads", async (
  { primary, replicas: [one = ""] },
) => {
  await using line = await tcpLine(one);
  const options = DbOptions.fromUrl(primary).acquireTimeoutMs(1000).statementTimeoutMs(500);
  await using db = await Db.open(options.replicas([line.url]));
  const read = () =>
    db.place.findFirst({ timeoutMs: 200 }).then((row) => row?.name, ({ code }) => code);
  while (await read() !== "one"); // 200 ms can be short
  line.hang();
  assert.equal(await read(), "StatementTimeout");
  const untilMs = performance.now() + 3_000; // the ping takes 1 s
  while (performance.now() < untilMs) assert.equal((await db.place.findFirst())?.name, "primary");
}, { slow: true });

testReplicated("no read waits for a replica that is opened or tried again", async (
  { primary, replicas: [one = ""] },
) => {
  await using line = await tcpLine(one);
  let nowMs = 0;
  const open = async (url: string) =>
    await DbOptions.fromUrl(url).acquireTimeoutMs(1000).open() as DbConnection;
  line.cut();
  const replicas = new Replicas([() => open(line.url)], { now: () => nowMs });
  await using db = new Db(await replicas.open(await open(primary)));
  const placeWithin = async () => (await db.place.findFirst({ timeoutMs: 500 }))?.name;
  for (const isOpen of [false, true]) {
    await line.restore();
    if (isOpen) {
      nowMs += 10_000;
      while (await placeIn(db) !== "one");
      line.cut();
      assert.equal(await placeIn(db), "primary");
      await line.restore();
    }
    line.hang();
    nowMs += 10_000;
    assert.deepEqual(await Promise.all([placeWithin(), placeWithin()]), ["primary", "primary"]);
    await delay(1200); // it has not answered
    assert.equal(await placeWithin(), "primary");
  }
  await replicas.close();
}, { slow: true });

testReplicated("a replica that is left out is tried again", async (
  { primary, replicas: [one = ""] },
) => {
  await using line = await tcpLine(one);
  let nowMs = 0;
  let opened = 0;
  const open = async (url: string) => await DbOptions.fromUrl(url).open() as DbConnection;
  line.cut();
  const replicas = new Replicas([() => {
    opened += 1;
    return open(line.url);
  }], { now: () => nowMs });
  await using db = new Db(await replicas.open(await open(primary)));
  assert.equal(await placeIn(db), "primary");
  nowMs = 9_999;
  assert.deepEqual([await placeIn(db), opened], ["primary", 1]);
  await line.restore();
  nowMs = 10_000;
  while (await placeIn(db) !== "one") await delay(1);
  assert.equal(opened, 2);
  assert.deepEqual(await manyIn(db, 2), ["one", "one"]);
  line.cut();
  assert.equal(await placeIn(db), "primary");
  nowMs = 20_000;
  assert.deepEqual(await manyIn(db, 2), ["primary", "primary"]);
  await delay(200); // it cannot be reached
  await line.restore();
  nowMs = 29_999;
  assert.deepEqual(await manyIn(db, 2), ["primary", "primary"]);
  nowMs = 30_000;
  while (await placeIn(db) !== "one") await delay(1);
  assert.equal(opened, 2);
  line.cut();
  assert.equal(await placeIn(db), "primary");
  await replicas.close();
  nowMs = 40_000;
  assert.deepEqual([await placeIn(db), opened], ["primary", 2], "it stays closed");
});

testReplicated("the pools of replicas are counted, limited and closed", async (
  { brand, primary, replicas },
) => {
  const options = DbOptions.fromUrl(primary).poolMax(3).replicas(replicas);
  const AppModule = module({ imports: [DbModule.forRoot(Db, options)] });
  const app = await FwFactory.create(AppModule);
  const name = (url: string) => {
    const { hostname, port, pathname } = new URL(url);
    return `${hostname}:${port || (brand === "mysql" ? 3306 : 5432)}${pathname}`;
  };
  try {
    const db = app.get(Db);
    assert.deepEqual(
      db.poolUsages().map(({ name, max }) => [name, max]),
      [primary, ...replicas].map((url) => [name(url), 3]),
    );
    app.enableMetrics("/metrics", { pools: [db] });
    const text = await (await app.request("/metrics")).text();
    for (const url of [primary, ...replicas]) assert.ok(text.includes(`"${name(url)}"} 3`), text);
  } finally {
    await app.close();
  }
  // A database with open connections cannot be dropped.
  if (brand === "postgres") {
    for (const url of replicas) {
      const database = new URL(url).pathname.slice(1);
      await administer(brand, `alter database ${database} rename to ${database}_`);
      await administer(brand, `alter database ${database}_ rename to ${database}`);
    }
  }
});

testReplicated("the span of a read names its replica", async ({ primary, replicas }) => {
  await using db = await Db.open(DbOptions.fromUrl(primary).replicas(replicas.slice(0, 1)));
  await withOpenTelemetry(async (spans) => {
    await placeIn(db);
    await placeIn(db.primary());
    assert.deepEqual(
      spans().map(({ attributes }) => attributes["db.namespace"]),
      [replicas[0] ?? "", primary].map((url) => new URL(url).pathname.slice(1)),
    );
  });
});

testReplicated("a replica that cannot be opened is left out", async (
  { primary, replicas: [one = ""] },
) => {
  const missing = new URL(one);
  missing.pathname = "/fw_no_such_database";
  const away = new URL(one);
  away.port = "1";
  const urls = [missing.href, away.href];
  await using db = await Db.open(DbOptions.fromUrl(primary).replicas(urls));
  assert.equal(await placeIn(db), "primary");
});

test("DbOptions.replicas() rejects databases without replicas, and others", async () => {
  const server = DbOptions.fromUrl("postgres://127.0.0.1/a");
  const wrong: readonly (readonly [() => DbOptions, string])[] = [
    [
      () => DbOptions.fromUrl("sqlite::memory:").replicas(["sqlite:a"]),
      "only the URLs of PostgreSQL and MySQL have them",
    ],
    [() => server.replicas(["mysql://127.0.0.1/a"]), "one is not a database of PostgreSQL"],
    [() => server.replicas(["sqlite:a"]), "one is not a database of PostgreSQL"],
  ];
  for (const [options, reason] of wrong) {
    assert.throws(options, { name: "TypeError", message: `Cannot add replicas: ${reason}` });
  }
  await using db = await openDb();
  assert.equal(db.primary(), db);
});
