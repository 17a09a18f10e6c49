import assert from "node:assert/strict";
import { DbOptions, DbService, field, model } from "../../../src/db/mod.ts";
import { type Brand, dbError, testOnEach } from "../support/database.ts";
import { administer } from "../support/servers.ts";

const Tag = model("tags", {
  id: field.integer().primaryKey(),
  name: field.text().unique(),
  uses: field.integer().default(0),
});
const Post = model("posts", { id: field.integer().primaryKey(), title: field.text() });
const PostTag = model("post_tags", {
  id: field.integer().primaryKey(),
  post_id: field.integer().references(Post),
  tag_id: field.integer().references(Tag),
});
class Blog extends DbService.with({ tag: Tag, post: Post, postTag: PostTag }) {}

const NAMES = ["a", "b", "c"];
const POSTS = 40;

interface Blogs {
  readonly db: Blog;
  /** The same database, for what is outside a transaction. */
  readonly other: Blog;
  readonly brand: Brand;
}

function testBlogOnEach(
  name: string,
  run: (blogs: Blogs) => Promise<void>,
  brands: readonly Brand[] = ["sqlite", "postgres", "mysql"],
): void {
  testOnEach(name, async ({ brand, url }) => {
    if (brand === "postgres") {
      // By default it looks for deadlocks after a second, and waits forever otherwise.
      const database = `alter database ${new URL(url).pathname.slice(1)}`;
      await administer(brand, `${database} set deadlock_timeout = '20ms'`);
      await administer(brand, `${database} set lock_timeout = '20s'`);
    }
    const options = DbOptions.fromUrl(url).acquireTimeoutMs(60_000);
    await using db = await Blog.open(options);
    await using other = await Blog.open(options);
    await db.createTables();
    await run({ db, other, brand });
  }, { brands });
}

function find(db: Blog, name: string) {
  return db.tag.upsert({ where: { name }, create: {}, update: {} });
}

/** Creates a post with all tags, in an order that depends on its number. */
async function createPost(db: Blog, n: number, retries: number): Promise<void> {
  await db.transaction(async () => {
    const { id } = await db.post.create({ data: { title: `${n}` } });
    for (const [index] of NAMES.entries()) {
      const tag = await find(db, NAMES[(n + (n % 2 === 0 ? index : 3 - index)) % 3]!);
      await db.postTag.create({ data: { post_id: id, tag_id: tag.id } });
    }
  }, { retries });
}

testBlogOnEach("Repository.upsert() of rows that exist never deadlocks", async ({ db }) => {
  await db.tag.createMany({ data: NAMES.map((name) => ({ name })) });
  await Promise.all(Array.from({ length: POSTS }, (_, n) => createPost(db, n, 0)));
  assert.equal(await db.postTag.count(), POSTS * NAMES.length);
  assert.equal(await db.tag.count(), NAMES.length);
});

testBlogOnEach("Repository.upsert() creates a row once, among transactions", async ({ db }) => {
  // Those that create the same rows in different orders wait for each other.
  await Promise.all(Array.from({ length: POSTS }, (_, n) => createPost(db, n, 50)));
  assert.equal(await db.postTag.count(), POSTS * NAMES.length);
  assert.equal(await db.tag.count(), NAMES.length);
});

testBlogOnEach("Repository.upsert() finds or creates rows that others delete", async ({ db }) => {
  const upserts = Array.from({ length: 60 }, async (_, n) => {
    const { name } = await find(db, NAMES[n % 3]!);
    // Deletions of one row may deadlock on MySQL.
    const remove = () => db.tag.deleteMany({ where: { name } });
    if (n % 4 === 0) await db.transaction(remove, { retries: 50 });
    return name;
  });
  assert.deepEqual(await Promise.all(upserts), upserts.map((_, n) => NAMES[n % 3]));
});

testBlogOnEach("Repository.upsert() locks no row that exists", async ({ db, other }) => {
  const { id } = await find(db, "a");
  await db.transaction(async () => {
    assert.equal((await find(db, "a")).id, id);
    await other.tag.update({ where: { id }, data: { uses: { increment: 1 } } });
  });
  assert.equal((await find(db, "a")).uses, 1);
}, ["postgres", "mysql"]);

testBlogOnEach("Repository.upsert() refuses what other rows have taken", async ({ db }) => {
  const { id } = await find(db, "a");
  const isTaken = (field: string) =>
    dbError("UniqueViolation", `Cannot upsert tags: the value of ${field} is already taken`, [
      field,
    ]);
  await db.transaction(async () => {
    // On PostgreSQL, the transaction is still open.
    const scoped = db.tag.scoped({ uses: 1 });
    const upsert = scoped.upsert({ where: { name: "a" }, create: {}, update: {} });
    await assert.rejects(upsert, isTaken("name"));
    assert.equal(await db.tag.count(), 1);
  });
  const other = db.tag.upsert({ where: { name: "b" }, create: { id }, update: {} });
  await assert.rejects(other, isTaken("id"));
  const changed = { where: { name: "c" }, create: {}, update: { name: "a" } };
  await db.tag.upsert(changed);
  await assert.rejects(db.tag.upsert(changed), isTaken("name"));
});

testBlogOnEach(
  "Repository.upsert() checks what it would create, though the row exists",
  async ({ db }) => {
    await find(db, "a");
    for (const update of [{}, { uses: 2 }]) {
      const upsert = db.tag.upsert({ where: { name: "a" }, create: { uses: 1.5 }, update });
      await assert.rejects(upsert, { code: "CheckViolation" });
    }
  },
);

testBlogOnEach("Repository.upsert() never returns what its snapshot lacks", async (blogs) => {
  const { db, other, brand } = blogs;
  for (const retries of [0, 1]) {
    let attempts = 0;
    const found = db.transaction(async () => {
      await db.post.count();
      // Another creates the row after this one has begun.
      if (attempts++ === 0) await find(other, `${retries}`);
      return await find(db, `${retries}`);
    }, { isolation: "repeatable read", retries });
    if (brand === "postgres" && retries === 0) {
      const message = "Cannot upsert tags: a concurrent change came first";
      await assert.rejects(found, dbError("SerializationFailure", message));
    } else {
      assert.equal((await found).name, `${retries}`);
      assert.equal(attempts, brand === "postgres" ? 2 : 1);
    }
  }
}, ["postgres", "mysql"]);
