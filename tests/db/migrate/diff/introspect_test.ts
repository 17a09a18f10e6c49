import assert from "node:assert/strict";
import { sql } from "kysely";
import { DbOptions, diffSchema, field, introspectModels, model } from "../../../../src/db/mod.ts";
import { testOnEach } from "../../support/database.ts";
import { DbService } from "../../../../src/db/mod.ts";
import { PRISMA_TABLES } from "./prisma_tables.ts";

testOnEach(
  "introspectModels() describes the tables of Prisma's example",
  async ({ url, brand }) => {
    const options = DbOptions.fromUrl(url).migrations({ "0001_prisma": PRISMA_TABLES[brand] });
    await (await options.open()).close();
    const models = await introspectModels(DbOptions.fromUrl(url));
    const byName = Object.fromEntries(models.map((it) => [it.name, it]));
    const names = models.map(({ name }) => name);
    assert.ok(names.indexOf("User") < names.indexOf("Post"));
    assert.deepEqual(names.toSorted(), ["Category", "Post", "Profile", "User", "_CategoryToPost"]);
    const role = brand === "sqlite" ? "field.text()" : 'field.enum(["USER", "ADMIN"])';
    assert.deepEqual(byName["User"]?.fields, [
      { name: "id", code: "field.integer().primaryKey()" },
      { name: "email", code: "field.text().unique()" },
      { name: "name", code: "field.text().nullable()" },
      { name: "role", code: `${role}.default("USER")` },
    ]);
    const now = brand === "mysql" ? "current_timestamp(3)" : "CURRENT_TIMESTAMP";
    assert.deepEqual(byName["Post"]?.fields, [
      { name: "id", code: "field.integer().primaryKey()" },
      { name: "createdAt", code: `field.timestamp().defaultSql("${now}")` },
      { name: "updatedAt", code: "field.timestamp()" },
      { name: "title", code: "field.text()" },
      { name: "published", code: "field.boolean().default(false)" },
      {
        name: "authorId",
        code: "field.integer()",
        reference: { model: "User", options: "" },
      },
    ]);
    const through = byName["_CategoryToPost"];
    assert.deepEqual(through?.fields[0]?.reference, {
      model: "Category",
      options: '{ onDelete: "cascade" }',
    });
    assert.equal(
      through?.options,
      brand === "postgres" ? '{ primaryKey: ["A","B"] }' : "{ primaryKey: false }",
    );
  },
);

testOnEach("introspectModels() describes the tables of createTables()", async ({ url, brand }) => {
  const Owner = model("owners", { id: field.uuid().primaryKey(), tax: field.text().unique() });
  const Pet = model("pets", {
    tenant: field.integer(),
    id: field.integer(),
    owner: field.text().nullable().references(Owner, { column: "tax", onDelete: "set null" }),
    state: field.enum(["draft", "it-is"]).default("draft"),
    age: field.integer({ min: -1, max: 30 }),
    name: field.text({ min: 1, max: 80 }).default("it's"),
    price: field.decimal({ precision: 8, scale: 2, min: "0" }),
    weight: field.real().default(1.5),
    data: field.json().nullable(),
    born: field.date(),
    wakes: field.time(),
    photo: field.blob().nullable(),
  }, { primaryKey: ["tenant", "id"], unique: [["tenant", "name"]], index: ["born"] });
  await using db = await DbService.with({ owner: Owner, pet: Pet }).open(DbOptions.fromUrl(url));
  await db.createTables();
  const models = await introspectModels(DbOptions.fromUrl(url));
  const pet = models.find(({ name }) => name === "pets");
  const whole = brand === "sqlite" ? "integer" : "bigint";
  const bounds = brand === "sqlite" ? "{ min: -1, max: 30 }" : "{ min: -1n, max: 30n }";
  const isText = brand === "sqlite";
  assert.deepEqual(Object.fromEntries(pet?.fields.map(({ name, code }) => [name, code]) ?? []), {
    tenant: `field.${whole}()`,
    id: `field.${whole}()`,
    owner: "field.text().nullable()",
    state: 'field.enum(["draft", "it-is"]).default("draft")',
    age: `field.${whole}(${bounds})`,
    name: `field.text({ min: 1, max: 80 }).default("it's")`,
    price: brand === "sqlite"
      ? "field.integer({ min: 0 })"
      : 'field.decimal({ precision: 8, scale: 2, min: "0.00" })',
    weight: "field.real().default(1.5)",
    data: isText ? "field.text().nullable()" : "field.json().nullable()",
    born: isText ? "field.text()" : "field.date()",
    wakes: isText ? "field.text()" : "field.time()",
    photo: "field.blob().nullable()",
  });
  assert.deepEqual(pet?.fields[2]?.reference, {
    model: "owners",
    options: '{ onDelete: "set null", column: "tax" }',
  });
  assert.equal(
    pet?.options,
    '{ primaryKey: ["tenant","id"], unique: [["tenant","name"]], index: [["born"]] }',
  );
});

