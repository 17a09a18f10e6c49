/**
 * Places orders and runs their jobs until it is killed. Its arguments: the URL of the database, and
 * the queue of BullMQ, if there is one.
 */
import process from "node:process";
import { ordersApp, OrdersDb, placeOrder } from "./support/orders_app.ts";
import { relayTo } from "./support/relays.ts";

const [url = "", queue] = process.argv.slice(2);
const app = await ordersApp(url, queue === undefined ? {} : relayTo(queue));
const db = app.get(OrdersDb);
await app.startWorkers();
for (let placed = 1;; placed++) {
  await placeOrder(db);
  if (placed === 3) console.log("placing");
}
