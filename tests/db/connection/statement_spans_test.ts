import assert from "node:assert/strict";
import { SpanStatusCode, trace } from "@opentelemetry/api";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-base";
import { sql } from "kysely";
import { DbOptions } from "../../../src/db/mod.ts";
import { StatementSpans } from "../../../src/db/transaction/statement_spans.ts";
import { withOpenTelemetry } from "../../support/open_telemetry.ts";
import { test } from "../../support/test.ts";
import { type Brand, Db, openDb, testDbOnEach, testOnEach } from "../support/database.ts";

const SECRET = "secret@example.org";
const USER = { tenant_id: "a", email: SECRET, name: "Ada" };
const SYSTEM: Readonly<Record<Brand, RegExp>> = {
  sqlite: /^sqlite$/,
  postgres: /^postgresql$/,
  mysql: /^(mysql|mariadb)$/,
};

function names(spans: readonly ReadableSpan[]): readonly string[] {
  return spans.map(({ name }) => name);
}

testOnEach("a statement has a span with stable attributes, a child of the active one", async (
  { brand, url },
) => {
  await using db = await openDb(url);
  await db.user.create({ data: USER });
  await withOpenTelemetry(async (spans) => {
    const parent = await trace.getTracer("test").startActiveSpan("parent", async (span) => {
      assert.equal((await db.user.findUnique({ where: { email: SECRET } }))?.name, "Ada");
      span.end();
      return span;
    });
    const [span, ended] = spans();
    assert.deepEqual(names(spans()), ["SELECT users", "parent"]);
    const { hostname, port, pathname } = new URL(url);
    const { "db.system.name": system, ...attributes } = span!.attributes;
    assert.match(String(system), SYSTEM[brand]);
    assert.deepEqual(attributes, {
      "db.namespace": brand === "sqlite" ? url.slice("sqlite:".length) : pathname.slice(1),
      "db.operation.name": "SELECT",
      "db.collection.name": "users",
      "db.query.summary": "SELECT users",
      ...brand !== "sqlite" && {
        "server.address": hostname,
        "server.port": Number(port || (brand === "mysql" ? 3306 : 5432)),
      },
    });
    assert.deepEqual(
      [span!.kind, span!.status, span!.events, span!.instrumentationScope.name],
      [2, { code: SpanStatusCode.UNSET }, [], "@fw/fw"],
    );
    assert.equal(span!.parentSpanContext?.spanId, parent.spanContext().spanId);
    assert.equal(ended!.name, "parent");
  });
});

testDbOnEach("a statement that fails has an error.type, and no value is in a span", async (db) => {
  await db.user.create({ data: USER });
  await withOpenTelemetry(async (spans) => {
    await assert.rejects(db.user.create({ data: USER }));
    await assert.rejects(sql`select ${SECRET} from nothing`.execute(db.kysely));
    const failed = spans().filter(({ status }) => status.code === SpanStatusCode.ERROR);
    assert.deepEqual(
      failed.map(({ name, attributes }) => [name, attributes["error.type"]]),
      [["INSERT users", "UniqueViolation"], ["SELECT", "Database"]],
    );
    for (const { name, attributes, status, events } of spans()) {
      assert.ok(!JSON.stringify([name, attributes, status, events]).includes("secret"));
    }
  });
});

testDbOnEach("statements of a transaction, its beginning and its end have spans", async (db) => {
  await withOpenTelemetry(async (spans) => {
    const taken = () => names(spans().slice(seen, seen = spans().length));
    let seen = 0;
    await db.transaction(() => db.transaction(() => db.user.count()));
    assert.deepEqual(taken(), ["BEGIN", "SAVEPOINT", "SELECT users", "RELEASE", "COMMIT"]);
    await assert.rejects(db.transaction(async () => {
      await db.user.count();
      throw new Error("rolled back");
    }));
    assert.deepEqual(taken(), ["BEGIN", "SELECT users", "ROLLBACK"]);
    const all = db.kysely.selectFrom("users").selectAll();
    await db.transaction(() => all.execute());
    assert.deepEqual(taken(), ["BEGIN", "SELECT users", "COMMIT"]);
    await db.kysely.transaction().execute((trx) => trx.selectFrom("users").selectAll().execute());
    assert.deepEqual(taken(), ["BEGIN", "SELECT users", "COMMIT"]);
    for await (const _ of all.stream(1));
    assert.deepEqual(taken(), ["SELECT users"]);
    await assert.rejects(db.transaction(() => db.transaction(() => Promise.reject(Error("no")))));
    const inner = ["SAVEPOINT", "ROLLBACK", "RELEASE"];
    assert.deepEqual(taken(), ["BEGIN", ...inner, "ROLLBACK"]);
  });
});

testDbOnEach("an operation of several statements has the spans of its round trips", async (
  db,
  brand,
) => {
  const { id } = await db.user.create({ data: USER });
  await withOpenTelemetry(async (spans) => {
    await db.user.update({ where: { id }, data: { name: "Grace" } });
    await db.user.createMany({ data: ["x", "y"].map((email) => ({ ...USER, email })) });
    await db.user.delete({ where: { id } });
    assert.deepEqual(names(spans()), ["UPDATE users", "INSERT users", "DELETE users"], brand);
  });
});

testOnEach("statements that wait for a connection have spans", async ({ url }) => {
  await using db = await Db.open(DbOptions.fromUrl(url).poolMax(1));
  await db.createTables();
  await withOpenTelemetry(async (spans) => {
    await db.user.findUnique({ where: { id: 1 } });
    await Promise.all([1, 2, 3, 4].map((id) => db.user.findUnique({ where: { id } })));
    const selects = new Set(names(spans()));
    assert.deepEqual([...selects], ["SELECT users"]);
    assert.ok(spans().length < 5, "the waiting ones are found by one statement");
  });
}, { brands: ["postgres", "mysql"] });

testDbOnEach("statements have no spans without a tracer provider", async (db) => {
  await withOpenTelemetry(async (spans) => {
    trace.disable();
    await db.user.count();
    await db.transaction(() => db.user.count());
    assert.deepEqual(spans(), []);
  });
});

test("StatementSpans names a statement by its operation and its tables", async () => {
  await withOpenTelemetry(async (spans) => {
    const statements = new StatementSpans({
      system: "mysql",
      place: undefined,
      errorType: () => "",
    });
    const table: readonly (readonly [string, string, string | undefined])[] = [
      ['select "a" from "b" where "c" = $1', "SELECT b", "b"],
      [
        'select * from "s"."b" inner join "c" on 1 = 1 left join "c" on 2 = 2',
        "SELECT s.b c",
        undefined,
      ],
      ["insert into `a` (`b`) values (?) on duplicate key update `b` = `c`", "INSERT a", "a"],
      ['update "a" set "b" = 1', "UPDATE a", "a"],
      ['select \'from "b"\' from "c"', "SELECT c", "c"],
      ["  (select `a` from `b`) union all (select `a` from `b`)", "SELECT b", "b"],
      ['create table if not exists "a" ("b" integer)', "CREATE a", "a"],
      ["select alice from bob", "SELECT", undefined],
      ["-- nothing", "SQL", undefined],
      [`select 1 -- ${"x".repeat(5000)} from "b"`, "SELECT", undefined],
    ];
    for (const [text] of table) await statements.during(text, () => {});
    assert.deepEqual(
      spans().map(({ name, attributes }) => [name, attributes["db.collection.name"]]),
      table.map(([, name, collection]) => [name, collection]),
    );
  });
});
