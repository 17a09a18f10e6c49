/** Writes of rows together with rows that are related to them. */
import assert from "node:assert/strict";
import {
  belongsTo,
  DbOptions,
  DbService,
  field,
  hasMany,
  hasOne,
  manyToMany,
  model,
} from "../../../src/db/mod.ts";
import { dbError, testOnEach } from "../support/database.ts";

const User = model("users", {
  id: field.integer().primaryKey(),
  tenant: field.text().default("a"),
  email: field.text().unique(),
});
const Profile = model("profiles", {
  id: field.integer().primaryKey(),
  user_id: field.integer().nullable().unique().references(User),
  bio: field.text(),
});
const Post = model("posts", {
  id: field.integer().primaryKey(),
  tenant: field.text().default("a"),
  author_id: field.integer().references(User),
  editor_id: field.integer().nullable().references(User),
  title: field.text().unique(),
  changed: field.updatedAt(),
});
const Tag = model("tags", {
  name: field.text().primaryKey(),
  tenant: field.text().default("a"),
});
const PostTag = model("post_tags", {
  id: field.integer().primaryKey(),
  tenant: field.text().default("a"),
  post_id: field.integer().references(Post),
  tag: field.text().references(Tag),
});
const MODELS = { user: User, profile: Profile, post: Post, tag: Tag, postTag: PostTag };
const RELATIONS = {
  user: {
    posts: hasMany(Post.author_id),
    edited: hasMany(Post.editor_id),
    profile: hasOne(Profile.user_id),
  },
  profile: { user: belongsTo(Profile.user_id) },
  post: {
    author: belongsTo(Post.author_id),
    editor: belongsTo(Post.editor_id),
    tags: manyToMany(PostTag.post_id, PostTag.tag),
  },
  tag: { posts: manyToMany(PostTag.tag, PostTag.post_id) },
};

class Blog extends DbService.with(MODELS, RELATIONS, {
  on: {
    user: { created: (rows, db) => note(db, rows.map(({ email }) => `+user ${email}`)) },
    post: {
      created: (rows, db) => note(db, rows.map(({ title }) => `+post ${title}`)),
      updated: (rows, db) =>
        note(
          db,
          rows.map(({ before, after }) => `${after.title} ${before.editor_id}>${after.editor_id}`),
        ),
    },
    tag: { created: (rows, db) => note(db, rows.map(({ name }) => `+tag ${name}`)) },
    postTag: {
      created: (rows, db) => note(db, rows.map(({ tag }) => `+link ${tag}`)),
      deleted: (rows, db) => note(db, rows.map(({ tag }) => `-link ${tag}`)),
    },
  },
}) {
  readonly notes: string[] = [];
}

class Plain extends DbService.with(MODELS, RELATIONS) {}

function note(db: unknown, notes: readonly string[]): void {
  assert.ok(db instanceof Blog);
  db.notes.push(...notes);
}

function testBlogOnEach(name: string, run: (db: Blog | Plain) => Promise<void>): void {
  for (const Service of [Blog, Plain]) {
    testOnEach(`${name}, ${Service.name}`, async ({ url }) => {
      await using db = await Service.open<Blog | Plain>(DbOptions.fromUrl(url));
      await db.createTables();
      await run(db);
    });
  }
}

/** Returns the posts as text: title, author, editor and tags. */
async function postsOf({ post }: Blog | Plain): Promise<readonly string[]> {
  const posts = await post.findMany({
    orderBy: { title: "asc" },
    include: { author: true, editor: true, tags: { orderBy: { name: "asc" } } },
  });
  return posts.map(({ title, author, editor, tags }) =>
    `${title}: ${author?.email}, ${editor?.email}, ${tags.map(({ name }) => name)}`
  );
}

