/** `fw db diff` in projects, which Deno runs. */
import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sql } from "kysely";
import { DbOptions, DbService } from "../../src/db/mod.ts";
import { administer, SERVERS } from "../db/support/servers.ts";
import { testOn } from "../support/test.ts";
import { fw } from "./fw.ts";
import { MadeProject } from "./made_project.ts";

const test = testOn(["deno"], "projects are run by it");
const DATABASES = ["sqlite", "postgres", "mysql"] as const;

for (const db of DATABASES) {
  test(`a column is one edit of the model and fw db diff, on ${db}`, async () => {
    await using project = await MadeProject.make({ db });
    await project.fw("generate resource cat");
    await project.fw("g model dog");
    assert.equal(await project.fw("db diff --check"), "The models and the migrations agree.\n");
    edit(project, "src/cats/cat_model.ts", "age: field.integer({ min: 0 }).nullable(),");
    edit(project, "src/dogs/dog_model.ts", 'breed: field.text().default("mongrel"),');
    const changed = await project.fw("db diff add-columns");
    assert.match(changed, /^add column cats\.age: (?:integer|bigint)$/m);
    assert.match(changed, /^create migrations\/0003_add_columns\.sql$/m);
    assert.match(changed, /^create migrations\/0003_add_columns\.down\.sql$/m);
    assert.equal(await project.fw("db diff --check"), "The models and the migrations agree.\n");
    await project.ok();
    await project.fw("db migrate");
    const doctor = await fw("doctor", { cwd: project.root, env: project.env });
    assert.match(doctor.stdout, /^ok +models +they agree with the migrations$/m);
    assert.match(doctor.stdout, /^ok +tables +they agree with the models$/m);
  }, { skip: db === "sqlite" ? undefined : SERVERS[db].skip, slow: true });
}

test("fw db diff --check fails where a migration is missing, and writes nothing", async () => {
  await using project = await MadeProject.make({ db: "sqlite" });
  await project.fw("g model cat");
  edit(project, "src/cats/cat_model.ts", "age: field.integer().nullable(),");
  const { code, stdout, stderr } = await fw("db diff --check", { cwd: project.root });
  assert.deepEqual([code, stdout, stderr], [
    1,
    "add column cats.age: integer\n",
    "error: The models and the migrations differ in 1 place: fw db diff NAME writes the migration\n",
  ]);
  const dry = await project.fw("db diff add-age --dry-run");
  assert.match(dry, /create migrations\/0002_add_age\.sql/);
  assert.deepEqual(scriptsIn(project, "migrations"), [
    "0001_create_cats.down.sql",
    "0001_create_cats.sql",
  ]);
}, { slow: true });

test("fw db diff keeps data, unless it is allowed to lose it", async () => {
  await using project = await MadeProject.make({ db: "sqlite" });
  await project.fw("g model cat");
  replace(project, "src/cats/cat_model.ts", {
    before: "name: field",
    after: "full_name: field",
  });
  const refused = await fw("db diff rename-name", { cwd: project.root });
  assert.deepEqual([refused.code, refused.stderr], [
    1,
    "error: Cannot write the migration: it would drop column cats.name, and lose data; --rename " +
    "cats.name:full_name keeps its data under another name; --allow-drop writes it\n",
  ]);
  await project.fw("db diff rename-name --rename cats.name:full_name");
  assert.equal(
    readFileSync(join(project.root, "migrations/0002_rename_name.sql"), "utf8"),
    'alter table "cats" rename column "name" to "full_name";\n',
  );
  replace(project, "src/cats/cat_model.ts", { before: /full_name: .*\n/, after: "" });
  await project.fw("db diff drop-name --allow-drop");
  edit(project, "src/cats/cat_model.ts", "age: field.integer(),");
  const unfilled = await project.fw("db diff add-age --dry-run");
  assert.match(unfilled, /^note cats\.age is not null and has no default: the migration fails/m);
  await project.fw(["db", "diff", "add-age", "--fill", "cats.age=1 + 1"]);
  assert.match(
    readFileSync(join(project.root, "migrations/0004_add_age.sql"), "utf8"),
    /insert into "fw_new_cats" \("id", "age"\) select "id", 1 \+ 1 from "cats";/,
  );
  const wrong = await fw(["db", "diff", "x", "--fill", "age=1"], { cwd: project.root });
  assert.equal(wrong.stderr, "error: Cannot fill age=1: it is not table.column=SQL\n");
});

