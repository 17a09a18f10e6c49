/**
 * Migrations that act on the database they run in, and on nothing else of its server.
 *
 * @module
 */
import { type Kysely, type KyselyPlugin, sql } from "kysely";
import type { DbConnection } from "../../connection/connection.ts";
import type { AnyTables } from "../../connection/dialect.ts";
import { migrate } from "../migrate.ts";
import type { MigrationSource, MigrationStep } from "../migrations.ts";
import { type OutsideOptions, outsideStatementIn } from "./outside_statements.ts";

/**
 * Runs migrations in a temporary database; none of them, if a script has a statement that acts
 * outside of that one, and a function up to such a statement: they have run in the real database,
 * and would change it again.
 *
 * @throws {TypeError} naming the migration and the statement
 * @throws {DbError} if one fails
 */
export async function migrateConfined(
  database: DbConnection,
  migrations: ConfinedMigrations,
): Promise<void> {
  await migrate(database, confined(migrations, database));
}

/** Migrations, and what to do about those that are refused. */
export interface ConfinedMigrations {
  /** Reads the migrations. */
  readonly source: MigrationSource;
  /** What works without running them, for the message: `declare the tables`. */
  readonly otherwise: string;
}

/** Returns a source of the same migrations, which checks them when they are read and run. */
function confined(
  { source, otherwise }: ConfinedMigrations,
  { kysely }: DbConnection,
): MigrationSource {
  return async (brand) => {
    const migrations = await source(brand);
    const others = brand === "MySQL" ? await otherDatabases(kysely) : new Set<string>();
    return Object.fromEntries(
      Object.entries(migrations).map(([name, step]) =>
        [name, confinedStep({ name, step }, { brand, others, otherwise })] as const
      ),
    );
  };
}

type StepOptions = OutsideOptions & Pick<ConfinedMigrations, "otherwise">;

function confinedStep(
  { name, step }: { readonly name: string; readonly step: MigrationStep },
  options: StepOptions,
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
  { otherwise, ...options }: StepOptions,
): void {
  const found = outsideStatementIn(script, options);
  if (found === undefined) return;
  throw new TypeError(
    `Cannot run migrations: ${name} contains "${found}", which acts outside the temporary ` +
      `database that they run in; remove it from the migration, or ${otherwise}`,
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