testOnEach("introspectModels() leaves out the tables of the migrator, and no others", async (
  { url },
) => {
  const script = "create table fw_orders (id integer primary key)";
  await (await DbOptions.fromUrl(url).migrations({ "0001_a": script }).open()).close();
  const models = await introspectModels(DbOptions.fromUrl(url));
  assert.deepEqual(models.map(({ name }) => name), ["fw_orders"]);
});

testOnEach("introspectModels() names what no model has", async ({ url }) => {
  const script = `create table places (id bigint primary key, spot point, tags text[] not null,
    "two words" text, code char(2), primary_id bigint references places (id) on update cascade,
    size int generated always as (1) stored);
    create index on places (lower(code));`;
  await (await DbOptions.fromUrl(url).migrations({ "0001_a": script }).open()).close();
  const [places] = await introspectModels(DbOptions.fromUrl(url));
  assert.deepEqual(places, {
    name: "places",
    fields: [
      {
        name: "id",
        code:
          'field.bigint().primaryKey().default(() => { throw new TypeError("id is not generated"); })',
      },
      { name: "tags", code: "field.text().array()" },
      {
        name: "primary_id",
        code: "field.bigint().nullable()",
        reference: { model: "self", options: "" },
      },
    ],
    options: "",
    notes: [
      "spot: point is the type of no kind of field",
      "two words: no field can have the name",
      "code: character(2) is the type of no kind of field",
      "index places_lower_idx of places",
    ],
  });
}, { brands: ["postgres"] });

testOnEach(
  "introspectModels() describes keys that are not generated, and defaults with quotes",
  async (
    { url, brand },
  ) => {
    const text = brand === "mysql" ? "varchar(20)" : "text";
    const value = brand === "mysql" ? String.raw`'it\\''s'` : String.raw`'it\''s'`;
    const kinds = brand === "mysql" ? ["int", "bigint"] : ["integer", "bigint"];
    const options = DbOptions.fromUrl(url);
    {
      await using db = await DbService.with({}).open(options);
      for (const kind of kinds) {
        await sql.raw(
          `create table of_${kind} (id ${kind} primary key, x ${text} default ${value})`,
        )
          .execute(db.kysely);
      }
    }
    const models = await introspectModels(options);
    const isRowid = (name: string) => brand === "sqlite" && name === "of_integer";
    for (const { name, fields: [id, x] } of models) {
      assert.equal(/not generated/.test(id!.code), !isRowid(name), `${name} ${id!.code}`);
      assert.ok(x!.code.endsWith(String.raw`.nullable().default("it\\'s")`), x!.code);
    }
    const pulled = Object.fromEntries(models.map(({ name }) => {
      const key = name === "of_bigint" && brand !== "sqlite" ? field.bigint() : field.integer();
      const id = isRowid(name) ? key.primaryKey() : key.primaryKey().default(() => 1 as never);
      const x = field.text().nullable().default(String.raw`it\'s`);
      return [name, model(name, { id, x })];
    }));
    const { changes } = await diffSchema(DbService.with(pulled), options, { against: "database" });
    assert.deepEqual(changes, []);
  },
);

