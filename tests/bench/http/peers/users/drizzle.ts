/** Drizzle over `postgres`, and over libSQL, the first driver that it documents for SQLite. */
import { asc, eq } from "drizzle-orm";
import * as pg from "drizzle-orm/pg-core";
import type { PostgresJsDatabase } from "drizzle-orm/postgres-js";
import * as sqlite from "drizzle-orm/sqlite-core";
import { options } from "../options.ts";
import { DEFAULTS, POOL_MAX, type UserStore } from "./store.ts";

const pgUsers = pg.pgTable("users", {
  id: pg.integer().primaryKey().generatedByDefaultAsIdentity(),
  tenant_id: pg.text().notNull(),
  email: pg.text().notNull(),
  name: pg.text().notNull(),
  active: pg.boolean().notNull(),
});
const sqliteUsers = sqlite.sqliteTable("users", {
  id: sqlite.integer().primaryKey(),
  tenant_id: sqlite.text().notNull(),
  email: sqlite.text().notNull(),
  name: sqlite.text().notNull(),
  active: sqlite.integer({ mode: "boolean" }).notNull(),
});

/** Opens the database. */
export async function open(): Promise<UserStore> {
  if (options.mode === "sqlite") {
    const { drizzle } = await import("drizzle-orm/libsql");
    // The queries of both databases read the same, though their types differ.
    return storeOf(drizzle(`file:${options.databasePath}`) as never, sqliteUsers as never);
  }
  const [{ drizzle }, { default: postgres }] = await Promise.all([
    import("drizzle-orm/postgres-js"),
    import("postgres"),
  ]);
  return storeOf(drizzle(postgres(options.databaseUrl, { max: POOL_MAX })), pgUsers);
}

function storeOf(db: PostgresJsDatabase, users: typeof pgUsers): UserStore {
  const sent = { id: users.id, email: users.email, name: users.name, active: users.active };
  return {
    one: async (id) => (await db.select(sent).from(users).where(eq(users.id, id)))[0],
    list: (take) => db.select(sent).from(users).orderBy(asc(users.id)).limit(take),
    create: async (user) =>
      (await db.insert(users).values({ ...DEFAULTS, ...user }).returning(sent))[0]!,
  };
}
