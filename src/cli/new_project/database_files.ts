/**
 * The database of a project: what opens it, what opens one for tests, and its migrations.
 *
 * @module
 */
import { type Database, DEVELOPMENT_PASSWORDS } from "../database.ts";
import type { Files } from "./new_project.ts";

const DATABASE = `import type { Module } from "@fw/fw";
import { DbModule, DbOptions, DbService } from "@fw/fw/db";

/** The database, with a repository for each model. \`fw generate model\` adds to it. */
export class Db extends DbService.with({
  // name of the repository: model
}) {}

/** The options of the database: its URL, and the migrations that run when it is opened. */
export function databaseOptions(): DbOptions {
  return DbOptions.fromEnv().schemaPath("migrations");
}

/** Opens the database at boot, and closes it at shutdown. */
export const DatabaseModule: Module = DbModule.forRootWithOptions(
  Db,
  databaseOptions,
);
`;

/** The tests of a project on SQLite have its real migrations. */
const TEST_DATABASE_OF_SQLITE = `import { DbOptions } from "@fw/fw/db";
import { Db } from "./database.ts";

/** Opens a database in memory for a test, as the migrations make it. */
export function openTestDatabase(): Promise<Db> {
  return Db.open(DbOptions.fromUrl("sqlite::memory:").schemaPath("migrations"));
}
`;

const TEST_DATABASE = `import { DbOptions } from "@fw/fw/db";
import { Db } from "./database.ts";

/** Opens a database in memory for a test, with the tables of the models: tests need no server. */
export async function openTestDatabase(): Promise<Db> {
  const db = await Db.open(DbOptions.fromUrl("sqlite::memory:"));
  await db.createTables();
  return db;
}
`;

const COMPOSE: Readonly<Record<Exclude<Database, "sqlite">, (name: string) => string>> = {
  postgres: (name) =>
    `# The database of development: docker compose up -d
services:
  database:
    image: postgres:17-alpine
    environment:
      POSTGRES_PASSWORD: ${DEVELOPMENT_PASSWORDS.postgres}
      POSTGRES_DB: ${name}
    ports: ["127.0.0.1:5432:5432"]
    volumes: ["database:/var/lib/postgresql/data"]
volumes:
  database:
`,
  mysql: (name) =>
    `# The database of development: docker compose up -d
services:
  database:
    image: mysql:8.4
    environment:
      MYSQL_ROOT_PASSWORD: ${DEVELOPMENT_PASSWORDS.mysql}
      MYSQL_DATABASE: ${name}
    ports: ["127.0.0.1:3306:3306"]
    volumes: ["database:/var/lib/mysql"]
volumes:
  database:
`,
};

/** Gives the files of a project's database: a new project's, or one that had none. */
export function databaseFiles(database: Database, name: string): Files {
  return {
    "src/database.ts": DATABASE,
    "src/test_database.ts": database === "sqlite" ? TEST_DATABASE_OF_SQLITE : TEST_DATABASE,
    ...migrationFiles(database),
    ...database === "sqlite"
      ? { "data/.gitignore": "*\n!.gitignore\n" }
      : { "compose.yaml": COMPOSE[database](name) },
  };
}

/** Gives the folder of migrations, with the test of them all. */
export function migrationFiles(database: Database): Files {
  return {
    "migrations/.gitkeep": "",
    "migrations/migrations_test.ts": database === "sqlite" ? sqliteTest() : serverTest(),
  };
}

function sqliteTest(): string {
  return `import { DbMigrations, DbOptions } from "@fw/fw/db";
import assert from "node:assert/strict";

Deno.test("migrations lead from an empty database to the newest and back again", async () => {
  const options = DbOptions.fromUrl("sqlite::memory:").schemaPath("migrations");
${goingUpAndDown()}});
`;
}

function serverTest(): string {
  return `import { DbMigrations, DbOptions } from "@fw/fw/db";
import assert from "node:assert/strict";

const url = Deno.env.get("TEST_DATABASE_URL");

Deno.test({
  name: "migrations lead from an empty database to the newest and back again",
  ignore: url === undefined,
  async fn() {
    const options = DbOptions.fromUrl(url ?? "").schemaPath("migrations");
${goingUpAndDown()}  },
});
`;
}

function goingUpAndDown(): string {
  return `  await using migrations = await DbMigrations.open(options);
  const names = (await migrations.status()).map(({ name }) => name);
  assert.deepEqual(await migrations.migrate(), names);
  if (names.length > 0) await migrations.rollBack({ steps: names.length });
  assert.deepEqual(await migrations.migrate(), names);
  if (names.length > 0) await migrations.rollBack({ steps: names.length });
`;
}
