/** The table that the benchmarks of the database use. */
import { Db, type User } from "../../examples/users.ts";
import { DbOptions, type Row } from "../../src/db/mod.ts";

/** How many rows there are to find. */
export const ROWS = 1000;

/** The columns of the table. */
export const COLUMNS = ["id", "tenant_id", "email", "name", "active"] as const;

/** What creates a row. */
export type NewUser = Omit<Row<typeof User>, "id">;

/** Opens a database with the table and a number of rows in it, whose ids begin at 1. */
export async function openDb(url: string, rows = 0): Promise<Db> {
  const db = await Db.open(DbOptions.fromUrl(url));
  await db.createTables();
  await db.user.createMany({ data: newUsers(rows) });
  return db;
}

/** Gives rows to create. */
export function newUsers(length: number): NewUser[] {
  return Array.from({ length }, (_, n) => ({
    tenant_id: "demo",
    email: `${n}@example.org`,
    name: `Name ${n}`,
    active: true,
  }));
}

/** Gives the ids of the rows in turn, for ever. */
export function idsInTurn(): () => number {
  let turn = 0;
  return () => turn++ % ROWS + 1;
}
