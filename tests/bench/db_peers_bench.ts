/**
 * Repositories on PostgreSQL beside the driver by hand, Kysely, Prisma and Drizzle; on Deno by
 * `deno bench -A`, on Node by `node`.
 *
 * @module
 */
import postgres from "postgres";
import { createDatabase, SERVERS } from "../db/support/servers.ts";
import { type Comparison, measure, type Peer, print, printMachine } from "./compare.ts";
import { installPeers, type Peers } from "./peers.ts";
import {
  AUTHORS,
  fillStore,
  fwStore,
  kyselyStore,
  PAGE,
  POSTS,
  rawStore,
  type Store,
} from "./stores.ts";
import { idsInTurn, newUsers, ROWS } from "./users.ts";

const CONCURRENT = 50;
const MANY = newUsers(10_000).map((user) => ({ ...user, email: `new ${user.email}` }));
/** How often all is measured on new connections: how fast one is depends on where its server runs. */
const SITTINGS = 7;
const SHORT_TURNS = { turnMs: 5, rounds: 21 };
/** The goals over the driver by hand. */
const RAW = { ONE: { postgres: 1.15 }, AT_ONCE: { postgres: 0.8 } };

if (SERVERS.postgres.skip) console.log(`PostgreSQL: ${SERVERS.postgres.skip}`);
else await bench();

async function bench(): Promise<void> {
  await using peers = await installPeers();
  await using database = await createDatabase("postgres");
  const sql = postgres(database.url, { max: 1 });
  const [server] = await sql`show server_version`;
  printMachine(["kysely", "postgres"], {
    ...peers.versions,
    PostgreSQL: String(server?.server_version),
  });
  await fillStore(database.url);
  const sittings: Measured[][] = [];
  for (let sitting = 0; sitting < SITTINGS; sitting++) {
    sittings.push(await sit({ peers, sql, url: database.url }));
  }
  await sql.end();
  for (const [index, { comparison }] of sittings[0]!.entries()) {
    print(comparison, sittings.map((sitting) => sitting[index]!.times));
  }
}

/** A comparison, and the time of each peer. */
interface Measured {
  readonly comparison: Comparison;
  readonly times: readonly number[];
}

async function sit(
  { peers, sql, url }: { readonly peers: Peers; readonly sql: postgres.Sql; readonly url: string },
): Promise<Measured[]> {
  await sql`vacuum full analyze`; // many rows of the last sitting are gone
  await using fw = await fwStore(url);
  await using raw = rawStore(url);
  await using kysely = kyselyStore(url);
  await using prisma = peers.prisma(url);
  await using drizzle = peers.drizzle(url);
  const stores = [fw, raw, kysely, prisma, drizzle];
  const nextId = idsInTurn();
  const nextPage = () => nextId() % (ROWS - PAGE);
  const nextName = () => crypto.randomUUID();
  const removeNew = () => sql`delete from users where id > ${ROWS}`.then();
  const comparing = (
    title: string,
    run: (store: Store) => unknown,
    options: Partial<Comparison> & { readonly before?: () => unknown } = {},
  ): Comparison => {
    const { before, ...others } = options;
    const each = stores.map((store) => ({
      name: store.name,
      run: () => run(store),
      ...before && { before },
    }));
    return { title: `PostgreSQL: ${title}`, peers: each as [Peer], ...SHORT_TURNS, ...others };
  };
  const several = (run: (store: Store) => unknown) => (store: Store) =>
    Promise.all(Array.from({ length: CONCURRENT }, () => run(store)));
  const one = (store: Store) => store.one(nextId());
  const page = (store: Store) => store.page(nextPage());
  const comparisons = [
    comparing("findUnique", one, { goals: RAW.ONE }),
    comparing(`findMany(${PAGE})`, page),
    comparing(`include, ${AUTHORS} x ${POSTS}`, (store) => store.authors()),
    comparing("create", (store) => store.create({ ...MANY[0]!, email: nextName() })),
    comparing("update", (store) => store.rename(nextId(), nextName())),
    comparing(`findUnique, ${CONCURRENT} at a time`, several(one), { goals: RAW.AT_ONCE }),
    comparing(`findMany(${PAGE}), ${CONCURRENT} at a time`, several(page)),
    comparing(`createMany of ${MANY.length}`, (store) => store.createMany(MANY), {
      before: removeNew,
      rounds: 3,
    }),
  ];
  const measured: Measured[] = [];
  for (const comparison of comparisons) {
    measured.push({ comparison, times: await measure(comparison) });
  }
  await removeNew();
  return measured;
}
