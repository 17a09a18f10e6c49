import assert from "node:assert/strict";
import { sql } from "kysely";
import { DbOptions } from "../../../src/db/mod.ts";
import { Db, testOnEach } from "../support/database.ts";
import { administer } from "../support/servers.ts";

testOnEach(
  "PostgreSQL prepares new statements, and keeps a thousand a connection",
  async ({ url }) => {
    await using db = await Db.open(DbOptions.fromUrl(url).poolMax(1));
    const ask = (i: number) =>
      sql<{ n: number }>`select ${i}::int as ${sql.ref(`n${i}`)}`.execute(db.kysely);
    const sessions = new Set<unknown>();
    for (let i = 0; i < 2_500; i++) {
      await ask(i);
      if (i % 100 !== 99) continue;
      const { rows: [session] } = await sql<{ pid: number; kept: string; newest: string }>`
      select pg_backend_pid() as pid, count(*) as kept,
        count(*) filter (where statement like ${`% as "n${i}"`}) as newest
      from pg_prepared_statements`.execute(db.kysely);
      sessions.add(session?.pid);
      assert.equal(Number(session?.newest), 1, `the statement ${i} is not prepared`);
      assert.ok(Number(session?.kept) <= 1_000, `${session?.kept} are kept`);
    }
    assert.equal(sessions.size, 3);
    await db.transaction(async () => {
      for (let i = 0; i < 1_100; i++) await ask(i);
    });
  },
  { brands: ["postgres"], slow: true },
);

testOnEach(
  "PostgreSQL returns exact values where the database has other settings",
  async ({ url }) => {
    const name = new URL(url).pathname.slice(1);
    const settings = [
      "extra_float_digits = 0",
      "bytea_output = 'escape'",
      "timezone = 'Asia/Tokyo'",
    ];
    for (const setting of settings) {
      await administer(
        "postgres",
        `alter database ${name} set ${setting}`,
      );
    }
    await using db = await Db.open(DbOptions.fromUrl(url).poolMin(2));
    await db.createTables();
    const data = {
      select: "a",
      real: 0.1 + 0.2,
      blob: new Uint8Array([0, 92, 255]),
      timestamp: new Date("2026-01-02T03:04:05.678Z"),
    };
    const { real, blob, timestamp } = await db.sample.create({ data });
    assert.deepEqual({ select: "a", real, blob, timestamp }, data);
  },
  { brands: ["postgres"] },
);

testOnEach("Kysely reads and writes arrays of PostgreSQL", async ({ url }) => {
  await using db = await Db.open(DbOptions.fromUrl(url).poolMin(2));
  const day = new Date("2026-01-02T03:04:05.678Z");
  const cases: readonly (readonly [type: string, value: readonly unknown[]])[] = [
    ["text[]", []],
    ["text[]", ["", "a", 'q"u', "b\\s", "{c,d}", "NULL", "null", null, "é\n", "\\n"]],
    ["text[]", [["a", "b"], ["c", null]]],
    ["int4[]", [1, null, -2]],
    ["int8[]", [1, 2n ** 60n]],
    ["bool[]", [null, true, false]],
    ["float8[]", [0.5, -1e300]],
    ["timestamptz[]", [null, day]],
    ["jsonb[]", [{ type: "a", list: [1, "2"] }, null]],
    ["box[]", ["(1,1),(0,0)", null, "(2,2),(1,1)"]],
    ["name[]", ["a b"]],
    ["oidvector[]", ["1 2", "3"]],
  ];
  for (const [type, value] of cases) {
    const { rows: [row] } = await sql<{ value: unknown }>`
      select ${value}::${sql.raw(type)} as value`.execute(db.kysely);
    assert.deepEqual(row?.value, value, type);
  }
  const { rows: [row] } = await sql`select '[0:1]={1,2}'::int[] as bounded, '{}'::int[] as empty,
    array['\\x00ff'::bytea] as bytes`.execute(db.kysely);
  const { bytes, ...others } = row as { readonly bytes: readonly Uint8Array[] };
  assert.deepEqual(others, { bounded: [1, 2], empty: [] });
  assert.deepEqual(bytes.map((it) => [...it]), [[0, 255]]);
  await assert.rejects(sql`select ${["a", undefined]}::text[]`.execute(db.kysely), {
    message: "Cannot write array: an element is undefined",
  });
  await db.ping();
}, { brands: ["postgres"] });