testBlogOnEach("Repository.create() creates related rows, to any depth", async (db) => {
  const row = await db.user.create({
    data: {
      email: "ada",
      profile: { create: { bio: "Countess" } },
      posts: {
        create: [
          { title: "x", tags: { create: [{ name: "red" }, { name: "blue" }] } },
          { title: "y", editor: { create: { email: "bea", edited: { create: [] } } } },
        ],
      },
    },
  });
  assert.deepEqual(row, { id: row.id, tenant: "a", email: "ada" });
  await db.post.create({
    data: {
      title: "z",
      author: { connect: { email: "ada" } },
      editor: { connectOrCreate: { where: { email: "cy" }, create: { email: "cy" } } },
      tags: {
        connect: { name: "red" },
        connectOrCreate: [
          { where: { name: "blue" }, create: { name: "blue" } },
          { where: { name: "new" }, create: { name: "new", posts: { connect: { title: "y" } } } },
        ],
        create: { name: "own" },
      },
    },
  });
  assert.deepEqual(await postsOf(db), [
    "x: ada, undefined, blue,red",
    "y: ada, bea, new",
    "z: ada, cy, blue,new,own,red",
  ]);
  const profile = await db.profile.findFirst({ include: { user: true } });
  assert.equal(profile?.user?.email, "ada");
  if (db instanceof Blog) {
    assert.deepEqual(db.notes.slice(0, 7), [
      "+user ada",
      "+post x",
      "+tag red",
      "+tag blue",
      "+link red",
      "+link blue",
      "+user bea",
    ]);
    const links = (await db.postTag.findMany()).map(({ tag }) => `+link ${tag}`).toSorted();
    assert.deepEqual(db.notes.filter((it) => it.startsWith("+link")).toSorted(), links);
  }
});

testBlogOnEach("a row that its own data has related already is not related twice", async (db) => {
  await db.user.create({ data: { email: "ada" } });
  const toNew = { posts: { connect: { title: "x" } } };
  await db.post.create({
    data: {
      title: "x",
      author: { connect: { email: "ada" } },
      tags: {
        create: { name: "red", ...toNew },
        connectOrCreate: { where: { name: "blue" }, create: { name: "blue", ...toNew } },
      },
    },
  });
  assert.deepEqual(await postsOf(db), ["x: ada, undefined, blue,red"]);
});

class Labelled extends DbService.with(MODELS, RELATIONS, {
  on: {
    post: {
      async created(rows, db) {
        assert.ok(db instanceof Labelled);
        const data = rows.map(({ id }) => ({ post_id: id, tag: "new" }));
        await db.postTag.createMany({ data });
      },
    },
  },
}) {}

testOnEach("a row that its hook has related already is not related twice", async ({ url }) => {
  await using db = await Labelled.open(DbOptions.fromUrl(url));
  await db.createTables();
  await db.tag.create({ data: { name: "new" } });
  await db.post.create({
    data: {
      title: "x",
      author: { create: { email: "ada" } },
      tags: { connect: { name: "new" } },
    },
  });
  assert.equal(await db.postTag.count(), 1);
});

testBlogOnEach("Repository.upsert() does not repeat what fails by another row", async (db) => {
  await db.user.create({ data: { email: "ada", posts: { create: { title: "x" } } } });
  const taken = dbError(
    "UniqueViolation",
    "Cannot upsert users: the value of title is already taken",
    ["title"],
  );
  const posts = { create: [{ title: "y" }, { title: "x" }] };
  const upsert = () =>
    db.user.upsert({ where: { email: "bob" }, create: { posts }, update: { posts } });
  for (const isInside of [false, true]) {
    if (db instanceof Blog) db.notes.length = 0;
    await assert.rejects(isInside ? db.transaction(upsert) : upsert(), taken);
    if (db instanceof Blog) assert.deepEqual(db.notes, ["+user bob"]);
    assert.equal(await db.user.count(), 1);
  }
  const author = { connectOrCreate: { where: { email: "eve" }, create: { email: "eve", posts } } };
  await assert.rejects(db.post.create({ data: { title: "z", author } }), {
    code: "UniqueViolation",
  });
  if (db instanceof Blog) assert.deepEqual(db.notes.slice(1), ["+user eve"]);
});

