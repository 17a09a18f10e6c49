/**
 * A server of orders, or a worker, until it is killed. Its arguments: the URL of the database, and
 * the port of a server.
 */
import process from "node:process";
import { ordersApp } from "./support/orders_app.ts";

const [url = "", port] = process.argv.slice(2);
const app = await ordersApp(url);
if (port === undefined) await app.startWorkers();
else await app.listen(Number(port), { hostname: "127.0.0.1" });
console.log("started");
