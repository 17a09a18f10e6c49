/** Orders of texts that are long, and differ in their last characters only. */
import assert from "node:assert/strict";
import { DbOptions, DbService, field, model } from "../../../src/db/mod.ts";
import { testOnEach } from "../support/database.ts";

const plain = () => field.text().default("");
const Link = model("links", {
  id: field.integer().primaryKey(),
  url: field.text(),
  a: plain(),
  b: plain(),
  c: plain(),
  d: plain(),
  e: plain(),
  f: plain(),
  g: plain(),
});
class Db extends DbService.with({ link: Link }) {}

type Urls = readonly { readonly url: string }[];

for (const length of [257, 1100, 2000]) {
  testOnEach(
    `an order compares texts that begin with the same ${length} characters`,
    async ({ url }) => {
      await using db = await Db.open(DbOptions.fromUrl(url));
      await db.createTables();
      const prefix = "x".repeat(length);
      const ends = (rows: Urls) => rows.map(({ url }) => url.slice(length)).join("");
      await db.link.createMany({ data: [..."dbeac"].map((end) => ({ url: `${prefix}${end}` })) });
      const orderBy = { url: "asc" } as const;
      assert.equal(ends(await db.link.findMany({ orderBy })), "abcde");
      assert.equal(ends(await db.link.findMany({ orderBy, take: 2 })), "ab");
      assert.equal(ends(await Array.fromAsync(db.link.stream({ orderBy, batchSize: 2 }))), "abcde");
      const first = await db.link.page({ orderBy, take: 3 });
      const second = await db.link.page({ orderBy, take: 3, cursor: first.next });
      assert.equal(ends([...first.rows, ...second.rows]), "abcde");
      assert.equal((await db.link.findMany({ distinct: ["url"] })).length, 5);
    },
  );
}

testOnEach("an order may have many texts", async ({ url }) => {
  await using db = await Db.open(DbOptions.fromUrl(url));
  await db.createTables();
  await db.link.createMany({ data: [{ url: "y" }, { url: "x" }] });
  const orderBy = ["a", "b", "c", "d", "e", "f", "g", "url"].map((name) => ({ [name]: "asc" }));
  const rows = await db.link.findMany({ orderBy: orderBy as { url: "asc" }[] });
  assert.deepEqual(rows.map(({ url }) => url), ["x", "y"]);
});
