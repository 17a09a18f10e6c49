import assert from "node:assert/strict";
import { sql } from "kysely";
import { belongsTo, DbOptions, DbService, field, hasMany, model } from "../../../src/db/mod.ts";
import { dbError, testOnEach } from "../support/database.ts";

const Owner = model("owners", { id: field.integer().primaryKey(), name: field.text() });
const Item = model("items", {
  id: field.integer().primaryKey(),
  owner_id: field.integer().references(Owner),
  rank: field.integer().nullable(),
  flag: field.boolean(),
  title: field.text(),
  price: field.decimal({ precision: 8, scale: 2 }).nullable(),
  at: field.timestamp().nullable(),
});
/** A key of two columns, and each kind that JSON has no value of. */
const Part = model("parts", {
  shop: field.uuid(),
  number: field.bigint(),
  digest: field.blob(),
  size: field.real(),
  day: field.date(),
  hour: field.time(),
  state: field.enum(["new", "á", "old"]),
}, { primaryKey: ["shop", "number"] });
const Seen = model("items", { id: field.integer(), title: field.text() }, { primaryKey: false });
class Items extends DbService.with({ owner: Owner, item: Item, part: Part }, {
  owner: { items: hasMany(Item.owner_id) },
  item: { owner: belongsTo(Item.owner_id) },
}) {}
class Views extends DbService.with({ seen: Seen }) {}

const ROWS = 60;
const INVALID = dbError(
  "InvalidCursor",
  "Cannot list items: the cursor is invalid, or that of another query",
);

async function open(url: string): Promise<Items> {
  const db = await Items.open(DbOptions.fromUrl(url).poolMax(1).acquireTimeoutMs(2000));
  await db.createTables();
  const [ann, bob] = await db.owner.createManyAndReturn({
    data: [{ name: "Ann" }, { name: "Bob" }],
  });
  await db.item.createMany({
    data: Array.from({ length: ROWS }, (_, n) => ({
      owner_id: (n % 3 === 0 ? ann! : bob!).id,
      rank: n % 5 === 0 ? null : n % 7,
      flag: n % 2 === 0,
      title: ["a", "A", "ä", '😀\\"', "'"][n % 5]!,
      price: n % 4 === 0 ? null : `${n % 6}.5`,
      at: n % 8 === 0 ? null : new Date(n % 9),
    })),
  });
  return db;
}

type Query = Parameters<Items["item"]["page"]>[0];

/** Reads all pages, one after the other. */
async function walk<R>(
  read: (cursor: string | null) => Promise<{ readonly rows: R[]; readonly next: string | null }>,
): Promise<R[]> {
  const all: R[] = [];
  let cursor: string | null = null;
  do {
    const { rows, next } = await read(cursor);
    all.push(...rows);
    cursor = next;
  } while (cursor !== null);
  return all;
}

testOnEach("Repository.page() reads the rows of findMany() page by page", async ({ url }) => {
  await using db = await open(url);
  const orders: (readonly [Query["orderBy"], Query["orderBy"]])[] = [
    [undefined, { id: "asc" }],
    [{ id: "desc" }, { id: "desc" }],
    // The key that breaks ties has the direction of the last column.
    [{ rank: "asc" }, [{ rank: "asc" }, { id: "asc" }]],
    [{ rank: "desc" }, [{ rank: "desc" }, { id: "desc" }]],
    [{ title: "desc" }, [{ title: "desc" }, { id: "desc" }]],
    [{ title: { sort: "asc", mode: "insensitive" } }, [
      { title: { sort: "asc", mode: "insensitive" } },
      { id: "asc" },
    ]],
    [[{ flag: "asc" }, { title: "asc" }], [{ flag: "asc" }, { title: "asc" }, { id: "asc" }]],
    [[{ flag: "desc" }, { rank: "desc" }, { at: "asc" }], [
      { flag: "desc" },
      { rank: "desc" },
      { at: "asc" },
      { id: "asc" },
    ]],
    [[{ price: "asc" }, { at: "desc" }, { id: "asc" }], [
      { price: "asc" },
      { at: "desc" },
      { id: "asc" },
    ]],
  ];
  for (const [orderBy, total] of orders) {
    const where = { id: { not: 3 } };
    const expected = await db.item.findMany({ where, ...total && { orderBy: total } });
    for (const take of [1, 7, ROWS]) {
      const rows = await walk((cursor) => db.item.page({ where, orderBy, take, cursor }));
      assert.deepEqual(rows, expected, JSON.stringify([orderBy, take]));
    }
    const byOffset = await walk((cursor) =>
      db.item.page({ where, orderBy, take: 7, skip: Number(cursor) })
    );
    assert.deepEqual(byOffset, expected);
  }
}, { slow: ["mysql"] });

