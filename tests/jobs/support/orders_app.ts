/** An application that places orders, each with a job, and counts the effects of the jobs. */
import assert from "node:assert/strict";
import * as v from "valibot";
import { setTimeout as delay } from "node:timers/promises";
import { controller, type FwApplication, FwFactory, inject, module, route } from "../../../mod.ts";
import { DbModule, DbOptions, DbService, field, model } from "../../../src/db/mod.ts";
import {
  idempotencyTables,
  job,
  JobsModule,
  type JobsOptions,
  jobTables,
} from "../../../src/jobs/mod.ts";
import { until } from "./jobs_app.ts";

const Order = model("orders", { id: field.uuid().primaryKey() });
/** What a handler does without regard to earlier runs. */
const Effect = model("effects", { id: field.integer().primaryKey(), order_id: field.uuid() });
/** What a handler does under `run.id`. */
const Once = model("effects_once", { run_id: field.uuid().primaryKey(), order_id: field.uuid() });

export class OrdersDb extends DbService.with({
  order: Order,
  effect: Effect,
  once: Once,
  ...jobTables,
  ...idempotencyTables,
}) {}

const SendReceipt = job("send-receipt", { body: v.object({ orderId: v.string() }) });

class Receipts {
  readonly #db = inject(OrdersDb);
  send = SendReceipt.handle(async ({ body: { orderId } }, run) => {
    await this.#db.effect.create({ data: { order_id: orderId } });
    const data = [{ run_id: run.id, order_id: orderId }];
    await this.#db.once.createMany({ data, skipDuplicates: true });
  });
}

/** Places orders, each with a pause between the order and its receipt. */
class OrdersController extends controller("orders") {
  readonly #db = inject(OrdersDb);
  place = route.post("/", { status: 201, idempotent: true }, async () => {
    const { id } = await this.#db.order.create({ data: { id: crypto.randomUUID() } });
    await delay(Math.random() * 20);
    await SendReceipt.enqueue({ orderId: id });
    return { id };
  });
}

/** Creates the application. */
export async function ordersApp(
  url: string,
  options: Pick<JobsOptions, "relay"> = {},
): Promise<FwApplication> {
  return await FwFactory.create(module({
    name: "AppModule",
    imports: [
      DbModule.forRoot(OrdersDb, DbOptions.fromUrl(url)),
      JobsModule.forRoot(OrdersDb, { pollMs: 20, leaseMs: 250, maxLostRuns: 1000, ...options }),
    ],
    providers: [Receipts],
    controllers: [OrdersController],
  }));
}

/**
 * Places an order and its receipt in a transaction; every fourth one is rolled back. Half of the
 * others are in groups.
 */
export async function placeOrder(db: OrdersDb): Promise<void> {
  const id = crypto.randomUUID();
  try {
    await db.transaction(async () => {
      await db.order.create({ data: { id } });
      await SendReceipt.enqueue({ orderId: id }, id < "a" ? { group: id.slice(0, 1) } : {});
      if (id < "4") throw new RangeError("it is rolled back");
    }, { retries: 3 });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
}

/** Compares all orders with their jobs and effects, once no job waits. */
export async function checkOrders(app: FwApplication): Promise<readonly string[]> {
  const db = app.get(OrdersDb);
  await until(async () => !await db.fwJob.exists({ where: { state: { not: "done" } } }));
  const orders = new Set((await db.order.findMany({})).map(({ id }) => id));
  const stored = await db.fwJob.findMany({});
  const ofJobs = stored.map(({ body }) => (body as { readonly orderId: string }).orderId);
  const effects = (await db.effect.findMany({})).map(({ order_id }) => order_id);
  const once = (await db.once.findMany({})).map(({ order_id }) => order_id);
  const lost = [...orders].filter((id) => !ofJobs.includes(id)).length;
  const phantoms = ofJobs.filter((id) => !orders.has(id)).length;
  const without = orders.size - orders.intersection(new Set(effects)).size;
  assert.deepEqual({ lost, phantoms, without }, { lost: 0, phantoms: 0, without: 0 });
  assert.equal(ofJobs.length, orders.size);
  assert.deepEqual(once.toSorted(), [...orders].toSorted());
  return [...orders];
}
