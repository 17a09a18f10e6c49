/** Writes and reads times in columns with and without a time zone, in the time zone of `TZ`. */
import assert from "node:assert/strict";
import process from "node:process";
import { MysqlDialect, sql } from "kysely";
import { PostgresJSDialect } from "kysely-postgres-js";
import { createPool } from "mysql2";
import postgres from "postgres";
import { belongsTo, DbOptions, DbService, field, hasMany, model } from "../../../src/db/mod.ts";

const Hour = model("hours", { at: field.timestamp().primaryKey(), name: field.text() });
const Event = model("events", {
  id: field.integer().primaryKey(),
  at: field.timestamp().unique(),
  zoned: field.timestamp(),
  ended: field.timestamp().nullable(),
  hour: field.timestamp().nullable().references(Hour),
});
const Day = model("days", { day: field.date().primaryKey(), time: field.time() });

class Events extends DbService.with({ hour: Hour, event: Event, day: Day }, {
  hour: { events: hasMany(Event.hour) },
  event: { of: belongsTo(Event.hour) },
}) {}

const [, , url = "", opening, ...instants] = process.argv;
const INSTANTS = instants.map((text) => new Date(text));

function options(): DbOptions {
  if (opening === "url") return DbOptions.fromUrl(url);
  const dialect = url.startsWith("postgres")
    ? new PostgresJSDialect({ postgres: postgres(url, { onnotice: () => {} }) })
    : new MysqlDialect({ pool: createPool({ uri: url, timezone: "Z" }) });
  return DbOptions.fromDialect(dialect);
}

await using db = await Events.open(options());
const { event, hour } = db;

// The test has written these rows in SQL.
const hours = await hour.findMany({ orderBy: { at: "asc" } });
assert.deepEqual(hours.map(({ at }) => at), INSTANTS);

// A default is of the session's time zone, which only a driver of the framework sets.
await sql`insert into hours (name) values ('now')`.execute(db.kysely);
const now = await hour.findFirst({ where: { name: "now" } });
const age = Math.abs(now!.at.getTime() - Date.now());
if (opening === "url" || url.startsWith("mysql")) assert.ok(age < 60_000, now?.at.toISOString());
await hour.delete({ where: { at: now!.at } });

for (const [index, at] of INSTANTS.entries()) {
  const row = { id: index + 1, at, zoned: at, ended: at, hour: at };
  assert.deepEqual(await event.create({ data: row }), row);
  assert.deepEqual(await event.findUnique({ where: { at } }), row);
  assert.deepEqual(await event.findUnique({ where: { at }, include: { of: true } }), {
    ...row,
    of: hours[index],
  });
  for (const column of ["at", "zoned", "ended", "hour"] as const) {
    assert.equal(await event.count({ where: { [column]: at } }), 1, column);
    assert.equal(await event.count({ where: { [column]: { in: [at, at] } } }), 1, column);
    assert.equal(await event.count({ where: { [column]: { gte: at } } }), 1, column);
    assert.equal(await event.count({ where: { [column]: { gt: at } } }), 0, column);
  }
  const update = { ended: null };
  const upserted = await event.upsert({ where: { at }, create: row, update });
  assert.deepEqual(upserted, { ...row, ended: null });
  assert.deepEqual(await event.update({ where: { at }, data: { ended: at } }), row);
  assert.deepEqual(await event.delete({ where: { at } }), row);
}

const rows = INSTANTS.map((at, index) => ({ id: index + 1, at, zoned: at, ended: at, hour: at }));
assert.equal(await event.createMany({ data: rows }), rows.length);
const newest = rows.toReversed();
assert.deepEqual(await event.findMany({ orderBy: { at: "desc" }, take: 3 }), newest.slice(0, 3));
assert.deepEqual(await event.findMany({ orderBy: { ended: "desc" }, distinct: ["at"] }), newest);
for (const options of [{ orderBy: { at: "asc" } }, { orderBy: { at: "asc" }, take: 9 }] as const) {
  assert.deepEqual(
    await event.findMany({ select: { at: true }, distinct: ["at"], ...options }),
    INSTANTS.map((at) => ({ at })),
  );
}
assert.deepEqual(
  await hour.findMany({
    where: { at: { in: INSTANTS } },
    orderBy: { at: "desc" },
    include: { events: { orderBy: { zoned: "desc" }, take: 1 } },
  }),
  hours.toReversed().map((row, index) => ({ ...row, events: [newest[index]] })),
);
assert.equal(await event.updateMany({ where: { at: { in: INSTANTS } }, data: { ended: null } }), 5);
assert.equal(await event.deleteMany({ where: { zoned: { lt: INSTANTS[2]! } } }), 2);

// Dates and times of the day have no zone. That of the third is there twice in New York.
for (const [index, text] of instants.entries()) {
  const [day = "", time = ""] = text.replace("Z", "").replace(".000", "").split("T");
  assert.deepEqual(await db.day.create({ data: { day, time } }), { day, time });
  assert.deepEqual(await db.day.findMany({ where: { day, time } }), [{ day, time }], `${index}`);
}
assert.deepEqual(await db.day.aggregate({ _min: { day: true } }), {
  _min: { day: instants[0]!.slice(0, 10) },
});

// Kysely's values are read and written by the driver.
if (opening === "url") {
  for (const [index, at] of INSTANTS.entries()) {
    const text = instants[index]!.replace("T", " ").replace("Z", "");
    for (const value of [at, text]) {
      const { rows } = await sql`select at from hours where at = ${value}`.execute(db.kysely);
      assert.deepEqual(rows, [{ at }]);
    }
  }
}

// SQLite's text without a zone, such as that of CURRENT_TIMESTAMP, is UTC.
await using lite = await Events.open(DbOptions.fromUrl("sqlite::memory:"));
await lite.createTables();
await sql`insert into hours values ('2024-03-10 02:30:00', '')`.execute(lite.kysely);
const [plain] = await lite.hour.findMany();
assert.equal(plain?.at.toISOString(), "2024-03-10T02:30:00.000Z");
await sql`update hours set at = 'noon'`.execute(lite.kysely);
await assert.rejects(lite.hour.findMany(), {
  message: "Cannot read hours.at: it is not a time that a Date can represent",
});
console.log("all read as UTC");
