/** The faults of database servers. */
import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import postgres from "postgres";
import { type OwnServer, SKIP_OWN, startOwnServer } from "../../db/support/own_servers.ts";
import { startPair } from "../../db/support/postgres_pair.ts";
import { createDatabase, SERVERS } from "../../db/support/servers.ts";
import { killSessions, type ServerBrand } from "../../db/support/sessions.ts";
import { type TcpLine, tcpLine } from "../../db/support/tcp_line.ts";
import { type Given, type Outcome, type Scenario, skipped } from "../scenario.ts";
import { type DatabaseFault, endure } from "./endure.ts";
import { fillFor, smallDisk } from "./small_disk.ts";

const NAMES: Readonly<Record<ServerBrand, string>> = { postgres: "PostgreSQL", mysql: "MariaDB" };
/** How many MiB the data of a server need, and how many more it may write. */
const DISK_MIB: Readonly<Record<ServerBrand, number>> = { postgres: 80, mysql: 160 };
/** How many MiB the log of writes of PostgreSQL needs: two segments, and not a third. */
const LOG_DISK_MIB = 40;
const MAX_RUN_SECONDS = 600;

/** The scenarios of a server; the quick ones are those of which each shows something of its own. */
export function serverScenarios(
  brand: ServerBrand,
  { quick }: { readonly quick: readonly string[] },
): readonly Scenario[] {
  const faults: Readonly<Record<string, Scenario["run"]>> = {
    "connections killed": (given) => killConnections(brand, given),
    "killed and started": (given) =>
      onServer(brand, given, async (server) => {
        await server.kill();
        await delay(given.isQuick ? 1000 : 5000);
        await server.start();
      }),
    "frozen": (given) =>
      onServer(brand, given, async (server) => {
        server.freeze();
        await delay(given.isQuick ? 5000 : 20_000);
        server.thaw();
      }),
    "black-holed": (given) =>
      onLine(brand, given, {
        async breakIt(line) {
          line.hang();
          await delay(given.isQuick ? 5000 : 20_000);
          await line.restore();
        },
      }),
    "cut": (given) =>
      onLine(brand, given, {
        async breakIt(line) {
          line.cut();
          await delay(given.isQuick ? 1000 : 10_000);
          await line.restore();
        },
      }),
    "slow by 2 s": (given) =>
      onLine(brand, given, {
        async breakIt(line) {
          line.slow(2000);
          await delay(given.isQuick ? 5000 : 20_000);
          line.slow(0);
        },
      }),
    // its end cannot be seen: connections are replaced as their statements are given up
    "silent connections": (given) =>
      onLine(brand, given, {
        health: "any",
        async breakIt(line) {
          line.silence();
          await delay(3000);
        },
      }),
    "disk full": (given) => fillDisk(brand, given),
    ...brand === "postgres" && {
      "disk of the log full": fillDiskOfLog,
      "killed, and its standby promoted": promote,
    },
  };
  return Object.entries(faults).map(([fault, run]) => ({
    fault: `${NAMES[brand]}: ${fault}`,
    isQuick: quick.includes(fault),
    run,
  }));
}

async function killConnections(brand: ServerBrand, given: Given): Promise<Outcome> {
  const { skip } = SERVERS[brand];
  if (skip) return skipped(skip);
  await using database = await createDatabase(brand);
  return await endure(given, {
    url: database.url,
    health: "any",
    async inject() {
      const times = given.isQuick ? 5 : 50;
      for (let time = 0; time < times; time++) {
        await killSessions(brand, database.url);
        await delay(200);
      }
      return times;
    },
  });
}

/** Breaks a server of its own. */
async function onServer(
  brand: ServerBrand,
  given: Given,
  breakIt: (server: OwnServer) => Promise<void>,
): Promise<Outcome> {
  if (SKIP_OWN[brand]) return skipped(SKIP_OWN[brand]);
  await using server = await startOwnServer(brand, { maxRunSeconds: MAX_RUN_SECONDS });
  return await endure(given, {
    url: server.url,
    health: "down",
    inject: () => breakIt(server).then(() => 1),
  });
}

/** A fault of the line to a server. */
interface LineFault extends Partial<Pick<DatabaseFault, "health">> {
  breakIt(line: TcpLine): Promise<void>;
}

/** Breaks the line to a server. */
async function onLine(
  brand: ServerBrand,
  given: Given,
  { health = "down", breakIt }: LineFault,
): Promise<Outcome> {
  const { skip } = SERVERS[brand];
  if (skip) return skipped(skip);
  await using database = await createDatabase(brand);
  await using line = await tcpLine(database.url);
  return await endure(given, {
    url: line.url,
    comparedUrl: database.url,
    health,
    inject: () => breakIt(line).then(() => 1),
  });
}

/** Fills the disk of a server; reads are still answered, so that health stays up. */
async function fillDisk(brand: ServerBrand, given: Given): Promise<Outcome> {
  if (SKIP_OWN[brand]) return skipped(SKIP_OWN[brand]);
  using disk = smallDisk(DISK_MIB[brand]);
  if (!disk) return skipped("no small disk: only root can mount one");
  await using server = await startOwnServer(brand, {
    data: disk.path("data"),
    maxRunSeconds: MAX_RUN_SECONDS,
  });
  return await endure(given, {
    url: server.url,
    health: "up",
    inject: (running) => fillFor(disk, running, given),
  });
}

/** Fills the disk of the log of writes: the server panics, and ends unless it can recover. */
async function fillDiskOfLog(given: Given): Promise<Outcome> {
  if (SKIP_OWN.postgres) return skipped(SKIP_OWN.postgres);
  using disk = smallDisk(LOG_DISK_MIB);
  if (!disk) return skipped("no small disk: only root can mount one");
  await using server = await startOwnServer("postgres", {
    log: disk.path("log"),
    maxRunSeconds: MAX_RUN_SECONDS,
  });
  return await endure(given, {
    url: server.url,
    health: "down",
    async inject({ load }) {
      disk.fill();
      const sql = postgres(server.url, { max: 1, onnotice: () => {} });
      // a segment that is full needs another
      await assert.rejects(async () => {
        for (;;) await sql`select pg_switch_wal(), pg_logical_emit_message(true, '', 'next')`;
      });
      await sql.end({ timeout: 0 });
      await load.refused();
      await delay(given.isQuick ? 1000 : 10_000);
      disk.free();
      await server.kill();
      await server.start();
      return 1;
    },
  });
}

/** Kills a primary, whose commits wait for its standby, and promotes that. */
async function promote(given: Given): Promise<Outcome> {
  if (SKIP_OWN.postgres) return skipped(SKIP_OWN.postgres);
  await using pair = await startPair({ maxRunSeconds: MAX_RUN_SECONDS });
  return await endure(given, {
    url: pair.url,
    comparedUrl: pair.standby.url,
    health: "down",
    async inject() {
      await pair.primary.kill();
      await delay(given.isQuick ? 1000 : 5000);
      await pair.promote();
      return 1;
    },
  });
}