testBlogOnEach("Repository.update() connects, disconnects and sets related rows", async (db) => {
  const { id } = await db.user.create({
    data: { email: "ada", posts: { create: [{ title: "x" }, { title: "y" }, { title: "z" }] } },
  });
  const titles = (...names: string[]) => names.map((title) => ({ title }));
  await db.user.update({ where: { id }, data: { edited: { connect: titles("x", "y", "x") } } });
  await db.user.update({ where: { id }, data: { edited: { disconnect: { title: "x" } } } });
  assert.deepEqual(await editedBy(db, id), ["y"]);
  await db.user.update({ where: { id }, data: { edited: { disconnect: titles("x", "none") } } });
  await db.user.update({ where: { id }, data: { edited: { set: titles("z", "x") } } });
  assert.deepEqual(await editedBy(db, id), ["x", "z"]);
  await db.user.update({
    where: { id },
    data: {
      email: "Ada",
      edited: { set: [], connect: { title: "y" }, create: { title: "w", author_id: id } },
    },
  });
  assert.deepEqual(await editedBy(db, id), ["w", "y"]);
  await db.tag.createMany({ data: [{ name: "red" }, { name: "blue" }, { name: "green" }] });
  const where = { title: "x" };
  const names = (...names: string[]) => names.map((name) => ({ name }));
  await db.post.update({ where, data: { tags: { connect: names("red", "blue", "red") } } });
  await db.post.update({ where, data: { tags: { connect: names("red") } } });
  assert.deepEqual((await postsOf(db))[1], "x: Ada, undefined, blue,red");
  await db.post.update({ where, data: { tags: { set: names("green", "red") } } });
  assert.deepEqual((await postsOf(db))[1], "x: Ada, undefined, green,red");
  await db.post.update({ where, data: { tags: { disconnect: names("red", "none", "blue") } } });
  assert.deepEqual((await postsOf(db))[1], "x: Ada, undefined, green");
  await db.tag.update({ where: { name: "green" }, data: { posts: { set: titles("y") } } });
  assert.deepEqual((await postsOf(db)).slice(1), [
    "x: Ada, undefined, ",
    "y: Ada, Ada, green",
    "z: Ada, undefined, ",
  ]);
  await db.post.update({
    where: { title: "y" },
    data: { editor: { disconnect: true }, title: "Y" },
  });
  assert.deepEqual(await editedBy(db, id), ["w"]);
  if (!(db instanceof Blog)) return;
  assert.deepEqual(db.notes.filter((it) => it.includes("link")), [
    "+link red",
    "+link blue",
    "-link blue",
    "+link green",
    "-link red",
    "-link green",
    "+link green",
  ]);
  assert.ok(db.notes.includes(`Y ${id}>null`));
});

testBlogOnEach("Repository.update() replaces the row of a relation to one", async (db) => {
  const { id } = await db.user.create({
    data: { email: "ada", profile: { create: { bio: "1" } } },
  });
  const bios = async () =>
    (await db.profile.findMany({ orderBy: { bio: "asc" } })).map((
      { bio, user_id },
    ) => [bio, user_id]);
  await db.user.update({ where: { id }, data: { profile: { create: { bio: "2" } } } });
  assert.deepEqual(await bios(), [["1", null], ["2", id]]);
  const [first] = await db.profile.findMany({ where: { bio: "1" } });
  await db.user.update({ where: { id }, data: { profile: { connect: { id: first!.id } } } });
  await db.user.update({ where: { id }, data: { profile: { connect: { id: first!.id } } } });
  assert.deepEqual(await bios(), [["1", id], ["2", null]]);
  await db.user.update({ where: { id }, data: { profile: { disconnect: true } } });
  assert.deepEqual(await bios(), [["1", null], ["2", null]]);
});

