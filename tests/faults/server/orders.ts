/** The routes of the orders. */
import * as v from "valibot";
import {
  controller,
  inject,
  type Module,
  module,
  NotFoundException,
  type OnModuleInit,
  route,
} from "../../../mod.ts";
import { DbModule, type DbOptions } from "../../../src/db/mod.ts";
import { ARTICLES, OrdersDb, placeOrder, stockUp } from "./orders_db.ts";

const NewOrder = v.object({
  key: v.pipe(v.string(), v.maxLength(100)),
  article: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(ARTICLES)),
  quantity: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(10)),
});

const OrderRow = v.object({ id: v.number(), key: v.string(), quantity: v.number() });

class OrdersController extends controller("orders") implements OnModuleInit {
  readonly #db = inject(OrdersDb);

  async onModuleInit(): Promise<void> {
    await stockUp(this.#db);
  }

  place = route.post(
    "/",
    { body: NewOrder, response: OrderRow, status: 201 },
    ({ body }) => placeOrder(this.#db, body),
  );

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
