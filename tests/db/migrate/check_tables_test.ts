import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { MysqlDialect, sql, SqliteDialect } from "kysely";
import { PostgresJSDialect } from "kysely-postgres-js";
import { createPool } from "mysql2";
import postgres from "postgres";
import { DbOptions, DbService, field, model } from "../../../src/db/mod.ts";
import type { AnyField } from "../../../src/db/model/model.ts";
import type { Models } from "../../../src/db/service.ts";
import { type Brand, Db, dbError, type TestDatabase, testOnEach } from "../support/database.ts";

import { test } from "../../support/test.ts";
import { SKIP_PGBOUNCER, startPgBouncer } from "../support/pgbouncer.ts";
import { plainSqlite } from "../support/plain_sqlite.ts";
import { administer, createDatabase } from "../support/servers.ts";

/** A column: the model's field, the definition in SQL, and the difference, if there is one. */
type Case = readonly [field: AnyField, definition: string, difference?: string];

const DECIMAL = field.decimal({ precision: 12, scale: 2 });
const MOOD = field.enum(["sad", "happy"]);
const NULLABLE = "the column is not null, the field is nullable";
const REQUIRED = "the column is nullable, the field is not";
const COMPUTED = "the column is computed, the model writes it";
const SHARED = "the column is not unique, the field is";

/** The definition of a generated key. */
const KEY: Readonly<Record<Brand, string>> = {
  postgres: "bigserial primary key",
  mysql: "bigint auto_increment primary key",
  sqlite: "integer primary key",
};

const POSTGRES: Readonly<Record<string, Case>> = {
  a_text: [field.integer(), "text not null", "the column is text, the model has integer"],
  a_number: [field.text(), "int not null", "the column is integer, the model has text"],
  a_uuid: [field.text(), "uuid not null", "the column is uuid, the model has text"],
  an_array: [field.text(), "text[] not null", "the column is text[], the model has text"],
  a_fraction: [
    field.bigint(),
    "numeric not null",
    "the column is numeric, the model has bigint",
  ],
  a_float: [
    field.real(),
    "real not null",
    "the column is real, which has single precision, the model has real",
  ],
  a_flag: [field.boolean(), "int not null", "the column is integer, the model has boolean"],
  a_short: [
    DECIMAL,
    "numeric(10, 2) not null",
    "the column is numeric(10,2), the model has decimal(12,2)",
  ],
  a_coarse: [
    DECIMAL,
    "numeric(12, 1) not null",
    "the column is numeric(12,1), the model has decimal(12,2)",
  ],
  a_document: [field.json(), "text not null", "the column is text, the model has json"],
  a_day: [field.timestamp(), "date not null", "the column is date, the model has timestamp"],
  a_second: [
    field.timestamp(),
    "timestamptz(0) not null",
    "the column is timestamp(0) with time zone, which drops milliseconds, the model has timestamp",
  ],
  an_id: [
    field.uuid(),
    "varchar(32) not null",
    "the column is character varying(32), the model has uuid",
  ],
  a_blob: [field.blob(), "text not null", "the column is text, the model has blob"],
  a_domain: [field.integer(), "label not null", "the column is label, the model has integer"],
  a_mood: [field.integer(), "mood not null", "the column is mood, the model has integer"],
  maybe: [field.text(), "text", REQUIRED],
  always: [field.text().nullable(), "text not null", NULLABLE],
  always_too: [field.text().nullable(), "required", NULLABLE],
  computed: [field.integer(), "int generated always as (1 + 1) stored not null", COMPUTED],
  shared: [field.text().unique(), "text not null", SHARED],
  partly: [field.text().unique(), "text not null", SHARED],
  folded: [field.text().unique(), "text not null", SHARED],
  in_pair: [field.text().unique(), "text not null", SHARED],
  deferred: [
    field.text().unique(),
    "text not null unique deferrable",
    "the column is unique, but deferrable",
  ],
  nulls: [
    field.text().nullable().unique(),
    "text unique nulls not distinct",
    "the column is unique, but its nulls are not distinct",
  ],
  no_nulls: [field.text().unique(), "text not null unique nulls not distinct"],
  twice: [field.text().unique(), "text not null unique unique deferrable"],
  padded: [
    field.uuid(),
    "char(40) not null",
    "the column is character(40), the model has uuid",
  ],
  fitting: [field.uuid(), "char(36) not null"],
  unpadded: [field.uuid(), "bpchar not null"],
  small: [field.integer(), "smallint not null"],
  int: [field.integer(), "int4 not null"],
  big: [field.bigint(), "int8 not null"],
  identity: [field.integer(), "bigint generated always as identity"],
  varchar: [field.text(), "varchar(20) not null"],
  fixed: [field.text(), "char(2) not null", "the column is character(2), the model has text"],
  insensitive: [field.text(), "citext not null unique"],
  native: [field.text(), "mood not null default 'sad'"],
  checked: [field.text(), "text not null check (checked in ('a', 'b'))"],
  listed: [MOOD, "text not null"],
  listed_natively: [MOOD, "mood not null"],
  day: [field.date(), "date not null"],
  time: [field.time(), "time not null"],
  a_moment: [
    field.date(),
    "timestamp(3) not null",
    "the column is timestamp(3) without time zone, the model has date",
  ],
  a_minute: [
    field.time(),
    "time(0) not null",
    "the column is time(0) without time zone, which drops milliseconds, the model has time",
  ],
  a_list: [MOOD, "int not null", "the column is integer, the model has enum(sad|happy)"],
  labelled: [field.text().nullable(), "deep_label"],
  money: [DECIMAL, "numeric(14, 4) not null"],
  amount: [DECIMAL, "numeric not null"],
  prisma: [field.timestamp(), "timestamp(3) not null default current_timestamp"],
  typeorm: [field.timestamp(), "timestamp not null default now()"],
  zoned: [field.timestamp(), "timestamptz not null"],
  json: [field.json(), "json not null"],
  jsonb: [field.json().nullable(), "jsonb"],
  textual: [field.uuid(), "text not null"],
  single: [field.text().unique(), "text not null"],
};

