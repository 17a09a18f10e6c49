/** The frame of proofs: seeds, records, reports. */
import { getConfig, reset } from "@logtape/logtape";
import assert from "node:assert/strict";
import { sql } from "kysely";
import * as users from "../../../examples/users.ts";
import * as v from "valibot";
import { bearer, controller, cookie, module, route, scheme } from "../../../mod.ts";
import { AuthnModule, JwtKey, JwtService, Principal } from "../../../src/authn/mod.ts";
import { DbModule, DbOptions, DbService } from "../../../src/db/mod.ts";
import { prove, type ProveOptions, type ProveRunOptions, stub } from "../../../src/testing/mod.ts";
import { ProveReport } from "../../../src/testing/prove/report.ts";
import { SERVERS } from "../../db/support/servers.ts";
import { test } from "../../support/test.ts";
import { withEnv } from "../../support/with_env.ts";

const proof = prove(users.appModule("sqlite::memory:"), {
  setUp: (app, { verifier }) => users.setUp(app).useOAuth2(verifier),
  callers: { ann: { tenant_id: "a" }, bob: { tenant_id: "b" }, root: { roles: ["admin"] } },
  revealed: ["users.email", "PATCH /api/v1/users/:id"],
});

test(
  "Proof.run() finds no fault in the users example, and the same with the same seed",
  async () => {
    const report = await proof.run({ requests: 300, seed: 42 });
    assert.equal(report.isPassed, true, report.toText());
    assert.match(
      report.toText(),
      /^document {2}300 requests: every answer as documented, no 5xx; \d\d of 30 \(operation, status\) pairs seen, \d listed in prove\.json\nroles {5}5 routes x 5 callers: as declared\ntenants {3}5 routes, 1 of 1 tables with tenants, \d+ requests: nothing of another tenant is given, counted, changed or revealed, but for users\.email, PATCH \/api\/v1\/users\/:id$/,
    );
    const again = await proof.run({ recorded: report.record });
    assert.equal(again.isPassed, true, again.toText());
    assert.deepEqual(again.record, report.record);
  },
  { slow: true },
);

for (const from of [bearer(), scheme("Token"), cookie("__Host-session")]) {
  const { missing } = from.challenges;
  test(`Proof.run() sends tokens where the application reads them: ${missing}`, async () => {
    class Notes extends controller("notes") {
      add = route.post("/", { roles: ["clerk"], status: 204 }, () => {});
      all = route.get("/", { args: { me: Principal } }, ({ me }) => ({ of: me.subject }));
    }
    const key = await JwtKey.generate();
    const root = module({
      imports: [AuthnModule.forRoot({ issuer: "https://notes.example", key })],
      controllers: [Notes],
    });
    const report = await prove(root, {
      setUp: (app) => app.useAuthn(app.get(JwtService), { from }).enableOpenApi(),
      callers: { ann: { roles: ["clerk"] }, bob: {} },
    }).run({ requests: 50, only: ["roles"] });
    assert.equal(report.isPassed, true, report.toText());
    const allowed = (report.record["roles"] as readonly string[]).filter((line) =>
      line.endsWith("allowed")
    );
    assert.deepEqual(allowed, [
      "GET /notes  ann  allowed",
      "GET /notes  bob  allowed",
      "POST /notes  ann  allowed",
    ]);
  });
}

test("Proof.run() compares prove.json: each difference is a failure with its line", async () => {
  const { record } = await proof.run({ requests: 20, seed: 1, only: ["roles"] });
  const roles = record["roles"] as readonly string[];
  const [first = "", ...rest] = roles;
  assert.equal(first, "GET /api/v1/users  ann  allowed");
  const recorded = {
    ...record,
    roles: ["GET /api/v1/users  ann  401", "GET /gone  ann  allowed", ...rest.slice(1)],
  };
  const { parts: [part] } = await proof.run({ only: ["roles"], recorded });
  assert.deepEqual(part?.failures, [
    {
      subject: "GET /api/v1/users",
      message: "ann: allowed, and prove.json has 401; --update accepts it",
    },
    {
      subject: "GET /gone",
      message: "ann: no such route or caller, which prove.json has; --update accepts it",
    },
    {
      subject: "GET /api/v1/users",
      message: "anonymous: allowed, which prove.json does not have; --update accepts it",
    },
  ]);
});