testOnEach("Repository.page() has cursors that are exact for each kind", async ({ url }) => {
  await using db = await open(url);
  const shops = ["00000000-0000-4000-8000-000000000001", "f0000000-0000-4000-8000-000000000000"];
  await db.part.createMany({
    data: Array.from({ length: 24 }, (_, n) => ({
      shop: shops[n % 2]!,
      number: 9_007_199_254_740_993n * (n % 3 === 0 ? -1n : 1n) + BigInt(n),
      digest: new Uint8Array([255, 0, n % 4]),
      size: [0.1, -1e-300, 1e300, 1 / 3][n % 4]!,
      day: `2026-0${1 + n % 3}-01`,
      hour: n % 2 === 0 ? "12:30:00" : "12:30:00.001",
      state: (["new", "á", "old"] as const)[n % 3]!,
    })),
  });
  const { shop: _, ...columns } = { ...(await db.part.findFirst())! };
  for (const name of Object.keys(columns) as (keyof typeof columns)[]) {
    for (const direction of ["asc", "desc"] as const) {
      const keys = [{ shop: direction }, { number: direction }];
      const expected = await db.part.findMany({ orderBy: [{ [name]: direction }, ...keys] });
      const rows = await walk((cursor) =>
        db.part.page({ orderBy: { [name]: direction }, take: 5, cursor })
      );
      assert.deepEqual(rows, expected, name);
    }
  }
});

testOnEach("Repository.page() stands still where rows come and go", async ({ url }) => {
  await using db = await open(url);
  const first = await db.item.page({ orderBy: { rank: "desc" }, take: 20 });
  const rest = await db.item.findMany({ orderBy: [{ rank: "desc" }, { id: "desc" }], skip: 20 });
  // The row of the cursor is gone, and others come before it.
  await db.item.deleteMany({ where: { id: { in: first.rows.slice(5).map(({ id }) => id) } } });
  await db.item.createMany({
    data: first.rows.map(({ id: _, ...data }) => ({ ...data, rank: 9 })),
  });
  assert.deepEqual(
    await walk((cursor) =>
      db.item.page({ orderBy: { rank: "desc" }, take: 7, cursor: cursor ?? first.next })
    ),
    rest,
  );
});

testOnEach("Repository.page() reads columns, relations and a scope", async ({ url }) => {
  await using db = await open(url);
  const options = {
    select: { price: true },
    include: { owner: { select: { name: true } } },
  } as const;
  const query = { orderBy: { rank: "desc" }, take: 9 } as const;
  const rows = await walk((cursor) => db.item.page({ ...query, cursor }, options));
  const orderBy = [{ rank: "desc" }, { id: "desc" }] as const;
  assert.deepEqual(rows, await db.item.findMany({ ...options, orderBy: [...orderBy] }));
  assert.deepEqual(Object.keys(rows[0]!), ["price", "owner"]);
  const [flagged, others] = [db.item.scoped({ flag: true }), db.item.scoped({ flag: false })];
  const where = { rank: { gte: 3 } };
  const limited = { where: { owner: { name: "Bob" } } };
  const found = await walk((cursor) => flagged.page({ ...query, take: 2, where, cursor }, limited));
  const expected = await flagged.findMany({
    where: { ...where, ...limited.where },
    orderBy: [...orderBy],
  });
  assert.ok(expected.length > 4);
  assert.deepEqual(found, expected);
  // A cursor is a position; it shows no row that the repository does not have.
  const { next } = await flagged.page({ ...query, where });
  const page = await others.page({ ...query, take: ROWS, where, cursor: next });
  assert.ok(page.rows.length > 0);
  assert.ok(page.rows.every(({ flag }) => !flag));
});

testOnEach("Repository.page() counts the rows on all pages", async ({ url }) => {
  await using db = await open(url);
  const counted = async (query: Omit<Query, "withTotal">, where = {}) =>
    (await db.item.page({ ...query, withTotal: true }, { where })).total;
  const { next } = await db.item.page({ take: 50 });
  assert.deepEqual(
    await Promise.all([
      counted({ take: 10 }),
      counted({ take: 100 }),
      counted({ take: 20, cursor: next }),
      counted({ take: 20, skip: 50 }),
      counted({ take: 20, skip: ROWS }),
      counted({ take: 20, skip: 500, where: { flag: true } }),
      counted({ take: 2, where: { flag: true } }, { owner: { name: "Ann" } }),
      counted({ take: 20, where: { id: -1 } }),
      counted({ take: 20, skip: 10, where: { id: -1 } }),
    ]),
    [ROWS, ROWS, ROWS, ROWS, ROWS, ROWS / 2, ROWS / 6, 0, 0],
  );
  assert.deepEqual(await db.item.page({ take: 1, where: { id: -1 } }), { rows: [], next: null });
});

