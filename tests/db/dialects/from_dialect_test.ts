import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import {
  type Dialect,
  MssqlAdapter,
  MysqlDialect,
  PostgresAdapter,
  sql,
  type SqliteDatabase,
  SqliteDialect,
} from "kysely";
import { PostgresJSDialect } from "kysely-postgres-js";
import { createPool, type PoolOptions } from "mysql2";
import postgres from "postgres";
import { DbMigrations, DbOptions } from "../../../src/db/mod.ts";
import { test } from "../../support/test.ts";
import { Db, dbError, type TestDatabase, testOnEach } from "../support/database.ts";
import { administer } from "../support/servers.ts";
import { sleep } from "../support/sessions.ts";
import { plainSqlite } from "../support/plain_sqlite.ts";

const ADA = { tenant_id: "a", email: "ada@example.org", name: "Ada" };

/** A driver's dialect with the driver's defaults, and whether its driver is closed. */
function openDialect(
  { brand, url }: TestDatabase,
): { dialect: Dialect; isClosed: () => Promise<boolean> } {
  if (brand === "sqlite") {
    const database = new DatabaseSync(":memory:");
    const dialect = new SqliteDialect({ database: plainSqlite(database) });
    return { dialect, isClosed: () => Promise.resolve(!database.isOpen) };
  }
  if (brand === "postgres") {
    const driver = postgres(url, { onnotice: () => {} });
    const isClosed = () => driver`select 1`.then(() => false, () => true);
    return { dialect: new PostgresJSDialect({ postgres: driver }), isClosed };
  }
  const pool = createPool(url);
  const isClosed = () => pool.promise().getConnection().then(() => false, () => true);
  return { dialect: new MysqlDialect({ pool }), isClosed };
}

async function openDb(database: TestDatabase, poolMax = 10): Promise<Db> {
  const { dialect } = openDialect(database);
  const db = await Db.open(DbOptions.fromDialect(dialect).poolMax(poolMax));
  await db.createTables();
  return db;
}

testOnEach(
  "a bigint that mysql2 has rounded is not read, and the error names its option",
  async ({ url }) => {
    const id = 2n ** 53n + 1n;
    for (const supportBigNumbers of [false, true]) {
      const pool = createPool({ uri: url, supportBigNumbers, timezone: "Z" });
      await using db = await Db.open(DbOptions.fromDialect(new MysqlDialect({ pool })));
      await db.createTables();
      if (!supportBigNumbers) {
        await sql`insert into \`order\` (\`select\`, \`bigint\`) values ('a', ${id})`.execute(
          db.kysely,
        );
      }
      const read = () => db.sample.findMany({ select: { bigint: true } });
      if (supportBigNumbers) {
        assert.deepEqual(await read(), [{ bigint: id }]);
        continue;
      }
      const reason = "the driver reads it as a number (mysql2: set supportBigNumbers)";
      await assert.rejects(read(), dbError("Database", `Cannot read order.bigint: ${reason}`));
    }
  },
  { brands: ["mysql"] },
);

testOnEach("DbOptions.fromDialect() keeps values of every kind", async (database) => {
  await using db = await openDb(database);
  const kept = {
    integer: [0, -5, Number.MAX_SAFE_INTEGER],
    bigint: [0n, -5n, 2n ** 53n - 1n],
    text: ["", 'it\'s \\ "q"\n%_ é😀 ', "null"],
    boolean: [true, false],
    real: [1.5, -1e-7, 1e300, 3],
    decimal: ["0.0000", "-12.5000", "123456789012.3456"],
    json: [{ a: [1, "x\\'", null] }, [], [[1]], "str", "123", '{"a":1}', "", 5, true, {}],
    timestamp: ["2024-07-29T12:34:56.789Z", "1000-01-01T00:00:00.000Z"].map((it) => new Date(it)),
    uuid: ["0188c0de-0000-7000-8000-00000000000a"],
    blob: [new Uint8Array(), new Uint8Array([0, 39, 92, 128, 255])],
  };
  const nothing = Object.fromEntries(Object.keys(kept).map((kind) => [kind, null]));
  for (const [kind, values] of Object.entries(kept)) {
    for (const [index, value] of values.entries()) {
      const row = { ...nothing, select: `${kind} ${index}`, [kind]: value };
      assert.deepEqual(await db.sample.create({ data: row }), row);
      assert.deepEqual(await db.sample.findUnique({ where: { select: row.select } }), row);
      if (kind !== "json") assert.equal(await db.sample.count({ where: { [kind]: value } }), 1);
    }
  }
});

