import assert from "node:assert/strict";
import {
  DbOptions,
  DbService,
  field,
  hasMany,
  manyToMany,
  model,
  type Row,
} from "../../../src/db/mod.ts";
import { testOnEach } from "../support/database.ts";

const Album = model("albums", {
  id: field.integer().primaryKey(),
  day: field.date().unique(),
});
/** One column of each kind. */
const Track = model("tracks", {
  id: field.bigint().primaryKey(),
  album_id: field.integer().references(Album),
  text: field.text(),
  mood: field.enum(["sad", "glad"]),
  boolean: field.boolean(),
  real: field.real(),
  decimal: field.decimal({ precision: 18, scale: 4 }),
  json: field.json(),
  timestamp: field.timestamp(),
  date: field.date(),
  time: field.time(),
  uuid: field.uuid(),
  blob: field.blob(),
});
const Day = model("days", { day: field.date().primaryKey(), note: field.text() });
const Visit = model("visits", {
  id: field.integer().primaryKey(),
  day: field.date().references(Day),
  track_id: field.bigint().references(Track),
});

class Db extends DbService.with({ album: Album, track: Track, day: Day, visit: Visit }, {
  album: { tracks: hasMany(Track.album_id) },
  track: { visits: hasMany(Visit.track_id) },
  day: { visits: hasMany(Visit.day), tracks: manyToMany(Visit.day, Visit.track_id) },
}) {}

type Track = Row<typeof Track>;

const [ONE, TWO] = [1, 2].map((n): Track => ({
  id: 2n ** 53n + BigInt(n),
  album_id: 1,
  text: `${n}`,
  mood: n === 1 ? "sad" : "glad",
  boolean: n === 1,
  real: n / 8,
  decimal: `9007199254740${n}.2500`,
  json: { n: [n, "1", null] },
  timestamp: new Date(Date.UTC(2024, 1, 29, 12, 30, n, 500)),
  date: `2024-02-2${n}`,
  time: `12:30:0${n}.010`,
  uuid: `00000000-0000-4000-8000-00000000000${n}`,
  blob: Uint8Array.of(0, n, 255),
})) as [Track, Track];
const BOTH = [ONE, TWO];
const ALBUM = { id: 1, day: "2024-02-29" };
const DAY = { day: "2024-02-29", note: "leap" };
const LAST = { day: "9999-12-31", note: "last" };
const VISITS = BOTH.map(({ id }, index) => ({ id: index + 1, day: DAY.day, track_id: id }));

const { json: _, ...comparable } = ONE;
const DISTINCT = Object.keys(comparable) as (keyof typeof comparable)[];
const ORDERED = ["id", "real", "decimal", "timestamp", "date", "time", "text", "uuid"] as const;
const ALL = Object.fromEntries(ORDERED.map((name) => [name, true])) as Readonly<
  Record<typeof ORDERED[number], true>
>;
const PAGE = { orderBy: { date: "desc" }, take: 1 } as const;

