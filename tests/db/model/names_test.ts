import assert from "node:assert/strict";
import { belongsTo, DbOptions, DbService, field, hasMany, model } from "../../../src/db/mod.ts";
import { test } from "../../support/test.ts";
import { type Brand, dbError, testOnEach } from "../support/database.ts";
import { type Noted, openNoted } from "../support/noted.ts";

const Person = model("people", {
  id: field.integer().primaryKey().map("person_id"),
  email: field.text().unique().map("name"),
  // The column of another field has its name.
  name: field.text().nullable().map("full_name"),
  age: field.integer().default(0).map("years"),
}, { table: "Users", schema: "auth" });
const Note = model("notes", {
  id: field.integer().primaryKey(),
  author: field.integer().references(Person, { onDelete: "cascade" }).map("author_id"),
  kind: field.enum(["a", "b"]).default("a").map("sort"),
}, { schema: "auth" });

class Names extends DbService.with({ person: Person, note: Note }, {
  person: { notes: hasMany(Note.author) },
  note: { writer: belongsTo(Note.author) },
}) {}

/** The tables in the SQL of each database. */
const PEOPLE: Readonly<Record<Brand, string>> = {
  postgres: '"auth"."Users"',
  mysql: "`auth_Users`",
  sqlite: '"auth_Users"',
};

testOnEach("models can have other names than tables and columns", async ({ brand, url }) => {
  await using db = await Names.open(DbOptions.fromUrl(url));
  await db.createTables();
  await db.createTables();
  await db.checkTables();
  const ada = await db.person.create({ data: { email: "a", name: "Ada", age: 36 } });
  assert.deepEqual(ada, { id: 1, email: "a", name: "Ada", age: 36 });
  await db.note.createMany({ data: [{ author: 1 }, { author: 1, kind: "b" }] });
  assert.deepEqual(await db.person.findUnique({ where: { email: "a" } }), ada);
  assert.deepEqual(
    await db.person.findMany({
      where: { name: { startsWith: "A" }, notes: { some: { kind: "b" } } },
      orderBy: [{ notes: { _count: "desc" } }, { name: "asc" }],
      select: { name: true },
      include: { notes: { orderBy: { kind: "desc" }, take: 1, include: { writer: true } } },
    }),
    [{ name: "Ada", notes: [{ id: 2, author: 1, kind: "b", writer: ada }] }],
  );
  await db.person.createMany({ data: [{ id: 7, email: "c" }, { email: "b", age: 1 }] });
  assert.equal(
    await db.person.upsertMany({
      by: "email",
      create: [{ email: "c", age: 2 }, { email: "d" }],
      update: ["age"],
    }),
    2,
  );
  await db.person.update({ where: { email: "c" }, data: { age: { increment: 1 } } });
  assert.deepEqual(
    await db.person.groupBy({
      by: ["name"],
      _sum: { age: true },
      _count: { name: true },
      having: { age: { _sum: { gt: 0 } } },
      orderBy: { name: "asc" },
    }),
    [
      { name: null, _sum: { age: 4 }, _count: { name: 0 } },
      { name: "Ada", _sum: { age: 36 }, _count: { name: 1 } },
    ],
  );
  await assert.rejects(
    db.person.create({ data: { email: "a" } }),
    dbError("UniqueViolation", "Cannot create people: the value of email is already taken", [
      "email",
    ]),
  );
  await assert.rejects(
    db.person.update({ where: { id: 1 }, data: { email: "c" } }),
    dbError("UniqueViolation", "Cannot update people: the value of email is already taken", [
      "email",
    ]),
  );
  // Kysely has the names of the database.
  const aged = await db.person.count({ where: { AND: [(eb) => eb("years", ">", 30)] } });
  assert.equal(aged, 1);
  if (brand === "postgres") {
    const rows = await db.kysely.selectFrom("auth.Users").select(["full_name", "auth.Users.years"])
      .where("person_id", "=", 1).execute();
    assert.deepEqual(rows.map(({ full_name }) => full_name), ["Ada"]);
  }
});

const STATEMENTS: readonly (readonly [(db: Names) => Promise<unknown>, string])[] = [
  [
    ({ person }) => person.findUnique({ where: { email: "a" } }),
    'select "person_id", "name", "full_name", "years" from people where "name" = ?',
  ],
  [
    ({ person }) => person.findMany({ orderBy: { age: "desc" }, take: 1 }),
    'select "person_id", "name", "full_name", "years" from people where 1 = 1 ' +
    'order by "years" desc, "person_id" asc limit ?',
  ],
  [
    ({ person }) => person.updateMany({ where: { email: "a" }, data: { age: { increment: 1 } } }),
    'update people set "years" = CHECKED where "name" = ?',
  ],
  [
    ({ person }) => person.deleteMany({ where: { notes: { none: {} } } }),
    "delete from people where TARGET",
  ],
];

