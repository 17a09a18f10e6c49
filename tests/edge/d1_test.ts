/** Repositories over D1, which has no transactions, no bigints, and 100 values in a statement. */
import assert from "node:assert/strict";
import { test } from "../support/test.ts";
import { bundle } from "./bundle.ts";
import { Worker } from "./worker.ts";

const { code } = await bundle(`
import { D1Dialect } from "kysely-d1";
import { controller, FwFactory, inject, module, route } from "./mod.ts";
import { DbModule, DbOptions, DbService, field, model } from "./src/db/mod.ts";

const Item = model("items", {
  id: field.integer().primaryKey(),
  name: field.text().unique(),
  units: field.bigint(),
  price: field.decimal({ precision: 18, scale: 4 }),
  bytes: field.blob().nullable(),
});
class Db extends DbService.with({ item: Item }) {}

const names = Array.from({ length: 101 }, (_, i) => "f" + i);
const Wide = model("wide", {
  id: field.integer().primaryKey(),
  ...Object.fromEntries(names.map((name) => [name, field.integer()])),
});
class WideDb extends DbService.with({ wide: Wide }) {}

const MOST = 2n ** 53n - 1n;
const item = (name, units = 1n) => ({ name, units, price: "1.5" });
const items = (count, name) => Array.from({ length: count }, (_, i) => item(name + i));
const problem = ({ code, message }) => code + ": " + message;
const results = async ({ item: repository }) => {
  const most = await repository.create({
    data: { ...item("most", -MOST), price: "-900719925474.0991", bytes: new Uint8Array([0, 255]) },
  });
  await repository.update({
    where: { name: "most" },
    data: { units: { increment: 2n }, price: { increment: "0.0001" } },
  });
  return {
    most: [most.units, most.price, [...most.bytes]],
    changed: await repository.findUnique({
      where: { name: "most" },
      select: { units: true, price: true },
    }),
    tooLarge: await repository.create({ data: item("large", MOST + 1n) }).catch(problem),
    tooPrecise: await repository.create({ data: { ...item("large"), price: "900719925474.0992" } })
      .catch(problem),
    overflows: await Promise.all([
      { units: { decrement: 3n } },
      { price: { decrement: "0.0002" } },
    ].map((data) => repository.update({ where: { name: "most" }, data }).catch(problem))),
    seven: await repository.createMany({ data: items(7, "a") }),
    returned: (await repository.createManyAndReturn({ data: items(15, "b") })).length,
    most100: await repository.createMany({ data: items(25, "d") }),
    many: await repository.createMany({ data: items(500, "c") }).catch(problem),
    compared: await repository.count({ where: { units: { gte: 1n }, price: { lt: "1.6" } } }),
    listed: (await repository.findMany({ where: { name: { in: items(300, "b").map((it) => it.name) } } }))
      .length,
    sum: await repository.aggregate({ _sum: { units: true, price: true } }),
    taken: await repository.create({ data: item("a1") }).catch(problem),
  };
};

class ItemsController extends controller() {
  #db = inject(Db);
  all = route.get("/", async (_, c) => {
    await this.#db.createTables();
    const text = (_, value) => typeof value === "bigint" ? String(value) : value;
    return c.text(JSON.stringify(await results(this.#db), text));
  });
  wide = route.get("/wide", async (_, c) => {
    const db = await WideDb.open(DbOptions.fromDialect(new D1Dialect({ database: c.env.DB })));
    const row = Object.fromEntries(names.map((name) => [name, 1]));
    return await db.wide.createMany({ data: [row] }).catch(problem);
  });
  lost = route.get("/lost", async () => {
    const all = () => Promise.reject(new Error("D1_ERROR: Network connection lost."));
    const database = { prepare: () => ({ bind: () => ({ all }) }) };
    return await Db.open(DbOptions.fromDialect(new D1Dialect({ database })))
      .then(() => "open", problem);
  });
}

let app;
export default {
  async fetch(request, { DB: database }, context) {
    const options = DbOptions.fromDialect(new D1Dialect({ database }));
    app ??= await FwFactory.create(module({
      imports: [DbModule.forRoot(Db, options)],
      controllers: [ItemsController],
    }));
    return await app.fetch(request, { DB: database }, context);
  },
};
`);

test("D1 stores each kind of value, and rows that fit into one statement", async () => {
  await using worker = await Worker.start(code, { databases: ["DB"] });
  const response = await fetch(worker.url, { signal: AbortSignal.timeout(60_000) });
  assert.deepEqual(await response.json(), {
    most: ["-9007199254740991", "-900719925474.0991", [0, 255]],
    changed: { units: "-9007199254740989", price: "-900719925474.0990" },
    tooLarge: "CheckViolation: Cannot use bigint: D1 has whole numbers up to 2^53 - 1",
    tooPrecise: "CheckViolation: Cannot use decimal: D1 has whole numbers up to 2^53 - 1",
    overflows: Array(2).fill("CheckViolation: Cannot update items: a value is not allowed"),
    seven: 7,
    returned: 15,
    most100: 25,
    many: "Database: Cannot begin transaction: the database has no transactions",
    compared: 47,
    listed: 15,
    sum: { _sum: { units: "-9007199254740942", price: "-900719925403.5990" } },
    taken: "UniqueViolation: Cannot create items: the value of name is already taken",
  });
});

test("createMany of a model with more columns than D1 binds fails", async () => {
  await using worker = await Worker.start(code, { databases: ["DB"] });
  const response = await fetch(`${worker.url}/wide`, { signal: AbortSignal.timeout(60_000) });
  assert.match(
    await response.text(),
    /Cannot create wide: it has 101 values, and the database takes 100/,
  );
});

test("D1 that cannot be reached is not opened, as its SQL cannot be determined", async () => {
  await using worker = await Worker.start(code, { databases: ["DB"] });
  const response = await fetch(`${worker.url}/lost`, { signal: AbortSignal.timeout(60_000) });
  assert.match(await response.json(), /^Database: Cannot open SQLite database/);
});
