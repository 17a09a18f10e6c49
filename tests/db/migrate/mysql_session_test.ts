/** What a migration of MySQL sets for its session ends with it. */
import assert from "node:assert/strict";
import { CompiledQuery, type Kysely, MysqlDialect, sql } from "kysely";
import { createPool } from "mysql2";
import {
  type AnyTables,
  DbMigrations,
  DbOptions,
  DbService,
  field,
  type Migrations,
  model,
} from "../../../src/db/mod.ts";
import { testOnEach } from "../support/database.ts";
import { noteIds, statusOf } from "./three_migrations.ts";

const Note = model("notes", { id: field.integer().primaryKey() });
const Item = model("items", {
  id: field.integer().primaryKey(),
  note_id: field.integer().references(Note),
});
class Notes extends DbService.with({ note: Note, item: Item }) {}

const TABLES = `create table notes (id bigint auto_increment primary key);
  create table items (id bigint auto_increment primary key, note_id bigint not null,
    foreign key (note_id) references notes (id))`;
const SESSION = "set session sql_mode = 'STRICT_ALL_TABLES', time_zone = '+00:00'";
/** The drivers: that of the package, and one of the caller's, whose pool runs the migrations. */
const DRIVERS: Readonly<Record<string, (url: string) => DbOptions>> = {
  "fromUrl()": (url) => DbOptions.fromUrl(url),
  "fromDialect()": (url) =>
    DbOptions.fromDialect(
      new MysqlDialect({
        pool: createPool({ uri: url, timezone: "Z", supportBigNumbers: true }),
        onCreateConnection: async (connection) => {
          await connection.executeQuery(CompiledQuery.raw(SESSION));
        },
      }),
    ),
};

/** Returns a migration that runs statements. */
function running(...statements: readonly string[]) {
  return async (kysely: Kysely<AnyTables>) => {
    for (const statement of statements) await sql.raw(statement).execute(kysely);
  };
}

for (const [driver, optionsOf] of Object.entries(DRIVERS)) {
  testOnEach(`the session of a migration of MySQL ends with it, by ${driver}`, async ({ url }) => {
    const set = [
      "set foreign_key_checks = 0, sql_mode = '', time_zone = '+09:00'",
      "use information_schema",
      "select * from schemata",
    ];
    const right: Migrations = {
      "1_tables": TABLES,
      "2_function": { up: running(...set), down: running(...set) },
      "3_script": set.join(";\n"),
      "4_row": "insert into notes values (4)",
      "5_open": {
        up: running("begin", "replace into notes values (5)", ...set),
        down: running(...set),
      },
    };
    const failing = { ...right, "6_fails": { up: running(...set, "select nowhere") } };
    const options = optionsOf(url).poolMax(1);
    await using them = await DbMigrations.open(options.migrations(failing));
    await assert.rejects(them.migrate(), /6_fails failed/);
    assert.deepEqual(
      await statusOf(them),
      ["1_tables run", "2_function run down", "3_script run", "4_row run"]
        .concat("5_open run down", "6_fails"),
    );
    assert.deepEqual(await them.rollBack(), ["5_open"]);
    await using db = await Notes.open(optionsOf(url).poolMax(1).migrations(right));
    const { rows } = await sql<{ state: string }>`select concat_ws(' ', database(),
      if(@@foreign_key_checks, 1, 0), @@time_zone, @@sql_mode like '%STRICT%') as state`.execute(
      db.kysely,
    );
    assert.equal(rows[0]?.state, `${new URL(url).pathname.slice(1)} 1 +00:00 1`);
    await assert.rejects(db.item.create({ data: { note_id: 9 } }), {
      code: "ForeignKeyViolation",
    });
    assert.deepEqual(await noteIds(url), [4, 5]);
  }, { brands: ["mysql"] });
}

testOnEach("a temporary table of a function of MySQL ends with it", async ({ url }) => {
  const up = running("create temporary table notes (id bigint primary key)");
  const migrations = { "1_tables": TABLES, "2_temporary": { up } };
  await using db = await Notes.open(DbOptions.fromUrl(url).poolMax(1).migrations(migrations));
  await db.note.create({ data: { id: 7 } });
  assert.deepEqual(await noteIds(url), [7]);
}, { brands: ["mysql"] });
