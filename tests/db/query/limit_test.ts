import assert from "node:assert/strict";
import { sql } from "kysely";
import { DbOptions } from "../../../src/db/mod.ts";
import { Db, testOnEach } from "../support/database.ts";
import { openNoted } from "../support/noted.ts";
import { createDatabase, SERVERS } from "../support/servers.ts";
import { test } from "../../support/test.ts";

test("PostgreSQL plans a statement with a limit once", async () => {
  await using database = await createDatabase("postgres");
  await using db = await Db.open(DbOptions.fromUrl(database.url).poolMax(1));
  await db.createTables();
  for (let run = 0; run < 10; run++) await db.user.findMany({ take: 3 });
  const { rows } = await sql<{ plans: number }>`select generic_plans::int as plans
    from pg_prepared_statements where statement like '%limit 3'`.execute(db.kysely);
  assert.deepEqual(rows, [{ plans: 10 }]); // none is of the values of a run
}, { skip: SERVERS.postgres.skip });

testOnEach("of many limits of a table, the first are written into SQL", async (database) => {
  await using noted = await openNoted(Db, database);
  const { db, notes } = noted;
  await db.createTables();
  notes.take();
  const limits = Array.from({ length: 40 }, (_, index) => index + 1);
  for (const take of [...limits, ...limits]) await db.user.findMany({ take });
  const written = notes.take().filter(([sql]) => /limit \d+$/.test(sql));
  const expected = limits.slice(0, 16).map((limit) => `limit ${limit}`);
  const endings = written.map(([sql]) => sql.slice(sql.indexOf("limit")));
  assert.deepEqual(endings, [...expected, ...expected]);
}, { brands: ["postgres"] });
