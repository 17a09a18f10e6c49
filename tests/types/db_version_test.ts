import {
  type CreateInput,
  DbService,
  field,
  model,
  type Row,
  type UpdateInput,
} from "../../src/db/mod.ts";
import { inject, type VersionedModel } from "../../mod.ts";
import { test } from "../support/test.ts";
import { same } from "./same.ts";

/** Compiles its body, which never runs. */
function compiles(_: () => unknown): void {}

const Post = model("posts", {
  id: field.integer().primaryKey(),
  title: field.text(),
  revision: field.version(),
});
const Tag = model("tags", { id: field.integer().primaryKey(), version: field.integer() });
class Db extends DbService.with({ post: Post, tag: Tag }) {}

test("a version is in rows, and in the where of single writes, but not in data", () => {
  same<Row<typeof Post>, { id: number; title: string; revision: number }>();
  same<keyof CreateInput<typeof Post>, "id" | "title">();
  same<keyof UpdateInput<typeof Post>, "title">();
  same<keyof UpdateInput<typeof Tag>, "version">();
  const versioned: VersionedModel = Post;
  same<(typeof Post)["~version"], "revision">();
  // @ts-expect-error: its rows have no version
  const plain: VersionedModel = Tag;
  compiles(async () => {
    const db = inject(Db);
    const data = { title: "b" };
    await db.post.update({ where: { id: 1, revision: 2 }, data });
    await db.post.update({ where: { id: 1, revision: undefined }, data });
    await db.post.delete({ where: { id: 1, revision: { equals: 2 } } });
    await db.post.purge({ where: { id: 1, revision: 2 } });
    await db.post.updateMany({ where: { revision: { gt: 2 } }, data });
    // @ts-expect-error: it names no row
    await db.post.update({ where: { revision: 2 }, data });
    // @ts-expect-error: it is a number
    await db.post.update({ where: { id: 1, revision: "2" }, data });
    // @ts-expect-error: a read has no version
    await db.post.findUnique({ where: { id: 1, revision: 2 } });
    // @ts-expect-error: it is not the version of rows
    await db.tag.update({ where: { id: 1, version: 2 }, data: {} });
    // @ts-expect-error: the repository sets it
    await db.post.update({ where: { id: 1 }, data: { revision: 2 } });
    // @ts-expect-error: the repository sets it
    await db.post.create({ data: { title: "a", revision: 1 } });
    // @ts-expect-error: no scope has it
    db.post.scoped({ revision: 1 });
    return [versioned, plain];
  });
});
