import assert from "node:assert/strict";
import { DbOptions } from "../../../src/db/mod.ts";
import { testOnce } from "../../support/test.ts";
import { testOnEach } from "../support/database.ts";
import { Blog } from "../support/blog.ts";
import { openNoted } from "../support/noted.ts";

/** More than are found from the related rows, where not all rows are read. */
const MANY = 1100;

testOnEach("findMany() finds pages of few rows and of many by related rows", async (database) => {
  await using noted = await openNoted(Blog, database);
  const { db, notes } = noted;
  await db.createTables();
  const emails = ["busy", "idle", "none"];
  await db.author.createMany({ data: emails.map((email) => ({ email })) });
  const posts = Array.from({ length: MANY }, (_, n) => ({
    author_id: n % 100 === 0 ? 2 : 1,
    title: `t${n * 7 % 13}`,
  }));
  await db.post.createMany({ data: [...posts, ...posts.slice(0, 20)] });
  const [often, rarely] = ["00000000", "00000001"].map((id) => `${id}-0000-4000-8000-000000000000`);
  await db.tag.createMany({
    data: [{ id: often!, label: "often" }, { id: rarely!, label: "rarely" }],
  });
  const links = Array.from({ length: MANY }, (_, n) => ({ post_id: n + 1, tag_id: often! }));
  await db.postTag.createMany({
    // Some twice.
    data: [...links, ...links.slice(5, 9), { post_id: 7, tag_id: rarely! }, links[3]!],
  });
  for (const email of emails) {
    for (
      const order of [{ id: "desc" }, { title: "asc" }, { author: { email: "desc" } }] as const
    ) {
      const find = { where: { author: { email } }, orderBy: [order, { id: "asc" }] } as const;
      const all = await db.post.findMany(find);
      const page = await db.post.findMany({ ...find, skip: 2, take: 30, select: { title: true } });
      assert.deepEqual(page, all.slice(2, 32).map(({ title }) => ({ title })));
      assert.deepEqual(await db.post.findMany({ ...find, skip: 3 }), all.slice(3));
    }
  }
  for (const label of ["often", "rarely", "never"]) {
    const find = { where: { id: { gt: 4 }, tags: { some: { label } } } };
    const all = await db.post.findMany({ ...find, orderBy: { id: "asc" } });
    assert.equal(all.length, { often: MANY - 4, rarely: 1 }[label] ?? 0);
    assert.deepEqual(await db.post.findMany({ ...find, take: 10 }), all.slice(0, 10));
    assert.deepEqual(await db.post.findFirst(find), all[0] ?? null);
  }
  const lastWith = async (startsWith: string) => {
    const where = { posts: { some: { title: { startsWith } } } };
    return (await db.author.findMany({ where, orderBy: { email: "desc" }, take: 1 }))[0]?.email;
  };
  assert.equal(await lastWith("t4"), "busy");
  assert.equal(await lastWith("t"), "idle");
  // Each shape is compiled once for few rows, and once for many.
  const { compiled } = notes;
  assert.deepEqual([await lastWith("t4"), await lastWith("t")], ["busy", "idle"]);
  assert.equal(notes.compiled, compiled);
  // Of several conditions, the one that fewest rows meet finds them, wherever it is.
  const tagged = (label: string) => ({ tags: { some: { label } } });
  for (
    const where of [
      { AND: [tagged("often"), tagged("rarely")] },
      { AND: [{ ...tagged("rarely"), author: { email: "busy" } }], title: { not: "" } },
      { author: { email: "busy" }, ...tagged("rarely") },
    ]
  ) {
    assert.deepEqual(await db.post.findMany({ where, take: 5 }), [postOf(6)]);
    assert.deepEqual(await db.post.findMany({ where }), [postOf(6)]);
    assert.equal(await db.post.count({ where }), 1);
    assert.equal(await db.post.exists({ where }), true);
  }
  // One that not each row of the result meets does not.
  for (const where of [{ OR: [tagged("rarely"), { id: 1 }] }, { NOT: tagged("often") }]) {
    const all = await db.post.findMany({ where, orderBy: { id: "asc" } });
    assert.deepEqual(await db.post.findMany({ where, take: 3 }), all.slice(0, 3));
  }
  assert.equal(await db.post.exists({ where: tagged("never") }), false);
  assert.equal(await db.post.exists({ where: tagged("often") }), true);

  function postOf(index: number) {
    return { id: index + 1, ...posts[index]! };
  }
});

/** More than are found from the related rows, where all rows are read. */
const VERY_MANY = 10_100;

testOnEach("few and many rows are read and written by related rows", async ({ url }) => {
  await using db = await Blog.open(DbOptions.fromUrl(url));
  await db.createTables();
  await db.author.createMany({ data: [{ email: "busy" }, { email: "idle" }, { email: "none" }] });
  const data = Array.from({ length: VERY_MANY }, (_, n) => ({
    author_id: n % 5000 === 0 ? 2 : 1,
    title: `t${n % 3}`,
  }));
  await db.post.createMany({ data });
  for (const [email, count] of [["busy", VERY_MANY - 3], ["idle", 3], ["none", 0]] as const) {
    const where = { author: { email } };
    assert.equal((await db.post.findMany({ where })).length, count);
    assert.equal(await db.post.count({ where }), count);
    const { _count } = await db.post.aggregate({ where, _count: true });
    assert.equal(_count, count);
    const groups = await db.post.groupBy({ by: ["author_id"], where, _count: true });
    assert.deepEqual(groups.map(({ _count }) => _count), count > 0 ? [count] : []);
    const titles = await db.post.findMany({
      where,
      distinct: ["title"],
      orderBy: { title: "asc" },
    });
    assert.deepEqual(titles.map(({ title }) => title), count > 0 ? ["t0", "t1", "t2"] : []);
    assert.equal(await db.post.updateMany({ where, data: { title: email } }), count);
    assert.equal(await db.post.count({ where: { title: email } }), count);
    const updated = await db.post.updateManyAndReturn({ where, data: { title: "new" } });
    assert.equal(updated.length, count);
    assert.equal(await db.post.deleteMany({ where }), count);
    assert.equal(await db.post.count({ where }), 0);
  }
  assert.equal(await db.post.count(), 0);
}, { slow: true, register: testOnce });