test("fw db diff and new write a migration for each database that a project keeps", async () => {
  await using project = await MadeProject.make({ db: "postgres" });
  await project.fw("g model cat");
  const folder = (path: string) => join(project.root, "migrations", path);
  for (const name of ["postgres", "sqlite"]) mkdirSync(folder(name));
  for (const name of ["0001_create_cats.sql", "0001_create_cats.down.sql"]) {
    renameSync(folder(name), folder(`postgres/${name}`));
  }
  await project.fw("db diff create-cats");
  // Those of PostgreSQL were there.
  assert.deepEqual(scriptsIn(project, "migrations/sqlite"), [
    "0001_create_cats.down.sql",
    "0001_create_cats.sql",
  ]);
  edit(project, "src/cats/cat_model.ts", "age: field.integer().nullable(),");
  await project.fw("db diff add-age");
  await project.fw("g model dog");
  await project.fw("db new later");
  for (const name of ["postgres", "sqlite"]) {
    assert.deepEqual(
      scriptsIn(project, `migrations/${name}`).filter((it) => !it.includes("down")),
      [
        "0001_create_cats.sql",
        "0002_add_age.sql",
        "0003_create_dogs.sql",
        "0004_later.sql",
      ],
    );
  }
  assert.match(
    readFileSync(folder("postgres/0002_add_age.sql"), "utf8"),
    /add column "age" bigint/,
  );
  assert.match(readFileSync(folder("sqlite/0002_add_age.sql"), "utf8"), /add column "age" integer/);
  assert.equal(await project.fw("db diff --check"), "The models and the migrations agree.\n");
  assert.match(await project.fw("db status"), /0003_create_dogs +pending/);
  assert.match(await project.fw("db migrate"), /ran 0003_create_dogs/);
  mkdirSync(folder("mysql"));
  const { stderr } = await fw("db diff --check", { cwd: project.root, env: project.env });
  assert.equal(stderr, "error: Cannot compare migrations/mysql: DATABASE_URL_MYSQL is not set\n");
  // Only the database at DATABASE_URL is compared then.
  assert.equal(
    await project.fw("db diff --check --against-database"),
    "The models and the database agree.\n",
  );
  const other = await fw("db diff --check --against-database", {
    cwd: project.root,
    env: { ...project.env, DATABASE_URL: "file:unknown" },
  });
  assert.equal(
    other.stderr,
    "error: Cannot compare with the database: migrations has no folder of the one at DATABASE_URL\n",
  );
}, { skip: SERVERS.postgres.skip, slow: true });

test("fw db diff leaves alone what has no model", async () => {
  await using project = await MadeProject.make({ db: "sqlite" });
  await project.fw("g model cat");
  writeFileSync(
    join(project.root, "migrations/0002_jobs.sql"),
    "create table jobs (id integer);\ncreate view names as select name from cats;\n",
  );
  const { code, stdout } = await fw("db diff --check", { cwd: project.root });
  assert.deepEqual([code, stdout], [1, "drop table jobs\nnot compared: view names\n"]);
  const path = join(project.root, "src/database.ts");
  writeFileSync(
    path,
    `${readFileSync(path, "utf8")}\nexport const externalTables = ["jobs"];\n`,
  );
  assert.equal(
    await project.fw("db diff --check"),
    "not compared: view names\nnot compared: table jobs\nThe models and the migrations agree.\n",
  );
}, { slow: true });

test("fw doctor and fw db diff run no migration that names the real database", async () => {
  await using project = await MadeProject.make({ db: "mysql" });
  await project.fw("g model cat");
  const { DATABASE_URL: url = "" } = project.env;
  const name = new URL(url).pathname.slice(1);
  writeFileSync(
    join(project.root, "migrations/0002_dump.sql"),
    `USE \`${name}\`;\nDROP TABLE IF EXISTS \`people\`;\n` +
      "CREATE TABLE `people` (`id` bigint NOT NULL PRIMARY KEY) ENGINE=InnoDB;\n",
  );
  await project.fw("db migrate");
  await administer("mysql", `insert into ${name}.people values (1), (2)`);
  const reason =
    'Cannot run migrations: 0002_dump contains "use", which acts outside the temporary ' +
    "database that they run in; remove it from the migration, or compare with the " +
    "tables of the database (--against-database)";
  const options = { cwd: project.root, env: project.env };
  for (const command of ["db diff --check", "db diff change --dry-run"]) {
    const { code, stderr } = await fw(command, options);
    assert.deepEqual([code, stderr], [1, `error: ${reason}\n`], command);
  }
  const { code, stdout } = await fw("doctor", options);
  assert.equal(code, 0, stdout);
  assert.match(stdout, /^skipped +models +(.+)$/m);
  assert.ok(stdout.includes(reason), stdout);
  const against = await fw("db diff --check --against-database", options);
  assert.equal(against.stdout, "drop table people\n");
  await using db = await DbService.with({}).open(DbOptions.fromUrl(url));
  const { rows } = await sql`select id from people order by id`.execute(db.kysely);
  assert.deepEqual(rows.map((row) => ({ ...row as object })), [{ id: 1 }, { id: 2 }]);
}, { skip: SERVERS.mysql.skip, slow: true });

function scriptsIn({ root }: MadeProject, folder: string): readonly string[] {
  return readdirSync(join(root, folder)).filter((name) => name.endsWith(".sql")).toSorted();
}

/** Adds a field to a model. */
function edit(project: MadeProject, file: string, line: string): void {
  replace(project, file, { before: "});", after: `  ${line}\n});` });
}

function replace(
  { root }: MadeProject,
  file: string,
  { before, after }: { readonly before: string | RegExp; readonly after: string },
): void {
  const text = readFileSync(join(root, file), "utf8");
  const changed = text.replace(before, after);
  assert.notEqual(changed, text);
  writeFileSync(join(root, file), changed);
}
