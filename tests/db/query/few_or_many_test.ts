import assert from "node:assert/strict";
import { testOnEach } from "../support/database.ts";
import { Blog } from "../support/blog.ts";
import { openNoted } from "../support/noted.ts";

/** More than are found from the related rows. */
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
  // Each shape is compiled once, whether few rows meet it or many.
  const { compiled } = notes;
  assert.equal(await lastWith("t"), "idle");
  assert.equal(notes.compiled, compiled);
});
