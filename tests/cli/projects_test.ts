/** Projects are checked, tested and served by Deno; the command line itself runs on all runtimes. */
import assert from "node:assert/strict";
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { sql } from "kysely";
import { run } from "../../src/cli/system/programs.ts";
import { DbOptions, DbService } from "../../src/db/mod.ts";
import { SERVERS } from "../db/support/servers.ts";
import { testOn } from "../support/test.ts";
import { type Features, flagsOf, MadeProject } from "./made_project.ts";

const test = testOn(["deno"], "projects are checked, tested and served by it");

const MIGRATION_TESTS = [
  "migrations run on an empty database, and roll back",
  "migrations create the tables of the models",
];

const SESSION_TESTS = [
  "POST /api/session returns a token for the right password",
  "POST /api/session refuses a wrong password, and GET /api/me a wrong token",
];

/** Every pair of options: eight of the 32 combinations have them all. */
const COMBINATIONS: readonly Features[] = ([undefined, "postgres", "sqlite", "mysql"] as const)
  .flatMap((db, i) =>
    [false, true].map((oauth2) => ({
      db,
      oauth2,
      strict: oauth2 !== (i % 2 === 1),
      authn: oauth2 !== (i >= 2),
    }))
  );

for (const features of COMBINATIONS) {
  const { db, oauth2, authn } = features;
  const skip = db === "postgres" || db === "mysql" ? SERVERS[db].skip : undefined;
  test(
    `fw new ${flagsOf(features)} creates a project that passes its checks, serves and stops`,
    async () => {
      await using project = await MadeProject.make(features);
      const tests = await project.ok();
      assert.deepEqual(tests, [
        ...db ? MIGRATION_TESTS : [],
        "GET /api/ greets",
        "responses have security headers, and count against a rate limit",
        "GET /health reports ok",
        ...oauth2 ? ["GET /api/me returns the caller, and refuses a request without a token"] : [],
        ...authn ? SESSION_TESTS : [],
        "GreetingService.greet() greets by name",
      ]);
      await project.answers();
      if (!db) return;
      await project.fw("generate resource cat");
      await project.serving(async (request) => {
        const created = await request("/api/v1/cats", { json: { name: "Tom" } });
        assert.deepEqual([created.status, await created.json()], [201, { id: 1, name: "Tom" }]);
        const listed = await request("/api/v1/cats");
        assert.deepEqual(await listed.json(), { rows: [{ id: 1, name: "Tom" }], next: null });
      });
      const migrations = await project.fw("db status");
      assert.match(migrations, /^0001_create_cats +\d{4}-/m);
    },
    { skip, slow: oauth2 || "long" },
  );
}

test("fw new creates a project that passes its tests, serves and stops", async () => {
  await using project = await MadeProject.make({ strict: true, db: "sqlite", oauth2: true });
  assert.equal((await project.test()).length, MIGRATION_TESTS.length + 5);
  await project.answers();
});

for (const db of ["postgres", "mysql"] as const) {
  test(
    `the tests of a project refuse a database of ${db} that has run migrations`,
    async () => {
      await using project = await MadeProject.make({ db });
      await project.fw("generate model cat");
      await project.fw("db migrate");
      class Db extends DbService.with({}) {}
      await using used = await Db.open(DbOptions.fromUrl(project.env["DATABASE_URL"]!));
      await sql`insert into cats (name) values (${"Tom"})`.execute(used.kysely);
      const env = { ...process.env, NO_COLOR: "1", TEST_DATABASE_URL: project.env["DATABASE_URL"] };
      const test = ["test", "-A", "--no-check", "migrations"];
      const command = [process.execPath, ...test] as const;
      const failed = await run(command, { cwd: project.root, env });
      assert.equal(failed.code, 1);
      assert.match(failed.stdout, /\| 0 passed \| 2 failed/);
      assert.match(failed.stdout, /Cannot test migrations: the database at TEST_DATABASE_URL has /);
      const { rows } = await sql`select name from cats`.execute(used.kysely);
      assert.deepEqual(rows.map((row) => ({ ...row as object })), [{ name: "Tom" }]);
      // An empty one is empty again, also after a test that fails.
      const empty = { ...process.env, NO_COLOR: "1", ...project.env };
      const broken = join(project.root, "migrations/0002_broken.sql");
      writeFileSync(broken, "create table cats (id integer);\n");
      assert.equal((await run(command, { cwd: project.root, env: empty })).code, 1);
      rmSync(broken);
      const passed = await run(command, { cwd: project.root, env: empty });
      assert.equal(passed.code, 0, passed.stdout + passed.stderr);
    },
    { skip: SERVERS[db].skip, slow: true },
  );
}