testOnEach("DbOptions.fromDialect() supports every operation of repositories", async (database) => {
  await using db = await openDb(database);
  const ada = await db.user.create({ data: ADA });
  assert.deepEqual(ada, { id: 1, ...ADA, active: true });
  await db.user.createMany({ data: [{ ...ADA, id: 7, email: "b" }, { ...ADA, email: "c" }] });
  const upsert = { where: { email: "d" }, create: { ...ADA, email: "d" }, update: { name: "D" } };
  assert.ok((await db.user.upsert(upsert)).id > 7);
  assert.equal((await db.user.upsert(upsert)).name, "D");
  assert.equal(await db.user.updateMany({ where: { name: "Ada" }, data: { name: "Ada" } }), 3);
  assert.equal(await db.user.count({ where: { email: "c " } }), 0);
  assert.deepEqual(
    await db.user.findMany({
      orderBy: { email: "desc" },
      skip: 1,
      take: 2,
      select: { email: true },
    }),
    [{ email: "c" }, { email: "b" }],
  );
  await assert.rejects(
    db.user.create({ data: ADA }),
    dbError("UniqueViolation", "Cannot create users: the value of email is already taken", [
      "email",
    ]),
  );
  assert.deepEqual(await db.user.delete({ where: { id: 1 } }), ada);
  assert.equal(await db.user.deleteMany({ where: { name: "Ada" } }), 2);
});

testOnEach("DbOptions.fromDialect() reads and writes many rows", async (database) => {
  await using db = await openDb(database);
  const data = ["b", "a", "c"].map((email) => ({ ...ADA, email }));
  const created = await db.user.createManyAndReturn({ data });
  assert.deepEqual(created.map(({ email }) => email), ["b", "a", "c"]);
  const more = [...data, { ...ADA, email: "d" }];
  assert.equal(await db.user.createMany({ data: more, skipDuplicates: true }), 1);
  const create = [{ ...ADA, email: "a", name: "A" }, { ...ADA, email: "e" }];
  assert.equal(await db.user.upsertMany({ by: "email", create, update: ["name"] }), 2);
  const where = { name: "A" };
  assert.deepEqual(await db.user.updateManyAndReturn({ where, data: { active: false } }), [
    { ...created[1]!, name: "A", active: false },
  ]);
  const emails: string[] = [];
  for await (const { email } of db.user.stream({ orderBy: { email: "asc" }, batchSize: 2 })) {
    emails.push(email);
  }
  assert.deepEqual(emails, ["a", "b", "c", "d", "e"]);
  const sample = {
    integer: 7,
    bigint: 2n ** 53n - 1n,
    boolean: true,
    real: 0.5,
    decimal: "0.0001",
    timestamp: new Date("2024-07-29T12:34:56.789Z"),
    uuid: "0188c0de-0000-7000-8000-00000000000a",
    blob: new Uint8Array([0, 255]),
  };
  await db.sample.createMany({ data: ["a", "b"].map((select) => ({ select, ...sample })) });
  const all = Object.fromEntries(Object.keys(sample).map((name) => [name, true])) as Record<
    keyof typeof sample,
    true
  >;
  const sums = { integer: true, bigint: true, real: true, decimal: true } as const;
  const expected = {
    _sum: { integer: 14, bigint: 2n ** 54n - 2n, real: 1, decimal: "0.0002" },
    _avg: { integer: 7, bigint: 2 ** 53 - 1, real: 0.5, decimal: "0.00010000" },
    _min: sample,
  };
  assert.deepEqual(await db.sample.aggregate({ _sum: sums, _avg: sums, _min: all }), expected);
  const having = { decimal: { _sum: "0.0002" }, timestamp: { _max: sample.timestamp } };
  const by = ["timestamp"] as const;
  assert.deepEqual(await db.sample.groupBy({ by, having, _sum: sums, _avg: sums, _min: all }), [
    { timestamp: sample.timestamp, ...expected },
  ]);
});