test("ProveReport writes failures as text, JSON and XML", () => {
  const failure = {
    subject: "GET /cats",
    message: 'lost "a" & <b>',
    details: ["curl -i 'x'", "# \u0007"],
  };
  const report = new ProveReport([
    {
      name: "document",
      ms: 1234,
      checked: "2 requests",
      outcome: "fine",
      failures: [failure, failure],
    },
    {
      name: "roles",
      ms: 5,
      checked: "1 route",
      outcome: "as declared",
      failures: [],
      notes: ["a note"],
      record: ["y"],
    },
  ], { seed: 3, requests: 2, recorded: { roles: ["x"], tenants: 1 } });
  assert.equal(report.isPassed, false);
  assert.deepEqual(report.record, { seed: 3, requests: 2, roles: ["y"], tenants: 1 });
  assert.deepEqual(report.toText().split("\n"), [
    'document  GET /cats: lost "a" & <b>',
    "            curl -i 'x'",
    "            # \u0007",
    'document  GET /cats: lost "a" & <b>',
    "            curl -i 'x'",
    "            # \u0007",
    "document  2 requests",
    "roles     1 route: as declared",
    "          a note",
    "2 failures; fw prove --seed 3 repeats the requests",
  ]);
  assert.deepEqual(Object.keys(report.toJSON()), ["seed", "requests", "isPassed", "parts"]);
  const cases =
    '    <testcase classname="document" name="GET /cats"><failure message="lost &quot;a&quot; ' +
    "&amp; &lt;b&gt;\">curl -i 'x'&#10;# \ufffd</failure></testcase>";
  assert.deepEqual(report.toJUnit().split("\n"), [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<testsuites name="fw prove">',
    '  <testsuite name="document" tests="2" failures="2" time="1.234">',
    cases,
    cases,
    "  </testsuite>",
    '  <testsuite name="roles" tests="1" failures="0" time="0.005">',
    '    <testcase classname="roles" name="1 route: as declared"/>',
    "  </testsuite>",
    "</testsuites>",
    "",
  ]);
});

for (
  const [run, message] of [
    [{ only: ["tenets"] }, "Cannot prove: there is no part tenets"],
    [{ seed: -1 }, "Cannot prove: the seed is not a whole number from 0 to 2147483647"],
    [
      { requests: 0 },
      "Cannot prove: the number of requests is not a whole number from 1 to 2147483647",
    ],
    [
      { reduceMs: -1 },
      "Cannot prove: the time in reduceMs is not a whole number from 0 to 2147483647",
    ],
    [{ request: 5 }, "Cannot prove: request is not an option, requests is"],
  ] as const
) {
  test(`Proof.run(${JSON.stringify(run)}) is refused`, async () => {
    await assert.rejects(proof.run(run as ProveRunOptions), { message });
  });
}

test("prove() refuses unknown options, and names that other callers have", () => {
  const root = users.appModule("sqlite::memory:");
  assert.throws(() => prove(root, { caller: {} } as ProveOptions), {
    message: "Cannot prove: caller is not an option, callers is",
  });
  assert.throws(() => prove(root, { callers: { anonymous: {} } }), {
    message: 'Cannot prove: a caller cannot have the name "anonymous"',
  });
});

test("Proof.run() ends the silence of the log if its identity provider does not start", async () => {
  await reset(); // an application of another file may have listened
  await withEnv("FW_ENV", "production", () =>
    assert.rejects(proof.run({ only: ["roles"] }), {
      message: /^Cannot start the development identity provider: FW_ENV is production/,
    }));
  assert.equal(getConfig(), null);
});

