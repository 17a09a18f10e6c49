/**
 * Repositories on PostgreSQL beside the driver by hand, Kysely, Prisma and Drizzle; on Deno by
 * `deno bench -A`, on Node by `node`.
 *
 * @module
 */
import postgres from "postgres";
import { createDatabase, SERVERS } from "../db/support/servers.ts";
import { compare, type Comparison, type Peer, printMachine } from "./compare.ts";
import { installPeers } from "./peers.ts";
import { AUTHORS, fwStore, kyselyStore, PAGE, POSTS, rawStore, type Store } from "./stores.ts";
import { idsInTurn, newUsers, ROWS } from "./users.ts";

const CONCURRENT = 50;
const MANY = newUsers(10_000).map((user) => ({ ...user, email: `new ${user.email}` }));
/** A server has its own moods, which last longer. */
const SHORT_TURNS = { turnMs: 5, rounds: 101 };
/** The goal of an operation over the driver by hand. */
const RAW = "postgres";

if (SERVERS.postgres.skip) console.log(`PostgreSQL: ${SERVERS.postgres.skip}`);
else await bench();

async function bench(): Promise<void> {
  await using peers = await installPeers();
  await using database = await createDatabase("postgres");
  const { url } = database;
  await using fw = await fwStore(url);
  await using raw = rawStore(url);
  await using kysely = kyselyStore(url);
  await using prisma = peers.prisma(url);
  await using drizzle = peers.drizzle(url);
  const stores = [fw, raw, kysely, prisma, drizzle];
  const sql = postgres(url, { max: 1 });
  await sql`vacuum analyze`;
  const [server] = await sql`show server_version`;
  printMachine(["kysely", "postgres"], {
    ...peers.versions,
    PostgreSQL: String(server?.server_version),
  });

  const nextId = idsInTurn();
  let created = 0;
  const nextUser = () => ({ ...MANY[0]!, email: `another ${created++}` });
  const run = (
    title: string,
    { run, before }: { run: (store: Store) => unknown; before?: () => unknown },
    options: Omit<Comparison, "title" | "peers"> = SHORT_TURNS,
  ) => {
    const each = stores.map((store) => ({
      name: store.name,
      run: () => run(store),
      ...before && { before },
    }));
    return compare({ title: `PostgreSQL: ${title}`, peers: each as [Peer], ...options });
  };
  await run("findUnique", { run: (store) => store.one(nextId()) }, {
    ...SHORT_TURNS,
    goals: { [RAW]: 1.15 },
  });
  await run(`findMany(${PAGE})`, { run: (store) => store.page(nextId() % (ROWS - PAGE)) });
  await run(`include, ${AUTHORS} x ${POSTS}`, { run: (store) => store.authors() });
  await run("create", { run: (store) => store.create(nextUser()) });
  await run("update", { run: (store) => store.rename(nextId(), `Name ${created++}`) });
  await run(`findUnique, ${CONCURRENT} at a time`, {
    run: (store) => atOnce(() => store.one(nextId())),
  }, { ...SHORT_TURNS, goals: { [RAW]: 0.8 } });
  await run(`findMany(${PAGE}), ${CONCURRENT} at a time`, {
    run: (store) => atOnce(() => store.page(nextId() % (ROWS - PAGE))),
  });
  await run(`createMany of ${MANY.length}`, {
    run: (store) => store.createMany(MANY),
    before: () => sql`delete from users where id > ${ROWS}`.then(),
  }, { rounds: 11 });
  await sql.end();
}

async function atOnce(run: () => unknown): Promise<void> {
  await Promise.all(Array.from({ length: CONCURRENT }, run));
}
