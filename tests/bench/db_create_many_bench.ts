/**
 * `createMany` of 10 000 rows on each database, beside inserts of many rows written by hand: as few as
 * the database's limit of parameters allows, or a thousand rows each, in one transaction. The table is
 * emptied between turns.
 *
 * @module
 */
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { sql } from "kysely";
import mysql from "mysql2/promise";
import postgres from "postgres";
import { createDatabase, SERVERS } from "../db/support/servers.ts";
import { compare, type Peer, printMachine } from "./compare.ts";
import type { Db } from "../../examples/users.ts";
import { newUsers, openDb } from "./users.ts";

const COLUMNS = ["tenant_id", "email", "name", "active"] as const;
const ROWS = 10_000;
const SMALL = 1000;

const rows = newUsers(ROWS);
/** The SQL that is made already, by the number of rows and the first placeholder. */
const insertions = new Map<string, string>();

printMachine(["kysely", "postgres", "mysql2"]);
await benchSqlite();
if (SERVERS.postgres.skip) console.log(`PostgreSQL: ${SERVERS.postgres.skip}`);
else await benchPostgres();
if (SERVERS.mysql.skip) console.log(`MySQL: ${SERVERS.mysql.skip}`);
else await benchMysql();

async function benchSqlite(): Promise<void> {
  await using db = await openDb("sqlite::memory:");
  const raw = new DatabaseSync(":memory:");
  const { rows: definitions } = await sql<{ sql: string }>`
    select sql from sqlite_master where name = 'users'`.execute(db.kysely);
  raw.exec(definitions[0]!.sql);
  const statements = new Map<string, StatementSync>();
  const prepared = (length: number) => {
    const sql = insertion(length, () => "?");
    const statement = statements.get(sql) ?? raw.prepare(sql);
    statements.set(sql, statement);
    return statement;
  };
  const insert = (most: number) => () => {
    raw.exec("begin immediate");
    for (const batch of batchesOf(most)) {
      const values = valuesOf(batch).map((value) => typeof value === "boolean" ? +value : value);
      prepared(batch.length).run(...values);
    }
    raw.exec("commit");
  };
  const before = () => raw.exec("delete from users");
  await compareWith(db, {
    brand: "SQLite",
    before: () => db.user.deleteMany({ all: true }),
    peers: [
      {
        name: "8000 rows a statement",
        run: insert(8000),
        before,
      },
      {
        name: "1000 rows a statement",
        run: insert(SMALL),
        before,
      },
    ],
  });
  raw.close();
}

async function benchPostgres(): Promise<void> {
  await using database = await createDatabase("postgres");
  await using db = await openDb(database.url);
  const raw = postgres(database.url, { max: 1 });
  const placeholder = (index: number) => `$${index + 1}`;
  const insert = (most: number) => () =>
    raw.begin(async (tx) => {
      for (const batch of batchesOf(most)) {
        const values = valuesOf(batch) as (string | boolean)[];
        await tx.unsafe(insertion(batch.length, placeholder), values, { prepare: true });
      }
    });
  const before = () => raw`truncate users`;
  await compareWith(db, {
    brand: "PostgreSQL",
    before,
    peers: [
      { name: "10 000 rows a statement", run: insert(ROWS), before },
      { name: "1000 rows a statement", run: insert(SMALL), before },
    ],
  });
  await raw.end();
}

async function benchMysql(): Promise<void> {
  await using database = await createDatabase("mysql");
  await using db = await openDb(database.url);
  const raw = await mysql.createConnection(database.url);
  const insert = (most: number) => async () => {
    await raw.beginTransaction();
    for (const batch of batchesOf(most)) {
      await raw.execute(insertion(batch.length, () => "?"), valuesOf(batch));
    }
    await raw.commit();
  };
  const before = () => raw.query("truncate users");
  await compareWith(db, {
    brand: "MySQL",
    before,
    peers: [
      { name: "10 000 rows a statement", run: insert(ROWS), before },
      { name: "1000 rows a statement", run: insert(SMALL), before },
    ],
  });
  await raw.end();
}

async function compareWith(
  db: Db,
  { brand, before, peers }: {
    readonly brand: string;
    readonly before: () => unknown;
    readonly peers: readonly Peer[];
  },
): Promise<void> {
  await compare({
    title: `${brand}: createMany of ${ROWS} rows`,
    peers: [
      {
        name: "fw",
        run: () => db.user.createMany({ data: rows }),
        before,
      },
      ...peers,
    ],
    goals: Object.fromEntries(peers.map(({ name }) => [name, 1.3])),
    rounds: 15,
  });
}

function batchesOf(most: number) {
  const batches = [];
  for (let start = 0; start < ROWS; start += most) batches.push(rows.slice(start, start + most));
  return batches;
}

function valuesOf(batch: typeof rows): (string | boolean)[] {
  return batch.flatMap((row) => COLUMNS.map((name) => row[name]));
}

function insertion(length: number, placeholder: (index: number) => string): string {
  const key = `${length} ${placeholder(0)}`;
  const kept = insertions.get(key);
  if (kept) return kept;
  const tuples = Array.from({ length }, (_, row) => {
    const placeholders = COLUMNS.map((_, column) => placeholder(row * COLUMNS.length + column));
    return `(${placeholders.join(", ")})`;
  });
  const made = `insert into users (${COLUMNS.join(", ")}) values ${tuples.join(", ")}`;
  insertions.set(key, made);
  return made;
}
