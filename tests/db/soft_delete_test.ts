import assert from "node:assert/strict";
import { sql } from "kysely";
import {
  belongsTo,
  DbError,
  DbOptions,
  DbService,
  field,
  hasMany,
  manyToMany,
  model,
} from "../../src/db/mod.ts";
import { type Brand, testOnEach } from "./support/database.ts";
import { type Noted, openNoted } from "./support/noted.ts";

const User = model("users", {
  id: field.integer().primaryKey(),
  email: field.text().unique(),
  touched: field.updatedAt(),
  deleted_at: field.deletedAt(),
});
const Post = model("posts", {
  id: field.integer().primaryKey(),
  author_id: field.integer().references(User, { onDelete: "cascade" }),
  tenant: field.text().default("t"),
  gone: field.deletedAt(),
});
const Like = model("likes", {
  id: field.integer().primaryKey(),
  user_id: field.integer().references(User),
  post_id: field.integer().references(Post),
  gone: field.deletedAt(),
});
class Blog extends DbService.with({ user: User, post: Post, like: Like }, {
  user: { posts: hasMany(Post.author_id), liked: manyToMany(Like.user_id, Like.post_id) },
  post: { author: belongsTo(Post.author_id), fans: manyToMany(Like.post_id, Like.user_id) },
}) {}

const NOW = new Date("2026-11-27T00:00:00.000Z");

async function openBlog(url: string): Promise<Blog> {
  const db = await Blog.open(DbOptions.fromUrl(url).now(() => NOW.getTime()));
  await db.createTables();
  await db.user.createMany({ data: [1, 2, 3].map((id) => ({ id, email: `${id}` })) });
  await db.post.createMany({ data: [1, 2, 3].map((id) => ({ id, author_id: id })) });
  await db.like.createMany({
    data: [[1, 2], [2, 1], [2, 3], [3, 3]].map(([user_id, post_id]) => ({
      user_id: user_id!,
      post_id: post_id!,
    })),
  });
  return db;
}

testOnEach("a marked row is nowhere, and withDeleted() sees it", async ({ url }) => {
  await using db = await openBlog(url);
  await db.checkTables();
  assert.deepEqual(await db.user.delete({ where: { email: "2" } }), {
    id: 2,
    email: "2",
    touched: NOW,
    deleted_at: NOW,
  });
  await db.post.delete({ where: { id: 3 } });
  const reads: readonly (readonly [
    read: (db: Pick<Blog, "user" | "post">) => Promise<unknown>,
    hidden: unknown,
    seen: unknown,
  ])[] = [
    [({ user }) => user.findUnique({ where: { id: 2 }, select: { id: true } }), null, { id: 2 }],
    [({ user }) => user.findUnique({ where: { id: 2 } }).then((row) => row?.email), undefined, "2"],
    [({ user }) => user.findFirst({ where: { id: { gt: 1 } } }).then((row) => row?.id), 3, 2],
    [({ user }) => user.findMany().then((rows) => rows.length), 2, 3],
    [
      ({ user }) => Array.fromAsync(user.stream({ batchSize: 1 })).then(({ length }) => length),
      2,
      3,
    ],
    [({ user }) => user.count(), 2, 3],
    [({ user }) => user.count({ distinct: ["touched"] }), 1, 1],
    [({ user }) => user.exists({ where: { id: 2 } }), false, true],
    [({ user }) => user.aggregate({ _sum: { id: true } }), { _sum: { id: 4 } }, {
      _sum: { id: 6 },
    }],
    [({ user }) => user.groupBy({ by: ["id"] }).then((rows) => rows.length), 2, 3],
    [
      ({ post }) =>
        post.findUnique({ where: { id: 2 }, include: { author: true } })
          .then((row) => row?.author?.id),
      undefined,
      2,
    ],
    [
      ({ post }) =>
        post.findUnique({ where: { id: 1 }, include: { fans: true } })
          .then((row) => row?.fans.map(({ id }) => id)),
      [],
      [2],
    ],
    [
      ({ user }) =>
        user.findMany({
          select: { id: true },
          include: {
            _count: { posts: true, liked: true },
            liked: { select: { id: true }, take: 1 },
          },
          orderBy: [{ posts: { _count: "desc" } }, { id: "asc" }],
        }),
      [
        { id: 1, _count: { posts: 1, liked: 1 }, liked: [{ id: 2 }] },
        { id: 3, _count: { posts: 0, liked: 0 }, liked: [] },
      ],
      [
        { id: 1, _count: { posts: 1, liked: 1 }, liked: [{ id: 2 }] },
        { id: 2, _count: { posts: 1, liked: 2 }, liked: [{ id: 1 }] },
        { id: 3, _count: { posts: 1, liked: 1 }, liked: [{ id: 3 }] },
      ],
    ],
    [({ post }) => post.count({ where: { author: { is: {} } } }), 1, 3],
    [({ post }) => post.count({ where: { author: null } }), 1, 0],
    [({ post }) => post.count({ where: { fans: { some: {} } } }), 1, 3],
    [({ user }) => user.count({ where: { posts: { none: {} } } }), 1, 0],
    [({ user }) => user.count({ where: { liked: { every: { id: 2 } } } }), 2, 1],
    [
      ({ post }) =>
        post.findFirst({ orderBy: { author: { email: "asc" } } }).then((row) => row?.id),
      2,
      1,
    ],
    [({ post }) => post.scoped({ tenant: "t" }).count(), 2, 3],
    [
      ({ post }) =>
        post.scoped({ tenant: "t" }).findUnique({ where: { id: 3 } }).then((row) => row?.id),
      undefined,
      3,
    ],
  ];
  const all = { user: db.user.withDeleted(), post: db.post.withDeleted() };
  for (const [read, hidden, seen] of reads) {
    assert.deepEqual(await read(db), hidden, String(read));
    // The types of the two differ in what may be null.
    assert.deepEqual(await read(all as unknown as Blog), seen, String(read));
  }
});

