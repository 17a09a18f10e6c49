import {
  belongsTo,
  DbService,
  field,
  hasMany,
  hasOne,
  type JsonValue,
  manyToMany,
  model,
  type Row,
  type RowChange,
  type Where,
} from "../../src/db/mod.ts";
import { inject } from "../../mod.ts";
import { test } from "../support/test.ts";
import { same } from "./same.ts";

/** Compiles its body, which never runs. */
function compiles(_: () => unknown): void {}

const User = model("users", {
  id: field.integer().primaryKey(),
  tenant_id: field.text(),
  name: field.text(),
});
const Profile = model("profiles", {
  user_id: field.integer().primaryKey().references(User),
  bio: field.text(),
});
const Post = model("posts", {
  id: field.bigint().primaryKey(),
  author_id: field.integer().references(User),
  tenant_id: field.text(),
  editor_id: field.integer().nullable().references(User, { onDelete: "set null" }),
  parent_id: field.bigint().nullable().references("self"),
  title: field.text(),
  meta: field.json().nullable(),
});
const Tag = model("tags", { name: field.text().primaryKey() });
const PostTag = model("post_tags", {
  id: field.integer().primaryKey(),
  post_id: field.bigint().references(Post),
  tag: field.text().references(Tag),
});

class Db extends DbService.with(
  { user: User, profile: Profile, post: Post, tag: Tag, postTag: PostTag },
  {
    user: {
      posts: hasMany(Post.author_id),
      edited: hasMany(Post.editor_id),
      profile: hasOne(Profile.user_id),
    },
    post: {
      author: belongsTo(Post.author_id),
      editor: belongsTo(Post.editor_id),
      parent: belongsTo(Post.parent_id),
      replies: hasMany(Post.parent_id),
      tags: manyToMany(PostTag.post_id, PostTag.tag),
    },
    tag: { posts: manyToMany(PostTag.tag, PostTag.post_id) },
  },
) {}

type UserRow = Row<typeof User>;
type PostRow = Row<typeof Post>;

test("the rows of a find have the relations it includes", () => {
  compiles(async () => {
    const db = inject(Db);
    const users = await db.user.findMany({
      where: { name: "Ada" },
      include: { posts: { where: { title: { contains: "a" } }, orderBy: { id: "asc" }, take: 3 } },
    });
    same<typeof users, { id: number; tenant_id: string; name: string; posts: PostRow[] }[]>();

    const post = await db.post.findUnique({
      where: { id: 1n },
      include: { author: true, editor: true, parent: true, tags: true },
    });
    same<NonNullable<typeof post>["author"], UserRow>();
    same<NonNullable<typeof post>["editor"], UserRow | null>();
    same<NonNullable<typeof post>["parent"], PostRow | null>();
    same<NonNullable<typeof post>["tags"], { name: string }[]>();
    same<NonNullable<typeof post>["meta"], JsonValue>();

    const tag = await db.tag.findFirst({
      include: {
        posts: { select: { title: true }, include: { author: { select: { name: true } } } },
      },
    });
    same<NonNullable<typeof tag>["posts"], { title: string; author: { name: string } }[]>();

    const profile = await db.user.findFirst({ include: { profile: true } });
    same<NonNullable<typeof profile>["profile"], Row<typeof Profile> | null>();
  });
});

test("a find selects columns", () => {
  compiles(async () => {
    const db = inject(Db);
    const rows = await db.user.findMany({ select: { id: true, name: true } });
    same<typeof rows, { id: number; name: string }[]>();
    const one = await db.user.findUnique({ where: { id: 1 }, select: { name: true } });
    same<typeof one, { name: string } | null>();
    const both = await db.user.findMany({ select: { id: true }, include: { posts: true } });
    same<typeof both, { id: number; posts: PostRow[] }[]>();
    // @ts-expect-error: no such column
    await db.user.findMany({ select: { nope: true } });
    // @ts-expect-error: not selected
    rows[0]?.tenant_id;
    // @ts-expect-error: JSON cannot be distinct
    await db.post.findMany({ distinct: ["meta"] });
    // @ts-expect-error: JSON has no order
    await db.post.findMany({ orderBy: { meta: "asc" } });
    // @ts-expect-error: JSON is compared with null only
    await db.post.findMany({ where: { meta: { equals: "x" } } });
    await db.post.findMany({ where: { meta: null }, distinct: ["title"] });
  });
});

test("a relation in a scope may be hidden", () => {
  compiles(async () => {
    const db = inject(Db);
    const posts = await db.post.scoped({ tenant_id: "a" }).findMany({ include: { author: true } });
    same<(typeof posts)[number]["author"], UserRow | null>();
    // A user has no title to be out of scope by.
    const titled = await db.post.scoped({ title: "a" }).findMany({ include: { author: true } });
    same<(typeof titled)[number]["author"], UserRow>();
  });
});