test("Proof.run() closes an application whose callers cannot be signed in", async () => {
  const events: string[] = [];
  class Resource {
    onModuleInit() {
      events.push("opened");
    }
    onModuleDestroy() {
      events.push("closed");
    }
  }
  const root = module({
    imports: [AuthnModule.forRoot({ issuer: "here", key: await JwtKey.generate() })],
    providers: [Resource],
  });
  const sign = () => Promise.reject(new Error("no key"));
  const running = prove(root, {
    overrides: [stub(JwtService, { sign })],
    callers: { ann: {} },
  }).run({ only: ["roles"] });
  await assert.rejects(running, { message: "no key" });
  assert.deepEqual(events, ["opened", "closed"]);
});

for (
  const [brand, nameOf, list] of [["postgres", "current_database()", "pg_database where datname"], [
    "mysql",
    "database()",
    "information_schema.schemata where schema_name",
  ]] as const
) {
  const { url, skip } = SERVERS[brand];
  test(`Proof.run() has databases of its own on ${brand}, and removes them`, async () => {
    const names: string[] = [];
    const root = users.appModule("sqlite::memory:");
    const report = await prove(root, {
      async setUp(app) {
        const query = sql<{ name: string }>`select ${sql.raw(nameOf)} as name`;
        const { rows } = await query.execute(app.get(users.Db).kysely);
        names.push(...rows.map(({ name }) => name));
        users.setUp(app);
      },
    }).run({ requests: 40, seed: 1, database: url });
    assert.equal(report.isPassed, true, report.toText());
    assert.equal(new Set(names).size, 3, "one for each part");
    await using db = await users.Db.open(DbOptions.fromUrl(url));
    for (const name of names) {
      const { rows } = await sql`select 1 from ${sql.raw(list)} = ${name}`.execute(db.kysely);
      assert.deepEqual(rows, [], name);
    }
  }, { skip });

  test(
    `Proof.run() that is aborted sends nothing more, and removes its database on ${brand}`,
    async () => {
      const controller = new AbortController();
      const names: string[] = [];
      let requests = 0;
      const running = prove(users.appModule("sqlite::memory:"), {
        async setUp(app) {
          const query = sql<{ name: string }>`select ${sql.raw(nameOf)} as name`;
          const { rows } = await query.execute(app.get(users.Db).kysely);
          names.push(...rows.map(({ name }) => name));
          app.use(async (_c, next) => {
            if (++requests === 5) controller.abort(new Error("enough"));
            await next();
          });
          users.setUp(app);
        },
      }).run({ database: url, signal: controller.signal });
      await assert.rejects(running, { message: "enough" });
      assert.deepEqual([names.length, requests], [1, 5]);
      await using db = await users.Db.open(DbOptions.fromUrl(url));
      const { rows } = await sql`select 1 from ${sql.raw(list)} = ${names[0]}`.execute(db.kysely);
      assert.deepEqual(rows, []);
    },
    { skip },
  );

  test(`Proof.run() removes a database on ${brand} whose tables cannot be created`, async () => {
    const names: string[] = [];
    class Broken extends DbService.with({}) {
      override async createTables(): Promise<void> {
        const query = sql<{ name: string }>`select ${sql.raw(nameOf)} as name`;
        const { rows } = await query.execute(this.kysely);
        names.push(...rows.map(({ name }) => name));
        throw new Error("no tables");
      }
    }
    const root = module({ imports: [DbModule.forRoot(Broken, DbOptions.fromUrl(url))] });
    const running = prove(root).run({ only: ["roles"], database: url });
    await assert.rejects(running, { message: "no tables" });
    assert.equal(names.length, 1);
    await using db = await users.Db.open(DbOptions.fromUrl(url));
    const { rows } = await sql`select 1 from ${sql.raw(list)} = ${names[0]}`.execute(db.kysely);
    assert.deepEqual(rows, []);
  }, { skip });
}

test("Proof.run() names the operation of a schema for which it can generate no value", async () => {
  class Notes extends controller("notes") {
    list = route.get(
      "/",
      { query: v.object({ word: v.pipe(v.string(), v.regex(/^a\b.*\bz$/u), v.maxLength(1)) }) },
      () => "",
    );
  }
  const running = prove(module({ controllers: [Notes] })).run({ only: ["document"], requests: 50 });
  await assert.rejects(running, /^Error: GET \/notes: Cannot generate \{/);
});