testBlogOnEach("Repository.upsert() writes related rows", async (db) => {
  const upsert = (editor: string) =>
    db.post.upsert({
      where: { title: "x" },
      create: { author: { create: { email: "ada" } }, tags: { create: { name: "new" } } },
      update: {
        editor: { connectOrCreate: { where: { email: editor }, create: { email: editor } } },
        tags: { set: [] },
      },
    });
  await upsert("bea");
  assert.deepEqual(await postsOf(db), ["x: ada, undefined, new"]);
  await upsert("bea");
  assert.deepEqual(await postsOf(db), ["x: ada, bea, "]);
  await upsert("ada");
  assert.deepEqual(await postsOf(db), ["x: ada, ada, "]);
  await db.post.upsert({
    where: { title: "x" },
    create: { author: { create: { email: "none" } } },
    update: {},
  });
  assert.equal(await db.user.count(), 2);
});

testBlogOnEach(
  "Repository refuses rows to connect that are missing or out of scope",
  async (db) => {
    await db.user.createMany({ data: [{ email: "ada" }, { email: "bea", tenant: "b" }] });
    await db.tag.createMany({ data: [{ name: "red" }, { name: "blue", tenant: "b" }] });
    await db.post.create({
      data: { title: "y", tenant: "b", author: { connect: { email: "bea" } } },
    });
    const own = db.post.scoped({ tenant: "a" });
    const users = db.user.scoped({ tenant: "a" });
    const create = (data: object) => () =>
      own.create({ data: { title: "x", author: { connect: { email: "ada" } }, ...data } });
    const refusals: readonly (readonly [() => Promise<unknown>, string])[] = [
      [
        create({ author: { connect: { email: "bea" } } }),
        "create posts: there is no row that author.connect names",
      ],
      [
        create({ tags: { connect: [{ name: "red" }, { name: "blue" }] } }),
        "create posts: there is no row that tags.connect names",
      ],
      [
        () =>
          users.create({
            data: {
              email: "cy",
              posts: { create: { title: "x", tags: { connect: { name: "blue" } } } },
            },
          }),
        "create users: there is no row that posts.create.tags.connect names",
      ],
      [
        () =>
          users.update({
            where: { email: "ada" },
            data: { email: "x", posts: { connect: { title: "y" } } },
          }),
        "update users: there is no row that posts.connect names",
      ],
      [
        () =>
          users.update({
            where: { email: "ada" },
            data: { email: "x", edited: { set: [{ title: "y" }] } },
          }),
        "update users: there is no row that edited.set names",
      ],
      [
        () =>
          users.update({ where: { email: "bea" }, data: { posts: { create: { title: "x" } } } }),
        "update users: there is no such row",
      ],
    ];
    for (const [run, message] of refusals) {
      await assert.rejects(run, dbError("RowNotFound", `Cannot ${message}`), message);
      await db.transaction(() => assert.rejects(run, { code: "RowNotFound" }));
    }
    const taken = own.create({
      data: {
        title: "x",
        author: { connectOrCreate: { where: { email: "bea" }, create: { email: "bea" } } },
      },
    });
    await assert.rejects(taken, { code: "UniqueViolation" });
    assert.deepEqual(await postsOf(db), ["y: bea, undefined, "]);
    assert.deepEqual([await db.user.count(), await db.tag.count(), await db.postTag.count()], [
      2,
      2,
      0,
    ]);
  },
);

testBlogOnEach(
  "Repository creates related rows in its scope, and leaves others alone",
  async (db) => {
    const own = db.post.scoped({ tenant: "b" });
    const { id } = await own.create({
      data: {
        title: "x",
        author: { create: { email: "ada" } },
        tags: { create: [{ name: "red" }, { name: "new" }] },
      },
    });
    const tenants = [db.user, db.post, db.tag, db.postTag].map((it) =>
      (it as typeof db.tag).count({ where: { tenant: "b" } })
    );
    assert.deepEqual(await Promise.all(tenants), [1, 1, 2, 2]);
    await db.tag.create({ data: { name: "blue" } });
    await db.postTag.createMany({
      data: [{ post_id: id, tag: "blue" }, { post_id: id, tag: "red" }],
    });
    await own.update({ where: { id }, data: { tags: { set: { name: "new" } } } });
    const links = await db.postTag.findMany({ orderBy: { id: "asc" } });
    assert.deepEqual(links.map(({ tenant, tag }) => tenant + tag), ["bnew", "ablue", "ared"]);
  },
);