test("a relation that may be left out is optional", () => {
  compiles(async () => {
    const db = inject(Db);
    const withPosts = Math.random() > 0.5;
    const spread = await db.user.findMany({ include: { ...(withPosts && { posts: true }) } });
    same<(typeof spread)[number]["posts"], PostRow[] | undefined>();
    const flagged = await db.user.findMany({ include: { posts: withPosts, profile: true } });
    same<(typeof flagged)[number]["posts"], PostRow[] | undefined>();
    same<(typeof flagged)[number]["profile"], Row<typeof Profile> | null>();
    const either = await db.user.findMany({
      include: { posts: withPosts ? { select: { title: true } } : true },
    });
    same<(typeof either)[number]["posts"], { title: string }[] | PostRow[]>();
  });
});

test("unknown relations and options of relations are compile errors", () => {
  compiles(async () => {
    const db = inject(Db);
    // @ts-expect-error: no such relation
    await db.user.findMany({ include: { nope: true } });
    // @ts-expect-error: no such column of the related model
    await db.user.findMany({ include: { posts: { where: { name: "a" } } } });
    // @ts-expect-error: there is one author
    await db.post.findMany({ include: { author: { take: 1 } } });
    // @ts-expect-error: no such relation of the related model
    await db.user.findMany({ include: { posts: { include: { posts: true } } } });
    // @ts-expect-error: no relations
    await db.profile.findMany({ include: { user: true } });
  });
});

test("conditions reach related rows", () => {
  compiles(async () => {
    const db = inject(Db);
    const titled: Where<typeof Post> = { title: { contains: "a" } };
    await db.user.findMany({
      where: {
        posts: { some: titled, every: { tags: { none: {} } }, none: { parent: null } },
        profile: { is: { bio: "a" }, isNot: null },
        OR: [{ edited: { some: { author: { name: "a" } } } }, { NOT: { profile: null } }],
      },
    });
    await db.tag.deleteMany({ where: { posts: { every: { replies: { some: {} } } } } });
    await db.post.updateMany({ where: { author: { name: "a" } }, data: { title: "b" } });
    await db.post.updateManyAndReturn({ where: { author: { name: "a" } }, data: { title: "b" } });
    await db.user.aggregate({ where: { posts: { none: {} } }, _count: true });
    await db.post.groupBy({ by: ["title"], where: { author: { name: "a" } }, having: {} });
    db.post.stream({ where: { tags: { some: {} } }, include: { author: true } });
    await db.user.findMany({ include: { posts: { where: { editor: { isNot: { id: 1 } } } } } });
    // @ts-expect-error: one row is not some
    await db.post.count({ where: { author: { some: {} } } });
    // @ts-expect-error: many rows are not one
    await db.user.count({ where: { posts: { is: {} } } });
    // @ts-expect-error: many rows are not null
    await db.user.count({ where: { posts: { some: null } } });
    // @ts-expect-error: no relations
    await db.profile.exists({ where: { user: {} } });
    // @ts-expect-error: many rows are not one
    await db.user.aggregate({ where: { posts: { is: {} } }, _count: true });
    // @ts-expect-error: a group has no relations
    await db.post.groupBy({ by: ["title"], having: { author: { name: "a" } } });
    // @ts-expect-error: relations are no part of a unique condition
    await db.user.findUnique({ where: { id: 1, posts: { some: {} } } });
  });
});

test("the rows of a find have the numbers of related rows", () => {
  compiles(async () => {
    const db = inject(Db);
    const users = await db.user.findMany({
      select: { id: true },
      include: { _count: { posts: true, edited: { where: { tags: { some: {} } } } } },
    });
    same<typeof users, { id: number; _count: { posts: number; edited: number } }[]>();
    for await (const user of db.user.stream({ include: { _count: { posts: true } } })) {
      same<typeof user._count, { posts: number }>();
    }
    const counted = Math.random() > 0.5;
    const some = await db.user.findFirst({ include: { _count: { posts: counted } } });
    same<NonNullable<typeof some>["_count"], { posts?: number }>();
    const posts = await db.post.findMany({
      include: { author: { include: { _count: { posts: true } } } },
    });
    same<(typeof posts)[number]["author"]["_count"]["posts"], number>();
    // @ts-expect-error: not counted
    users[0]?._count.profile;
    // @ts-expect-error: no such relation
    await db.user.findMany({ include: { _count: { nope: true } } });
    // @ts-expect-error: one row is not counted
    await db.user.findMany({ include: { _count: { profile: true } } });
    // @ts-expect-error: no such column of the related model
    await db.user.findMany({ include: { _count: { posts: { where: { name: "a" } } } } });
    // @ts-expect-error: no relations
    await db.profile.findMany({ include: { _count: { user: true } } });
  });
});