/** Ways to read rows, and what they read. */
const READS: Readonly<Record<string, readonly [(db: Db) => Promise<unknown>, unknown]>> = {
  findMany: [(db) => db.track.findMany({ orderBy: { id: "asc" } }), BOTH],
  "a page": [(db) => db.track.findMany(PAGE), [TWO]],
  findFirst: [(db) => db.track.findFirst({ orderBy: { time: "desc" } }), TWO],
  "findUnique by a bigint": [
    (db) => Promise.all([ONE.id, TWO.id].map((id) => db.track.findUnique({ where: { id } }))),
    BOTH,
  ],
  "findUnique by a date": [(db) => db.day.findUnique({ where: { day: DAY.day } }), DAY],
  stream: [(db) => all(db.track.stream({ orderBy: { date: "asc" }, batchSize: 1 })), BOTH],
  distinct: [
    (db) => db.track.findMany({ distinct: DISTINCT, orderBy: { id: "asc" } }),
    BOTH,
  ],
  "distinct columns alone": [
    (db) => db.track.findMany({ distinct: ["date"], select: { date: true } }),
    BOTH.map(({ date }) => ({ date })),
  ],
  "a page of distinct rows": [(db) => db.track.findMany({ ...PAGE, distinct: ["album_id"] }), [
    TWO,
  ]],
  groupBy: [
    (db) => db.track.groupBy({ by: DISTINCT, orderBy: [{ id: "asc" }], _count: true }),
    BOTH.map(({ json: _, ...row }) => ({ ...row, _count: 1 })),
  ],
  aggregate: [
    (db) => db.track.aggregate({ _min: ALL, _max: ALL }),
    { _min: pick(ONE), _max: pick(TWO) },
  ],
  include: [
    (db) => db.album.findMany({ include: { tracks: { orderBy: { id: "asc" } } } }),
    [{ ...ALBUM, tracks: BOTH }],
  ],
  "include with take": [
    (db) => db.album.findMany({ include: { tracks: PAGE } }),
    [{ ...ALBUM, tracks: [TWO] }],
  ],
  "include with skip": [
    (db) => db.album.findUnique({ where: { id: 1 }, include: { tracks: { ...PAGE, skip: 1 } } }),
    { ...ALBUM, tracks: [ONE] },
  ],
  "include with take by a key that is a date": [
    (db) => db.day.findMany({ include: { visits: { orderBy: { id: "desc" }, take: 1 } } }),
    [{ ...DAY, visits: [VISITS[1]] }],
  ],
  "include with take through a table": [
    (db) => db.day.findMany({ include: { tracks: PAGE } }),
    [{ ...DAY, tracks: [TWO] }],
  ],
  "nested include with take": [
    (db) =>
      db.album.findMany({ include: { tracks: { ...PAGE, include: { visits: { take: 1 } } } } }),
    [{ ...ALBUM, tracks: [{ ...TWO, visits: [VISITS[1]] }] }],
  ],
  "stream with include with take": [
    (db) => all(db.day.stream({ include: { tracks: PAGE } })),
    [{ ...DAY, tracks: [TWO] }],
  ],
  "a transaction": [
    (db) =>
      db.transaction(async () => [
        await db.track.findMany({ orderBy: { id: "asc" } }),
        await db.album.findMany({ include: { tracks: PAGE } }),
      ]),
    [BOTH, [{ ...ALBUM, tracks: [TWO] }]],
  ],
  "a lock": [(db) => db.transaction(() => db.track.findMany({ ...PAGE, lock: "update" })), [TWO]],
  update: [
    (db) => db.track.update({ where: { id: ONE.id }, data: { text: ONE.text } }),
    ONE,
  ],
  upsert: [
    (db) => db.track.upsert({ where: { id: TWO.id }, create: TWO, update: { text: TWO.text } }),
    TWO,
  ],
  updateManyAndReturn: [
    async (db) =>
      sorted(
        await db.track.updateManyAndReturn({ where: { album_id: 1 }, data: { album_id: 1 } }),
      ),
    BOTH,
  ],
  "create and delete": [
    async (db) => [
      await db.day.create({ data: LAST }),
      await db.day.delete({ where: { day: LAST.day } }),
    ],
    [LAST, LAST],
  ],
};

testOnEach("values of each kind are the same on each way to read them", async ({ url }) => {
  await using db = await Db.open(DbOptions.fromUrl(url));
  await db.createTables();
  assert.deepEqual(await db.album.create({ data: ALBUM }), ALBUM);
  assert.deepEqual(await db.track.createManyAndReturn({ data: BOTH }), BOTH);
  assert.deepEqual(await db.day.create({ data: DAY }), DAY);
  assert.deepEqual(await db.visit.createManyAndReturn({ data: VISITS }), VISITS);
  for (const [name, [read, expected]] of Object.entries(READS)) {
    assert.deepEqual(await read(db), expected, name);
  }
});

function pick(row: Track): object {
  return Object.fromEntries(ORDERED.map((name) => [name, row[name]]));
}

function sorted(rows: readonly Track[]): readonly Track[] {
  return rows.toSorted((a, b) => a.id < b.id ? -1 : 1);
}

async function all(rows: AsyncIterable<unknown>): Promise<readonly unknown[]> {
  const found: unknown[] = [];
  for await (const row of rows) found.push(row);
  return found;
}