const MYSQL: Readonly<Record<string, Case>> = {
  a_text: [
    field.integer(),
    "varchar(20) not null",
    "the column is varchar(20), the model has integer",
  ],
  a_number: [field.text(), "double not null", "the column is double, the model has text"],
  a_point: [field.integer(), "point not null", "the column is point, the model has integer"],
  a_fraction: [
    field.bigint(),
    "decimal(20, 0) not null",
    "the column is decimal(20,0), the model has bigint",
  ],
  a_float: [
    field.real(),
    "float not null",
    "the column is float, which has single precision, the model has real",
  ],
  a_rounded: [
    field.real(),
    "double(8,2) not null",
    "the column is double(8,2), which rounds, the model has real",
  ],
  a_flag: [field.boolean(), "bit(1) not null", "the column is bit(1), the model has boolean"],
  a_short: [
    DECIMAL,
    "decimal not null",
    "the column is decimal(10,0), the model has decimal(12,2)",
  ],
  a_coarse: [
    DECIMAL,
    "decimal(12, 1) not null",
    "the column is decimal(12,1), the model has decimal(12,2)",
  ],
  a_document: [field.json(), "longblob not null", "the column is longblob, the model has json"],
  a_day: [field.timestamp(), "date not null", "the column is date, the model has timestamp"],
  a_second: [
    field.timestamp(),
    "datetime not null",
    "the column is datetime, which drops milliseconds, the model has timestamp",
  ],
  a_moment: [
    field.timestamp(),
    "timestamp(2) not null default current_timestamp(2)",
    "the column is timestamp(2), which drops milliseconds, the model has timestamp",
  ],
  an_id: [field.uuid(), "char(32) not null", "the column is char(32), the model has uuid"],
  a_binary_id: [
    field.uuid(),
    "binary(16) not null",
    "the column is binary(16), the model has uuid",
  ],
  a_blob: [field.blob(), "longtext not null", "the column is longtext, the model has blob"],
  a_mood: [
    field.integer(),
    "enum('sad','ok(1)') not null",
    "the column is enum('sad','ok(1)'), the model has integer",
  ],
  moods: [
    field.text(),
    "set('sad','happy') not null",
    "the column is set('sad','happy'), the model has text",
  ],
  maybe: [field.text(), "text", REQUIRED],
  always: [field.text().nullable(), "text not null", NULLABLE],
  computed: [field.integer().nullable(), "int generated always as (1 + 1) stored", COMPUTED],
  virtually: [field.integer().nullable(), "int generated always as (1 + 1) virtual", COMPUTED],
  shared: [field.text().unique(), "varchar(20) not null", SHARED],
  partly: [field.text().unique(), "varchar(20) not null", SHARED],
  in_pair: [field.text().unique(), "varchar(20) not null", SHARED],
  tiny: [field.boolean(), "tinyint(1) not null"],
  plain_int: [field.integer(), "int not null"],
  positive: [field.integer(), "bigint unsigned not null"],
  big: [field.bigint(), "bigint not null"],
  chars: [field.text(), "varchar(191) not null"],
  fixed: [field.text(), "char(2) not null", "the column is char(2), the model has text"],
  native: [field.text(), "enum('sad', 'happy') not null default 'sad'"],
  checked: [field.text(), "varchar(1) not null check (checked in ('a', 'b'))"],
  listed: [MOOD, "varchar(9) not null"],
  listed_natively: [MOOD, "enum('sad', 'happy') not null"],
  day: [field.date(), "date not null"],
  time: [field.time(), "time(6) not null"],
  a_time: [field.date(), "datetime not null", "the column is datetime, the model has date"],
  a_minute: [
    field.time(),
    "time not null",
    "the column is time, which drops milliseconds, the model has time",
  ],
  a_list: [MOOD, "double not null", "the column is double, the model has enum(sad|happy)"],
  money: [DECIMAL, "decimal(65, 30) not null"],
  prisma: [field.timestamp(), "datetime(3) not null default current_timestamp(3)"],
  typeorm: [field.timestamp(), "datetime(6) not null default current_timestamp(6)"],
  converted: [field.timestamp(), "timestamp(3) not null default current_timestamp(3)"],
  document: [field.json(), "json not null"],
  textual: [field.uuid(), "varchar(36) not null"],
  bytes: [field.blob().nullable(), "varbinary(99)"],
  single: [field.text().unique(), "varchar(20) not null"],
};