test("orders reach related rows", () => {
  compiles(async () => {
    const db = inject(Db);
    await db.post.findMany({
      orderBy: [{ author: { name: "asc" } }, { replies: { _count: "desc" } }, { title: "asc" }],
      include: { tags: { orderBy: { posts: { _count: "asc" } } } },
    });
    await db.user.findFirst({ orderBy: { profile: { bio: "asc" } } });
    await db.post.findMany({ orderBy: { parent: { author: { posts: { _count: "asc" } } } } });
    // @ts-expect-error: no such column of the related model
    await db.post.findMany({ orderBy: { author: { nope: "asc" } } });
    // @ts-expect-error: JSON has no order
    await db.post.findMany({ orderBy: { parent: { meta: "asc" } } });
    // @ts-expect-error: many rows have no title
    await db.user.findMany({ orderBy: { posts: { title: "asc" } } });
    // @ts-expect-error: one row is not counted
    await db.user.findMany({ orderBy: { profile: { _count: "asc" } } });
    // @ts-expect-error: a stream has no order by related rows
    db.post.stream({ orderBy: { author: { name: "asc" } } });
    // @ts-expect-error: a group has no relations
    await db.post.groupBy({ by: ["title"], orderBy: { author: { name: "asc" } } });
  });
});

test("conditions take expressions of Kysely on the tables of the service", () => {
  compiles(async () => {
    const db = inject(Db);
    await db.user.findMany({
      where: {
        AND: [
          (eb) =>
            eb.exists(
              eb.selectFrom("posts").select("posts.id").whereRef("author_id", "=", "users.id")
                .where("editor_id", "is", null),
            ),
          { id: 1 },
        ],
        NOT: (eb) => eb("users.name", "=", "a"),
        posts: { some: { OR: [(eb) => eb("posts.title", "=", "a")] } },
      },
    });
    await db.user.aggregate({ where: { NOT: (eb) => eb("users.name", "=", "a") }, _count: true });
    db.user.stream({ where: { AND: [(eb) => eb("users.name", "=", "a")] } });
    // @ts-expect-error: no such column
    await db.user.groupBy({ by: ["name"], where: { NOT: (eb) => eb("nope", "=", 1) } });
    // @ts-expect-error: a condition on aggregates
    await db.user.groupBy({ by: ["name"], having: { AND: [(eb) => eb("id", "=", 1)] } });
    // @ts-expect-error: no such column
    await db.user.findMany({ where: { AND: [(eb) => eb("nope", "=", 1)] } });
    // @ts-expect-error: no such table
    await db.user.findMany({ where: { AND: [(eb) => eb.exists(eb.selectFrom("nope"))] } });
    // @ts-expect-error: a column of another table
    await db.user.findMany({ where: { posts: { some: { NOT: (eb) => eb("name", "=", "a") } } } });
    // @ts-expect-error: a name is text
    await db.user.findMany({ where: { NOT: (eb) => eb("name", "=", 1) } });
    // @ts-expect-error: not null
    await db.user.findMany({ where: { NOT: (eb) => eb("name", "is", true) } });
    // @ts-expect-error: no expression
    await db.user.findMany({ where: { AND: [() => true] } });
    // @ts-expect-error: a column takes values
    await db.user.findMany({ where: { name: () => "a" } });
  });
});

test("relations go by references", () => {
  // @ts-expect-error: no reference
  compiles(() => DbService.with({ user: User }, { user: { other: belongsTo(User.name) } }));
  // @ts-expect-error: no reference
  compiles(() => DbService.with({ user: User }, { user: { others: hasMany(User.name) } }));
  // @ts-expect-error: no reference
  compiles(() => DbService.with({ user: User }, { user: { other: hasOne(User.name) } }));
  compiles(() =>
    DbService.with({ post: Post, postTag: PostTag }, {
      // @ts-expect-error: no reference
      post: { tags: manyToMany(PostTag.post_id, PostTag.id) },
    })
  );
  // @ts-expect-error: no such model
  compiles(() => DbService.with({ user: User }, { post: {} }));
  // @ts-expect-error: no model
  compiles(() => field.integer().references("users"));
});