testOnEach("DbOptions.fromDialect() has transactions, savepoints and a limit", async (database) => {
  const most = database.brand === "sqlite" ? 1 : 2;
  await using db = await openDb(database, 2);
  let inside = 0;
  let together = 0;
  await Promise.all(["a", "b", "c", "d"].map((email) =>
    db.transaction(async () => {
      together = Math.max(together, inside += 1);
      await db.user.create({ data: { ...ADA, email } });
      await assert.rejects(db.transaction(async () => {
        await db.user.create({ data: { ...ADA, email: `${email} undone` } });
        throw new Error("undo");
      }));
      await delay(20);
      inside -= 1;
      if (email === "d") throw new Error("undo");
    }).catch((error: Error) => assert.equal(error.message, "undo"))
  ));
  assert.equal(together, most);
  const rows = await db.user.findMany({ orderBy: { email: "asc" }, select: { email: true } });
  assert.deepEqual(rows, [{ email: "a" }, { email: "b" }, { email: "c" }]);
});

testOnEach("DbOptions.fromDialect() migrates, and closes the driver", async (database) => {
  const body = database.brand === "postgres"
    ? `create function twice() returns trigger language plpgsql as $$
        begin new.a = new.a * 2; return new; end; $$;
       create trigger doubled before insert on t for each row execute function twice();`
    : database.brand === "mysql"
    ? `create trigger doubled before insert on t for each row
        begin if new.a > 0 then set new.a = new.a * 2; end if; end;`
    : `create trigger doubled after insert on t
        begin update t set a = case when a > 0 then a * 2 end; end;`;
  const up = `-- first; second
    create table t (a int, b varchar(9) default ';''--');
    ${body}
    insert into t (a) values (21) -- no semicolon`;
  const { dialect, isClosed } = openDialect(database);
  const db = await Db.open(DbOptions.fromDialect(dialect).migrations({ "1": up }));
  const { rows } = await sql`select a, b from t`.execute(db.kysely);
  assert.deepEqual(rows.map((row) => Object.values(row as object)), [[42, ";'--"]]);
  assert.equal(await isClosed(), false);
  await db.close();
  assert.equal(await isClosed(), true);
  const failing = openDialect(database);
  const broken = { "1": up, "2": "select 1; nonsense" };
  await assert.rejects(
    DbOptions.fromDialect(failing.dialect).migrations(broken).open(),
    dbError("Database", "Cannot migrate: 2 failed"),
  );
  assert.equal(await failing.isClosed(), true);
});

testOnEach("DbOptions.fromDialect() rolls back", async (database) => {
  const options = DbOptions.fromDialect(openDialect(database).dialect).poolMax(1).migrations({
    "1": { up: "create table one (a int)", down: "drop table one; select 1" },
    "2": { up: "create table two (a int)", down: "drop table two; select ';'" },
  });
  await using migrations = await DbMigrations.open(options);
  for (const attempt of ["first", "second"]) {
    assert.deepEqual(await migrations.migrate(), ["1", "2"], attempt);
    assert.deepEqual(await migrations.rollBack({ steps: 2 }), ["2", "1"], attempt);
  }
});

test("DbOptions.fromDialect() rolls back where SQLite has no transactions", async () => {
  const database = new DatabaseSync(":memory:");
  const plain = plainSqlite(database);
  const prepare: SqliteDatabase["prepare"] = (sql) => {
    if (sql === "begin") throw new Error("no transactions");
    return plain.prepare(sql);
  };
  const dialect = new SqliteDialect({ database: { prepare, close: () => database.close() } });
  const options = DbOptions.fromDialect(dialect).migrations({
    "1": "create table one (a int)",
    "2": { up: "create table two (a int)", down: "drop table two" },
  });
  await using migrations = await DbMigrations.open(options);
  assert.deepEqual(await migrations.migrate(), ["1", "2"]);
  await assert.rejects(migrations.rollBack({ steps: 2 }), TypeError);
  assert.deepEqual(await migrations.rollBack(), ["2"]);
});

