import {
  belongsTo,
  type CreateInput,
  DbService,
  field,
  hasMany,
  model,
  type Repository,
  type Row,
} from "../../src/db/mod.ts";
import { inject } from "../../mod.ts";
import { test } from "../support/test.ts";
import { same } from "./same.ts";

/** Compiles its body, which never runs. */
function compiles(_: () => unknown): void {}

const User = model("users", {
  id: field.integer().primaryKey(),
  tenant_id: field.text(),
  deleted_at: field.deletedAt(),
});
const Post = model("posts", {
  id: field.integer().primaryKey(),
  author_id: field.integer().references(User),
  tenant_id: field.text(),
});
class Db extends DbService.with({ user: User, post: Post }, {
  user: { posts: hasMany(Post.author_id) },
  post: { author: belongsTo(Post.author_id) },
}) {}

type UserRow = { id: number; tenant_id: string; deleted_at: Date | null };

test("a mark is in rows, and in the data of withDeleted() only", () => {
  same<Row<typeof User>, UserRow>();
  compiles(async () => {
    const db = inject(Db);
    const repository: Repository<typeof User, "deleted_at"> = db.user as never;
    same<typeof repository, Repository<typeof User>>();
    const data: CreateInput<typeof User> = { tenant_id: "a" };
    same<Awaited<ReturnType<typeof db.user.create>>, UserRow>();
    await db.user.create({ data });
    await db.user.findMany({ where: { deleted_at: null }, orderBy: { deleted_at: "asc" } });
    const where = { id: 1 };
    const restored = { deleted_at: null };
    // @ts-expect-error: delete() sets it
    await db.user.create({ data: { tenant_id: "a", deleted_at: null } });
    // @ts-expect-error: delete() sets it
    await db.user.update({ where, data: restored });
    // @ts-expect-error: delete() sets it
    await db.user.scoped({ tenant_id: "a" }).update({ where, data: restored });
    // @ts-expect-error: no scope has it
    db.user.scoped({ deleted_at: new Date() });
    // @ts-expect-error: no scope has it
    db.user.withDeleted().scoped({ deleted_at: new Date() });
    await db.user.withDeleted().update({ where, data: restored });
    await db.post.create({ data: { tenant_id: "a", author: { create: data } } });
    await db.post.create({
      data: {
        tenant_id: "a",
        // @ts-expect-error: delete() sets it
        author: { create: { tenant_id: "a", deleted_at: null } },
      },
    });
    await db.post.withDeleted().create({
      data: { tenant_id: "a", author: { create: { tenant_id: "a", deleted_at: null } } },
    });
    await db.user.scoped({ tenant_id: "a" }).withDeleted().updateMany({ where, data: restored });
    await db.user.withDeleted().scoped({ tenant_id: "a" }).update({ where, data: restored });
    const own = db.user.scoped({ tenant_id: "a" }).withDeleted();
    // @ts-expect-error: the scope sets it
    await own.update({ where, data: { tenant_id: "b" } });
    await db.user.upsertMany({ by: "id", create: [], update: ["tenant_id"] });
    // @ts-expect-error: delete() sets it
    await db.user.upsertMany({ by: "id", create: [], update: ["deleted_at"] });
    same<Awaited<ReturnType<typeof db.user.purge>>, UserRow>();
    await db.user.withDeleted().purgeMany({ where: { deleted_at: { lt: new Date() } } });
    // @ts-expect-error: neither a condition nor all
    await db.user.purgeMany({});
  });
});

test("a related row that may be marked is null, unless withDeleted() sees it", () => {
  compiles(async () => {
    const db = inject(Db);
    const [post] = await db.post.findMany({ include: { author: true } });
    same<NonNullable<typeof post>["author"], UserRow | null>();
    const [seen] = await db.post.withDeleted().findMany({ include: { author: true } });
    same<NonNullable<typeof seen>["author"], UserRow>();
    const own = db.post.withDeleted().scoped({ tenant_id: "a" });
    const [scoped] = await own.findMany({ include: { author: true } });
    same<NonNullable<typeof scoped>["author"], UserRow | null>();
    const [user] = await db.user.findMany({ include: { posts: { include: { author: true } } } });
    same<NonNullable<typeof user>["posts"][number]["author"], UserRow | null>();
  });
});