const SQLITE: Readonly<Record<string, Case>> = {
  a_text: [field.integer(), "text not null", "the column is text, the model has integer"],
  a_number: [field.text(), "integer not null", "the column is integer, the model has text"],
  a_string: [field.text(), "string not null", "the column is string, the model has text"],
  a_fraction: [
    field.bigint(),
    "numeric not null",
    "the column is numeric, the model has bigint",
  ],
  a_real: [field.integer(), "real not null", "the column is real, the model has integer"],
  a_whole: [field.real(), "int not null", "the column is int, the model has real"],
  a_flag: [field.boolean(), "text not null", "the column is text, the model has boolean"],
  a_decimal: [
    DECIMAL,
    "decimal(12, 2) not null",
    "the column is decimal(12, 2), the model has decimal(12,2)",
  ],
  a_price: [DECIMAL, "real not null", "the column is real, the model has decimal(12,2)"],
  a_document: [field.json(), "blob not null", "the column is blob, the model has json"],
  an_epoch: [
    field.timestamp(),
    "integer not null",
    "the column is integer, the model has timestamp",
  ],
  an_id: [field.uuid(), "blob not null", "the column is blob, the model has uuid"],
  a_number_id: [field.uuid(), "integer not null", "the column is integer, the model has uuid"],
  a_blob: [field.blob(), "text not null", "the column is text, the model has blob"],
  charint: [field.text(), "charint not null", "the column is charint, the model has text"],
  point: [
    field.real(),
    "floating point not null",
    "the column is floating point, the model has real",
  ],
  pint: [field.uuid(), "uuid_int not null", "the column is uuid_int, the model has uuid"],
  textual_real: [
    field.real(),
    "realtext not null",
    "the column is realtext, the model has real",
  ],
  textual_flag: [
    field.boolean(),
    "boolchar not null",
    "the column is boolchar, the model has boolean",
  ],
  maybe: [field.text(), "text", REQUIRED],
  maybe_too: [field.integer(), "integer default 1", REQUIRED],
  always: [field.text().nullable(), "text not null", NULLABLE],
  computed: [field.integer(), "integer not null generated always as (1 + 1) stored", COMPUTED],
  virtual: [field.integer().nullable(), "integer generated always as (1 + 1)", COMPUTED],
  shared: [field.text().unique(), "text not null", SHARED],
  partly: [field.text().unique(), "text not null", SHARED],
  folded: [field.text().unique(), "text not null", SHARED],
  in_pair: [field.text().unique(), "text not null", SHARED],
  typeless: [field.real(), "not null"],
  flag: [field.boolean(), "boolean not null"],
  big: [field.bigint(), "bigint not null"],
  varchar: [field.text(), "varchar(20) not null"],
  checked: [field.text(), "text not null check (checked in ('a', 'b'))"],
  listed: [MOOD, "varchar(9) not null"],
  day: [field.date(), "date not null"],
  time: [field.time(), "text not null"],
  a_time: [field.date(), "datetime not null", "the column is datetime, the model has date"],
  a_list: [MOOD, "integer not null", "the column is integer, the model has enum(sad|happy)"],
  double: [field.real().nullable(), "double precision"],
  numeric: [field.real(), "numeric(9, 2) not null"],
  clob: [field.text(), "CLOB not null"],
  uuid: [field.uuid(), "uuid not null"],
  cents: [DECIMAL, "integer not null"],
  prisma: [field.timestamp(), "datetime not null default current_timestamp"],
  json: [field.json(), "json not null"],
  textual: [field.uuid(), "char(36) not null"],
  single: [field.text().unique(), "text not null"],
};

