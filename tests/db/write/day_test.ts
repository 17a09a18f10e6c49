import assert from "node:assert/strict";
import { sql } from "kysely";
import { DbOptions, DbService, field, model } from "../../../src/db/mod.ts";
import { dbError, testOnEach } from "../support/database.ts";

const Slot = model("slots", {
  id: field.integer().primaryKey(),
  day: field.date().unique(),
  time: field.time().nullable(),
});
class Db extends DbService.with({ slot: Slot }) {}

testOnEach("a date and a time of the day are read as they were written", async ({ url }) => {
  await using db = await Db.open(DbOptions.fromUrl(url));
  await db.createTables();
  await db.checkTables();
  const rows = [
    { id: 1, day: "1000-01-01", time: "00:00:00" },
    { id: 2, day: "2024-02-29", time: "12:30:00" },
    { id: 3, day: "2024-03-10", time: "12:30:00.010" },
    { id: 4, day: "9999-12-31", time: "23:59:59.999" },
  ];
  assert.deepEqual(await db.slot.createManyAndReturn({ data: rows }), rows);
  assert.deepEqual(await db.slot.findMany({ orderBy: { day: "desc" } }), rows.toReversed());
  assert.deepEqual(await db.slot.findMany({ orderBy: { time: "asc" }, take: 4 }), rows);
  for (const row of rows) {
    assert.deepEqual(await db.slot.findUnique({ where: { day: row.day } }), row);
    assert.deepEqual(await db.slot.findMany({ where: { time: row.time } }), [row]);
    const update = { time: row.time };
    assert.deepEqual(await db.slot.upsert({ where: { day: row.day }, create: row, update }), row);
  }
  const between = { time: { gt: "12:30:00", lte: "12:30:00.010" } };
  assert.deepEqual(await db.slot.findMany({ where: between }), [rows[2]]);
  const days = { day: { in: ["2024-02-29", "2024-03-10"], gte: "2024-03-01" } };
  assert.deepEqual(await db.slot.findMany({ where: days }), [rows[2]]);
  assert.deepEqual(
    await db.slot.aggregate({ _min: { day: true, time: true }, _max: { time: true } }),
    {
      _min: { day: "1000-01-01", time: "00:00:00" },
      _max: { time: "23:59:59.999" },
    },
  );
});

testOnEach(
  "a date that does not exist, and a time in another form, are refused",
  async ({ url }) => {
    await using db = await Db.open(DbOptions.fromUrl(url));
    await db.createTables();
    const refused = { name: "DbError", code: "CheckViolation" };
    for (
      const day of [
        "2023-02-29",
        "2024-13-01",
        "2024-00-01",
        "0999-12-31",
        "2024-2-29",
        "2024-02-29T",
        "",
        "now",
      ]
    ) await assert.rejects(db.slot.create({ data: { day } }), { ...refused, fields: ["day"] });
    for (
      const time of [
        "24:00:00",
        "12:60:00",
        "12:30",
        "12:30:00.5",
        "12:30:00.000",
        "1:30:00",
        "12:30:00Z",
      ]
    ) {
      const data = { day: "2024-01-01", time };
      await assert.rejects(db.slot.create({ data }), { ...refused, fields: ["time"] });
      await assert.rejects(db.slot.findMany({ where: { time: { gt: time } } }), refused);
    }
    assert.equal(await db.slot.count(), 0);
  },
);

testOnEach(
  "a stored time that is not one of the day, or is finer, cannot be read",
  async ({ brand, url }) => {
    await using db = await Db.open(DbOptions.fromUrl(url));
    const type = { postgres: "time", mysql: "time(6)", sqlite: "text" }[brand];
    const day = brand === "sqlite" ? "text" : "date";
    await sql.raw(`create table slots (id integer primary key, day ${day} unique, time ${type})`)
      .execute(db.kysely);
    const put = (time: string) =>
      sql.raw(`insert into slots values (1, '2024-01-01', '${time}')`).execute(db.kysely);
    const unreadable = dbError(
      "Database",
      "Cannot read slots.time: it is not a time of the day in milliseconds",
    );
    for (
      const time of [
        "12:30:00.123456",
        ...brand === "postgres" ? ["24:00:00"] : brand === "mysql" ? ["-01:00:00"] : ["noon"],
      ]
    ) {
      await put(time);
      await assert.rejects(db.slot.findMany(), unreadable);
      await db.slot.deleteMany({ all: true });
    }
    await put("12:30:00.120");
    assert.deepEqual(await db.slot.findMany({ select: { time: true } }), [{
      time: "12:30:00.120",
    }]);
  },
);