testOnEach("Repository.page() works in a transaction, and within limits", async ({ url }) => {
  await using db = await open(url);
  const { next } = await db.item.page({ take: 10, withTotal: true });
  await db.transaction(async () => {
    await db.item.deleteMany({ where: { id: { gt: 30 } } });
    const { rows, total } = await db.item.page({ take: 50, cursor: next, withTotal: true });
    assert.deepEqual([rows.length, total], [20, 30]);
  });
  const signal = AbortSignal.abort(new Error("gone"));
  await assert.rejects(
    db.item.page({ take: 1 }, { signal }),
    dbError("StatementTimeout", "Cannot list items: it was aborted"),
  );
});

testOnEach("Repository.page() limits its rows and their number together", async (
  { brand, url },
) => {
  await using db = await open(url);
  // Each statement takes 600 ms, for the one row that the key finds.
  const slow = () =>
    brand === "mysql" ? sql<boolean>`sleep(0.6 + id * 0) = 0` : sql<boolean>`
      case when id = 1 then pg_sleep(0.6) is not null end`;
  const query: Query = { where: { id: 1, AND: [slow] }, take: 5, skip: 1, withTotal: true };
  assert.deepEqual(await db.item.page(query), { rows: [], next: null, total: 1 });
  await assert.rejects(db.item.page(query, { timeoutMs: 1000 }), { code: "StatementTimeout" });
}, { brands: ["postgres", "mysql"] });

