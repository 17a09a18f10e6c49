import assert from "node:assert/strict";
import { inject } from "../../mod.ts";
import {
  type CreateInput,
  DbService,
  field,
  hasMany,
  model,
  type Row,
  type UniqueWhere,
  type UpdateInput,
} from "../../src/db/mod.ts";
import { test, testOn } from "../support/test.ts";
import { messagesOf } from "./error_messages.ts";
import { same } from "./same.ts";

const testMessages = testOn(["deno"], "the compiler does the same on each runtime");

const Page = model("pages", {
  id: field.integer().primaryKey(),
  tenant: field.text(),
  slug: field.text().nullable(),
  lang: field.enum(["de, at", "en"]),
  title: field.text(),
}, { unique: [["tenant", "slug"], ["slug", "lang"]], index: ["title", ["lang", "title"]] });
const Line = model("lines", {
  order: field.integer(),
  no: field.integer(),
  text: field.text(),
  at: field.timestamp().default(() => new Date()),
}, { primaryKey: ["order", "no"] });
const Total = model("totals", { order: field.integer().references(Page), sum: field.integer() }, {
  primaryKey: false,
});
class Db extends DbService.with({ page: Page, line: Line, total: Total }, {
  page: { totals: hasMany(Total.order) },
}) {}

/** Compiles its body, which never runs. */
function compiles(_: (db: Db) => unknown): void {}

test("a condition on a unique row has keys of several columns", () => {
  const rows: readonly UniqueWhere<typeof Page>[] = [
    { id: 1 },
    { tenant_slug: { tenant: "t", slug: { equals: "a" } } },
    { slug_lang: { slug: "a", lang: "de, at" }, id: 1 },
    // @ts-expect-error: a column is missing
    { tenant_slug: { tenant: "t" } },
    // @ts-expect-error: null names no row
    { tenant_slug: { tenant: "t", slug: null } },
    // @ts-expect-error: not among the values
    { slug_lang: { slug: "a", lang: "de" } },
    // @ts-expect-error: a column of a key
    { tenant: "t" },
  ];
  assert.equal(rows.length, 7);
  compiles(async (db = inject(Db)) => {
    const where = { tenant_slug: { tenant: "t", slug: "a" } };
    const page = await db.page.upsert({ where, create: { lang: "en", title: "t" }, update: {} });
    same<typeof page, Row<typeof Page>>();
    await db.page.upsertMany({ by: "slug_lang", create: [], update: ["title"] });
    await db.page.scoped({ tenant: "t" }).upsert({
      where,
      create: { lang: "en", title: "t" },
      update: { title: "u" },
    });
  });
});

test("the columns of a primary key are given, and never updated", () => {
  same<CreateInput<typeof Line>, {
    readonly order: number;
    readonly no: number;
    readonly text: string;
    readonly at?: Date | undefined;
  }>();
  same<keyof UpdateInput<typeof Line>, "text" | "at">();
  const rows: readonly UniqueWhere<typeof Line>[] = [
    { order_no: { order: 1, no: 2 } },
    // @ts-expect-error: a column of the key
    { order: 1 },
  ];
  assert.equal(rows.length, 2);
  compiles(async (db = inject(Db)) => {
    const where = { order_no: { order: 1, no: 2 } };
    await db.line.upsert({ where, create: { text: "t" }, update: { text: "u" } });
    // @ts-expect-error: of the primary key
    await db.line.update({ where, data: { no: 3 } });
    // @ts-expect-error: not generated
    await db.line.create({ data: { order: 1, text: "t" } });
  });
});

test("a model without a key has reads only", () => {
  compiles(async (db = inject(Db)) => {
    const found = await db.total.scoped({ order: 1 }).findMany({ where: { sum: { gt: 1 } } });
    same<typeof found, { order: number; sum: number }[]>();
    const [page] = await db.page.findMany({ select: { id: true }, include: { totals: true } });
    same<typeof page, { id: number; totals: Row<typeof Total>[] } | undefined>();
    same<
      keyof typeof db.total & ("create" | "update" | "delete" | "findUnique" | "stream"),
      never
    >();
    // @ts-expect-error: no key
    await db.total.findUnique({ where: { order: 1 } });
    // @ts-expect-error: no writes
    await db.total.withDeleted().create({ data: { order: 1, sum: 1 } });
    // @ts-expect-error: it is not written with other rows
    await db.page.update({ where: { id: 1 }, data: { totals: { create: { sum: 1 } } } });
  });
});

const MODELS = `
import { DbService, field, model } from "../../src/db/mod.ts";
const fields = {
  id: field.integer().primaryKey(),
  tenant: field.text(),
  slug: field.text(),
  title: field.text(),
};
const Page = model("pages", fields, { unique: [["tenant", "slug"]] });
const User = model("users", {
  id: field.integer().primaryKey(),
  email: field.text().unique(),
  name: field.text(),
});
class Db extends DbService.with({ page: Page }) {}
declare const db: Db;
export {};
`;

/** Mistakes, and how their messages begin. */
const MISTAKES: readonly (readonly [mistake: string, start: string])[] = [
  [
    `model("t", fields, { unique: [["tenant", "nope"]] });`,
    `Type '"nope"' is not assignable to type '"`,
  ],
  [
    `field.text().references(User, { column: "name" });`,
    `Type '"name"' is not assignable to type '"email"'.`,
  ],
  [
    `model("t", fields, { index: ["nope"] });`,
    `Type '"nope"' is not assignable to type '"`,
  ],
  [
    `model("t", fields, { uniqe: [] });`,
    "Object literal may only specify known properties, but 'uniqe' does not exist in type " +
    "'ModelOptions<",
  ],
  [
    `await db.page.findUnique({ where: { tenant_slug: { tenant: "t" } } });`,
    "Property 'slug' is missing in type '{ tenant: string; }' but required in type " +
    "'{ readonly tenant: UniqueCondition<string>; readonly slug: UniqueCondition<string>; }'.",
  ],
  [
    `await db.page.delete({ where: { slug: "a" } });`,
    "Object literal may only specify known properties, and 'slug' does not exist in type " +
    "'({ readonly id: UniqueCondition<number>; } & { readonly tenant_slug?: { ",
  ],
  [
    `await db.page.upsertMany({ by: "slug", create: [], update: ["title"] });`,
    `Type '"slug"' is not assignable to type '"id" | "tenant_slug"'.`,
  ],
  [
    `await db.page.upsert({
      where: { tenant_slug: { tenant: "t", slug: "a" } }, create: {}, update: {},
    });`,
    "Type '{}' is not assignable to type '\"title is missing\"'.",
  ],
];

testMessages("the compiler reports a mistake in a key at its column", () => {
  const messages = messagesOf(MODELS, MISTAKES.map(([mistake]) => mistake));
  for (const [index, [mistake, start]] of MISTAKES.entries()) {
    const { text } = messages[index]!;
    assert.ok(text.startsWith(start), `${mistake}\n${text}`);
    assert.ok(text.length <= 330, `${text.length}: ${text}`);
  }
});