testOnEach(
  "introspectModels() notes the default of a key, and keeps an index of a reference",
  async (
    { url, brand },
  ) => {
    const options = DbOptions.fromUrl(url);
    if (brand !== "postgres") return;
    {
      await using db = await DbService.with({}).open(options);
      for (
        const statement of [
          `create table people (id uuid primary key default gen_random_uuid(), email text unique)`,
          `create table invites (id text primary key default 'new', email text references people (email))`,
          `create index on invites (email)`,
        ]
      ) await sql.raw(statement).execute(db.kysely);
    }
    const models = await introspectModels(options);
    const [invites, people] = models.toSorted((a, b) => a.name < b.name ? -1 : 1);
    assert.equal(
      people?.fields[0]?.code,
      "field.uuid().primaryKey().default(() => crypto.randomUUID())",
    );
    assert.deepEqual(people?.notes, ["id: default gen_random_uuid()"]);
    assert.equal(invites?.fields[0]?.code, 'field.text().primaryKey().default("new")');
    assert.match(invites!.options, /index: \[\["email"\]\]/);
  },
);

testOnEach(
  "a migration by difference has the defaults and bounds of its models",
  async ({ url, brand }) => {
    const now = brand === "sqlite" ? "'2026-01-01T00:00:00.000Z'" : "current_timestamp(3)";
    const Note = model("notes", {
      id: field.integer().primaryKey(),
      text: field.text().default("it's a\\b\n\"`"),
      data: field.json().default({ a: ["it's", "\\"] }),
      at: field.timestamp().defaultSql(now),
      size: field.integer({ min: -5, max: 5 }),
    });
    const Notes = DbService.with({ note: Note });
    const options = DbOptions.fromUrl(url);
    const base = { "0001_base": "create table base (id integer primary key)" };
    const { migrations } = await diffSchema(Notes, options.migrations(base));
    const all = { ...base, "0002_notes": { up: migrations[0]!.up, down: migrations[0]!.down! } };
    const again = await diffSchema(Notes, options.migrations(all));
    assert.deepEqual(again.changes, []);
    {
      await using db = await Notes.open(options.migrations(all));
      const { id } = await db.note.create({ data: { size: 0 } });
      const { text, data } = (await db.note.findUnique({ where: { id } }))!;
      assert.deepEqual([text, data], ["it's a\\b\n\"`", { a: ["it's", "\\"] }]);
    }
    const pulled = (await introspectModels(options)).find(({ name }) => name === "notes");
    const codes = Object.fromEntries(pulled!.fields.map(({ name, code }) => [name, code]));
    if (brand !== "sqlite") assert.match(codes.size!, /min: -5n?, max: 5n?/);
    assert.match(codes.text!, /\.default\("it's a/);
  },
);

testOnEach("introspectModels() names tables and columns whose names no model can have", async (
  { url, brand },
) => {
  const options = DbOptions.fromUrl(url);
  const quote = (name: string) => brand === "mysql" ? `\`${name}\`` : `"${name}"`;
  {
    await using db = await DbService.with({}).open(options);
    for (const name of ["2fa", "a-b", "x.y", "plain"]) {
      const other = `${quote("a-b")} integer, ${quote("constructor")} integer`;
      await sql.raw(`create table ${quote(name)} (id integer, ${other})`).execute(db.kysely);
    }
  }
  const skipped: string[] = [];
  const models = await introspectModels(options, { onSkipped: (text) => skipped.push(text) });
  assert.deepEqual(models.map(({ name, notes }) => [name, notes]), [
    ["plain", ["a-b: no field can have the name", "constructor: no field can have the name"]],
  ]);
  const reasonOf = (name: string) =>
    brand === "postgres" && name === "x.y" ? "name has a dot" : "name no model can have";
  assert.deepEqual(
    skipped.toSorted(),
    ["2fa", "a-b", "x.y"].map((name) => `table ${name}, whose ${reasonOf(name)}`),
  );
});

testOnEach(
  "introspectModels() reads the values of an enum as they are, or names their check",
  async (
    { url, brand },
  ) => {
    const options = DbOptions.fromUrl(url);
    {
      await using db = await DbService.with({}).open(options);
      const text = brand === "mysql" ? "varchar(20)" : "text";
      await sql.raw(
        `create table spaced (id integer primary key, wide ${text} check (wide in ('x  y', ' z ')),
        line ${text} check (line in ('x\ny', 'z')))`,
      ).execute(db.kysely);
    }
    const [spaced] = await introspectModels(options);
    assert.deepEqual(spaced?.fields.slice(1).map(({ code }) => code), [
      'field.enum(["x  y", " z "]).nullable()',
      "field.text().nullable()",
    ]);
    assert.deepEqual(spaced?.notes, ["line: a check of values that no enum can have"]);
  },
);