test("DbOptions.fromDialect() undoes a failed migration of SQLite, if the driver can", async () => {
  for (const canBegin of [true, false]) {
    const database = new DatabaseSync(":memory:");
    const plain = plainSqlite({ ...database, prepare: database.prepare.bind(database) } as never);
    const prepare: SqliteDatabase["prepare"] = (sql) => {
      if (sql === "begin" && !canBegin) throw new Error("no transactions");
      return plain.prepare(sql);
    };
    const dialect = new SqliteDialect({ database: { prepare, close: () => {} } });
    const options = DbOptions.fromDialect(dialect);
    const migrations = { "1": "create table one (a int)", "2": "create table two (a int); oops" };
    await assert.rejects(
      options.migrations(migrations).open(),
      dbError("Database", "Cannot migrate: 2 failed"),
    );
    const tables = database.prepare("select name from sqlite_master where name in ('one', 'two')");
    assert.equal(tables.all().length, canBegin ? 0 : 2);
    database.close();
  }
});

test("DbOptions.fromDialect() recognizes a dialect by its adapter, and rejects any other", async () => {
  const dialect = new SqliteDialect({ database: plainSqlite(new DatabaseSync(":memory:")) });
  const withAdapter = (adapter: unknown): Dialect => ({
    // An adapter of another copy of Kysely has the same members.
    createAdapter: () => adapter as ReturnType<Dialect["createAdapter"]>,
    createDriver: () => dialect.createDriver(),
    createIntrospector: (db) => dialect.createIntrospector(db),
    createQueryCompiler: () => dialect.createQueryCompiler(),
  });
  class SqliteAdapter {
    readonly supportsMultipleConnections = false;
  }
  class OwnAdapter extends SqliteAdapter {}
  class CockroachAdapter extends PostgresAdapter {}
  DbOptions.fromDialect(withAdapter(new CockroachAdapter()));
  await using db = await Db.open(DbOptions.fromDialect(withAdapter(new OwnAdapter())));
  await db.ping();
  class Other {}
  for (const adapter of [new MssqlAdapter(), new Other(), Object.create(null)]) {
    assert.throws(() => DbOptions.fromDialect(withAdapter(adapter)), {
      name: "TypeError",
      message: "Cannot use dialect: it is not of PostgreSQL, SQLite or MySQL",
    });
  }
});

testOnEach("DbOptions.fromDialect() finds out how a driver reads MySQL", async ({ url }) => {
  const open = async (settings: PoolOptions) => {
    const pool = createPool({ uri: url, ...settings });
    return await Db.open(DbOptions.fromDialect(new MysqlDialect({ pool })));
  };
  for (const settings of [{ timezone: "Z", jsonStrings: true }, { dateStrings: true }]) {
    await using db = await open(settings);
    await db.createTables();
    const timestamp = new Date("2024-03-10T02:30:00.001Z");
    await db.sample.upsert({
      where: { select: "a" },
      create: { select: "a", json: '"123"', timestamp },
      update: { json: "null", timestamp },
    });
    const row = await db.sample.findUnique({ where: { select: "a" } });
    assert.deepEqual(row?.timestamp, timestamp);
    assert.equal(typeof row?.json, "string");
  }
  await assert.rejects(open({ timezone: "+05:00" }), { name: "TypeError", message: /time zone/ });
  for (const zone of ["-05:00", "+01:00"]) {
    const pool = createPool({ uri: url, timezone: "Z" });
    pool.on("connection", (connection) => connection.query(`set time_zone = '${zone}'`));
    await assert.rejects(DbOptions.fromDialect(new MysqlDialect({ pool })).open(), {
      name: "TypeError",
      message: "Cannot use dialect: its sessions have another time zone than UTC, which columns " +
        "of type TIMESTAMP are converted to: run SET time_zone = '+00:00' on each new connection",
    });
  }
  await assert.rejects(
    open({ user: "root", password: "wrong" }),
    dbError("ConnectionLost", "Cannot open MySQL database: the database is out of reach"),
  );
}, { brands: ["mysql"] });

