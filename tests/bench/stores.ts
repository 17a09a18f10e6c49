/**
 * Users and their posts on PostgreSQL: the same operations by fw, by the driver by hand, and by
 * Kysely. Each has a pool of 10 connections of its own.
 *
 * @module
 */
import { Kysely } from "kysely";
import { jsonArrayFrom } from "kysely/helpers/postgres";
import { PostgresJSDialect } from "kysely-postgres-js";
import postgres from "postgres";
import { User } from "../../examples/users.ts";
import { DbOptions, DbService, field, hasMany, model } from "../../src/db/mod.ts";
import { type NewUser, newUsers, ROWS } from "./users.ts";

/** How many users have posts, and how many each of them has. */
export const AUTHORS = 100;
export const POSTS = 10;
/** How many users a page has. */
export const PAGE = 20;

/** What each of the peers can do. */
export interface Store extends AsyncDisposable {
  readonly name: string;
  /** Finds one user by key. */
  one(id: number): Promise<unknown>;
  /** Finds the users of a page that begins after a key. */
  page(after: number): Promise<unknown>;
  /** Finds the users that have posts, with their posts. */
  authors(): Promise<unknown>;
  /** Creates a user, and returns it. */
  create(user: NewUser): Promise<unknown>;
  /** Creates users. */
  createMany(users: readonly NewUser[]): Promise<unknown>;
  /** Changes a user, and returns it. */
  rename(id: number, name: string): Promise<unknown>;
}

const Post = model("posts", {
  id: field.integer().primaryKey(),
  author_id: field.integer().references(User),
  title: field.text(),
});
class Blog extends DbService.with({ user: User, post: Post }, {
  user: { posts: hasMany(Post.author_id) },
}) {}

interface Tables {
  users: { readonly id?: number } & NewUser;
  posts: { readonly id?: number; readonly author_id: number; readonly title: string };
}

/** Creates the tables, and fills them. */
export async function fillStore(url: string): Promise<void> {
  await using db = await Blog.open(DbOptions.fromUrl(url));
  await db.createTables();
  await db.user.createMany({ data: newUsers(ROWS) });
  const posts = Array.from({ length: AUTHORS * POSTS }, (_, n) => ({
    author_id: 1 + n % AUTHORS,
    title: `Post ${n}`,
  }));
  await db.post.createMany({ data: posts });
}

/** Opens a database of fw. */
export async function fwStore(url: string): Promise<Store> {
  const db = await Blog.open(DbOptions.fromUrl(url));
  return {
    name: "fw",
    one: (id) => db.user.findUnique({ where: { id } }),
    page: (id) =>
      db.user.findMany({ where: { id: { gt: id } }, orderBy: { id: "asc" }, take: PAGE }),
    authors: () => db.user.findMany({ where: { id: { lte: AUTHORS } }, include: { posts: true } }),
    create: (data) => db.user.create({ data }),
    createMany: (data) => db.user.createMany({ data }),
    rename: (id, name) => db.user.update({ where: { id }, data: { name } }),
    [Symbol.asyncDispose]: () => db.close(),
  };
}

/** Connects the driver, without anything above it. */
export function rawStore(url: string): Store {
  const sql = postgres(url, { max: 10, types: { bigint: { ...postgres.BigInt, parse: Number } } });
  const columns = sql`id, tenant_id, email, name, active`;
  return {
    name: "postgres",
    one: (id) => sql`select ${columns} from users where id = ${id}`.then(),
    page: (id) =>
      sql`select ${columns} from users where id > ${id} order by id limit ${PAGE}`.then(),
    async authors() {
      const users = await sql`select ${columns} from users where id <= ${AUTHORS}`;
      const ids = users.map(({ id }) => id);
      const posts = await sql`select id, author_id, title from posts where author_id = any(${ids})`;
      const byAuthor = Map.groupBy(posts, ({ author_id }) => author_id);
      return users.map((user) => ({ ...user, posts: byAuthor.get(user.id) ?? [] }));
    },
    create: (user) => sql`insert into users ${sql({ ...user })} returning ${columns}`.then(),
    createMany: (users) => sql`insert into users ${sql(users)}`.then(),
    rename: (id, name) =>
      sql`update users set name = ${name} where id = ${id} returning ${columns}`.then(),
    [Symbol.asyncDispose]: () => sql.end(),
  };
}

/** Connects Kysely over the same driver. */
export function kyselyStore(url: string): Store {
  const types = { bigint: { ...postgres.BigInt, parse: Number } };
  const db = new Kysely<Tables>({
    dialect: new PostgresJSDialect({ postgres: postgres(url, { max: 10, types }) }),
  });
  const users = () => db.selectFrom("users").selectAll();
  return {
    name: "Kysely",
    one: (id) => users().where("id", "=", id).executeTakeFirst(),
    page: (id) => users().where("id", ">", id).orderBy("id").limit(PAGE).execute(),
    authors: () =>
      users().where("id", "<=", AUTHORS).select((eb) =>
        jsonArrayFrom(
          eb.selectFrom("posts").selectAll("posts").whereRef("posts.author_id", "=", "users.id"),
        ).as("posts")
      ).execute(),
    create: (user) => db.insertInto("users").values(user).returningAll().executeTakeFirst(),
    createMany: (users) => db.insertInto("users").values(users).execute(),
    rename: (id, name) =>
      db.updateTable("users").set({ name }).where("id", "=", id).returningAll().executeTakeFirst(),
    [Symbol.asyncDispose]: () => db.destroy(),
  };
}
