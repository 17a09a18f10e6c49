import { DbService, field, model } from "../../../src/db/mod.ts";
import { type Operation, same, testStatementsOf } from "../support/statements.ts";

const Page = model("pages", {
  id: field.integer().primaryKey(),
  tenant: field.text(),
  slug: field.text(),
}, { unique: [["tenant", "slug"]] });
class Db extends DbService.with({ page: Page }) {}

const ROW = '"id", "tenant", "slug"';
const READ = `select ${ROW} from "pages" where`;
const KEY = '("tenant" = ? and "slug" = ?)';
const INSERT = 'insert into "pages" ("tenant", "slug") values (?, ?)';
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
        ['update "pages" set "slug" = ? where "id" = ?', "b", 1],
        [`${READ} "id" = ? for update`, 1],
        ["commit"],
      ],
    },
  ],
];

testStatementsOf(Db, {
  title: "Repository finds rows by keys of several columns by these statements",
  operations: OPERATIONS,
});