testOnEach("writes do not see marked rows", async ({ url }) => {
  await using db = await openBlog(url);
  assert.equal(await db.user.deleteMany({ where: { id: { lte: 2 } } }), 2);
  assert.equal(await db.user.deleteMany({ all: true }), 1);
  const all = db.user.withDeleted();
  assert.equal(await all.deleteMany({ all: true }), 0);
  // each row that is seen meets it
  await assert.rejects(db.user.deleteMany({ where: { deleted_at: null } }), { name: "TypeError" });
  const where = { email: "1" };
  const code = (code: string) => (error: unknown) =>
    error instanceof DbError && error.code === code;
  await assert.rejects(db.user.update({ where, data: { email: "x" } }), code("RowNotFound"));
  await assert.rejects(db.user.delete({ where }), code("RowNotFound"));
  await assert.rejects(all.delete({ where }), code("RowNotFound"));
  await assert.rejects(db.user.purge({ where }), code("RowNotFound"));
  assert.equal(await db.user.updateMany({ where, data: { email: "x" } }), 0);
  assert.deepEqual(await db.user.updateManyAndReturn({ all: true, data: { email: "x" } }), []);
  assert.equal(await db.user.purgeMany({ all: true }), 0);
  // They still count for unique columns.
  const taken = code("UniqueViolation");
  await assert.rejects(db.user.create({ data: where }), taken);
  await assert.rejects(db.user.upsert({ where, create: {}, update: { email: "1" } }), taken);
  await assert.rejects(db.user.upsert({ where, create: {}, update: {} }), taken);
  await assert.rejects(
    db.user.upsertMany({ by: "email", create: [where, { email: "4" }], update: ["touched"] }),
    taken,
  );
  assert.equal(
    await db.user.createMany({ data: [where, { email: "4" }], skipDuplicates: true }),
    1,
  );
  // Restored.
  const data = { deleted_at: null };
  assert.equal((await all.update({ where, data })).deleted_at, null);
  assert.equal((await all.upsert({ where: { email: "2" }, create: {}, update: data })).id, 2);
  assert.equal(
    await all.upsertMany({ by: "email", create: [{ email: "3" }], update: ["deleted_at"] }),
    1,
  );
  assert.deepEqual(
    (await db.user.findMany({ orderBy: { email: "asc" } })).map(({ email }) => email),
    [
      "1",
      "2",
      "3",
      "4",
    ],
  );
  // A mark does not trigger onDelete, a purge does.
  await db.like.withDeleted().purgeMany({ all: true });
  await db.user.delete({ where });
  assert.equal(await db.post.count(), 3);
  assert.equal((await all.purge({ where })).email, "1");
  assert.equal(await db.post.count(), 2);
  assert.equal(await all.purgeMany({ where: { deleted_at: { isNull: true } } }), 3);
  assert.equal(await all.count(), 0);
});

testOnEach("nested writes do not see marked rows, and mark links", async ({ url }) => {
  await using db = await openBlog(url);
  await db.user.delete({ where: { id: 3 } });
  const missing = { name: "DbError", code: "RowNotFound" };
  const connect = { id: 3 };
  await assert.rejects(db.post.create({ data: { id: 9, author: { connect } } }), missing);
  await assert.rejects(
    db.post.update({ where: { id: 1 }, data: { fans: { connect } } }),
    missing,
  );
  const where = { id: 3 };
  await assert.rejects(
    db.post.update({
      where,
      data: { fans: { connectOrCreate: { where: connect, create: { id: 3, email: "3" } } } },
    }),
    { name: "DbError", code: "UniqueViolation" },
  );
  // The link of the marked user stays, that of the other one is marked.
  await db.post.update({ where, data: { fans: { set: [{ id: 1 }] } } });
  const links = await db.like.withDeleted().findMany({
    where: { post_id: 3 },
    orderBy: { user_id: "asc" },
    select: { user_id: true, gone: true },
  });
  assert.deepEqual(links, [
    { user_id: 1, gone: null },
    { user_id: 2, gone: NOW },
    { user_id: 3, gone: null },
  ]);
  await db.post.update({ where, data: { fans: { connect: { id: 2 } } } });
  assert.equal(await db.like.count({ where: { post_id: 3 } }), 3);
  const seen = await db.post.withDeleted().create({ data: { id: 9, author: { connect } } });
  assert.equal(seen.author_id, 3);
});

