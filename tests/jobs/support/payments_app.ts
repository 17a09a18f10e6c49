/** An application whose routes are idempotent, and which counts their effects. */
import * as v from "valibot";
import {
  callerIdentity,
  callerRoles,
  type Context,
  controller,
  type ControllerClass,
  type FwApplication,
  FwFactory,
  inject,
  module,
  route,
} from "../../../mod.ts";
import { DbModule, DbOptions, DbService, field, model } from "../../../src/db/mod.ts";
import { idempotencyTables, job, JobsModule, jobTables } from "../../../src/jobs/mod.ts";
import type { IdempotencyOptions } from "../../../src/jobs/mod.ts";
import { type SharedTest, testOnShared } from "./shared_databases.ts";

const Payment = model("payments", {
  id: field.integer().primaryKey(),
  amount: field.integer(),
  payer: field.text(),
});

export class PaymentsDb extends DbService.with({
  payment: Payment,
  ...jobTables,
  ...idempotencyTables,
}) {}

export const SendReceipt = job("send-receipt", { body: v.object({ payment: v.number() }) });

class Receipts {
  send = SendReceipt.handle(() => {});
}

export const Amount = v.object({ amount: v.pipe(v.number(), v.integer(), v.minValue(1)) });

/** Creates payments, each with a job. */
export class PaymentsController extends controller("payments") {
  readonly #db = inject(PaymentsDb);

  pay = route.post("/", { body: Amount, status: 201, idempotent: true }, async ({ body }, c) => {
    const payment = await this.#db.transaction(async () => {
      const payer = callerIdentity.get(c)?.subject ?? "anonymous";
      const payment = await this.#db.payment.create({ data: { ...body, payer } });
      await SendReceipt.enqueue({ payment: payment.id });
      return payment;
    });
    c.header("location", `/payments/${payment.id}`);
    return payment;
  });
}

/** How an application is created. */
export interface PaymentsOptions extends IdempotencyOptions {
  readonly now?: () => number;
  /** The controllers beside that of payments. */
  readonly controllers?: readonly ControllerClass[];
}

/** An application and its database, with the tables. */
export interface PaymentsApp extends AsyncDisposable {
  readonly app: FwApplication;
  readonly db: PaymentsDb;
  /** Pays an amount under a key. */
  readonly pay: (amount: unknown, key: string, headers?: HeadersInit) => Promise<Response>;
}

/**
 * Creates an application. A caller names its identity, its roles and its tenant in headers, in place
 * of a token.
 */
export async function paymentsApp(
  url: string,
  { now = Date.now, controllers = [], ...idempotency }: PaymentsOptions = {},
): Promise<PaymentsApp> {
  const app = await FwFactory.create(module({
    name: "AppModule",
    imports: [
      DbModule.forRoot(PaymentsDb, DbOptions.fromUrl(url).now(now)),
      JobsModule.forRoot(PaymentsDb, { idempotency }),
    ],
    providers: [Receipts],
    controllers: [PaymentsController, ...controllers],
  }));
  app.use(async (c, next) => {
    identify(c);
    await next();
  });
  const db = app.get(PaymentsDb);
  await db.createTables();
  return {
    app,
    db,
    pay: (amount, key, headers = {}) =>
      app.request("/payments", {
        json: { amount },
        headers: { "idempotency-key": key, ...headers },
      }),
    [Symbol.asyncDispose]: () => app.close({ drainMs: 1000 }),
  };
}

function identify(c: Context): void {
  const subject = c.req.header("x-subject");
  if (subject === undefined) return;
  const claims = {
    iss: c.req.header("x-issuer"),
    tenant_id: c.req.header("x-tenant"),
    ...JSON.parse(c.req.header("x-claims") ?? "{}"),
  };
  callerIdentity.set(c, { subject, claims } as { subject: string });
  callerRoles.set(c, c.req.header("x-roles")?.split(" "));
}

/** Runs a test on each database, whose tables are empty. */
export function testPayments(name: string, run: SharedTest["run"]): void {
  testOnShared(name, { run, empty });
}

async function empty(url: string): Promise<void> {
  await using db = await PaymentsDb.open(DbOptions.fromUrl(url));
  await db.createTables();
  for (const table of [db.payment, db.fwJob, db.fwIdempotencyKey]) {
    await table.deleteMany({ all: true });
  }
}