const CASES: Readonly<Record<Brand, Readonly<Record<string, Case>>>> = {
  postgres: POSTGRES,
  mysql: MYSQL,
  sqlite: SQLITE,
};

/** What precedes and follows the table of the cases. */
const BEFORE: Readonly<Record<Brand, readonly string[]>> = {
  postgres: [
    "create extension citext",
    "create type mood as enum ('sad', 'happy')",
    "create domain label as varchar(9) check (value <> '')",
    "create domain deep_label as label",
    "create domain required as text not null",
  ],
  mysql: [],
  sqlite: [],
};
const AFTER: Readonly<Record<Brand, readonly string[]>> = {
  postgres: [
    "create unique index on things (partly) where partly <> ''",
    "create unique index on things (lower(folded))",
    "create unique index on things (in_pair, shared)",
    "create unique index on things (single) include (shared)",
  ],
  mysql: [
    "create unique index partly on things (partly(5))",
    "create unique index pair on things (in_pair, shared)",
    "create unique index single on things (single)",
  ],
  sqlite: [
    "create unique index partly on things (partly) where partly <> ''",
    "create unique index folded on things (lower(folded))",
    "create unique index pair on things (in_pair, shared)",
    "create unique index single on things (single)",
  ],
};

/** Runs statements, and checks the tables of models. */
async function check(
  { url }: TestDatabase,
  { models, statements }: { readonly models: Models; readonly statements: readonly string[] },
): Promise<void> {
  await using db = new DbService(await DbOptions.fromUrl(url).open(), models);
  for (const statement of statements) await sql.raw(statement).execute(db.kysely);
  await db.checkTables();
}

/** The error with these lines. */
function differences(...lines: readonly string[]) {
  const places = lines.length === 1 ? "1 place" : `${lines.length} places`;
  const first = `Cannot use tables: they differ from the models in ${places}`;
  return dbError("Database", [first, ...lines].join("\n  "));
}

testOnEach("DbService.checkTables() lists each column that differs, and no other", async (it) => {
  const cases = Object.entries(CASES[it.brand]);
  const fields = Object.fromEntries(cases.map(([name, [field]]) => [name, field]));
  const definitions = cases.map(([name, [, definition]]) => `${name} ${definition}`);
  const thing = model("things", { id: field.integer().primaryKey(), ...fields });
  const statements = [
    ...BEFORE[it.brand],
    `create table things (id ${KEY[it.brand]}, ${definitions.join(", ")})`,
    ...AFTER[it.brand],
  ];
  const expected = cases.flatMap(([name, [, , reason]]) =>
    reason === undefined ? [] : [`things.${name}: ${reason}`]
  );
  assert.ok(expected.length >= 20, `${expected.length} differences`);
  await assert.rejects(check(it, { models: { thing }, statements }), differences(...expected));
});

