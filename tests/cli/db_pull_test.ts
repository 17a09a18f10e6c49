/** `fw db pull` in projects, which Deno runs. */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { run } from "../../src/cli/system/programs.ts";
import { sql } from "kysely";
import { DbOptions, DbService } from "../../src/db/mod.ts";
import { PRISMA_TABLES } from "../db/migrate/diff/prisma_tables.ts";
import { SERVERS } from "../db/support/servers.ts";
import { testOn } from "../support/test.ts";
import { fw } from "./fw.ts";
import { MadeProject } from "./made_project.ts";

const test = testOn(["deno"], "projects are run by it");
const DATABASES = ["sqlite", "postgres", "mysql"] as const;

/** Rows, as Prisma stores them: on SQLite times are the milliseconds since 1970, or ISO 8601. */
const ROWS = [
  `insert into "User" ("email", "name", "role") values ('ada@example.org', 'Ada', 'ADMIN')`,
  `insert into "Profile" ("bio", "userId") values ('Countess', 1)`,
  `insert into "Post" ("updatedAt", "title", "published", "authorId")
    values ('2026-01-31 12:30:00.500', 'Notes', true, 1)`,
  `insert into "Category" ("name") values ('Engines')`,
  `insert into "_CategoryToPost" ("A", "B") values (1, 1)`,
];

/** Uses the models in the project. */
const PROGRAM = `import { Db, databaseOptions } from "./src/database.ts";
await using db = await Db.open(databaseOptions());
await db.checkTables();
const [user] = await db.user.findMany();
const [post] = await db.post.findMany({ where: { authorId: user!.id } });
const [profile] = await db.profile.findMany();
const [link] = await db.categoryToPost.findMany();
const created = await db.category.create({ data: { name: "Mathematics" } });
console.log(JSON.stringify({ user, post: { ...post, createdAt: null }, profile, link, created }));
`;

for (const db of DATABASES) {
  test(
    `fw db pull writes models of the tables of Prisma, whose rows are read, on ${db}`,
    async () => {
      await using project = await MadeProject.make({ db });
      const url = project.env["DATABASE_URL"] ?? `sqlite:${join(project.root, "data/data.sqlite")}`;
      const quote = (text: string) => db === "mysql" ? text.replaceAll('"', "`") : text;
      await using tables = await DbService.with({}).open(DbOptions.fromUrl(url));
      for (const statement of [...PRISMA_TABLES[db].split(";\n"), ...ROWS.map(quote)]) {
        if (statement.trim() !== "") await sql.raw(statement).execute(tables.kysely);
      }
      const pulled = await project.fw("db pull");
      assert.match(pulled, /^create src\/models\.ts\nupdate src\/database\.ts$/m);
      writeFileSync(join(project.root, "use.ts"), PROGRAM);
      const checked = await run([process.execPath, "check", "use.ts"], { cwd: project.root });
      assert.equal(checked.code, 0, checked.stderr);
      const env = { ...process.env, ...project.env };
      const used = await run([process.execPath, "run", "-A", "--env-file", "use.ts"], {
        cwd: project.root,
        env,
      });
      assert.equal(used.code, 0, used.stderr);
      assert.deepEqual(JSON.parse(used.stdout), {
        user: { id: 1, email: "ada@example.org", name: "Ada", role: "ADMIN" },
        post: {
          id: 1,
          createdAt: null,
          updatedAt: "2026-01-31T12:30:00.500Z",
          title: "Notes",
          published: true,
          authorId: 1,
        },
        profile: { id: 1, bio: "Countess", userId: 1 },
        link: { A: 1, B: 1 },
        created: { id: 2, name: "Mathematics" },
      });
      const diff = await fw("db diff --check --against-database", {
        cwd: project.root,
        env: project.env,
      });
      const changes = diff.stdout.split("\n").filter((it) => it && !it.startsWith("not compared"));
      // Prisma creates no index on a foreign key, which MySQL does.
      assert.deepEqual(changes, [
        db === "mysql" ? "The models and the database agree." : "add index of Post (authorId)",
      ]);
      const again = await fw("db pull", { cwd: project.root, env: project.env });
      assert.match(again.stderr, /src\/models\.ts: it exists; --force overwrites it/);
      assert.match(readFileSync(join(project.root, "src/database.ts"), "utf8"), /user: User,/);
    },
    { skip: db === "sqlite" ? undefined : SERVERS[db].skip, slow: true },
  );
}

test("fw db pull takes names of tables that are reserved, and runs and shows no name", async () => {
  await using project = await MadeProject.make({ db: "sqlite" });
  {
    const url = `sqlite:${join(project.root, "data/data.sqlite")}`;
    await using tables = await DbService.with({}).open(DbOptions.fromUrl(url));
    const code = (line: string) => `"x${line}[(globalThis.ran = 1, 'a')]: field.text(), //"`;
    const columns = ["\n", "\r", "\u2028", "\u2029", "\x1b[2J", "\u202e"]
      .map((line) => `${code(line)} text`);
    for (const name of ["class", "constructor", "primary", "value_of"]) {
      await sql.raw(`create table "${name}" (id integer primary key, ${columns.join(", ")})`)
        .execute(tables.kysely);
    }
    await sql.raw(`create table "2fa\x1b" (id integer primary key)`).execute(tables.kysely);
  }
  const pulled = await project.fw("db pull");
  assert.match(pulled, /not in the models: table 2fa\\u001b, whose name no model can have$/m);
  const diff = await fw("db diff --against-database", { cwd: project.root, env: project.env });
  assert.match(diff.stderr, /^error: Cannot write the migration: it would drop /);
  const file = readFileSync(join(project.root, "src/models.ts"), "utf8");
  for (const text of [pulled, diff.stdout, diff.stderr, file]) {
    assert.match(text, /x\\u001b\[2J\[/);
    // deno-lint-ignore no-control-regex
    assert.doesNotMatch(text, /[\x1b\r\u202e]/);
  }
  const program = `import * as models from "./src/models.ts";
import { Db } from "./src/database.ts";
await using db = await Db.open(DbOptions.fromUrl("sqlite:data/data.sqlite"));
console.log(Object.keys(models), await db.tableClass.count(), "ran" in globalThis);
`;
  writeFileSync(join(project.root, "use.ts"), `import { DbOptions } from "@fw/fw/db";\n${program}`);
  const used = await run([process.execPath, "run", "-A", "--check", "use.ts"], {
    cwd: project.root,
  });
  assert.equal(
    used.stdout,
    '[ "PrimaryRow", "TableClass", "TableConstructor", "ValueOfRow" ] 0 false\n',
    used.stderr,
  );
}, { slow: true });