testOnEach("statements have the names of tables and columns", async (database) => {
  await using noted = await openNoted(Names, database);
  const { db, notes } = noted;
  await db.createTables();
  notes.take();
  for (const [run, expected] of STATEMENTS) {
    await run(db);
    const [[actual]] = notes.take() as [Noted];
    assert.equal(
      actual.replaceAll("`", '"').replaceAll(/\$\d|(?<=limit )1/g, "?")
        .replace(PEOPLE[database.brand].replaceAll("`", '"'), "people")
        .replace(/(?<="years" = )(?!\?).*(?= where)/, "CHECKED")
        .replace(/(?<=^delete.*where ).*/, "TARGET"),
      expected,
    );
  }
});

testOnEach("checkTables() names fields with their columns", async ({ brand, url }) => {
  await using db = await Names.open(DbOptions.fromUrl(url));
  await db.createTables();
  const Other = model("people", {
    id: field.integer().primaryKey().map("person_id"),
    email: field.integer().unique().map("name"),
    nick: field.text().map("nick_name"),
    full_name: field.text(),
    years: field.integer(),
  }, { table: "Users", schema: "auth" });
  const Gone = model("gone", { id: field.integer().primaryKey() }, { schema: "auth" });
  class Others extends DbService.with({ other: Other, gone: Gone }) {}
  await using others = await Others.open(DbOptions.fromUrl(url));
  const type = brand === "mysql" ? "varchar(255)" : "text";
  const table = brand === "postgres" ? "auth.gone" : "auth_gone";
  await assert.rejects(
    others.checkTables(),
    dbError(
      "Database",
      [
        "Cannot use tables: they differ from the models in 4 places",
        `people.email (name): the column is ${type}, the model has integer`,
        "people.nick (nick_name): the column is missing",
        "people.full_name: the column is nullable, the field is not",
        `gone (${table}): the table is missing`,
      ].join("\n  "),
    ),
  );
});

testOnEach("tables of the same name in different schemas are different tables", async ({ url }) => {
  const Log = model("logs", { id: field.integer().primaryKey() });
  const Old = model("old_logs", { id: field.integer().primaryKey() }, {
    table: "logs",
    schema: "archive",
  });
  class Logs extends DbService.with({ log: Log, old: Old }) {}
  await using db = await Logs.open(DbOptions.fromUrl(url));
  await db.createTables();
  await db.log.create({ data: {} });
  await db.old.createMany({ data: [{ id: 5 }, {}, {}] });
  assert.deepEqual([await db.log.count(), await db.old.count()], [1, 3]);
  assert.deepEqual(await db.old.findMany({ orderBy: { id: "asc" } }), [
    { id: 5 },
    { id: 6 },
    { id: 7 },
  ]);
  await db.checkTables();
});

test("model() rejects invalid names of tables and columns", () => {
  const id = field.integer().primaryKey();
  const wrong: readonly (readonly [() => unknown, string])[] = [
    [() => field.text().map("a b"), 'Cannot map field: "a b" is not a column name'],
    [
      () => model("t", { id, a: field.text(), b: field.text().map("a") }),
      "Cannot define t: two fields have the column a",
    ],
    [
      () => model("t", { id }, { table: "a.b" }),
      'Cannot define t: "a.b" is not the name of a table',
    ],
    [() => model("t", { id }, { schema: "" }), 'Cannot define t: "" is not the name of a schema'],
    [
      () => model("t", { id }, { schema: "s".repeat(63) }),
      `Cannot define t: ${"s".repeat(63)}_t has over 63 characters`,
    ],
    [
      () => model("t", { id }, { tabel: "a" } as object),
      'Cannot define t: there is no option "tabel"',
    ],
  ];
  for (const [define, message] of wrong) {
    assert.throws(define, { name: "TypeError", message });
  }
});

test("DbService.with() rejects two models of the same table", () => {
  const id = field.integer().primaryKey();
  const models = { one: model("a", { id }), two: model("b", { id }, { table: "a" }) };
  assert.throws(() => DbService.with(models), {
    name: "TypeError",
    message: "Cannot add model: the service has a already",
  });
});
