/**
 * Orders, each of which changes three tables in one transaction, so that a lost or a half-written
 * order is visible in the database.
 */
import * as v from "valibot";
import {
  controller,
  ForbiddenException,
  inject,
  type Module,
  module,
  NotFoundException,
  type OnModuleInit,
  route,
} from "../../../mod.ts";
import { DbModule, type DbOptions, DbService, field, model } from "../../../src/db/mod.ts";

const Stock = model("stock", {
  id: field.integer().primaryKey(),
  remaining: field.integer(),
});

const Order = model("orders", {
  id: field.integer().primaryKey(),
  key: field.text().unique(),
  quantity: field.integer(),
});

const Entry = model("entries", {
  id: field.integer().primaryKey(),
  order_key: field.text(),
  quantity: field.integer(),
});

/** How many articles there are; each has `INITIAL_STOCK` pieces. */
export const ARTICLES = 16;

/** The pieces of an article before the first order. */
export const INITIAL_STOCK = 1_000_000;

/** The database of the orders. */
export class OrdersDb extends DbService.with({ stock: Stock, order: Order, entry: Entry }) {}

const NewOrder = v.object({
  key: v.pipe(v.string(), v.maxLength(100)),
  article: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(ARTICLES)),
  quantity: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(10)),
});

const OrderRow = v.object({ id: v.number(), key: v.string(), quantity: v.number() });

class OrdersController extends controller("orders") implements OnModuleInit {
  readonly #db = inject(OrdersDb);

  async onModuleInit(): Promise<void> {
    await this.#db.createTables();
    if (await this.#db.stock.exists({})) return;
    const data = Array.from(
      { length: ARTICLES },
      (_, index) => ({ id: index + 1, remaining: INITIAL_STOCK }),
    );
    await this.#db.stock.createMany({ data });
  }

  place = route.post("/", { body: NewOrder, response: OrderRow, status: 201 }, ({ body }) => {
    const { key, article, quantity } = body;
    return this.#db.transaction(async () => {
      const order = await this.#db.order.create({ data: { key, quantity } });
      await this.#db.entry.create({ data: { order_key: key, quantity } });
      const { remaining } = await this.#db.stock.update({
        where: { id: article },
        data: { remaining: { decrement: quantity } },
      });
      if (remaining < 0) throw new ForbiddenException("Sold out");
      return order;
    });
  });

  newest = route.get(
    "/",
    { response: v.array(OrderRow) },
    () => this.#db.order.findMany({ orderBy: { id: "desc" }, take: 20 }),
  );

  one = route.get(
    "/:key",
    { params: v.object({ key: v.string() }), response: OrderRow },
    async ({ params: { key } }) =>
      await this.#db.order.findUnique({ where: { key } }) ??
        NotFoundException.throw("No such order"),
  );
}

/** The orders on a database. */
export function ordersModule(options: DbOptions): Module {
  return module({
    name: "OrdersModule",
    imports: [DbModule.forRoot(OrdersDb, options)],
    controllers: [OrdersController],
  });
}
