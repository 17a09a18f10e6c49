/** Writers of a SQLite file that are killed in the middle of a write. */
import { writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { DbOptions } from "../../../src/db/mod.ts";
import { bundle } from "../../edge/bundle.ts";
import { Subprocess } from "../../support/subprocess.ts";
import { TemporaryFolder } from "../../support/temporary_folder.ts";
import { Random } from "../random.ts";
import type { Given, Outcome } from "../scenario.ts";
import { programOf, type RuntimeName } from "../server/instance.ts";
import { OrdersDb, stockUp } from "../server/orders_db.ts";
import { compare } from "./ledger.ts";

/** The kills of a runtime: 10 000 on three of them. */
const KILLS = 3_334;
const QUICK_KILLS = 20;
/** After how many kills the file is compared. */
const KILLS_OF_ROUND = 50;
/** How many processes write to the file at the same time. */
const WRITERS = 3;
/** The longest time from a writer's first order until it is killed, in milliseconds. */
const MAX_WRITING_MS = 40;
/** One in so many writers is killed while it starts, perhaps while it opens the file. */
const STARTING = 10;
const MAX_RUN_MS = 60_000;
const FILE = "data.sqlite";
const PROGRAM = "writer.mjs";

/** What a round works with. */
interface Parts {
  readonly runtime: RuntimeName;
  readonly folder: TemporaryFolder;
  readonly random: Random;
  readonly acknowledged: Set<string>;
  readonly failures: Set<string>;
  kills: number;
}

/** Kills writers at random moments, and compares the file with what they have acknowledged. */
export async function killWriters(
  { runtime, isQuick, seed, minutes = Infinity }: Given,
): Promise<Outcome> {
  using folder = new TemporaryFolder();
  const url = `sqlite:${folder.path}/${FILE}`;
  const writer = `import { writeOrders } from "./tests/faults/databases/sqlite_writer.ts";`;
  const [{ code }] = await Promise.all([
    bundle(`${writer}\nawait writeOrders();`),
    programOf(runtime),
    stock(url),
  ]);
  writeFileSync(`${folder.path}/${PROGRAM}`, code);
  const parts: Parts = {
    runtime,
    folder,
    random: new Random(seed),
    acknowledged: new Set(),
    failures: new Set(),
    kills: 0,
  };
  const most = isQuick ? QUICK_KILLS : KILLS;
  const endMs = performance.now() + minutes * 60_000;
  let lost = 0;
  while (parts.kills < most && parts.failures.size === 0 && performance.now() < endMs) {
    await killRound(parts, Math.min(most, parts.kills + KILLS_OF_ROUND));
    const compared = await compare(url, parts);
    ({ lost } = compared);
    for (const failure of [...compared.failures, ...damage(`${folder.path}/${FILE}`)]) {
      parts.failures.add(failure);
    }
  }
  const { kills, acknowledged, failures } = parts;
  if (acknowledged.size === 0) failures.add("no writer has written");
  return {
    injected: kills,
    requests: acknowledged.size,
    asExpected: acknowledged.size - lost,
    lost,
    note: "requests are orders that were acknowledged",
    failures: [...failures],
  };
}

async function stock(url: string): Promise<void> {
  const db = await OrdersDb.open(DbOptions.fromUrl(url));
  await stockUp(db);
  await db.close();
}

/** Kills writers until there have been so many kills; others write meanwhile. */
async function killRound(parts: Parts, kills: number): Promise<void> {
  const round = parts.kills;
  let started = round;
  const writers = Array.from({ length: WRITERS }, async () => {
    while (started < kills) await killOne(parts, started++);
  });
  await Promise.allSettled(writers); // each needs the folder
  await Promise.all(writers);
}

async function killOne(parts: Parts, number: number): Promise<void> {
  const { runtime, folder, random, acknowledged, failures } = parts;
  const isStarting = random.below(STARTING) === 0;
  const afterMs = random.next() * (isStarting ? 4 : 1) * MAX_WRITING_MS;
  await using writer = new Subprocess(PROGRAM, {
    program: await programOf(runtime),
    cwd: folder.path,
    args: [`sqlite:${FILE}`, number, random.below(2 ** 31)],
    maxRunMs: MAX_RUN_MS,
  });
  // one that has ended is seen below; on a busy machine, one may be killed before its first order
  if (!isStarting) await writer.until(/\n/).catch(() => {});
  await delay(afterMs);
  await writer[Symbol.asyncDispose]();
  const { code, output } = await writer.ended;
  if (code !== null) failures.add(`a writer has ended by itself: ${output.slice(-1000)}`);
  parts.kills += 1;
  for (const line of output.split("\n").slice(0, -1)) {
    if (line.startsWith(`${number}.`)) acknowledged.add(line);
    else failures.add(`a writer wrote: ${line}`);
  }
}

/** Returns what SQLite finds wrong with a file. */
function damage(path: string): readonly string[] {
  const database = new DatabaseSync(path);
  const found = database.prepare("pragma integrity_check").all().map((row) => row.integrity_check);
  database.close();
  return found.filter((line) => line !== "ok").map((line) => `integrity_check: ${line}`);
}
