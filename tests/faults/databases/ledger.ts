/** Compares what a database has with what was acknowledged. */
import { DbOptions } from "../../../src/db/mod.ts";
import { Db } from "../../../examples/users.ts";
import { ARTICLES, INITIAL_STOCK, OrdersDb } from "../server/orders_db.ts";

/** What was acknowledged; a `Load` is that. */
export interface Acknowledged {
  /** The keys of orders. */
  readonly acknowledged: ReadonlySet<string>;
  /** The addresses of users; none by default. */
  readonly acknowledgedUsers?: ReadonlySet<string>;
}

/** What is wrong with the orders of a database. */
export interface Comparison {
  /** The acknowledged orders and users that are not there exactly once. */
  readonly lost: number;
  /** What is half written. */
  readonly failures: readonly string[];
}

/** Reads all orders and users on a connection of its own. */
export async function compare(
  url: string,
  { acknowledged, acknowledgedUsers = new Set() }: Acknowledged,
): Promise<Comparison> {
  const options = DbOptions.fromUrl(url).poolMax(1);
  const { lost, failures } = await compareOrders(options, acknowledged);
  if (acknowledgedUsers.size === 0) return { lost, failures };
  const users = await Db.open(options);
  try {
    const there = new Set((await users.user.findMany({})).map(({ email }) => email));
    const lostUsers = [...acknowledgedUsers].filter((email) => !there.has(email)).length;
    return {
      lost: lost + lostUsers,
      failures: [...failures, ...lostUsers > 0 ? [`${lostUsers} users are lost`] : []],
    };
  } finally {
    await users.close();
  }
}

async function compareOrders(
  options: DbOptions,
  acknowledged: ReadonlySet<string>,
): Promise<Comparison> {
  const db = await OrdersDb.open(options);
  try {
    const orders = await db.order.findMany({});
    const entries = await db.entry.findMany({});
    const stock = await db.stock.findMany({});
    const times = Map.groupBy(orders, ({ key }) => key);
    const booked = Map.groupBy(entries, ({ order_key }) => order_key);
    const lost = [...acknowledged].filter((key) =>
      times.get(key)?.length !== 1 || booked.get(key)?.length !== 1
    );
    const half = orders.filter(({ key }) => booked.get(key)?.length !== 1).length +
      entries.filter(({ order_key }) => !times.has(order_key)).length;
    const sold = ARTICLES * INITIAL_STOCK - sum(stock.map(({ remaining }) => remaining));
    const ordered = sum(orders.map(({ quantity }) => quantity));
    const failures: string[] = [];
    if (lost.length > 0) failures.push(`${lost.length} acknowledged orders are lost: ${lost[0]}`);
    if (half > 0) failures.push(`${half} orders are half written`);
    if (sold !== ordered) failures.push(`${sold} pieces left the stock for ${ordered} ordered`);
    return { lost: lost.length, failures };
  } finally {
    await db.close();
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
