/**
 * `findUnique` on PostgreSQL beside the driver by hand, Prisma and Drizzle: one call after the other,
 * and 50 at a time. Each has a pool of 10 connections of its own to the same database.
 *
 * @module
 */
import postgres from "postgres";
import { createDatabase, SERVERS } from "../db/support/servers.ts";
import { compare, type Peer, printMachine } from "./compare.ts";
import { installPeers } from "./peers.ts";
import { idsInTurn, openDb, ROWS } from "./users.ts";

const CONCURRENT = 50;
const RAW = "postgres";
/** A server has its own moods, which last longer. */
const SHORT_TURNS = { turnMs: 5, rounds: 151 };

if (SERVERS.postgres.skip) console.log(`PostgreSQL: ${SERVERS.postgres.skip}`);
else await bench();

async function bench(): Promise<void> {
  await using peers = await installPeers();
  await using database = await createDatabase("postgres");
  await using db = await openDb(database.url, ROWS);
  await using prisma = peers.prisma(database.url);
  await using drizzle = peers.drizzle(database.url);
  const sql = postgres(database.url, { max: 10 });
  await sql`analyze users`;

  const nextId = idsInTurn();
  const finders: readonly [Peer, ...Peer[]] = [
    { name: "fw", run: () => db.user.findUnique({ where: { id: nextId() } }) },
    {
      name: RAW,
      run: () =>
        sql`select id, tenant_id, email, name, active from users where id = ${nextId()}`.then(),
    },
    { name: "Prisma", run: () => prisma.one(nextId()) },
    { name: "Drizzle without prepare()", run: () => drizzle.one(nextId()) },
  ];
  const goals = { [RAW]: 1.15, Prisma: 1 / 1.6, "Drizzle without prepare()": 1 / 1.6 };
  const [server] = await sql`show server_version`;
  printMachine(["kysely", "postgres"], {
    ...peers.versions,
    PostgreSQL: String(server?.server_version),
  });
  await compare({
    title: "PostgreSQL: findUnique by id, one after the other",
    peers: finders,
    goals,
    ...SHORT_TURNS,
  });
  await compare({
    title: `PostgreSQL: findUnique by id, ${CONCURRENT} at a time`,
    peers: finders.map((peer) => ({ ...peer, run: () => severalAtOnce(peer) })) as [Peer],
    ...SHORT_TURNS,
  });
  await sql.end();
}

async function severalAtOnce({ run }: Peer): Promise<void> {
  await Promise.all(Array.from({ length: CONCURRENT }, run));
}
