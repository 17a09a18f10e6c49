/**
 * Serves payments until it is killed, each with a pause between its effect and its job. Its
 * arguments: the URL of the database, and the port.
 */
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { controller, inject, route } from "../../../mod.ts";
import { Amount, paymentsApp, PaymentsDb, SendReceipt } from "../support/payments_app.ts";

class SlowPayments extends controller("slow") {
  readonly #db = inject(PaymentsDb);
  pay = route.post("/", { body: Amount, status: 201, idempotent: true }, async ({ body }) => {
    const { id } = await this.#db.payment.create({ data: { ...body, payer: "slow" } });
    await delay(Math.random() * 20);
    await SendReceipt.enqueue({ payment: id });
    return { id };
  });
}

const [url = "", port] = process.argv.slice(2);
const { app } = await paymentsApp(url, { controllers: [SlowPayments] });
const server = await app.listen(Number(port), { hostname: "127.0.0.1" });
console.log(`serving ${server.port}`);
