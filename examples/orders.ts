/**
 * Orders, each with a receipt that a job sends after the commit: a rollback leaves no receipt, and
 * a commit loses none. A client that repeats an order under its key has one order, and the answer
 * of the first request; a payment is a webhook, whose signature is verified.
 *
 *     deno run -A examples/orders.ts
 *
 * It prints commands to try. Their webhook is signed for the next 5 minutes, with the secret of the
 * process.
 *
 * Configured by `PORT` (3000), `HOST` (all interfaces) and `DATABASE_URL` (SQLite in memory).
 */
import { randomBytes } from "node:crypto";
import { Webhook } from "standardwebhooks";
import * as v from "valibot";
import {
  controller,
  dto,
  environment,
  type FwApplication,
  FwFactory,
  inject,
  type Module,
  module,
  NotFoundException,
  type OnModuleInit,
  portFromEnv,
  route,
} from "../mod.ts";
import { DbModule, DbOptions, DbService, field, hasMany, model } from "../src/db/mod.ts";
import { idempotencyTables, job, JobsModule, jobTables, webhook } from "../src/jobs/mod.ts";

export const Order = model("orders", {
  id: field.integer().primaryKey(),
  email: field.text(),
  item: field.text(),
  paid: field.boolean().default(false),
});
/** What was sent. The id of the job is its key, so that a second run of a job sends nothing. */
export const Receipt = model("order_receipts", {
  id: field.uuid().primaryKey(),
  order_id: field.integer().references(Order),
  text: field.text(),
});

export class Db extends DbService.with({
  order: Order,
  receipt: Receipt,
  ...jobTables,
  ...idempotencyTables,
}, {
  order: { receipts: hasMany(Receipt.order_id) },
}) {}

/** What the provider of payments signs with; it would share it in its console. */
const PAYMENT_SECRET = `whsec_${randomBytes(24).toString("base64")}`;

export const SendReceipt = job("send-receipt", {
  body: v.object({ orderId: v.number() }),
  retries: 5,
});

const Text = v.pipe(v.string(), v.nonEmpty(), v.maxLength(100));
const CreateOrderDto = dto(
  "CreateOrderDto",
  v.object({ email: v.pipe(v.string(), v.email(), v.maxLength(254)), item: Text }),
);
const OrderIdParam = dto(
  "OrderIdParam",
  v.object({ id: v.pipe(v.string(), v.regex(/^\d{1,15}$/), v.transform(Number)) }),
);
const OrderRow = dto(
  "OrderRow",
  v.object({
    id: v.pipe(v.number(), v.integer()),
    email: v.string(),
    item: v.string(),
    paid: v.boolean(),
  }),
);
const OrderPaid = dto(
  "OrderPaid",
  v.object({ type: v.literal("order.paid"), data: v.object({ orderId: v.number() }) }),
);
const OrderWithReceipts = dto(
  "OrderWithReceipts",
  v.object({ ...OrderRow.entries, receipts: v.array(v.object({ text: v.string() })) }),
);

export class OrdersService implements OnModuleInit {
  readonly #db = inject(Db);

  onModuleInit(): Promise<void> {
    return this.#db.createTables();
  }

  place(data: v.InferOutput<typeof CreateOrderDto>) {
    return this.#db.transaction(async () => {
      const order = await this.#db.order.create({ data });
      await SendReceipt.enqueue({ orderId: order.id }); // part of the transaction
      return order;
    });
  }

  async one(id: number) {
    return await this.#db.order.findUnique({
      where: { id },
      include: { receipts: { select: { text: true } } },
    }) ?? NotFoundException.throw("No such order");
  }
}

export class PaymentsController extends controller("payments", { version: "v1" }) {
  readonly #db = inject(Db);

  /** A second delivery of a webhook has no further effect. */
  received = route.post(
    "/",
    {
      args: { event: webhook(OrderPaid, PAYMENT_SECRET) },
      status: 204,
      openapi: { summary: "Receive a payment" },
    },
    async ({ event: { body: { data } } }) => {
      await this.#db.order.updateMany({ where: { id: data.orderId }, data: { paid: true } });
    },
  );
}

export class Receipts {
  readonly #db = inject(Db);

  /** Sends the receipt of an order: this example prints and stores it. */
  send = SendReceipt.handle(async ({ body: { orderId } }, run) => {
    const order = await this.#db.order.findUnique({ where: { id: orderId } });
    if (!order) throw new Error(`there is no order ${orderId}`);
    const text = `Dear ${order.email}: we send you ${order.item}.`;
    const data = [{ id: run.id, order_id: orderId, text }];
    if (await this.#db.receipt.createMany({ data, skipDuplicates: true }) === 0) return;
    console.log(`Sent: ${text}`);
  });
}

export class OrdersController extends controller("orders", { version: "v1" }) {
  readonly #orders = inject(OrdersService);

  place = route.post(
    "/",
    {
      body: CreateOrderDto,
      response: OrderRow,
      status: 201,
      idempotent: true, // a repeated Idempotency-Key has the answer of the first request
      openapi: { summary: "Place an order" },
    },
    ({ body }) => this.#orders.place(body),
  );

  one = route.get(
    "/:id",
    {
      params: OrderIdParam,
      response: OrderWithReceipts,
      openapi: { summary: "Find an order, with what was sent for it" },
    },
    ({ params }) => this.#orders.one(params.id),
  );
}

/** The application on a database. */
export function appModule(databaseUrl: string): Module {
  return module({
    name: "AppModule",
    imports: [DbModule.forRoot(Db, DbOptions.fromUrl(databaseUrl)), JobsModule.forRoot(Db)],
    providers: [OrdersService, Receipts],
    controllers: [OrdersController, PaymentsController],
  });
}

/** Configures prefixes and errors. */
export function setUp(app: FwApplication): FwApplication {
  return app.setGlobalPrefix("api").enableUriVersioning().useRequestId()
    .enableProductionErrorsFromEnv();
}

/** Returns the headers of a webhook, as the provider of payments sends them. */
export function signPayment(body: string): Readonly<Record<string, string>> {
  const [id, now] = [`msg_${crypto.randomUUID()}`, new Date()];
  return {
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(now.getTime() / 1000)),
    "webhook-signature": new Webhook(PAYMENT_SECRET).sign(id, now, body),
  };
}

if (import.meta.main) {
  const { HOST, DATABASE_URL } = environment(
    v.object({ HOST: v.optional(v.string()), DATABASE_URL: v.optional(v.string()) }),
  );
  const app = setUp(await FwFactory.create(appModule(DATABASE_URL ?? "sqlite::memory:")));
  const server = await app.listenGraceful(portFromEnv(), HOST ? { hostname: HOST } : {});
  const api = `${server.url}/api/v1`;
  const payment = JSON.stringify({ type: "order.paid", data: { orderId: 1 } });
  const signature = Object.entries(signPayment(payment)).map(([name, value]) =>
    `-H '${name}: ${value}'`
  );
  console.log(`Try, the first one twice:
  curl -i ${api}/orders -H 'Idempotency-Key: first' --json '{"email":"ada@example.com","item":"tea"}'
  curl ${api}/orders/1
  curl -i ${api}/payments --json '${payment}' ${signature.join(" ")}`);
}