testBlogOnEach("Repository refuses mistakes in data of relations", async (db) => {
  await db.user.create({ data: { email: "ada", posts: { create: { title: "x" } } } });
  const create = (data: object) => () =>
    db.post.create({ data: { title: "y", author_id: 1, ...data } });
  const update = (data: object) => () => db.user.update({ where: { id: 1 }, data });
  const mistakes: (readonly [() => Promise<unknown>, string])[] = [
    [create({ tags: { make: {} } }), 'create posts: tags takes no "make"'],
    [create({ tags: { set: [] } }), 'create posts: tags takes no "set"'],
    [create({ tags: true }), "create posts: tags is not a plain object"],
    [create({ tags: { create: [1] } }), "create posts: tags.create is not a plain object"],
    [create({ tags: { connect: {} } }), "create posts: where names no unique column"],
    [
      create({ tags: { connectOrCreate: { create: {} } } }),
      "create posts: tags.connectOrCreate is not a plain object of where and create",
    ],
    [
      create({ author: { connect: { id: 1 } } }),
      "create posts: author_id is set by data and by a relation",
    ],
    [
      create({ editor: { connect: { id: 1 }, create: {} } }),
      "create posts: editor takes one of create, connect, connectOrCreate",
    ],
    [
      update({ posts: { create: { title: "y", author_id: 1 } } }),
      "update users: author_id is set by posts.create and by a relation",
    ],
    [
      update({ posts: { create: [{ title: "y", author_id: 1 }, {}] } }),
      "update users: author_id is set by posts.create and by a relation",
    ],
    [
      update({ posts: { disconnect: { title: "x" } } }),
      "update users: posts disconnects no row: author_id is not nullable",
    ],
    [
      update({ posts: { set: [] } }),
      "update users: posts disconnects no row: author_id is not nullable",
    ],
    [update({ profile: { disconnect: {} } }), "update users: profile.disconnect is not true"],
    [
      () =>
        db.post.update({ where: { title: "x" }, data: { author: { disconnect: true } } as object }),
      "update posts: author is not optional",
    ],
    [
      () =>
        db.post.scoped({ author_id: 1 }).create({
          data: { title: "y", author: { connect: { id: 1 } } } as never,
        }),
      "create posts: the scope sets author_id",
    ],
  ];
  const none = 'there is no column "__proto__"';
  mistakes.push(
    ...[
      '{ "__proto__": {}, "tags": {} }',
      '{ "tags": { "create": { "name": "x", "__proto__": {}, "posts": {} } } }',
      '{ "tags": { "create": [{ "name": "x", "__proto__": {} }, { "name": "y" }] } }',
      '{ "editor": { "create": { "email": "x", "__proto__": {}, "posts": {} } } }',
    ].map((data) => [create(JSON.parse(data)), `create posts: ${none}`] as const),
    [
      update(
        JSON.parse(
          '{ "posts": { "create": [{ "title": "x", "__proto__": {} }, { "title": "y" }] } }',
        ),
      ),
      `update users: ${none}`,
    ],
  );
  for (const [run, message] of mistakes) {
    await assert.rejects(run, { name: "TypeError", message: `Cannot ${message}` });
  }
  await assert.rejects(create({ author_id: undefined, editor: {} }), { code: "NotNullViolation" });
  let deep: object = { title: "z" };
  for (let depth = 0; depth < 60; depth++) {
    deep = {
      title: `${depth}`,
      author: { create: { email: `${depth}`, posts: { create: deep } } },
    };
  }
  await assert.rejects(create({ author_id: undefined, ...deep }), {
    message: "Cannot create posts: data is nested over 100 levels deep",
  });
  assert.deepEqual(await postsOf(db), ["x: ada, undefined, "]);
});

async function editedBy({ post }: Blog | Plain, id: number): Promise<readonly string[]> {
  const posts = await post.findMany({ where: { editor_id: id }, orderBy: { title: "asc" } });
  return posts.map(({ title }) => title);
}
