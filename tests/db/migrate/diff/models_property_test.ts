import assert from "node:assert/strict";
import process from "node:process";
import fc from "fast-check";
import { checkTables } from "../../../../src/db/migrate/check_tables.ts";
import { writeMigrations } from "../../../../src/db/migrate/diff/migration_scripts.ts";
import { readSchema } from "../../../../src/db/migrate/diff/schema_diff.ts";
import type { Schema } from "../../../../src/db/migrate/diff/table_schema.ts";
import { targetOf, without } from "../../../../src/db/migrate/diff/target.ts";
import { migrate } from "../../../../src/db/migrate/migrate.ts";
import { rollBack } from "../../../../src/db/migrate/roll_back.ts";
import { createTables } from "../../../../src/db/migrate/schema.ts";
import { Table } from "../../../../src/db/query/table.ts";
import { casesOf, testOnce } from "../../../support/test.ts";
import { type Brand, testOnEach } from "../../support/database.ts";
import { type ModelPlan, modelsOf, pairOfModels } from "../../property/arbitrary_models.ts";
import { EmptyDatabase, plain } from "./empty_database.ts";

/** How many pairs of models are tried: servers take long to create tables, MySQL longest. */
const PAIRS: Readonly<Record<Brand, number>> = { sqlite: 60, postgres: 20, mysql: 8 };
/** How many the slow tests try, in parts that each end within the time of a test. */
const MANY_PAIRS: Readonly<Record<Brand, number>> = { sqlite: 500, postgres: 250, mysql: 60 };
/** More parts: `FW_PAIRS=4 FW_TEST=full deno test -A --no-check` and this file. */
const PARTS = Number(process.env["FW_PAIRS"] ?? 1);

testOnEach("migrations by difference lead from any models to any others, and back", async (
  { brand },
) => {
  await tryPairs(brand, PAIRS[brand]);
}, { register: testOnce, slow: ["postgres", "mysql"] });

for (let part = 1; part <= PARTS; part++) {
  testOnEach(`migrations by difference do so for many pairs, part ${part}`, async ({ brand }) => {
    await tryPairs(brand, casesOf(MANY_PAIRS[brand]));
  }, { register: testOnce, slow: true });
}

async function tryPairs(brand: Brand, numRuns: number): Promise<void> {
  await using one = await EmptyDatabase.create(brand);
  await using other = await EmptyDatabase.create(brand);
  await fc.assert(
    fc.asyncProperty(pairOfModels, async ([before, after]) => {
      await one.empty();
      await other.empty();
      await tryPair({ before, after }, [one, other]);
    }),
    { numRuns },
  );
}

async function tryPair(
  plans: { readonly before: readonly ModelPlan[]; readonly after: readonly ModelPlan[] },
  [one, other]: readonly [EmptyDatabase, EmptyDatabase],
): Promise<void> {
  const current = await tablesIn(one, plans.before);
  const desired = await tablesIn(other, plans.after);
  const { grammar } = one.connection;
  const { to, excluded, notCompared } = targetOf({
    current: current.schema,
    desired: desired.schema,
  }, {
    tables: desired.tables,
    grammar,
    renames: [],
    externalTables: [],
  });
  assert.deepEqual(notCompared, []);
  const from = without(current.schema, excluded);
  const { migrations } = writeMigrations({ from, to, renames: [], fills: new Map() }, grammar);
  const scripts = Object.fromEntries(
    migrations.map(({ up, down }, i) => [`000${i + 1}_change`, { up, down }]),
  );
  if (migrations.length === 0) {
    return assert.deepEqual(plain(current.schema), plain(desired.schema));
  }
  const source = () => Promise.resolve(scripts);
  try {
    await migrate(one.connection, source);
    const changed = await readSchema(one.connection, ["audit"]);
    assert.deepEqual(plain(changed), plain(desired.schema));
    await checkTables(one.connection, tablesOf(one, plans.after));
    await rollBack(one.connection, { source, steps: migrations.length });
    assert.deepEqual(plain(await readSchema(one.connection, ["audit"])), plain(current.schema));
  } catch (error) {
    if (error instanceof Error) {
      const { cause } = error;
      error.message += `\n${cause instanceof Error ? cause.message : ""}\n${
        migrations.map(({ up, down }) => `${up}-- down\n${down}`).join("--\n")
      }`;
    }
    throw error;
  }
}

async function tablesIn(
  database: EmptyDatabase,
  plans: readonly ModelPlan[],
): Promise<{ readonly tables: readonly Table[]; readonly schema: Schema }> {
  const { connection } = database;
  const tables = tablesOf(database, plans);
  await createTables(connection, tables);
  return { tables, schema: await readSchema(connection, ["audit"]) };
}

function tablesOf(
  { connection }: EmptyDatabase,
  plans: readonly ModelPlan[],
): readonly Table[] {
  return Object.values(modelsOf(plans)).map((model) => new Table(model, connection));
}
