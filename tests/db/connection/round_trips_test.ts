import assert from "node:assert/strict";
import { SERVERS } from "../dialects/fault.ts";
import { type Db, openDb, testOnEach } from "../support/database.ts";
import { tcpLine } from "../support/tcp_line.ts";

let made = 0;
let deleted = 1;
const next = () => ({ tenant_id: "a", email: `${made++}`, name: "Ada" });
const many = (length: number) => ({ data: Array.from({ length }, next) });

/** Each operation, and how often it waits for the server. */
const OPERATIONS: readonly (readonly [
  name: string,
  run: (db: Db) => Promise<unknown>,
  roundTrips: { readonly postgres: number; readonly mysql: number },
])[] = [
  ["findUnique", (db) => db.user.findUnique({ where: { id: 1 } }), { postgres: 1, mysql: 1 }],
  ["findMany", (db) => db.user.findMany({ take: 20 }), { postgres: 1, mysql: 1 }],
  ["count", (db) => db.user.count(), { postgres: 1, mysql: 1 }],
  ["create", (db) => db.user.create({ data: next() }), { postgres: 1, mysql: 1 }],
  [
    "create with a key of its own",
    (db) => db.user.create({ data: { id: 1_000_000 + made, ...next() } }),
    { postgres: 2, mysql: 1 },
  ],
  ["createMany of 100", (db) => db.user.createMany(many(100)), { postgres: 1, mysql: 1 }],
  ["createMany of 10 000", (db) => db.user.createMany(many(10_000)), { postgres: 1, mysql: 1 }],
  [
    "update",
    (db) => db.user.update({ where: { id: 1 }, data: { name: "Eve" } }),
    { postgres: 1, mysql: 1 },
  ],
  [
    "updateMany",
    (db) => db.user.updateMany({ where: { id: 1 }, data: { name: "Eve" } }),
    { postgres: 1, mysql: 1 },
  ],
  [
    "upsert of a row that exists",
    (db) =>
      db.user.upsert({
        where: { email: "0" },
        create: { tenant_id: "a", name: "Ada" },
        update: { name: "Eve" },
      }),
    { postgres: 1, mysql: 1 },
  ],
  ["delete", (db) => db.user.delete({ where: { id: ++deleted } }), { postgres: 1, mysql: 1 }],
];

testOnEach("operations wait for the server as seldom as is listed", async ({ brand, url }) => {
  assert.ok(brand !== "sqlite");
  made = 0;
  deleted = 1;
  await using line = await tcpLine(url);
  await using db = await openDb(line.url);
  await db.user.createMany(many(10));
  const measured: [string, number][] = [];
  for (const [name, run] of OPERATIONS) {
    for (let times = 0; times < 3; times++) await run(db); // which prepares its statements
    const before = line.roundTrips;
    await run(db);
    measured.push([name, line.roundTrips - before]);
  }
  assert.deepEqual(measured, OPERATIONS.map(([name, , roundTrips]) => [name, roundTrips[brand]]));
}, { brands: SERVERS });
