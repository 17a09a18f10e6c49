import { belongsTo, DbService, field, hasMany, manyToMany, model } from "../../../src/db/mod.ts";
import { type Operation, same, testStatementsOf } from "../support/statements.ts";

const Page = model("pages", {
  id: field.integer().primaryKey(),
  tenant: field.text(),
  slug: field.text(),
}, { unique: [["tenant", "slug"]] });
const Line = model("lines", {
  order: field.integer(),
  no: field.integer(),
  text: field.text(),
}, { primaryKey: ["order", "no"] });
const Link = model("links", {
  page_id: field.integer().references(Page),
  tag_id: field.integer().references(Page),
}, { primaryKey: ["page_id", "tag_id"] });
class Db extends DbService.with({ page: Page, line: Line, link: Link }, {
  page: { links: hasMany(Link.page_id), tags: manyToMany(Link.page_id, Link.tag_id) },
  link: { page: belongsTo(Link.page_id) },
}) {}

const ROW = '"id", "tenant", "slug"';
const READ = `select ${ROW} from "pages" where`;
const KEY = '("tenant" = ? and "slug" = ?)';
const INSERT = 'insert into "pages" ("tenant", "slug") values (?, ?)';
const LINES = 'select "order", "no", "text" from "lines" where';
const LINKS = 'select "page_id", "tag_id" from "links" where';
const REMOVE = 'delete from "links" where ("page_id" = ? and "tag_id"';
const LINKED =
  'exists (select 1 as "one" from "pages" where "pages"."id" = "links"."page_id" and ' +
  'exists (select 1 as "one" from "links" as "~2" where "~2"."page_id" = "pages"."id" and ' +
  '"~2"."tag_id" = ?))';
const PAGES = 'select "pages"."id" as "~key" from "pages" where exists (select 1 as "one" from ' +
  '"links" as "~2" where "~2"."page_id" = "pages"."id" and "~2"."tag_id" = ?)';
const where = { tenant_slug: { tenant: "t", slug: "a" } };

const OPERATIONS: readonly Operation<Db>[] = [
  [({ page }) => page.findUnique({ where }), same([`${READ} ${KEY}`, "t", "a"])],
  [
    ({ page }) => page.scoped({ tenant: "t" }).findUnique({ where, select: { id: true } }),
    same([
      'select "id" from "pages" where ("tenant" == ? and ("tenant" = ? and "slug" = ?))',
      "t",
      "t",
      "a",
    ]),
  ],
  [
    ({ page }) => page.upsert({ where, create: {}, update: {} }),
    {
      ...same(
        [`${READ} ${KEY}`, "t", "a"],
        [`${INSERT} on conflict ("tenant", "slug") do nothing returning ${ROW}`, "t", "a"],
      ),
      mysql: [
        [`${READ} ${KEY}`, "t", "a"],
        ["begin"],
        [INSERT, "t", "a"],
        [`${READ} "id" = last_insert_id() for update`],
        ["commit"],
      ],
    },
  ],
  [
    ({ page }) => page.update({ where, data: { slug: "b" } }),
    {
      ...same([
        `update "pages" set "slug" = ? where ${KEY} returning ${ROW}`,
        "b",
        "t",
        "a",
      ]),
      mysql: [
        ["begin"],
        [`${READ} ${KEY} for update`, "t", "a"],
        ['update "pages" set "slug" = ? where "id" = ?', "b", 3],
        [`${READ} "id" = ? for update`, 3],
        ["commit"],
      ],
    },
  ],
  [
    ({ line }) => line.findMany({ take: 2, orderBy: { no: "desc" } }),
    same([`${LINES} 1 = 1 order by "no" desc, "order" asc limit ?`, 2]),
  ],
  [
    ({ line }) => line.update({ where: { order_no: { order: 1, no: 2 } }, data: { text: "u" } }),
    {
      ...same([
        'update "lines" set "text" = ? where ("order" = ? and "no" = ?) ' +
        'returning "order", "no", "text"',
        "u",
        1,
        2,
      ]),
      mysql: [
        ["begin"],
        ['update "lines" set "text" = ? where ("order" = ? and "no" = ?)', "u", 1, 2],
        [`${LINES} ("order" = ? and "no" = ?) for update`, 1, 2],
        ["commit"],
      ],
    },
  ],
  [
    async ({ page }) => {
      const tags = { set: [] };
      await page.update({ where: { id: 1 }, data: { tags } });
    },
    {
      sqlite: [
        ["begin immediate"],
        [`${READ} "id" = ?`, 1],
        [`${LINKS} "page_id" = ?`, 1],
        [`${REMOVE} in (select value from json_each(?)))`, 1, "[1,2]"],
        ["commit"],
      ],
      postgres: [
        ["begin"],
        [`${READ} "id" = ? for update`, 1],
        [`${LINKS} "page_id" = ? for update`, 1],
        [`${REMOVE} = any(?))`, 1, "{1,2}"],
        ["commit"],
      ],
      mysql: [
        ["begin"],
        [`${READ} "id" = ? for update`, 1],
        [`${LINKS} "page_id" = ? for update`, 1],
        [`${REMOVE} in (?, ?))`, 1, 1, 2],
        ["commit"],
      ],
    },
  ],
  [
    ({ link }) => link.deleteMany({ where: { page: { links: { some: { tag_id: 7 } } } } }),
    {
      ...same([`delete from "links" where ${LINKED}`, 7]),
      sqlite: [
        [
          'select (select count(*) as "count" from (select 1 as "one" from ' +
          `(${PAGES}) as "~keys" inner join "links" on "~keys"."~key" = "links"."page_id" ` +
          'limit 10001) as "~found") as "~0"',
          7,
        ],
        [`delete from "links" where ("links"."page_id" in (${PAGES}) and ${LINKED})`, 7, 7],
      ],
      mysql: [[
        'delete from "links" where ("page_id", "tag_id") in (select "page_id", "tag_id" from ' +
        `(select distinct "page_id", "tag_id" from "links" where ${LINKED}) as "~rows")`,
        7,
      ]],
    },
  ],
];

testStatementsOf(Db, {
  title: "Repository finds rows by keys of several columns by these statements",
  operations: OPERATIONS,
  async fill({ page, link, line }) {
    await page.createMany({ data: ["x", "y"].map((slug) => ({ tenant: "t", slug })) });
    await link.createMany({ data: [1, 2].map((tag_id) => ({ page_id: 1, tag_id })) });
    await line.createMany({ data: [1, 2].map((no) => ({ order: 1, no, text: "" })) });
  },
});
