/** An application that places orders, each with a job, and counts the effects of the jobs. */
import * as v from "valibot";
import { type FwApplication, FwFactory, inject, module } from "../../../mod.ts";
import { DbModule, DbOptions, DbService, field, model } from "../../../src/db/mod.ts";
import { job, JobsModule, type JobsOptions, jobTables } from "../../../src/jobs/mod.ts";

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