testOnEach("Repository.page() refuses all but its own cursors", async ({ url }) => {
  await using db = await open(url);
  const query: Query = {
    where: { flag: true, rank: { gte: 1, lte: 5 } },
    orderBy: [{ at: "asc" }, { title: "desc" }],
    take: 3,
  };
  const { next } = await db.item.page(query);
  const cursor = next!;
  const read = (cursor: string, changed: Partial<Query> = {}) =>
    db.item.page({ ...query, ...changed, cursor });
  // Nothing but the size of the page, and the order of members, may be another.
  await read(cursor, { where: { rank: { lte: 5, gte: 1 }, flag: true }, take: 1 });
  // Of functions, no more is compared than that there is one.
  const more = (id: number): Query => ({
    where: { AND: [() => sql<boolean>`id > ${sql.lit(id)}`] },
    take: 1,
  });
  const ofFunction = await db.item.page(more(0));
  await db.item.page({ ...more(5), cursor: ofFunction.next });
  await assert.rejects(db.item.page({ take: 1, cursor: ofFunction.next }), INVALID);
  const others: Partial<Query>[] = [
    { where: { flag: true, rank: { gte: 1, lte: 6 } } },
    { where: { flag: false, rank: { gte: 1, lte: 5 } } },
    { where: { flag: true } },
    { where: {} },
    { orderBy: [{ at: "asc" }, { title: "asc" }] },
    { orderBy: [{ at: "asc" }, { title: { sort: "desc", mode: "insensitive" } }] },
    { orderBy: [{ title: "desc" }, { at: "asc" }] },
    { orderBy: { at: "asc" } },
    { orderBy: {} },
  ];
  for (const other of others) await assert.rejects(read(cursor, other), INVALID);
  const json = (text: string): unknown[] =>
    JSON.parse(atob(text.replaceAll("-", "+").replaceAll("_", "/")));
  const write = (values: unknown) =>
    btoa(JSON.stringify(values)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  const [version, digest, ...values] = json(cursor);
  assert.equal(version, 1);
  assert.equal(values.length, 3);
  const forged = [
    ...["", "x", "%", "a b", "=", "null", "W10", "W1sx", `${cursor}=`, `${cursor}A`],
    ...[cursor.slice(1), cursor.slice(0, -1), `A${cursor}`, ` ${cursor}`, "A".repeat(4097)],
    ...[null, {}, [], 1, "a", [1], [1, digest], [version, digest, values]].map(write),
    write([2, digest, ...values]),
    write([version, "0000000000000000", ...values]),
    write([version, digest, ...values.slice(1)]),
    write([version, digest, ...values, 1]),
    ...[-1, "1", null, {}, [], true, 1.5, 2 ** 60].map((id) =>
      write([version, digest, ...values.slice(0, 2), id])
    ),
    ...["2026", "", "\0", 0, {}, "2026-01-01T00:00:00.000Z"].map((at) =>
      write([version, digest, at, ...values.slice(1)])
    ),
    // Other forms of the same JSON.
    btoa(` ${JSON.stringify([version, digest, ...values])}`).replaceAll("=", ""),
  ];
  for (const text of forged) await assert.rejects(read(text), INVALID, text);
  // Every change of one character.
  for (let index = 0; index < cursor.length; index++) {
    const other = cursor[index] === "A" ? "B" : "A";
    await assert.rejects(read(cursor.slice(0, index) + other + cursor.slice(index + 1)), INVALID);
  }
  const ofOwners = await db.owner.page({ take: 1 });
  await assert.rejects(db.item.page({ take: 1, cursor: ofOwners.next }), INVALID);
  await assert.rejects(db.item.page({ take: 1, cursor: 1 as never }), INVALID);
});

testOnEach("Repository.page() refuses columns that are finer than their fields", async (
  { brand, url },
) => {
  await using db = await open(url);
  const type = brand === "postgres"
    ? "alter column at type timestamptz(6)"
    : "modify at datetime(6)";
  await sql`alter table items ${sql.raw(type)}`.execute(db.kysely);
  await sql`update items set at = ${sql.lit("2026-01-01 00:00:00.000500")} where id < 9`
    .execute(db.kysely);
  await assert.rejects(
    walk((cursor) => db.item.page({ orderBy: { at: "asc" }, take: 1, cursor })),
    dbError("Database", "Cannot list items: a column of its order is finer than its field"),
  );
}, { brands: ["postgres", "mysql"] });

testOnEach("Repository.page() names what is wrong", async ({ url }) => {
  await using db = await open(url);
  const mistakes: (readonly [unknown, string, object?])[] = [
    [{}, "take is not a whole number of 1 or more"],
    [{ take: 0 }, "take is not a whole number of 1 or more"],
    [{ take: 1.5 }, "take is not a whole number of 1 or more"],
    [{ take: "1" }, "take is not a whole number of 1 or more"],
    [{ take: 1, skip: -1 }, "skip is not a whole number of 0 or more"],
    [{ take: 1, skip: 0, cursor: "a" }, "a page has a cursor or skip, not both"],
    [{ take: 1, limit: 1 }, 'a page takes no "limit"'],
    [{ take: 1, where: undefined }, "where is undefined"],
    [{ take: 1, where: { nope: 1 } }, 'there is no column "nope"'],
    [{ take: 1, orderBy: { nope: "asc" } }, 'there is no column "nope"'],
    [
      { take: 1, orderBy: { owner: { name: "asc" } } },
      "a page without skip has no order by related rows",
    ],
    [{ take: 1 }, "where is undefined", { where: undefined }],
    [{ take: 1 }, 'it takes no "orderBy"', { orderBy: {} }],
    [{ take: 1 }, "select names no column", { select: {} }],
    [null, "its options are not a plain object"],
  ];
  for (const [query, reason, options = {}] of mistakes) {
    await assert.rejects(
      db.item.page(query as Query, options),
      { message: `Cannot list items: ${reason}` },
      reason,
    );
  }
  const data = { owner_id: 1, flag: true, title: "x".repeat(4000) };
  await db.item.createMany({ data: [data, data] });
  const long: Query = { where: { title: { startsWith: "x" } }, orderBy: { title: "asc" }, take: 1 };
  await assert.rejects(db.item.page(long), {
    name: "RangeError",
    message: "Cannot list items: the values of its order are too long for a cursor",
  });
});

testOnEach("ReadRepository.page() reads pages by an offset", async ({ url }) => {
  await using db = await open(url);
  await using views = await Views.open(DbOptions.fromUrl(url));
  const orderBy = { id: "asc" } as const;
  const { rows, next, total } = await views.seen.page({
    orderBy,
    take: 2,
    skip: 3,
    withTotal: true,
  });
  assert.deepEqual([rows.map(({ id }) => id), next, total], [[4, 5], "5", ROWS]);
  await assert.rejects(views.seen.page({ take: 2 }), {
    message: "Cannot list items: a page without skip needs a key, and the model has none",
  });
  assert.equal(await db.item.count(), ROWS);
});
