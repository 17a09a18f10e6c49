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
  { brands: ["postgres"] },
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