for (const strict of [false, true]) {
  test(
    `fw generate creates valid code of every kind in a ${strict ? "strict" : "plain"} project`,
    async () => {
      await using project = await MadeProject.make({ strict });
      await project.fw("g mo billing");
      await project.fw("generate resource billing/Customer");
      await project.fw("g co billing/invoices --flat");
      await project.fw("g s BillingService");
      await project.fw("g gu admin-only");
      await project.fw("g itc server_timing");
      await project.fw("g f paymentFilter");
      await project.fw("g pi slug --path src/text");
      await project.fw("g dto create-order");
      await project.fw("g model order_items");
      await project.fw("g migration add-age-to-customers");
      const tests = await project.ok();
      assert.deepEqual(
        tests.toSorted(),
        [
          "AdminOnlyGuard refuses a request with 403",
          "BillingModule provides what its controllers inject",
          "BillingService.describe() returns its purpose",
          "CreateOrderDto drops fields that it does not declare",
          "CreateOrderDto refuses an empty name",
          "Customer is stored and read",
          "CustomersController creates, lists, finds, changes and deletes customers",
          "CustomersController refuses what is not a customer with 422",
          "CustomersService.one() finds a customer until it is deleted",
          "GET /api/ greets",
          "responses have security headers, and count against a rate limit",
          "GET /health reports ok",
          "GET /v1/billing/invoices answers",
          "GreetingService.greet() greets by name",
          "OrderItem is stored and read",
          "PaymentFilter answers a RangeError with 400",
          "ServerTimingInterceptor reports the duration of the handler",
          "SlugPipe trims a text",
          "SlugPipe refuses a blank text",
          ...MIGRATION_TESTS,
        ].toSorted(),
      );
      assert.deepEqual(readdirSync(join(project.root, "data")), [".gitignore"]); // tests use no file
      await project.answers();
      await project.serving(async (request) => {
        const { message } = await (await request("/api/v1/billing/invoices")).json();
        assert.equal(message, "invoices");
      });
    },
    { slow: strict || "long" },
  );
}

test("five resources generated one after another work together over HTTP, on SQLite", async () => {
  await using project = await MadeProject.make();
  const paths = ["cats", "people", "order-items", "news-letters", "categories"];
  for (const name of ["cat", "Person", "order_items", "newsLetter", "Categories"]) {
    await project.fw(`generate resource ${name}`);
  }
  const tests = await project.ok();
  assert.equal(tests.length, 4 + 2 + 5 * 4);
  assert.deepEqual(readdirSync(join(project.root, "data")), [".gitignore"]); // tests use no file
  await project.serving(async (request) => {
    for (const path of paths) {
      const all = `/api/v1/${path}`;
      const created = await request(all, { json: { name: path } });
      const row = { id: 1, name: path };
      assert.deepEqual([created.status, await created.json()], [201, row]);
      assert.equal(created.headers.get("location"), `${all}/1`);
      assert.deepEqual(await (await request(all)).json(), { rows: [row], next: null });
      assert.deepEqual(await (await request(`${all}/1`)).json(), row);
      const patch = { method: "PATCH", json: { name: "other" } };
      const changed = { ...row, name: "other" };
      assert.deepEqual(await (await request(`${all}/1`, patch)).json(), changed);
      const refused = await request(`${all}/1`, { method: "PATCH", json: { name: "" } });
      assert.deepEqual([refused.status, (await refused.json()).errors.length], [422, 1]);
      const deleted = await request(`${all}/1`, { method: "DELETE" });
      assert.deepEqual(await deleted.json(), changed);
      const gone = await request(`${all}/1`);
      assert.deepEqual([gone.status, (await gone.json()).status], [404, 404]);
    }
  });
  assert.match(await project.fw("db status"), /0005_create_categories +\d/);
}, { slow: "long" });
