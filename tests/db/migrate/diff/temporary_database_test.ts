/** Temporary databases where every name of a database leads to the real one. */
import assert from "node:assert/strict";
import { module } from "../../../../mod.ts";
import { DbConnection } from "../../../../src/db/connection/connection.ts";
import { DbModule, DbOptions, DbService, field, model } from "../../../../src/db/mod.ts";
import { openTemporary } from "../../../../src/db/migrate/diff/temporary_database.ts";
import { prove } from "../../../../src/testing/mod.ts";
import { test } from "../../../support/test.ts";
import { type Brand, testOnEach } from "../../support/database.ts";
import { SKIP_PGBOUNCER, startPgBouncer } from "../../support/pgbouncer.ts";
import { createDatabase } from "../../support/servers.ts";
import { Project } from "./diffed_project.ts";

const PEOPLE = "create table people (id bigint primary key)";
const PURGE = "delete from people";
const Person = model("people", { id: field.integer().primaryKey() });
class Db extends DbService.with({ person: Person }) {}

const REFUSAL = {
  name: "DbError",
  message: /^Cannot use temporary database: .+ leads fw_diff_\w+ to fw_test_\w+, which is not/,
};

/** The names of the databases. */
const DATABASES: Readonly<Record<Brand, string>> = {
  postgres: "pg_database",
  mysql: "information_schema.schemata",
  sqlite: "",
};

testOnEach("openTemporary() refuses another database than the new one", async ({ brand, url }) => {
  const names: string[] = [];
  const opening = openTemporary(url, async (wanted, after) => {
    names.push(new URL(wanted).pathname.slice(1));
    const database = await DbOptions.fromUrl(url).open();
    assert.ok(database instanceof DbConnection);
    const close = database.close.bind(database);
    return Object.assign(database, { close: () => close().then(() => after?.close()) });
  });
  await assert.rejects(opening, REFUSAL);
  const created = names[1] ?? "";
  assert.match(created, /^fw_diff_/);
  const left = await new Project(url).rows(DATABASES[brand]);
  assert.ok(!left.some((row) => Object.values(row).includes(created)), "it is dropped");
}, { brands: ["postgres", "mysql"] });

test("diffSchema() and Proof.run() refuse a pooler that leads to one database", async () => {
  await using database = await createDatabase("postgres");
  await using bouncer = await startPgBouncer("transaction", leadingTo(database.url));
  const url = bouncer.url(database.url);
  const project = new Project(url);
  await project.run(PEOPLE, "insert into people values (1), (2)");
  project.migrations = { "0001_people": PEOPLE, "0002_purge": PURGE };
  await assert.rejects(project.diff({ person: Person }), REFUSAL);
  const root = module({ imports: [DbModule.forRoot(Db, DbOptions.fromUrl("sqlite::memory:"))] });
  for (const options of [{}, { migrations: { "0002_purge": PURGE } }]) {
    await assert.rejects(prove(root, options).run({ requests: 1, database: url }), REFUSAL);
  }
  assert.deepEqual(await project.rows("people"), [{ id: 1 }, { id: 2 }]);
}, { skip: SKIP_PGBOUNCER, slow: true });

/** The settings of a pooler that leads every name to one database. */
function leadingTo(databaseUrl: string): string {
  const { hostname, port, pathname, username } = new URL(databaseUrl);
  return `[databases]
* = host=${hostname} port=${port || 5432} user=${username} dbname=${pathname.slice(1)}`;
}
