/** Columns without a time zone hold UTC, regardless of the zones of processes and sessions. */
import assert from "node:assert/strict";
import { sql } from "kysely";
import { DbOptions } from "../../../src/db/mod.ts";
import { Subprocess } from "../../support/subprocess.ts";
import { testOnce } from "../../support/test.ts";
import { Db, testOnEach } from "../support/database.ts";
import { administer } from "../support/servers.ts";

/** The second does not exist in New York, and the third is there twice. */
const INSTANTS = [
  "1000-01-01T00:00:00.000Z",
  "2024-03-10T02:30:00.001Z",
  "2024-11-03T01:30:00.999Z",
  "2038-01-19T03:14:08.500Z",
  "9999-12-31T23:59:59.999Z",
];
/** Within the range of MySQL's TIMESTAMP, which is from 1970 to 2038. */
const RECENT = [
  "1970-01-02T00:00:00.000Z",
  ...INSTANTS.slice(1, 3),
  "2030-01-01T00:00:00.500Z",
  "2038-01-18T23:59:59.999Z",
];

const TYPES = {
  postgres: { plain: "timestamp(3)", zoned: "timestamptz(3)" },
  mysql: { plain: "datetime(3)", zoned: "timestamp(3)" },
};

async function check(
  { brand, url }: { readonly brand: "postgres" | "mysql"; readonly url: string },
  { opening, zone }: { readonly opening: "url" | "dialect"; readonly zone: string },
): Promise<void> {
  const { plain, zoned } = TYPES[brand];
  const instants = brand === "mysql" ? RECENT : INSTANTS;
  await using db = await Db.open(DbOptions.fromUrl(url));
  for (
    const statement of [
      `create table hours (at ${plain} primary key default current_timestamp(3), name text)`,
      `create table events (id bigint primary key, at ${plain} not null unique,
        zoned ${zoned} not null, ended ${plain} null,
        hour ${plain} null references hours (at))`,
      "create table days (day date primary key, time time(3) not null)",
      ...instants.map((it) =>
        `insert into hours values ('${it.replace("T", " ").replace("Z", "")}', '')`
      ),
    ]
  ) await sql.raw(statement).execute(db.kysely);
  await using fixture = new Subprocess("tests/db/dialects/zone_fixture.ts", {
    args: [url, opening, ...instants],
    env: { TZ: zone },
  });
  assert.deepEqual(await fixture.ended, { code: 0, output: "all read as UTC\n" });
}

for (const opening of ["url", "dialect"] as const) {
  for (const zone of ["America/New_York", "Asia/Kolkata", "UTC"]) {
    testOnEach(
      `times without a zone are UTC where TZ is ${zone}, by ${opening}`,
      async ({ brand, url }) => {
        if (brand === "sqlite") return;
        if (brand === "postgres") {
          const name = new URL(url).pathname.slice(1);
          await administer("postgres", `alter database ${name} set timezone = 'America/New_York'`);
        }
        await check({ brand, url }, { opening, zone });
      },
      {
        brands: ["postgres", "mysql"],
        ...(zone !== "America/New_York" || opening === "dialect") &&
          { slow: true, register: testOnce },
      },
    );
  }
}
