/**
 * `include` with `take` of the first rows of each, beside a query with LATERAL by hand on
 * PostgreSQL; and on the other databases.
 *
 * @module
 */
import postgres from "postgres";
import { DbOptions, DbService, field, hasMany, model } from "../../src/db/mod.ts";
import { createDatabase, SERVERS } from "../db/support/servers.ts";
import { compare, printMachine } from "./compare.ts";

const USERS = 20;
const POSTS = 10_000;
const TAKEN = 3;
const TITLE = `include of the last ${TAKEN} of ${POSTS} posts of each of ${USERS} users`;

const User = model("users", { id: field.integer().primaryKey(), name: field.text() });
const Post = model("posts", {
  id: field.integer().primaryKey(),
  author_id: field.integer().references(User),
  title: field.text(),
});
class Blog extends DbService.with({ user: User, post: Post }, {
  user: { posts: hasMany(Post.author_id) },
}) {}

printMachine(["kysely", "postgres", "mysql2"]);
await benchSqlite();
if (SERVERS.mysql.skip) console.log(`MySQL: ${SERVERS.mysql.skip}`);
else await benchMysql();
if (SERVERS.postgres.skip) console.log(`PostgreSQL: ${SERVERS.postgres.skip}`);
else await benchPostgres();

async function benchSqlite(): Promise<void> {
  await using db = await openBlog("sqlite::memory:");
  await compare({ title: `SQLite: ${TITLE}`, peers: [{ name: "fw", run: () => find(db) }] });
}

async function benchMysql(): Promise<void> {
  await using database = await createDatabase("mysql");
  await using db = await openBlog(database.url);
  await compare({ title: `MySQL: ${TITLE}`, peers: [{ name: "fw", run: () => find(db) }] });
}

async function benchPostgres(): Promise<void> {
  await using database = await createDatabase("postgres");
  await using db = await openBlog(database.url);
  const sql = postgres(database.url, { max: 1 });
  await sql`vacuum analyze`;
  const lateral = () =>
    sql`select users.id, users.name, p.id as post_id, p.author_id, p.title
      from users left join lateral (
        select * from posts where author_id = users.id order by id desc limit ${TAKEN}
      ) p on true`.then();
  await compare({
    title: `PostgreSQL: ${TITLE}`,
    peers: [
      { name: "fw", run: () => find(db) },
      { name: "LATERAL by hand on postgres", run: lateral },
    ],
    rounds: 101,
  });
  await sql.end();
}

async function openBlog(url: string): Promise<Blog> {
  const db = await Blog.open(DbOptions.fromUrl(url));
  await db.createTables();
  const range = (length: number) => Array.from({ length }, (_, index) => index);
  await db.user.createMany({ data: range(USERS).map((n) => ({ name: `Name ${n}` })) });
  const data = range(USERS * POSTS).map((n) => ({ author_id: 1 + n % USERS, title: `Post ${n}` }));
  await db.post.createMany({ data });
  return db;
}

function find(db: Blog) {
  return db.user.findMany({ include: { posts: { orderBy: { id: "desc" }, take: TAKEN } } });
}