/** Links whose key is what they link. */
const Pin = model("pins", {
  user_id: field.integer().references(User),
  post_id: field.integer().references(Post),
  touched: field.updatedAt(),
  gone: field.deletedAt(),
}, { primaryKey: ["user_id", "post_id"] });
const changes: unknown[] = [];
class Board extends DbService.with({ user: User, post: Post, pin: Pin }, {
  user: { pinned: manyToMany(Pin.user_id, Pin.post_id) },
}, { on: { pin: { updated: (rows) => void changes.push(...rows.map(({ after }) => after)) } } }) {}

testOnEach("a marked link is restored, where no other can have its key", async ({ url }) => {
  const clock = { ms: NOW.getTime() };
  await using db = await Board.open(DbOptions.fromUrl(url).now(() => clock.ms));
  await db.createTables();
  const where = { id: 1 };
  await db.user.create({ data: { id: 1, email: "1" } });
  await db.post.createMany({ data: [1, 2].map((id) => ({ id, author_id: 1 })) });
  const pin = (pinned: object) => db.user.update({ where, data: { pinned } });
  await pin({ connect: [{ id: 1 }, { id: 2 }] });
  await pin({ disconnect: { id: 1 } });
  changes.length = 0;
  clock.ms += 1000;
  await pin({ connect: [{ id: 1 }, { id: 2 }] });
  const later = new Date(clock.ms);
  const restored = { user_id: 1, post_id: 1, touched: later, gone: null };
  assert.deepEqual(changes, [restored]);
  assert.deepEqual(await db.pin.findMany({ orderBy: { post_id: "asc" } }), [
    restored,
    { user_id: 1, post_id: 2, touched: NOW, gone: null },
  ]);
  // For a repository that hides no rows, it is a link.
  await pin({ set: [] });
  await db.user.withDeleted().update({ where, data: { pinned: { connect: { id: 2 } } } });
  assert.equal(await db.pin.count(), 0);
});

testOnEach("data cannot set a mark, a scope cannot have one", async ({ url }) => {
  await using db = await openBlog(url);
  const where = { id: 1 };
  const data: Record<string, unknown> = { email: "e", deleted_at: null };
  const reason = "delete() sets deleted_at, or data of withDeleted()";
  const refused = (verb: string) => ({
    name: "TypeError",
    message: `Cannot ${verb} users: ${reason}`,
  });
  await assert.rejects(db.user.create({ data } as never), refused("create"));
  await assert.rejects(db.user.createMany({ data: [data] } as never), refused("create"));
  await assert.rejects(db.user.update({ where, data } as never), refused("update"));
  await assert.rejects(
    db.user.upsertMany({ by: "id", create: [], update: ["deleted_at"] } as never),
    refused("upsert"),
  );
  assert.throws(() => db.user.scoped({ deleted_at: NOW } as never), {
    message: "Cannot scope users: deleted_at marks deleted rows",
  });
  // Whether every related row is seen depends on the marks.
  assert.equal(
    await db.post.updateMany({ where: { author: { is: {} } }, data: { tenant: "u" } }),
    3,
  );
  await assert.rejects(
    db.post.withDeleted().updateMany({ where: { author: { is: {} } }, data: { tenant: "u" } }),
    { name: "TypeError" },
  );
}, { brands: ["sqlite"] });

/** As docs/soft-delete.md has it. */
const LIVE_INDEX = "create unique index notes_title on notes (title) where deleted_at is null";
const LIVE_INDEXES: Readonly<Record<Brand, string>> = {
  postgres: LIVE_INDEX,
  sqlite: LIVE_INDEX,
  mysql: "alter table notes add live_title varchar(255) as (if(deleted_at is null, title, null))," +
    " add unique (live_title)",
};

