/** Commands that a signal ends while they have a database of their own. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import { DbOptions, DbService } from "../../src/db/mod.ts";
import { SERVERS } from "../db/support/servers.ts";
import { testOn } from "../support/test.ts";
import { FW, fw } from "./fw.ts";
import { MadeProject } from "./made_project.ts";

const test = testOn(["deno"], "projects are run by it");

/** The function that returns the name of the database, and where its name is looked for. */
const QUERIES = {
  postgres: ["current_database", "pg_database where datname"],
  mysql: ["database", "information_schema.schemata where schema_name"],
} as const;
const WAIT = "new Promise((resolve) => setTimeout(resolve, 1000))";

/** Writes the name of the database of a Kysely, and waits for a second. */
const note = (brand: keyof typeof QUERIES) =>
  `const one = kysely.selectNoFrom((eb) => eb.fn("${QUERIES[brand][0]}", []).as("name"));
  await Deno.writeTextFile("name", (await one.executeTakeFirst()).name);
  await ${WAIT};`;

for (const brand of ["postgres", "mysql"] as const) {
  const { url, skip } = SERVERS[brand];
  const isThere = async (name: string) => {
    await using db = await DbService.with({}).open(DbOptions.fromUrl(url));
    const query = sql`select 1 from ${sql.raw(QUERIES[brand][1])} = ${name}`;
    return (await query.execute(db.kysely)).rows.length > 0;
  };

  test(`an interrupted fw prove removes its database on ${brand}`, async () => {
    await using project = await MadeProject.make({ db: brand });
    writeProof(
      project,
      'import { Db } from "./src/database.ts";',
      `const { kysely } = app.get(Db);
  ${note(brand)}`,
    );
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      const { child, ended } = start(project, "prove", "--database", url);
      const name = await contentOf(project, "name");
      assert.ok(await isThere(name));
      send(child, signal);
      assert.deepEqual(await ended, [signal === "SIGINT" ? 130 : 143, null]);
      assert.equal(await isThere(name), false);
    }
  }, { skip, slow: true });

  test(`an interrupted fw db diff removes its database on ${brand}`, async () => {
    await using project = await MadeProject.make({ db: brand });
    writeFileSync(
      join(project.root, "src/database.ts"),
      `import { DbOptions, DbService } from "@fw/fw/db";
export class Db extends DbService.with({}) {}
export function databaseOptions(): DbOptions {
  return DbOptions.fromEnv().migrations({ "0001_slow": { up: async (kysely) => {
  ${note(brand)}
  } } });
}
`,
    );
    const { child, ended } = start(project, "db", "diff");
    const name = await contentOf(project, "name");
    assert.ok(await isThere(name));
    send(child, "SIGINT");
    assert.deepEqual(await ended, [130, null]);
    assert.equal(await isThere(name), false);
  }, { skip, slow: brand === "mysql" });
}

test("fw db rollback after an interrupted one undoes no other migration", async () => {
  await using project = await MadeProject.make({ db: "mysql" });
  await project.fw("g model cat");
  const write = (name: string, sql: string) =>
    writeFileSync(join(project.root, "migrations", name), sql);
  write("0002_slow.sql", "create table slow (id bigint);\n");
  write("0002_slow.down.sql", "do sleep(4);\ndrop table slow;\n");
  await project.fw("db migrate");
  const { child, ended } = start(project, "db", "rollback", "--yes");
  await using db = await DbService.with({}).open(DbOptions.fromUrl(project.env["DATABASE_URL"]!));
  const isRunning = async () => {
    const query = sql`select 1 from information_schema.processlist
      where db = database() and state like '%sleep%'`;
    return (await query.execute(db.kysely)).rows.length > 0;
  };
  for (let i = 0; i < 1000 && !await isRunning(); i++) await delay(10);
  send(child, "SIGINT");
  assert.deepEqual(await ended, [130, null]);
  assert.ok(await isRunning());
  const again = await fw("db rollback --yes", { cwd: project.root, env: project.env });
  assert.deepEqual([again.code, again.stdout, again.stderr], [
    1,
    "",
    "error: Cannot roll back 0002_slow: the last is 0001_create_cats by now\n",
  ]);
  assert.match(await project.fw("db status"), /0001_create_cats {2}\d{4}.+\n0002_slow {9}pending/);
}, { skip: SERVERS.mysql.skip, slow: true });

test("a second signal ends fw prove at once, whatever its application does", async () => {
  await using project = await MadeProject.make();
  writeProof(
    project,
    "",
    `await Deno.writeTextFile("name", String(Deno.pid));
  for (;;);`,
  );
  const { child, ended } = start(project, "prove");
  const pid = Number(await contentOf(project, "name"));
  send(child, "SIGINT");
  await delay(500);
  process.kill(pid, 0);
  send(child, "SIGINT");
  assert.deepEqual(await ended, [130, null]);
  assert.throws(() => process.kill(pid, 0), { code: "ESRCH" });
}, { slow: true });

/** Writes a proof with imports, whose `setUp` runs statements. */
function writeProof({ root }: MadeProject, imports: string, statements: string): void {
  writeFileSync(
    join(root, "prove.ts"),
    `import { prove } from "@fw/fw/testing";
import { AppModule } from "./src/app.ts";
${imports}
export default prove(AppModule, { setUp: async (app) => {
  ${statements}
} });
`,
  );
}

/** Starts `fw` in a project. */
function start({ root, env }: MadeProject, ...words: readonly string[]) {
  const [program, ...args] = FW;
  const child = spawn(program, [...args, ...words], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: "ignore",
  });
  return { child, ended: once(child, "exit") };
}

/** Not by `ChildProcess.kill`: Deno sends one signal at most. */
function send(child: ChildProcess, signal: NodeJS.Signals): void {
  process.kill(child.pid!, signal);
}

/** Waits for a file of a project, removes it, and returns its text. */
async function contentOf({ root }: MadeProject, name: string): Promise<string> {
  const path = join(root, name);
  for (let i = 0; i < 2000 && !(existsSync(path) && readFileSync(path, "utf8")); i++) {
    await delay(10);
  }
  const text = readFileSync(path, "utf8");
  writeFileSync(path, "");
  return text;
}
