import assert from "node:assert/strict";
import { type RawBuilder, sql } from "kysely";
import { DbOptions, DbService, field, model } from "../../../src/db/mod.ts";
import { page } from "../../support/docs.ts";
import { importProgram } from "../../support/program.ts";
import { type Brand, testOnEach } from "../support/database.ts";

const Article = model("articles", { id: field.integer().primaryKey(), body: field.text() });
class Db extends DbService.with({ article: Article }) {}

/** The index of each brand. */
const INDEXES: Readonly<Record<Brand, readonly string[]>> = {
  postgres: ["create index articles_words on articles using gin (to_tsvector('english', body))"],
  mysql: ["create fulltext index articles_words on articles (body)"],
  sqlite: [
    "create virtual table article_words using fts5 (body, content='articles', content_rowid='id')",
    `create trigger article_words after insert on articles begin
       insert into article_words (rowid, body) values (new.id, new.body);
     end`,
  ],
};

/** The name of each brand's condition on the page. */
const CONDITIONS = { postgres: "onPostgres", mysql: "onMysql", sqlite: "onSqlite" } as const;

/** What the page declares. */
type TextPage = Readonly<
  Record<typeof CONDITIONS[Brand], (words: string) => RawBuilder<boolean>>
>;

testOnEach("a where takes the full-text search of the page about text", async ({ brand, url }) => {
  await using db = await Db.open(DbOptions.fromUrl(url));
  await db.createTables();
  for (const index of INDEXES[brand]) await sql.raw(index).execute(db.kysely);
  await db.article.createMany({
    data: ["A fox and a hound", "Hounds of the night", "An owl"].map((body) => ({ body })),
  });
  const code = page("text").block("ts", "## Full-text search");
  const conditions = await importProgram(code, Object.values(CONDITIONS)) as TextPage;
  const condition = conditions[CONDITIONS[brand]];
  const search = (words: string) =>
    db.article.findMany({ where: { AND: [() => condition(words), { id: { lt: 9 } }] } });
  assert.deepEqual((await search("fox")).map(({ id }) => id), [1]);
  assert.deepEqual(await search("nothing"), []);
});
