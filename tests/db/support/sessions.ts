/** The sessions that a server has with a test's database. */
import { type Kysely, type RawBuilder, sql } from "kysely";
import mysql from "mysql2/promise";
import postgres from "postgres";
import type { Brand } from "./database.ts";
import { SERVERS } from "./servers.ts";

export type ServerBrand = "postgres" | "mysql";

/** Returns the numbers of the sessions. */
export async function sessionsOf(brand: ServerBrand, url: string): Promise<readonly number[]> {
  return await onSessions(brand, url, () => Promise.resolve());
}

/** Ends all sessions, as a server does that stops. */
export async function killSessions(brand: ServerBrand, url: string): Promise<void> {
  await onSessions(brand, url, (kill) => kill());
}

/** Returns the statements that the sessions are running. */
export async function runningStatements(
  brand: ServerBrand,
  url: string,
): Promise<readonly string[]> {
  const database = new URL(url).pathname.slice(1);
  if (brand === "postgres") {
    await using server = postgresServer();
    const rows = await server.sql`select query from pg_stat_activity
      where datname = ${database} and state = 'active'`;
    return rows.map(({ query }) => String(query));
  }
  const server = await mysql.createConnection(SERVERS.mysql.url);
  const [rows] = await server.query<mysql.RowDataPacket[]>(
    "select info from information_schema.processlist where db = ? and info is not null",
    [database],
  );
  await server.end();
  return rows.map(({ info }) => String(info));
}

/** A statement that runs for a time. */
export function sleep(brand: Brand, seconds: number): RawBuilder<unknown> {
  return brand === "postgres"
    ? sql`select pg_sleep(${sql.lit(seconds)})`
    // SLEEP() alone would end without an error when MySQL interrupts it.
    : sql`select 1 from (select 1 as one union select 2) as rows_of_two
      where sleep(${sql.lit(seconds)}) = 0 limit 1`;
}

/** Returns the number of a Kysely's session. */
export async function sessionOf<T>(brand: Brand, kysely: Kysely<T>): Promise<number> {
  const id = brand === "postgres" ? sql<number>`pg_backend_pid()` : sql<number>`connection_id()`;
  const { rows } = await sql<{ id: number }>`select ${id} as id`.execute(kysely);
  return Number(rows[0]?.id);
}

async function onSessions(
  brand: ServerBrand,
  url: string,
  run: (kill: () => Promise<void>) => Promise<void>,
): Promise<readonly number[]> {
  const database = new URL(url).pathname.slice(1);
  if (brand === "postgres") {
    await using server = postgresServer();
    const rows = await server.sql`select pid from pg_stat_activity where datname = ${database}`;
    const ids = rows.map(({ pid }) => Number(pid));
    await run(async () =>
      void await server.sql`select pg_terminate_backend(pid)
      from pg_stat_activity where pid = any(${ids})`
    );
    return ids;
  }
  const server = await mysql.createConnection(SERVERS.mysql.url);
  const [rows] = await server.query<mysql.RowDataPacket[]>(
    "select id from information_schema.processlist where db = ?",
    [database],
  );
  const ids = rows.map(({ id }) => Number(id));
  await run(async () => {
    // One may have gone by itself.
    for (const id of ids) await server.query(`kill ${id}`).catch(() => {});
  });
  await server.end();
  return ids;
}

function postgresServer() {
  const sql = postgres(SERVERS.postgres.url, { max: 1 });
  return { sql, [Symbol.asyncDispose]: () => sql.end() };
}
