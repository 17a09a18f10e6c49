/**
 * Migrations that act on the database they run in, and on nothing else of its server.
 *
 * @module
 */
import { type Kysely, type KyselyPlugin, sql } from "kysely";
import type { DbConnection } from "../../connection/connection.ts";
import type { AnyTables } from "../../connection/dialect.ts";
import type { MigrationSource, MigrationStep } from "../migrations.ts";
import { type OutsideOptions, outsideStatementIn } from "./outside_statements.ts";

/**
 * Returns a source of the same migrations for a temporary database. Reading it fails if a script
 * has a statement that acts outside of that one, and a function fails before it runs such a
 * statement: the migrations have run in the real database, and would change it again.
 *
 * @throws {TypeError} naming the migration and the statement, when they are read
 */
export function confined(source: MigrationSource, { kysely }: DbConnection): MigrationSource {
  return async (brand) => {
    const migrations = await source(brand);
    const others = brand === "MySQL" ? await otherDatabases(kysely) : new Set<string>();
    return Object.fromEntries(
      Object.entries(migrations).map(([name, step]) =>
        [name, confinedStep({ name, step }, { brand, others })] as const
      ),
    );
  };
}

function confinedStep(
  { name, step }: { readonly name: string; readonly step: MigrationStep },
  options: OutsideOptions,
): MigrationStep {
  const { up, ...rest } = typeof step === "string" ? { up: step } : step;
  const check = (script: string) => refuseOutside({ name, script }, options);
  if (typeof up === "string") {
    check(up);
    return step;
  }
  return { ...rest, up: (kysely) => up(checkedBefore(kysely, check)) };
}

function refuseOutside(
  { name, script }: { readonly name: string; readonly script: string },
  options: OutsideOptions,
): void {
  const found = outsideStatementIn(script, options);
  if (found === undefined) return;
  throw new TypeError(
    `Cannot compare migrations: ${name} contains "${found}", which acts outside the temporary ` +
      "database that the migrations run in; remove it from the migration, or compare with the " +
      "tables of the database (--against-database)",
  );
}

/** Returns a Kysely that checks each of its statements before it runs it. */
function checkedBefore(
  kysely: Kysely<AnyTables>,
  check: (statement: string) => void,
): Kysely<AnyTables> {
  const executor = kysely.getExecutor();
  const plugin: KyselyPlugin = {
    transformQuery({ node, queryId }) {
      check(executor.compileQuery(node, queryId).sql);
      return node;
    },
    transformResult: ({ result }) => Promise.resolve(result),
  };
  return kysely.withPlugin(plugin);
}

/** Reads which other databases of MySQL the user can reach; the catalogue is only read. */
async function otherDatabases(kysely: Kysely<AnyTables>): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ name: string }>`
    select schema_name as name from information_schema.schemata
    where schema_name not in (database(), 'information_schema')`.execute(kysely);
  return new Set(rows.map(({ name }) => name.toLowerCase()));
}
