/**
 * What a repository adds to a hand-written prepared statement, and what it saves over plain Kysely.
 * Each reads and writes its own database in memory, with the same rows. The prepared statement gives
 * an object for each row, as `node:sqlite` makes it, and nobody waits for it.
 *
 * @module
 */
import { DatabaseSync } from "node:sqlite";
import { sql } from "kysely";
import { compare, printMachine } from "./compare.ts";
import { COLUMNS, idsInTurn, newUsers, openDb, ROWS } from "./users.ts";

await using db = await openDb("sqlite::memory:", ROWS);
await using plain = await openDb("sqlite::memory:", ROWS);
const raw = new DatabaseSync(":memory:");
const { rows: [table] } = await sql<{ sql: string }>`
  select sql from sqlite_master where name = 'users'`.execute(db.kysely);
raw.exec(table!.sql);

const columns = COLUMNS.join(", ");
const rawOne = raw.prepare(`select ${columns} from users where id = ?`);
const rawPage = raw.prepare(`select ${columns} from users where active = ? order by id limit ?`);
const rawInsert = raw.prepare(
  `insert into users (tenant_id, email, name, active) values (?, ?, ?, ?) returning ${columns}`,
);
for (const { tenant_id, email, name } of newUsers(ROWS)) rawInsert.get(tenant_id, email, name, 1);

const nextId = idsInTurn();
let created = 0;
const nextEmail = () => `${created++}@bench.example.org`;

const RAW = "prepared statement";

printMachine(["kysely"], {
  SQLite: String(Object.values(raw.prepare("select sqlite_version()").get() ?? {})),
});
await compare({
  title: "SQLite: findUnique by id",
  peers: [
    { name: "fw", run: () => db.user.findUnique({ where: { id: nextId() } }) },
    { name: RAW, run: () => rawOne.get(nextId()) },
    {
      name: "Kysely",
      run: () =>
        plain.kysely.selectFrom("users").select(COLUMNS).where("id", "=", nextId())
          .executeTakeFirst(),
    },
  ],
  goals: { [RAW]: 1.5, Kysely: 0.5 },
});
await compare({
  title: "SQLite: findMany of 20 rows",
  peers: [
    { name: "fw", run: () => db.user.findMany({ where: { active: true }, take: 20 }) },
    { name: RAW, run: () => rawPage.all(1, 20) },
    {
      name: "Kysely",
      run: () =>
        plain.kysely.selectFrom("users").select(COLUMNS).where("active", "=", 1).orderBy("id")
          .limit(20).execute(),
    },
  ],
  goals: { [RAW]: 1.4 },
});
await compare({
  title: "SQLite: create",
  peers: [
    {
      name: "fw",
      run: () =>
        db.user.create({
          data: { tenant_id: "demo", email: nextEmail(), name: "Ada", active: true },
        }),
    },
    { name: RAW, run: () => rawInsert.get("demo", nextEmail(), "Ada", 1) },
    {
      name: "Kysely",
      run: () =>
        plain.kysely.insertInto("users")
          .values({ tenant_id: "demo", email: nextEmail(), name: "Ada", active: 1 })
          .returning(COLUMNS).executeTakeFirstOrThrow(),
    },
  ],
  goals: { [RAW]: 1.5 },
});
raw.close();
