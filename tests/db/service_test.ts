import assert from "node:assert/strict";
import { sql } from "kysely";
import { inject, module, provide } from "../../mod.ts";
import { DbModule, DbOptions, DbService, field, model } from "../../src/db/mod.ts";
import { createTestApplication } from "../../src/testing/mod.ts";
import { test } from "../support/test.ts";
import { Db, dbError, openDb, testOnEach, User } from "./support/database.ts";

const OPTIONS = DbOptions.fromUrl("sqlite::memory:");
const ADA = { tenant_id: "a", email: "ada@example.org", name: "Ada" };

testOnEach("DbService.with() takes no models yet", async ({ url }) => {
  class Empty extends DbService.with({}) {}
  const options = DbOptions.fromUrl(url).migrations({ "1_ones": "create table ones (one int)" });
  await using db = await Empty.open(options);
  await db.createTables();
  await db.ping();
  await db.transaction(() => sql`insert into ones values (1)`.execute(db.kysely));
  const { rows } = await sql`select one from ones`.execute(db.kysely);
  assert.deepEqual(rows, [{ one: 1 }]);
});

test("DbService.with() rejects a model with the name of a member of the service", () => {
  for (const name of ["kysely", "close", "ping", "createTables", "constructor", "toString"]) {
    assert.throws(() => DbService.with({ [name]: User }), {
      name: "TypeError",
      message: `Cannot add model: the service has its own ${name}`,
    });
  }
});

test("DbService.open() returns an instance of the class it is called on", async () => {
  class Own extends Db {
    readonly greeting = "hello";
    names = async () => (await this.user.findMany()).map(({ name }) => name);
  }
  await using db = await Own.open(OPTIONS);
  await db.createTables();
  await db.user.create({ data: ADA });
  assert.ok(db instanceof Own && db instanceof Db && db instanceof DbService);
  assert.deepEqual([db.greeting, await db.names()], ["hello", ["Ada"]]);
});

test("DbService instances have separate databases", async () => {
  await using one = await openDb();
  await using two = await openDb();
  await one.user.create({ data: ADA });
  assert.deepEqual([await one.user.count(), await two.user.count()], [1, 0]);
});

test("DbService.createTables() leaves tables that are there as they are", async () => {
  await using db = await openDb();
  await db.user.create({ data: ADA });
  await db.createTables();
  assert.equal(await db.user.count(), 1);
});

test("DbService.createTables() sets the defaults of the model for raw inserts", async () => {
  const Thing = model("things", {
    id: field.integer().primaryKey(),
    text: field.text().default('it\'s "quoted"; --'),
    boolean: field.boolean().default(true),
    real: field.real().default(-0.5),
    integer: field.integer().default(Number.MAX_SAFE_INTEGER),
  });
  class Things extends DbService.with({ thing: Thing }) {}
  await using db = await Things.open(OPTIONS);
  await db.createTables();
  await db.kysely.insertInto("things").defaultValues().execute();
  const created = await db.thing.create({ data: {} });
  assert.deepEqual(await db.thing.findUnique({ where: { id: 1 } }), { ...created, id: 1 });
  assert.deepEqual(created, {
    id: 2,
    text: 'it\'s "quoted"; --',
    boolean: true,
    real: -0.5,
    integer: Number.MAX_SAFE_INTEGER,
  });
});

test("DbService.close() ends everything with PoolClosed, however often it is called", async () => {
  const db = await openDb();
  const closed = (action: string) =>
    dbError("PoolClosed", `Cannot ${action}: the database is closed`);
  await db.ping();
  const closing = [db.close(), db.close()];
  await assert.rejects(db.ping(), closed("reach the database"));
  await Promise.all(closing);
  await db.close();
  await assert.rejects(db.ping(), closed("reach the database"));
  await assert.rejects(db.createTables(), closed("create tables"));
  await assert.rejects(db.user.count(), closed("count users"));
  await assert.rejects(db.user.create({ data: ADA }), closed("create users"));
  await assert.rejects(db.user.scoped({ name: "x" }).findMany(), closed("read users"));
  await assert.rejects(db.kysely.selectFrom("users").selectAll().execute());
});

test("DbService fails with PoolClosed when its Kysely was destroyed", async () => {
  await using db = await openDb();
  await db.kysely.selectFrom("users").selectAll().execute();
  await db.kysely.destroy();
  await assert.rejects(
    db.user.count(),
    dbError("PoolClosed", "Cannot count users: the database is closed"),
  );
});

test("a DbError shows only its message to clients, and the cause in the log", async () => {
  await using db = await Db.open(OPTIONS);
  const secret = "hunter2";
  await assert.rejects(db.user.create({ data: { ...ADA, name: secret } }), (error: Error) => {
    dbError("Database", "Cannot create users: its table is missing")(error);
    assert.match(String(error.cause), /no such table: users/);
    return true;
  });
});

test("DbModule opens its service at boot and closes it at shutdown", async () => {
  class Users {
    readonly #db = inject(Db);
    db = () => this.#db;
  }
  const App = module({
    imports: [DbModule.forRoot(Db, OPTIONS)],
    providers: [Users],
  });
  const app = await createTestApplication(App);
  const db = app.get(Users).db();
  assert.ok(db instanceof Db);
  await db.createTables();
  assert.equal(await db.user.count(), 0);
  await app[Symbol.asyncDispose]();
  await assert.rejects(
    db.user.count(),
    dbError("PoolClosed", "Cannot count users: the database is closed"),
  );
});

test("DbModule asks for its options at boot, and not where they are overridden", async () => {
  let calls = 0;
  const options = () => {
    calls++;
    return OPTIONS;
  };
  const App = module({ imports: [DbModule.forRoot(Db, options)] });
  await using _ = await createTestApplication(App, { overrides: [provide(Db, () => openDb())] });
  assert.equal(calls, 0);
  await using app = await createTestApplication(App);
  await app.get(Db).createTables();
  assert.deepEqual([calls, await app.get(Db).user.count()], [1, 0]);
});

test("DbModule can be overridden, and fails the boot when it cannot open", async () => {
  const broken = DbOptions.fromUrl("sqlite:/no/such/folder/data.sqlite");
  const App = module({ imports: [DbModule.forRoot(Db, broken)] });
  await assert.rejects(
    createTestApplication(App),
    dbError(
      "ConnectionLost",
      "Cannot open SQLite database /no/such/folder/data.sqlite: it cannot be read and written, or " +
        "its directory is missing: unable to open database file",
    ),
  );
  await using app = await createTestApplication(App, { overrides: [provide(Db, () => openDb())] });
  assert.equal(await app.get(Db).user.count(), 0);
});