testOnEach("DbService.checkTables() accepts what createTables() creates", async ({ url }) => {
  await using db = await Db.open(DbOptions.fromUrl(url));
  await assert.rejects(
    db.checkTables(),
    differences("users: the table is missing", "order: the table is missing"),
  );
  await db.createTables();
  await db.checkTables();
});

const User = model("users", { id: field.integer().primaryKey(), email: field.text().unique() });
const Post = model("posts", {
  id: field.integer().primaryKey(),
  user_id: field.integer().references(User, { onDelete: "cascade" }),
});

/** Definitions that others of a table replace; `KEY` is that of a generated key. */
const USERS = { id: "id KEY", email: "email varchar(50) not null unique" };
const POSTS = {
  id: "id KEY",
  user_id: "user_id bigint not null",
  fkey: "foreign key (user_id) references users (id) on delete cascade",
};
type Definitions = Readonly<Record<string, string>>;

/** The definitions of the tables that differ, and the differences. */
const TABLES: readonly (readonly [{ users?: Definitions; posts?: Definitions }, ...string[]])[] = [
  [{}],
  [{ posts: { fkey: POSTS.fkey.replace("cascade", "CASCADE"), title: "title varchar(9)" } }],
  [{ users: { age: "age int not null default 0", born: "born date" } }],
  [{ users: { twice: "twice bigint generated always as (1 + 1) stored" } }],
  [
    { users: { tenant: "tenant varchar(9) not null", rank: "rank_ int not null" } },
    "users.tenant: the column is not null and has no default, the model lacks it",
    "users.rank_: the column is not null and has no default, the model lacks it",
  ],
  [
    { users: { email: "mail varchar(50) unique" } },
    "users.email: the column is missing",
  ],
  [
    { posts: { id: "id bigint not null" } },
    "posts.id: the column is not generated, the model has a generated key",
    "posts.id: there is no primary key, the model has id",
  ],
  [
    { posts: { id: "id bigint not null primary key" } },
    "posts.id: the column is not generated, the model has a generated key",
  ],
  [
    { posts: { id: "id bigint not null", key: "primary key (user_id, id)" } },
    "posts.id: the column is not generated, the model has a generated key",
    "posts.id: the primary key is (user_id, id), the model has id",
  ],
  [
    { posts: { fkey: "title varchar(9)" } },
    "posts.user_id: there is no foreign key, the model refers to users.id",
  ],
  [
    { posts: { fkey: "foreign key (user_id) references people (id) on delete cascade" } },
    "posts.user_id: the foreign key refers to people.id, the model to users.id",
  ],
  [
    { posts: { fkey: "foreign key (user_id) references users (other_id)" } },
    "posts.user_id: the foreign key refers to users.other_id, the model to users.id",
  ],
  [
    { posts: { fkey: "foreign key (user_id) references users (id)" } },
    "posts.user_id: the foreign key has on delete restrict, the model cascade",
  ],
  [
    { posts: { fkey: "foreign key (user_id) references users (id) on delete restrict" } },
    "posts.user_id: the foreign key has on delete restrict, the model cascade",
  ],
  [{
    posts: {
      tenant: "tenant bigint",
      fkey: "foreign key (user_id, tenant) references users (id, other_id) on delete cascade",
    },
  }],
  [{
    posts: {
      other: "foreign key (user_id) references people (id)",
    },
  }],
];