testOnEach(
  "a statement of DbOptions.fromDialect() beyond its limit is given up",
  async (database) => {
    const { dialect } = openDialect(database);
    const options = DbOptions.fromDialect(dialect).poolMax(1).statementTimeoutMs(200);
    await using db = await Db.open(options);
    await db.createTables();
    const late = { code: "StatementTimeout", message: "Cannot run query: it took too long" };
    const asleep = () => sleep(database.brand, 2).execute(db.kysely);
    await assert.rejects(asleep(), late);
    assert.equal(await db.user.count(), 0); // on another connection of the driver
    await assert.rejects(db.transaction(asleep), late);
    assert.equal(await db.user.count(), 0);
  },
  { brands: ["postgres", "mysql"], slow: true },
);

testOnEach("DbOptions.fromDialect() binds rows value by value on MySQL", async ({ url }) => {
  const pool = createPool({ uri: url, timezone: "Z" });
  // This driver prepares statements with values, and cannot bind a list.
  pool.on("connection", (connection) => {
    const { query } = connection;
    connection.query = ((sql: string, values: unknown, done: unknown) =>
      Array.isArray(values) && values.length > 0
        ? Reflect.apply(connection.execute, connection, [sql, values, done])
        : Reflect.apply(query, connection, [sql, values, done])) as typeof query;
  });
  await using db = await Db.open(DbOptions.fromDialect(new MysqlDialect({ pool })));
  await db.createTables();
  const data = ["a", "b", "c"].map((email) => ({ ...ADA, email }));
  assert.equal(await db.user.createMany({ data }), 3);
  assert.deepEqual((await db.user.findMany()).map(({ email }) => email), ["a", "b", "c"]);
}, { brands: ["mysql"] });

testOnEach(
  "DbOptions.fromDialect() rolls back after a statement was given up",
  async (database) => {
    const { brand } = database;
    assert.ok(brand !== "sqlite");
    await using db = await openDb(database, 1);
    const slow = db.transaction(() => sleep(brand, 1).execute(db.kysely), { timeoutMs: 100 });
    await assert.rejects(slow, { code: "StatementTimeout" });
    for (const email of ["a", "b"]) {
      const failing = db.kysely.transaction().execute(async (trx) => {
        await trx.insertInto("users").values({ ...ADA, email }).execute();
        throw new Error("failed");
      });
      await assert.rejects(failing, { message: "failed" });
    }
    await db.user.create({ data: ADA });
    await db.transaction(() => db.user.count());
    assert.deepEqual((await db.user.findMany()).map(({ email }) => email), [ADA.email]);
  },
  { brands: ["postgres", "mysql"] },
);

testOnEach("a stream that loses its connection keeps no place in the pool", async ({ url }) => {
  const pool = createPool({ uri: url, timezone: "Z", connectionLimit: 1 });
  pool.on("connection", (connection) => connection.on("error", () => {}));
  const options = DbOptions.fromDialect(new MysqlDialect({ pool })).poolMax(1);
  await using db = await Db.open(options.statementTimeoutMs(2000));
  {
    await using unlimited = await Db.open(DbOptions.fromUrl(url));
    await unlimited.createTables();
    const name = "n".repeat(20_000);
    const data = Array.from({ length: 1000 }, (_, index) => ({ ...ADA, name, email: `${index}` }));
    await unlimited.user.createMany({ data });
  }
  const { rows: [session] } = await sql<{ id: number }>`select connection_id() as id`.execute(
    db.kysely,
  );
  await assert.rejects(async () => {
    let read = 0;
    for await (const _ of db.kysely.selectFrom("users").selectAll().stream(10)) {
      if (++read === 5) await administer("mysql", `kill ${session?.id}`);
    }
  }, { code: "StatementTimeout" });
  assert.equal(await db.user.count(), 1000);
}, { brands: ["mysql"], slow: true });
