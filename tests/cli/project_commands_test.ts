/** Commands that inspect a project need Deno; the command line itself runs on any runtime. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { parse } from "yaml";
import { run } from "../../src/cli/system/programs.ts";
import { SERVERS } from "../db/support/servers.ts";
import { testOn } from "../support/test.ts";
import { FW, fw } from "./fw.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";
import { MadeProject } from "./made_project.ts";

const test = testOn(["deno"], "projects are run by it");
const withoutDeno = testOn(["node", "bun"], "where Deno runs the command line, there is one");

test("fw routes lists the protection of each route, as text and as JSON", async () => {
  await using project = await MadeProject.make({ oauth2: true });
  replaceIn(project, "src/me/me_controller.ts", (text) =>
    text.replace(
      /}\n$/,
      `
  admin = route.get("/admin", { roles: ["admin", "boss"] }, () => 1);
  both = route.get("/both", { roles: ["admin"], scopes: ["me:write"] }, () => 1);
  scoped = route.get("/scoped", { scopes: ["me:read", "me:write"] }, () => 1);
}
`,
    ));
  assert.equal(
    await project.fw("routes"),
    `METHOD  PATH            HANDLER                             PROTECTION
GET     /api            AppModule.GreetingController.greet  public
GET     /api/me         AppModule.MeController.me           identity
GET     /api/me/admin   AppModule.MeController.admin        roles: admin, boss
GET     /api/me/both    AppModule.MeController.both         roles: admin; scopes: me:write
GET     /api/me/scoped  AppModule.MeController.scoped       scopes: me:read, me:write
`,
  );
  const routes = JSON.parse(await project.fw("routes --json"));
  assert.deepEqual(routes[2], {
    method: "GET",
    path: "/api/me/admin",
    versions: [],
    handler: "AppModule.MeController.admin",
    protection: "roles",
    roles: ["admin", "boss"],
    scopes: [],
  });
  assert.deepEqual([routes[4].protection, routes[4].scopes], ["scopes", ["me:read", "me:write"]]);
});

test("fw routes needs no environment, and no identity provider", async () => {
  await using project = await MadeProject.make({ oauth2: true });
  rmSync(join(project.root, ".env"));
  const { code, stdout } = await fw("routes", { cwd: project.root });
  assert.deepEqual([code, stdout.includes("identity")], [0, true]);
});

test("fw openapi writes the served document to stdout, as JSON and as YAML", async () => {
  await using project = await MadeProject.make({ db: "sqlite" });
  await project.fw("g resource cat");
  const printed = JSON.parse(await project.fw("openapi"));
  await project.serving(async (request) => {
    assert.deepEqual(await (await request("/openapi.json")).json(), printed);
  });
  assert.equal(await project.fw("openapi --out api/openapi.json"), "wrote api/openapi.json\n");
  assert.deepEqual(
    JSON.parse(readFileSync(join(project.root, "api/openapi.json"), "utf8")),
    printed,
  );
  await project.fw("openapi --out api.yaml");
  assert.deepEqual(parse(readFileSync(join(project.root, "api.yaml"), "utf8")), printed);
});

test(
  "fw routes and fw openapi need no database, and report why an application does not load",
  async () => {
    await using project = await MadeProject.make();
    await project.fw("g resource cat");
    writeFileSync(
      join(project.root, ".env"),
      "DATABASE_URL=postgres://nobody@127.0.0.1:1/nothing\n",
    );
    assert.match(await project.fw("routes"), /\/api\/v1\/cats\/:id/);
    assert.match(await project.fw("openapi"), /"\/api\/v1\/cats\/\{id\}"/);
    const failing = async (command: string) => {
      const { code, stdout, stderr } = await fw(command, { cwd: project.root });
      assert.deepEqual([code, stdout, stderr.split("\n").length], [1, "", 2], stderr);
      return stderr;
    };
    assert.match(
      await failing("routes --app src/none.ts"),
      /^error: Cannot load src\/none\.ts: it does not exist; --app names another file$/m,
    );
    writeFileSync(join(project.root, 'src/a"b.ts'), "export {};\n");
    assert.match(
      await failing('routes --app src/a"b.ts'),
      /^error: Cannot load src\/a"b\.ts: it exports no AppModule; --app names another file$/m,
    );
    writeFileSync(join(project.root, "src/broken.ts"), "export class AppModule {{\n");
    assert.match(
      await failing("routes --app src/broken.ts"),
      /^error: (?!.*exports no).*(?:syntax|Unexpected|Expected|expected).*src\/broken\.ts/im,
    );
    // it would not exit
    assert.match(
      await failing("routes --app src/main.ts"),
      /^error: Cannot load src\/main\.ts: it exports no AppModule; --app names another file$/m,
    );
    replaceIn(project, "src/app.ts", (text) => text.replace("providers: [GreetingService],", ""));
    assert.match(
      await failing("openapi"),
      /^error: Cannot inject GreetingService in AppModule: .*no module provides it/,
    );
    const app = readFileSync(join(project.root, "src/app.ts"), "utf8");
    writeFileSync(join(project.root, "src/app.ts"), `${app}\nJSON.parse("{").x;\n`);
    assert.match(await failing("routes"), /^error: .*JSON.* \(src\/app\.ts:\d+:\d+\)$/m);
  },
  { slow: true },
);

test(
  "an interrupted fw routes ends its process, and removes its files; a killed one ends it",
  async () => {
    await using project = await MadeProject.make();
    using folder = new TemporaryFolder();
    const pidFile = join(folder.path, "pid");
    replaceIn(project, "src/app.ts", (text) =>
      `${text}
await Deno.writeTextFile(${JSON.stringify(pidFile)}, String(Deno.pid));
await new Promise((resolve) => setTimeout(resolve, 20_000));
`);
    const temporary = join(folder.path, "tmp");
    mkdirSync(temporary);
    const [program, ...args] = FW;
    const start = async () => {
      const child = spawn(program, [...args, "routes"], {
        cwd: project.root,
        env: { ...process.env, TMPDIR: temporary },
        stdio: "ignore",
      });
      const ended = once(child, "exit");
      const hasPid = () => existsSync(pidFile) && readFileSync(pidFile, "utf8") !== "";
      for (let i = 0; i < 1000 && !hasPid(); i++) await delay(10);
      const pid = Number(readFileSync(pidFile, "utf8"));
      rmSync(pidFile);
      return { pid, signal: (name: string) => process.kill(child.pid ?? 0, name), ended };
    };
    const one = await start();
    one.signal("SIGINT");
    assert.deepEqual(await one.ended, [130, null]);
    assert.throws(() => process.kill(one.pid, 0), { code: "ESRCH" });
    assert.deepEqual(readdirSync(temporary), []);
    const other = await start();
    other.signal("SIGKILL");
    assert.deepEqual(await other.ended, [null, "SIGKILL"]);
    await assert.rejects(async () => {
      for (let i = 0; i < 1000; i++, await delay(10)) process.kill(other.pid, 0);
    }, { code: "ESRCH" });
  },
  { slow: true },
);

for (const db of ["sqlite", "postgres", "mysql"] as const) {
  const skip = db === "sqlite" ? undefined : SERVERS[db].skip;
  test(`fw db runs, lists and rolls back migrations on ${db}`, async () => {
    await using project = await MadeProject.make({ db });
    assert.equal(await project.fw("db status"), "There are no migrations.\n");
    assert.equal(await project.fw("db migrate"), "No migration is pending.\n");
    await project.fw("g model cat");
    assert.match(await project.fw("db new add-age"), /^create migrations\/0002_add_age\.sql\n/);
    writeSql(project, "0002_add_age", "alter table cats add column age integer");
    const pending =
      "MIGRATION         RUN AT\n0001_create_cats  pending\n0002_add_age      pending\n";
    assert.equal(await project.fw("db status"), pending);
    assert.equal(await project.fw("db migrate"), "ran 0001_create_cats\nran 0002_add_age\n");
    assert.match(
      await project.fw("db status"),
      /0001_create_cats {2}\d{4}-.+Z\n0002_add_age {6}\d/,
    );
    writeSql(project, "0002_add_age", "alter table cats add column age integer; -- in years");
    assert.match(await project.fw("db status"), /\n0002_add_age {6}\S+Z, edited since\n/);
    assert.equal(await project.fw("db rollback --yes"), "rolled back 0002_add_age\n");
    assert.match(
      await project.fw("db status"),
      /0001_create_cats {2}\d{4}.+Z\n0002_add_age {6}pending\n/,
    );
    await project.fw("db migrate");
    assert.equal(
      await project.fw("db rollback --steps 2 --yes"),
      "rolled back 0002_add_age\nrolled back 0001_create_cats\n",
    );
    assert.equal(await project.fw("db rollback --yes"), "No migration was run.\n");
    assert.equal(await project.fw("db status"), pending);
  }, { skip, slow: db !== "sqlite" });
}

test(
  "fw db rollback without a terminal, or in production, needs --yes, and names the database",
  async () => {
    await using project = await MadeProject.make({ db: "sqlite" });
    await project.fw("g model cat");
    await project.fw("db migrate");
    const url = "postgres://ada:secret@db.example:5432/shop?sslmode=require";
    for (
      const [env, line] of [
        [
          {},
          "sqlite:data/data.sqlite: the prompt needs a terminal; --yes does so without a prompt",
        ],
        [
          { DATABASE_URL: url },
          "postgres://db.example:5432/shop: the prompt needs a terminal; --yes does so without a prompt",
        ],
        [
          { DATABASE_URL: "" },
          "the database of src/database.ts: the prompt needs a terminal; --yes does so without a prompt",
        ],
        [
          { FW_ENV: "production" },
          "sqlite:data/data.sqlite: FW_ENV is production; --yes does so anyway",
        ],
      ] as const
    ) {
      const { code, stdout, stderr } = await fw("db rollback", { cwd: project.root, env });
      assert.deepEqual([code, stdout, stderr], [1, "", `error: Cannot roll back ${line}\n`]);
    }
    assert.match(await project.fw("db status"), /0001_create_cats {2}\d{4}/);
    const env = { FW_ENV: "production" };
    const { stdout } = await fw("db rollback --yes", { cwd: project.root, env });
    assert.equal(stdout, "rolled back 0001_create_cats\n");
  },
  { slow: true },
);

test(
  "fw asks about the database and FW_ENV that it uses: those of .env as Deno reads it",
  async () => {
    await using project = await MadeProject.make({ db: "sqlite" });
    await project.fw("g model cat");
    const one = "DATABASE_URL=sqlite:data/one.sqlite\n";
    const two = "DATABASE_URL=sqlite:data/two.sqlite\n";
    const write = (text: string) => writeFileSync(join(project.root, ".env"), text);
    for (const text of [two, one]) {
      write(text);
      await project.fw("db migrate");
    }
    const yes = "--yes does so without a prompt";
    for (
      const [text, refused] of [
        [one + two, `sqlite:data/one.sqlite: the prompt needs a terminal; ${yes}`],
        [`${two}NAME=one\n`, `sqlite:data/two.sqlite: the prompt needs a terminal; ${yes}`],
        [
          "FILE=one\nDATABASE_URL=sqlite:data/${FILE}.sqlite\n",
          `sqlite:data/one.sqlite: the prompt needs a terminal; ${yes}`,
        ],
        [
          `${one}FW_ENV=production\nFW_ENV=development\n`,
          "sqlite:data/one.sqlite: FW_ENV is production; --yes does so anyway",
        ],
        [
          `${one}STAGE=production\nFW_ENV=\${STAGE}\n`,
          "sqlite:data/one.sqlite: FW_ENV is production; --yes does so anyway",
        ],
      ]
    ) {
      write(text!);
      const { code, stderr } = await fw("db rollback", { cwd: project.root });
      assert.deepEqual([code, stderr], [1, `error: Cannot roll back ${refused}\n`]);
    }
    mkdirSync(join(project.root, "seeds"));
    writeFileSync(join(project.root, "seeds/01.ts"), "export default function seed() {}\n");
    const seeded = await fw("db seed", { cwd: project.root });
    assert.match(
      seeded.stderr,
      /^error: Cannot seed sqlite:data\/one\.sqlite: FW_ENV is production/,
    );
    const purged = await fw("jobs purge --state done --before 1d", { cwd: project.root });
    assert.match(purged.stderr, /^error: Cannot purge jobs of .*one\.sqlite: FW_ENV is production/);
    assert.match((await fw("doctor", { cwd: project.root })).stdout, /^warning {2}production /m);

    write(one + two);
    assert.equal(await project.fw("db rollback --yes"), "rolled back 0001_create_cats\n");
    assert.match(await project.fw("db status"), /0001_create_cats {2}pending\n/);
    write(two);
    assert.match(await project.fw("db status"), /0001_create_cats {2}\d{4}/);
    write(two + "DATABASE_URL=postgres://db.example/shop\n");
    await project.fw("g model dog");
    assert.equal(await project.fw("db migrate"), "ran 0002_create_dogs\n");
  },
  { slow: true },
);

test("fw reports an .env that cannot be read", async () => {
  await using project = await MadeProject.make({ db: "sqlite" });
  rmSync(join(project.root, ".env"));
  symlinkSync("/proc/self/mem", join(project.root, ".env")); // which root cannot read either
  for (const command of ["db status", "db rollback", "doctor", "routes", "g model cat"]) {
    const { code, stdout, stderr } = await fw(command, { cwd: project.root });
    assert.deepEqual([code, stdout], [1, ""], command);
    assert.match(stderr, /^error: Cannot read \.env: .+\n$/, command);
  }
}, { skip: existsSync("/proc/self/mem") ? undefined : "there is no /proc", slow: true });

test("fw db migrate and rollback print what migrations print, and warnings", async () => {
  await using project = await MadeProject.make({ db: "sqlite" });
  await project.fw("g model cat");
  await project.fw("db migrate");
  replaceIn(project, "migrations/0001_create_cats.sql", (text) => `${text}-- edited\n`);
  writeFileSync(
    join(project.root, "migrations/0002_prints.ts"),
    `export function up() {
  console.log("up");
}
export function down() {
  console.log("down");
}
`,
  );
  const { code, stdout, stderr } = await fw("db migrate", { cwd: project.root });
  assert.deepEqual([code, stdout], [0, "up\nran 0002_prints\n"]);
  assert.match(stderr, /^.*fw·db: Migration "0001_create_cats" was edited after it ran, .*\n$/);
  assert.equal(await project.fw("db rollback --yes"), "down\nrolled back 0002_prints\n");
}, { slow: true });

test("fw db reports why a migration failed", async () => {
  await using project = await MadeProject.make({ db: "sqlite" });
  await project.fw("db new wrong");
  replaceIn(
    project,
    "migrations/0001_wrong.sql",
    () => "alter table nope add column x integer;\n",
  );
  const { code, stderr } = await fw("db migrate", { cwd: project.root });
  assert.equal(code, 1);
  assert.match(stderr, /^error: Cannot migrate: 0001_wrong failed: .*no such table: nope\n$/);
});

test("fw db reports a database that is unreachable, and a project without one", async () => {
  await using project = await MadeProject.make({ db: "postgres" });
  const url = "postgres://nobody:secret@127.0.0.1:1/nothing";
  await project.fw("g model cat");
  const { code, stderr } = await fw("db status", {
    cwd: project.root,
    env: { DATABASE_URL: url },
  });
  assert.equal(code, 1);
  assert.match(stderr, /^error: Cannot open PostgreSQL database 127\.0\.0\.1:1\/nothing: /);
  assert.doesNotMatch(stderr, /secret/);
  rmSync(join(project.root, "src/database.ts"));
  const without = await fw("db migrate", { cwd: project.root });
  assert.match(without.stderr, /^error: Cannot load src\/database\.ts: it does not exist; /);
}, { skip: SERVERS.postgres.skip, slow: true });

test("fw doctor finds no problem in a new project, and later ones", async () => {
  await using project = await MadeProject.make({ db: "sqlite", oauth2: true });
  assert.match(
    await project.fw("doctor"),
    /skipped {2}database {5}data\/data\.sqlite is missing/,
  );
  assert.equal(existsSync(join(project.root, "data/data.sqlite")), false);
  await project.fw("db migrate");
  const found = await project.fw("doctor");
  assert.deepEqual(levels(found), {
    runtime: "ok",
    framework: "ok",
    permissions: "ok",
    environment: "ok",
    secrets: "ok",
    application: "ok",
    protection: "ok",
    database: "ok",
    migrations: "ok",
    tables: "ok",
    models: "ok",
  });
  await project.fw("g model cat");
  await project.fw("db migrate");
  replaceIn(
    project,
    "src/cats/cat_model.ts",
    (text) => text.replace(/name: .*\n/, (line) => `${line}  age: field.integer(),\n`),
  );
  const { code, stdout } = await fw("doctor", {
    cwd: project.root,
    env: { PORT: "30O0", OAUTH2_ISSUER: "localhost" },
  });
  assert.equal(code, 1);
  assert.match(stdout, /^problem {2}environment {2}PORT is not a port$/m);
  assert.match(stdout, /^problem {2}environment {2}OAUTH2_ISSUER is not a URL$/m);
  assert.match(stdout, /^problem {2}tables {7}cats\.age: the column is missing$/m);
  assert.match(
    stdout,
    /^problem {2}models {7}no migration has: add column cats\.age: integer not null$/m,
  );
  replaceIn(project, "migrations/0001_create_cats.sql", (text) => `${text}-- edited\n`);
  const edited = await fw("doctor", { cwd: project.root });
  assert.match(
    edited.stdout,
    /^warning {2}migrations {3}edited after they were run: 0001_create_cats$/m,
  );
  assert.match(edited.stdout, /^problem {2}tables {7}cats\.age: the column is missing$/m);
  await project.fw("db diff add-age --fill cats.age=1");
  const pending = await fw("doctor", { cwd: project.root });
  assert.deepEqual(pending.stdout.match(/^.*(?:migrations|tables) {2}.*$/gm), [
    "warning  migrations   edited after they were run: 0001_create_cats",
    "warning  migrations   pending until the next start or fw db migrate: 0002_add_age",
    "skipped  tables       a migration is pending",
  ]);
}, { slow: true });

test("fw doctor reports the problems of a project, with exit code 1", async () => {
  await using project = await MadeProject.make();
  await project.fw("g resource cat");
  await project.fw("db migrate");
  await project.fw("g model dog");
  replaceIn(
    project,
    "deno.json",
    (text) => text.replace(/deno run [^"]+ --env-file (?=src)/, "deno run -A "),
  );
  replaceIn(project, ".env.example", (text) => `${text}\nSMTP_URL=\nSMTP_USER=x\n`);
  replaceIn(
    project,
    "src/app.ts",
    (text) =>
      text.replace(".enableProductionErrorsFromEnv()", "// .enableProductionErrorsFromEnv()"),
  );
  const env = { ...process.env, GIT_AUTHOR_NAME: "x", GIT_AUTHOR_EMAIL: "x", HOME: project.root };
  await run(["git", "add", "--force", ".env"], { cwd: project.root, env });
  const { code, stdout, stderr } = await fw("doctor --production", {
    cwd: project.root,
    env: { FW_ENV: "production", OAUTH2_ISSUER: "http://idp.example" },
  });
  assert.equal(code, 1);
  assert.equal(stderr, "error: Found 5 problems\n");
  assert.deepEqual(levels(stdout), {
    runtime: "ok",
    framework: "ok",
    permissions: "warning",
    environment: "problem",
    secrets: "problem",
    application: "ok",
    protection: "problem",
    database: "ok",
    migrations: "warning",
    tables: "skipped",
    models: "ok",
    production: "problem",
  });
  assert.match(
    stdout,
    /^problem {2}environment {2}SMTP_URL, SMTP_USER of \.env\.example are not set$/m,
  );
  assert.match(stdout, /not declared who can call POST \/api\/v1\/cats, .* and 2 more$/m);
  assert.match(stdout, /pending until the next start or fw db migrate: 0002_create_dogs$/m);
  assert.match(stdout, /^problem {2}production {3}OAUTH2_ISSUER is not https$/m);
  assert.match(stdout, /^problem {2}production {3}5xx responses reveal exceptions: /m);
});

test(
  "fw doctor reports an application that does not load, and a database that is unreachable",
  async () => {
    await using project = await MadeProject.make({ db: "postgres" });
    await project.fw("g model cat");
    replaceIn(project, "src/app.ts", (text) => text.replace("providers: [GreetingService],", ""));
    const { code, stdout } = await fw("doctor", {
      cwd: project.root,
      env: { DATABASE_URL: "postgres://nobody@127.0.0.1:1/nothing" },
    });
    assert.equal(code, 1);
    const { application, protection, database, migrations } = levels(stdout);
    assert.deepEqual([application, protection, database, migrations], [
      "problem",
      "skipped",
      "problem",
      "skipped",
    ]);
  },
  { skip: SERVERS.postgres.skip, slow: true },
);

withoutDeno("fw routes where there is no deno says so", async () => {
  using folder = new TemporaryFolder();
  await fw("new shop --no-git", { cwd: folder.path });
  const cwd = join(folder.path, "shop");
  const { code, stderr } = await fw("routes", { cwd, env: { PATH: "/nowhere" } });
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^error: Cannot run the project: deno is not on the PATH; npm install -g deno/,
  );
});

function writeSql({ root }: MadeProject, name: string, up: string): void {
  writeFileSync(join(root, `migrations/${name}.sql`), `${up};\n`);
  writeFileSync(join(root, `migrations/${name}.down.sql`), "alter table cats drop column age;\n");
}

function replaceIn(project: MadeProject, file: string, change: (text: string) => string): void {
  const path = join(project.root, file);
  const text = readFileSync(path, "utf8");
  assert.notEqual(change(text), text);
  writeFileSync(path, change(text));
}

/** Returns the level of each subject, the last if there are several. */
function levels(output: string): Readonly<Record<string, string>> {
  const lines = output.trim().split("\n").map((line) => line.split(/ {2,}/));
  return Object.fromEntries(lines.map(([level = "", subject = ""]) => [subject, level]));
}