testOnEach("DbService.checkTables() compares keys, references and other columns", async (it) => {
  const define = (definitions: Definitions) =>
    // SQLite requires constraints to follow all columns.
    Object.values(definitions).toSorted((a, b) => Number(isConstraint(a)) - Number(isConstraint(b)))
      .join(", ").replaceAll("KEY", KEY[it.brand]);
  const other = "other_id bigint default 7 unique, unique (id, other_id)";
  for (const [{ users, posts }, ...expected] of TABLES) {
    const statements = [
      ...["posts", "users", "people"].map((name) => `drop table if exists ${name}`),
      `create table people (id ${KEY[it.brand]})`,
      `create table users (${define({ ...USERS, ...users })}, ${other})`,
      `create table posts (${define({ ...POSTS, ...posts })})`,
    ];
    const checked = check(it, { models: { user: User, post: Post }, statements });
    await (expected.length === 0 ? checked : assert.rejects(checked, differences(...expected)));
  }
});

function isConstraint(definition: string): boolean {
  return /^(?:foreign|primary) key/.test(definition);
}

testOnEach(
  "DbService.checkTables() compares the columns of a view, and their types",
  async (it) => {
    const statements = [
      `create table people (id ${KEY[it.brand]}, email varchar(50), age int)`,
      "create view users as select id, email, age from people",
      "create view posts as select id, email as user_id from people",
    ];
    await assert.rejects(
      check(it, { models: { user: User, post: Post }, statements }),
      it.brand === "postgres"
        ? differences("posts.user_id: the column is character varying(50), the model has integer")
        : differences("posts.user_id: the column is varchar(50), the model has integer"),
    );
  },
);

testOnEach("DbService.checkTables() compares names as the database does", async (it) => {
  const user = model("users", { ID: field.integer().primaryKey(), email: field.text() });
  const post = model("POSTS", { Id: field.integer().primaryKey(), User_Id: field.integer() });
  const statements = [
    `create table users (id ${KEY[it.brand]}, EMAIL varchar(50) not null)`,
    `create table posts (id ${KEY[it.brand]}, user_id bigint not null)`,
  ];
  const expected = {
    sqlite: [],
    mysql: ["POSTS: the table is missing"],
    postgres: ["users.ID: the column is missing", "POSTS: the table is missing"],
  };
  const checked = check(it, { models: { user, post }, statements });
  await (expected[it.brand].length === 0
    ? checked
    : assert.rejects(checked, differences(...expected[it.brand])));
});

testOnEach("DbService.checkTables() reads the schemas of the search path", async (it) => {
  const name = new URL(it.url).pathname.slice(1);
  await administer("postgres", `alter database ${name} set search_path = app, public`);
  const statements = [
    "create schema app",
    "create schema hidden",
    "create table public.users (id text)",
    "create table app.users (id bigserial primary key, email text not null unique)",
    "create table hidden.posts (id text)",
    "create table public.posts (id bigserial primary key, user_id bigint not null references users)",
  ];
  const models = { user: User, post: Post };
  const restricted = "posts.user_id: the foreign key has on delete restrict, the model cascade";
  await assert.rejects(check(it, { models, statements }), differences(restricted));
  const moved = ["alter table app.users set schema hidden"];
  await assert.rejects(
    check(it, { models, statements: moved }),
    differences(
      "users.id: the column is text, the model has integer",
      "users.id: the column is nullable, the field is not",
      "users.id: the column is not generated, the model has a generated key",
      "users.id: there is no primary key, the model has id",
      "users.email: the column is missing",
      "posts.user_id: the foreign key refers to hidden.users.id, the model to users.id",
    ),
  );
}, { brands: ["postgres"] });

for (const mode of ["session", "transaction"] as const) {
  test(`DbService.checkTables() works through PgBouncer in ${mode} mode`, async () => {
    await using database = await createDatabase("postgres");
    await using bouncer = await startPgBouncer(mode);
    await using db = await Db.open(DbOptions.fromUrl(bouncer.url(database.url)).poolMin(3));
    await db.createTables();
    await Promise.all([db.checkTables(), db.checkTables(), db.transaction(() => db.checkTables())]);
    await sql`drop table users`.execute(db.kysely);
    await assert.rejects(db.checkTables(), differences("users: the table is missing"));
  }, { skip: SKIP_PGBOUNCER });
}

