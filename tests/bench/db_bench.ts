/**
 * What a repository adds to a hand-written prepared statement, and what it saves over plain Kysely.
 * Each reads and writes its own database in memory, with the same rows; the summaries are ratios.
 *
 * @module
 */
import { DatabaseSync } from "node:sqlite";
import { DbOptions, DbService, field, model } from "../../src/db/mod.ts";

const ROWS = 1000;
const COLUMNS = ["id", "tenant_id", "email", "name", "active"] as const;

const User = model("users", {
  id: field.integer().primaryKey(),
  tenant_id: field.text(),
  email: field.text().unique(),
  name: field.text(),
  active: field.boolean().default(true),
});
class Db extends DbService.with({ user: User }) {}

const db = await Db.open(DbOptions.fromUrl("sqlite::memory:"));
await db.createTables();

const raw = new DatabaseSync(":memory:");
raw.exec(`create table users (id integer not null primary key autoincrement,
  tenant_id text not null, email text not null unique, name text not null,
  active integer default 1 not null) strict`);
const rawInsert = raw.prepare(
  "insert into users (tenant_id, email, name, active) values (?, ?, ?, ?) returning *",
);
const rawOne = raw.prepare("select id, tenant_id, email, name, active from users where id = ?");
const rawPage = raw.prepare(
  "select id, tenant_id, email, name, active from users where active = ? order by id limit ?",
);

for (let n = 1; n <= ROWS; n++) {
  const data = { tenant_id: "demo", email: `${n}@example.org`, name: `Name ${n}` };
  await db.user.create({ data });
  rawInsert.get(data.tenant_id, data.email, data.name, 1);
}

let turn = 0;
const nextId = () => turn++ % ROWS + 1;
const nextEmail = () => `${turn++}@bench.example.org`;

Deno.bench("prepared statement", { group: "findUnique by id", baseline: true }, () => {
  rawOne.get(nextId());
});
Deno.bench("repository", { group: "findUnique by id" }, async () => {
  await db.user.findUnique({ where: { id: nextId() } });
});
Deno.bench("Kysely", { group: "findUnique by id" }, async () => {
  await db.kysely.selectFrom("users").select(COLUMNS).where("id", "=", nextId()).executeTakeFirst();
});

Deno.bench("prepared statement", { group: "findMany of 20", baseline: true }, () => {
  rawPage.all(1, 20);
});
Deno.bench("repository", { group: "findMany of 20" }, async () => {
  await db.user.findMany({ where: { active: true }, take: 20 });
});
Deno.bench("Kysely", { group: "findMany of 20" }, async () => {
  await db.kysely.selectFrom("users").select(COLUMNS).where("active", "=", true).orderBy("id")
    .limit(20).execute();
});

Deno.bench("prepared statement", { group: "create", baseline: true }, () => {
  rawInsert.get("demo", nextEmail(), "Ada", 1);
});
Deno.bench("repository", { group: "create" }, async () => {
  await db.user.create({ data: { tenant_id: "demo", email: nextEmail(), name: "Ada" } });
});
Deno.bench("Kysely", { group: "create" }, async () => {
  await db.kysely.insertInto("users")
    .values({ tenant_id: "demo", email: nextEmail(), name: "Ada", active: true })
    .returning(COLUMNS).executeTakeFirstOrThrow();
});