testOnEach(
  "an index makes values unique among rows that are not marked",
  async ({ brand, url }) => {
    const Note = model("notes", {
      id: field.integer().primaryKey(),
      title: field.text(),
      deleted_at: field.deletedAt(),
    });
    await using db = await DbService.with({ note: Note }).open(DbOptions.fromUrl(url));
    await db.createTables();
    await sql.raw(LIVE_INDEXES[brand]).execute(db.kysely);
    await db.checkTables();
    const data = { title: "a" };
    const { id } = await db.note.create({ data });
    await assert.rejects(db.note.create({ data }), { name: "DbError", code: "UniqueViolation" });
    await db.note.create({ data: { title: "A" } });
    await db.note.delete({ where: { id } });
    await db.note.create({ data });
    await assert.rejects(
      db.note.withDeleted().update({ where: { id }, data: { deleted_at: null } }),
      { name: "DbError", code: "UniqueViolation" },
    );
  },
);

const MARK = 'update "posts" set "gone" = ?';
const COLUMNS = '"id", "author_id", "tenant", "gone"';
const COUNT = 'select count(*) as "count" from "users" where';
const LINKED = 'from "likes" inner join "posts" on "posts"."id" = "likes"."post_id" where';
const VISIBLE = '("likes"."gone" is null and "posts"."gone" is null and "posts"."id" = ?)';
const LIKED =
  `exists (select 1 as "one" ${LINKED} "likes"."user_id" = "users"."id" and ${VISIBLE})`;
const LIKES = `select "likes"."user_id" as "~key" ${LINKED} ${VISIBLE}`;
type Statements = Readonly<Record<Brand, readonly Noted[]>>;
const STATEMENTS: readonly (readonly [run: (db: Blog) => Promise<unknown>, Statements])[] = [
  [
    ({ post }) => post.scoped({ id: 1 }).findMany(),
    all([
      `select ${COLUMNS} from "posts" where ("id" = ? and "gone" is null)`,
      1,
    ]),
  ],
  [
    ({ post }) => post.withDeleted().findMany({ where: { id: 1 } }),
    all([
      `select ${COLUMNS} from "posts" where "id" = ?`,
      1,
    ]),
  ],
  [
    ({ post }) => post.findUnique({ where: { id: 1 } }),
    all([
      `select ${COLUMNS} from "posts" where ("gone" is null and "id" = ?)`,
      1,
    ]),
  ],
  [
    ({ post }) => post.deleteMany({ where: { id: 9 } }),
    all([
      `${MARK} where ("gone" is null and "id" = ?)`,
      NOW,
      9,
    ]),
  ],
  [
    ({ post }) => post.withDeleted().deleteMany({ where: { id: 9 } }),
    all([
      `${MARK} where ("id" = ? and "gone" is null)`,
      NOW,
      9,
    ]),
  ],
  [
    ({ post }) => post.purgeMany({ where: { id: 9 } }),
    all([
      'delete from "posts" where ("gone" is null and "id" = ?)',
      9,
    ]),
  ],
  [({ post }) => post.delete({ where: { id: 1 } }), {
    ...all([`${MARK} where ("gone" is null and "id" = ?) returning ${COLUMNS}`, NOW, 1]),
    mysql: [
      ["begin"],
      [`${MARK} where ("gone" is null and "id" = ?)`, NOW, 1],
      [`select ${COLUMNS} from "posts" where "id" = ? for update`, 1],
      ["commit"],
    ],
  }],
  [
    ({ user }) => user.count({ where: { liked: { some: { id: 2 } } } }),
    {
      ...all([`${COUNT} ("deleted_at" is null and ${LIKED})`, 2]),
      sqlite: [
        [`select (select count(*) as "count" from (${LIKES} limit 10001) as "~found") as "~0"`, 2],
        [`${COUNT} ("users"."id" in (${LIKES}) and ("deleted_at" is null and ${LIKED}))`, 2, 2],
      ],
    },
  ],
];

testOnEach("soft deletes run these statements", async (database) => {
  await using noted = await openNoted(
    Blog,
    database,
    { now: () => NOW.getTime() },
  );
  const { db, notes } = noted;
  await db.createTables();
  await db.user.create({ data: { id: 1, email: "1" } });
  await db.post.create({ data: { id: 1, author_id: 1 } });
  notes.take();
  for (const [run, expected] of STATEMENTS) {
    await run(db);
    const { brand } = database;
    const statements = expected[brand].map((noted) => inDialect(brand, noted));
    assert.deepEqual(notes.take(), statements, String(run));
  }
});

function all(statement: Noted): Statements {
  return { sqlite: [statement], postgres: [statement], mysql: [statement] };
}

function inDialect(brand: Brand, [sql, ...values]: Noted): Noted {
  let index = 0;
  const time = NOW.toISOString();
  const encoded = values.map((value) =>
    value !== NOW ? value : brand === "mysql" ? time.replace("T", " ").replace("Z", "") : time
  );
  if (brand === "mysql") return [sql.replaceAll('"', "`"), ...encoded];
  return [brand === "postgres" ? sql.replaceAll("?", () => `$${++index}`) : sql, ...encoded];
}