testOnEach("DbService.checkTables() works by DbOptions.fromDialect()", async ({ brand, url }) => {
  const open = {
    sqlite: () => new SqliteDialect({ database: plainSqlite(new DatabaseSync(":memory:")) }),
    postgres: () => new PostgresJSDialect({ postgres: postgres(url, { onnotice: () => {} }) }),
    mysql: () => new MysqlDialect({ pool: createPool({ uri: url, timezone: "Z" }) }),
  };
  const database = await DbOptions.fromDialect(open[brand]()).open();
  await using db = new Db(database);
  await db.createTables();
  await db.checkTables();
  const user = model("users", { id: field.integer().primaryKey(), email: field.integer() });
  const other = new DbService(database, { user, post: Post });
  const [column, missing] = [
    "users.email: the column is text, the model has integer",
    "posts: the table is missing",
  ];
  await assert.rejects(
    other.checkTables(),
    differences(
      brand === "mysql" ? column.replace("text", "varchar(255)") : column,
      "users.tenant_id: the column is not null and has no default, the model lacks it",
      "users.name: the column is not null and has no default, the model lacks it",
      missing,
    ),
  );
});

testOnEach("DbService.checkTables() recognizes the generated keys of SQLite", async (it) => {
  const user = model("users", { id: field.integer().primaryKey() });
  const post = model("posts", {
    id: field.integer().primaryKey(),
    user_id: field.integer().references(user),
  });
  const references = "user_id integer not null references users";
  const ungenerated = "the column is not generated, the model has a generated key";
  await check(it, {
    models: { user, post },
    statements: [
      "create table users (id integer primary key)",
      `create table posts (id integer, ${references}, primary key (id)) strict`,
    ],
  });
  await assert.rejects(
    check(it, {
      models: { user, post },
      statements: [
        "drop table posts",
        "drop table users",
        "create table users (id integer primary key) without rowid",
        `create table posts (id int primary key, ${references})`,
      ],
    }),
    differences(`users.id: ${ungenerated}`, `posts.id: ${ungenerated}`),
  );
}, { brands: ["sqlite"] });

testOnEach("DbService.checkTables() accepts no constant as a generated key", async (it) => {
  const user = model("users", { id: field.integer().primaryKey() });
  const ungenerated = "users.id: the column is not generated, the model has a generated key";
  const type = it.brand === "sqlite" ? "int" : "bigint";
  await assert.rejects(
    check(it, {
      models: { user },
      statements: [`create table users (id ${type} primary key not null default 7)`],
    }),
    differences(ungenerated),
  );
  const calls: Readonly<Record<Brand, string>> = {
    postgres: "default (random() * 1e9)::bigint",
    mysql: "default (floor(rand() * 1000000000))",
    sqlite: "default (abs(random()))",
  };
  const statements = [
    "drop table users",
    `create table users (id ${type} not null primary key ${calls[it.brand]})`,
  ];
  await check(it, { models: { user }, statements });
  if (it.brand !== "sqlite") return;
  const alias = ["drop table users", "create table users (id integer primary key default 7)"];
  await check(it, { models: { user }, statements: alias });
});

testOnEach("DbService.checkTables() refuses a primary key that is deferrable", async (it) => {
  const user = model("users", { id: field.integer().primaryKey() });
  const statements = ["create table users (id bigserial primary key deferrable)"];
  await assert.rejects(
    check(it, { models: { user }, statements }),
    differences("users.id: the primary key is deferrable"),
  );
}, { brands: ["postgres"] });

testOnEach("DbService.checkTables() refuses tables of MySQL without transactions", async (it) => {
  const user = model("users", { id: field.integer().primaryKey() });
  for (const engine of ["MyISAM", "MEMORY"]) {
    const statements = [
      "drop table if exists users",
      `create table users (id ${KEY[it.brand]}) engine = ${engine}`,
    ];
    await assert.rejects(
      check(it, { models: { user }, statements }),
      differences(`users: the table has the engine ${engine}, which has no transactions`),
    );
  }
  const view = ["alter table users rename people", "create view users as select * from people"];
  await check(it, { models: { user }, statements: view });
  const statements = ["drop view users", "alter table people rename users, engine = InnoDB"];
  await check(it, { models: { user }, statements });
}, { brands: ["mysql"] });
