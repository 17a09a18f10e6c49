/**
 * The database of a project: its files, those of tests, and migrations.
 *
 * @module
 */
import { type Database, DEVELOPMENT_PASSWORDS } from "../project/database.ts";
import type { Files } from "./new_project.ts";

const DATABASE = `import { DbModule, DbOptions, DbService } from "@fw/fw/db";

/** The database, with a repository for each model. \`fw generate model\` adds to it. */
export class Db extends DbService.with({
  // name of the repository: model
}) {}

/** The options of the database: its URL, and the migrations that run when it is opened. */
export function databaseOptions(): DbOptions {
  return DbOptions.fromEnv().schemaPath("migrations");
}

/** Opens the database at boot, and closes it at shutdown. */
export const DatabaseModule = DbModule.forRoot(Db, databaseOptions);
`;

/** Tests of a project on SQLite run its migrations. */
const TEST_DATABASE_OF_SQLITE = `import { DbOptions } from "@fw/fw/db";
import { Db } from "./database.ts";

/** Opens a database in memory for a test, and runs the migrations. */
export function openTestDatabase(): Promise<Db> {
  return Db.open(DbOptions.fromUrl("sqlite::memory:").schemaPath("migrations"));
}
`;

const TEST_DATABASE = `import { DbOptions } from "@fw/fw/db";
import { Db } from "./database.ts";

/** Opens a database in memory for a test, with the tables of the models. It needs no server. */
export async function openTestDatabase(): Promise<Db> {
  const db = await Db.open(DbOptions.fromUrl("sqlite::memory:"));
  await db.createTables();
  return db;
}
`;

/** The images of development databases. */
const SERVERS = {
  postgres: {
    image: "postgres:17-alpine",
    password: "POSTGRES_PASSWORD",
    database: "POSTGRES_DB",
    port: 5432,
    data: "/var/lib/postgresql/data",
  },
  mysql: {
    image: "mysql:8.4",
    password: "MYSQL_ROOT_PASSWORD",
    database: "MYSQL_DATABASE",
    port: 3306,
    data: "/var/lib/mysql",
  },
} as const;

/** Returns the files of the database of a project. */
export function databaseFiles(database: Database, name: string): Files {
  return {
    "src/database.ts": DATABASE,
    ...testDatabaseFiles(database),
    ...migrationFiles(database),
    ...database === "sqlite"
      ? { "data/.gitignore": "*\n!.gitignore\n" }
      : { "compose.yaml": compose(database, name) },
  };
}

/** Returns the file that opens a database for tests. */
export function testDatabaseFiles(database: Database): Files {
  const text = database === "sqlite" ? TEST_DATABASE_OF_SQLITE : TEST_DATABASE;
  return { "src/test_database.ts": text };
}

/** Returns the folder of migrations, with their test. */
export function migrationFiles(database: Database): Files {
  return {
    "migrations/.gitkeep": "",
    "migrations/migrations_test.ts": database === "sqlite" ? sqliteTest() : serverTest(),
  };
}

/** The databases, for development and for tests, are created with the volume. */
function compose(server: keyof typeof SERVERS, name: string): string {
  const { image, password, database, port, data } = SERVERS[server];
  return `# The databases for development and for tests: docker compose up -d
services:
  database:
    image: ${image}
    environment:
      ${password}: ${DEVELOPMENT_PASSWORDS[server]}
      ${database}: ${name}
    ports: ["127.0.0.1:${port}:${port}"]
    volumes: ["database:${data}"]
    configs:
      - source: tests
        target: /docker-entrypoint-initdb.d/tests.sql
volumes:
  database:
configs:
  tests:
    content: create database ${name}_test;
`;
}

function sqliteTest(): string {
  return `import { DbMigrations, DbOptions } from "@fw/fw/db";
import assert from "node:assert/strict";
import { openTestDatabase } from "../src/test_database.ts";

Deno.test("migrations run on an empty database, and roll back", async () => {
  const options = DbOptions.fromUrl("sqlite::memory:").schemaPath("migrations");
  await using migrations = await DbMigrations.open(options);
${goingUpAndDown()}});

Deno.test("migrations create the tables of the models", async () => {
  await using db = await openTestDatabase();
  await db.checkTables();
});
`;
}

function serverTest(): string {
  return `import { DbMigrations, DbOptions } from "@fw/fw/db";
import assert from "node:assert/strict";
import { Db } from "../src/database.ts";

const url = Deno.env.get("TEST_DATABASE_URL");

Deno.test({
  name: "migrations run on an empty database, and roll back",
  ignore: url === undefined,
  fn: () => withMigrations(async (migrations) => {
${goingUpAndDown()}  }),
});

Deno.test({
  name: "migrations create the tables of the models",
  ignore: url === undefined,
  fn: () => withMigrations(async (_, options) => {
    await using db = await Db.open(options);
    await db.checkTables();
  }),
});

/** Runs a test, and rolls back its migrations. A database that has run any before is refused. */
async function withMigrations(
  run: (migrations: DbMigrations, options: DbOptions) => Promise<void>,
): Promise<void> {
  const options = DbOptions.fromUrl(url ?? "").schemaPath("migrations");
  await using migrations = await DbMigrations.open(options);
  const executed = async () =>
    (await migrations.status()).filter(({ executedAt }) => executedAt !== undefined);
  if ((await executed()).length > 0) {
    throw new Error(
      "Cannot test migrations: the database at TEST_DATABASE_URL has run some, and is not empty",
    );
  }
  try {
    await run(migrations, options);
  } finally {
    const { length: steps } = await executed();
    if (steps > 0) await migrations.rollBack({ steps });
  }
}
`;
}

function goingUpAndDown(): string {
  return `  const names = (await migrations.status()).map(({ name }) => name);
  assert.deepEqual(await migrations.migrate(), names);
  if (names.length === 0) return;
  const undone = await migrations.rollBack({ steps: names.length });
  assert.deepEqual(undone, names.toReversed());
  assert.deepEqual(await migrations.migrate(), names);
  await migrations.rollBack({ steps: names.length });
`;
}
