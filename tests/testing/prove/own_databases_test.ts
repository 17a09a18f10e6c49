/** Databases of a run whose tables are those of migrations. */
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { sql } from "kysely";
import { controller, inject, module, route } from "../../../mod.ts";
import {
  DbModule,
  DbOptions,
  DbService,
  field,
  type Migrations,
  model,
} from "../../../src/db/mod.ts";
import { prove } from "../../../src/testing/mod.ts";
import { temporaryFolder, testOnEach } from "../../db/support/database.ts";

const Country = model("countries", { code: field.text({ max: 2 }).primaryKey() });
class Db extends DbService.with({ country: Country }) {}

class CountriesController extends controller("countries") {
  readonly #db = inject(Db);
  names = route.get("/", async () => {
    const query = sql<{ name: string }>`select name from country_names order by name`;
    const { rows } = await query.execute(this.#db.kysely);
    return rows.map(({ name }) => name);
  });
}

const root = module({
  imports: [DbModule.forRoot(Db, DbOptions.fromUrl("sqlite::memory:"))],
  controllers: [CountriesController],
});

/** What no model declares: a row, and a view. */
const MIGRATIONS: Migrations = {
  "0001_countries": "create table countries (code varchar(2) primary key)",
  "0002_rows": {
    up: async (kysely) => {
      await kysely.insertInto("countries").values({ code: "at" }).execute();
    },
  },
  "0003_names": "create view country_names as select code as name from countries",
};

/** Returns the names that applications of a run answer, one for each part. */
async function namesOf(
  migrations: string | Migrations,
  database: string,
): Promise<readonly string[]> {
  const answers: string[] = [];
  const report = await prove(root, {
    migrations,
    callers: { ann: {} },
    setUp: (app) => {
      app.use(async (c, next) => {
        await next();
        if (c.req.method === "GET" && c.res.ok) answers.push(await c.res.clone().text());
      });
    },
  }).run({ requests: 20, seed: 1, database });
  assert.equal(report.isPassed, true, report.toText());
  return [...new Set(answers)].toSorted();
}

testOnEach("Proof.run() has the rows and views of migrations", async ({ brand, url }) => {
  assert.deepEqual(await namesOf(MIGRATIONS, url), ['["at"]']);
  await using folder = await temporaryFolder();
  const file = folder.path(`${brand}/0001_all.sql`);
  mkdirSync(dirname(file));
  const [table, view] = [MIGRATIONS["0001_countries"], MIGRATIONS["0003_names"]];
  writeFileSync(file, `${table}; insert into countries (code) values ('ch'); ${view};`);
  assert.deepEqual(await namesOf(folder.path(""), url), ['["ch"]']);
}, { slow: ["postgres"] });

testOnEach("Proof.run() runs no migration that acts on another database", async (
  { brand, url },
) => {
  const statement = {
    sqlite: "attach 'shop.sqlite' as shop",
    postgres: "alter database shop set search_path = nowhere",
    mysql: "use shop",
  }[brand];
  const running = prove(root, {
    migrations: { ...MIGRATIONS, "0004_shop": statement },
  }).run({ only: ["roles"], database: url });
  await assert.rejects(running, ({ message }) => {
    assert.match(
      message,
      /^Cannot run migrations: 0004_shop contains "(attach|alter database|use)"/,
    );
    assert.match(message, /, or prove with the tables of the models$/);
    return true;
  });
});
