/**
 * Orders, each of which changes three tables in one transaction, so that a lost or a half-written
 * order is visible in the database.
 */
import { ForbiddenException } from "../../../src/core/http/http_exception.ts";
import { DbService, field, model } from "../../../src/db/mod.ts";

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

/** An order that is placed; its key is unique. */
export interface NewOrder {
  readonly key: string;
  readonly article: number;
  readonly quantity: number;
}

/** Creates the tables, and the stock that is there before the first order. */
export async function stockUp(db: OrdersDb): Promise<void> {
  await db.createTables();
  if (await db.stock.exists({})) return;
  const data = Array.from(
    { length: ARTICLES },
    (_, index) => ({ id: index + 1, remaining: INITIAL_STOCK }),
  );
  await db.stock.createMany({ data });
}

/** Places an order. */
export function placeOrder(db: OrdersDb, { key, article, quantity }: NewOrder) {
  return db.transaction(async () => {
    const order = await db.order.create({ data: { key, quantity } });
    await db.entry.create({ data: { order_key: key, quantity } });
    const { remaining } = await db.stock.update({
      where: { id: article },
      data: { remaining: { decrement: quantity } },
    });
    if (remaining < 0) throw new ForbiddenException("Sold out");
    return order;
  });
}
