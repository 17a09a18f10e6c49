/** The faults of a SQLite file. */
import { renameSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { TemporaryFolder } from "../../support/temporary_folder.ts";
import { type Given, type Outcome, type Scenario, skipped } from "../scenario.ts";
import { endure } from "./endure.ts";
import { fillFor, smallDisk } from "./small_disk.ts";
import { killWriters } from "./sqlite_kills.ts";

/** The scenarios of SQLite. */
export const sqlite: readonly Scenario[] = [
  { fault: "SQLite: locked by another writer", isQuick: true, run: lock },
  { fault: "SQLite: disk full", run: fillDisk },
  { fault: "SQLite: file moved away and back", run: moveAway },
  { fault: "SQLite: writers killed", isQuick: true, run: killWriters },
];

const DISK_MIB = 16;

/** A connection of this process is another process to the application. */
async function lock(given: Given): Promise<Outcome> {
  using folder = new TemporaryFolder();
  const path = `${folder.path}/data.sqlite`;
  return await endure(given, {
    url: `sqlite:${path}`,
    health: "up",
    async inject({ load }) {
      const other = new DatabaseSync(path, { timeout: 5000 });
      other.exec("begin immediate");
      await load.refused();
      await delay(given.isQuick ? 1000 : 20_000);
      other.exec("commit");
      other.close();
      return 1;
    },
  });
}

/** Reads are still answered, so that health stays up. */
async function fillDisk(given: Given): Promise<Outcome> {
  using disk = smallDisk(DISK_MIB);
  if (!disk) return skipped("no small disk: only root can mount one");
  return await endure(given, {
    url: `sqlite:${disk.path("data.sqlite")}`,
    health: "up",
    inject: (running) => fillFor(disk, running, given),
  });
}

async function moveAway(given: Given): Promise<Outcome> {
  using folder = new TemporaryFolder();
  const path = `${folder.path}/data.sqlite`;
  return await endure(given, {
    url: `sqlite:${path}`,
    health: "down",
    async inject() {
      renameSync(path, `${path}.away`);
      await delay(given.isQuick ? 2000 : 10_000);
      renameSync(`${path}.away`, path);
      return 1;
    },
  });
}
