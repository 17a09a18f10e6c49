/** A process that places orders in a SQLite file, and is killed meanwhile. */
import { writeSync } from "node:fs";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { DbOptions } from "../../../src/db/mod.ts";
import { Random } from "../random.ts";
import { ARTICLES, OrdersDb, placeOrder } from "../server/orders_db.ts";

const STDOUT = 1;
/** Longer than it runs: on a busy machine, the others may keep the file locked for long. */
const MAX_WAIT_MS = 3_600_000;

/**
 * Places one order after the other, and prints the key of each after its commit. The arguments are
 * the URL of the file, what the keys begin with, and the seed of the orders.
 */
export async function writeOrders(): Promise<never> {
  const [url = "", prefix = "", seed = ""] = process.argv.slice(2);
  const random = new Random(Number(seed));
  const options = DbOptions.fromUrl(url).acquireTimeoutMs(MAX_WAIT_MS)
    .statementTimeoutMs(Infinity).transactionTimeoutMs(Infinity);
  const db = await OrdersDb.open(options);
  for (let turn = 0;; turn++) {
    const key = `${prefix}.${turn}`;
    const [article, quantity] = [1 + random.below(ARTICLES), 1 + random.below(10)];
    await placeOrder(db, { key, article, quantity });
    writeSync(STDOUT, `${key}\n`);
    await delay(1); // in which another may lock the file
  }
}