test("writing many rows names them, or all", () => {
  compiles(async () => {
    const db = inject(Db);
    same<Awaited<ReturnType<typeof db.user.deleteMany>>, number>();
    await db.user.deleteMany({ where: { name: "a" } });
    await db.user.deleteMany({ all: true });
    await db.user.updateMany({ all: true, data: { name: "b" } });
    // @ts-expect-error: which?
    await db.user.deleteMany({});
    // @ts-expect-error: both
    await db.user.deleteMany({ all: true, where: { name: "a" } });
    // @ts-expect-error: which?
    await db.user.updateMany({ data: { name: "b" } });
    // @ts-expect-error: the primary key is not updated
    await db.user.updateMany({ where: { id: 1 }, data: { id: 2 } });
    await db.user.createMany({ data: [{ tenant_id: "a", name: "b" }] });
    // @ts-expect-error: the name is missing
    await db.user.createMany({ data: [{ tenant_id: "a" }] });
    await db.user.upsert({ where: { id: 1 }, create: { tenant_id: "a", name: "b" }, update: {} });
    // @ts-expect-error: the name is missing
    await db.user.upsert({ where: { id: 1 }, create: { tenant_id: "a" }, update: {} });
    await db.transaction(() => 1, { isolation: "serializable", retries: 2 });
    same<Awaited<ReturnType<typeof db.transaction<string>>>, string>();
    // @ts-expect-error: no such level
    await db.transaction(() => 1, { isolation: "snapshot" });
  });
});

test("hooks get the rows of their model, and the service", () => {
  compiles(() =>
    DbService.with({ user: User, post: Post }, { user: { posts: hasMany(Post.author_id) } }, {
      on: {
        user: {
          created: async (rows, db) => {
            same<typeof rows, readonly UserRow[]>();
            const user = await db.user.findFirst({ include: { posts: true } });
            same<NonNullable<typeof user>["posts"], PostRow[]>();
          },
          updated: (rows) => same<(typeof rows)[number], RowChange<typeof User>>(),
          deleted: (rows, db) => db.afterCommit(() => rows),
        },
      },
    })
  );
  // @ts-expect-error: no such model
  compiles(() => DbService.with({ user: User }, {}, { on: { post: {} } }));
  // @ts-expect-error: no such event
  compiles(() => DbService.with({ user: User }, {}, { on: { user: { saved() {} } } }));
  // @ts-expect-error: no function
  compiles(() => DbService.with({ user: User }, {}, { on: { user: { created: true } } }));
});

test("data writes related rows", () => {
  compiles(async () => {
    const db = inject(Db);
    const user = await db.user.create({
      data: {
        tenant_id: "a",
        name: "b",
        profile: { create: { bio: "" } },
        posts: {
          create: [{ tenant_id: "a", title: "", tags: { create: { name: "" } } }],
          connect: { id: 1n },
          connectOrCreate: { where: { id: 1n }, create: { tenant_id: "a", title: "" } },
        },
      },
    });
    same<typeof user, UserRow>();
    const post = { tenant_id: "a", title: "" };
    await db.post.create({ data: { ...post, author: { connect: { id: 1 } } } });
    await db.post.scoped({ tenant_id: "a" }).create({
      data: { title: "", author: { create: { name: "" } } },
    });
    await db.post.update({
      where: { id: 1n },
      data: { editor: { disconnect: true }, tags: { set: [], disconnect: { name: "" } } },
    });
    await db.user.update({ where: { id: 1 }, data: { edited: { set: { id: 1n } } } });
    await db.post.upsert({
      where: { id: 1n },
      create: { ...post, author: { connect: { id: 1 } } },
      update: { parent: { connect: { id: 2n } } },
    });
    const where = { id: 1 };
    // @ts-expect-error: the author is missing
    await db.post.create({ data: { ...post, tags: { create: { name: "" } } } });
    // @ts-expect-error: no such relation
    await db.post.create({ data: { ...post, author_id: 1, tag: { connect: { name: "" } } } });
    // @ts-expect-error: no such column of the related model
    await db.user.update({ where, data: { profile: { create: { bio: "", x: 1 } } } });
    // @ts-expect-error: the title is missing
    await db.user.update({ where, data: { posts: { create: { tenant_id: "a" } } } });
    // @ts-expect-error: the relation sets the author
    await db.user.update({ where, data: { posts: { create: { ...post, author_id: 1 } } } });
    // @ts-expect-error: not unique
    await db.post.create({ data: { ...post, author: { connect: { name: "a" } } } });
    // @ts-expect-error: a new row has nothing to disconnect
    await db.post.create({ data: { ...post, author_id: 1, tags: { disconnect: { name: "" } } } });
    // @ts-expect-error: the author is not optional
    await db.post.update({ where: { id: 1n }, data: { author: { disconnect: true } } });
    // @ts-expect-error: the author of a post is not nullable
    await db.user.update({ where, data: { posts: { set: [] } } });
    // @ts-expect-error: many rows have no relations
    await db.user.createMany({ data: [{ tenant_id: "a", name: "", posts: {} }] });
  });
});
