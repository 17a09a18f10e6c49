import assert from "node:assert/strict";
import { testOn } from "../support/test.ts";
import { messagesOf } from "./error_messages.ts";

const test = testOn(["deno"], "the compiler does the same on each runtime");

const MODELS = `
import { belongsTo, DbService, field, hasMany, model } from "../../src/db/mod.ts";
const User = model("users", {
  id: field.integer().primaryKey(),
  tenant_id: field.text(),
  email: field.text().unique(),
  name: field.text(),
  nick: field.text().nullable(),
  age: field.integer().nullable(),
  active: field.boolean().default(true),
  joined_at: field.timestamp().default(() => new Date()),
});
const Post = model("posts", {
  id: field.uuid().primaryKey(),
  author_id: field.integer().references(User),
  title: field.text(),
  body: field.text().default(""),
});
const Job = model("jobs", { id: field.uuid().primaryKey(), role: field.enum(["in", "out"]) });
class Db extends DbService.with({ user: User, post: Post, job: Job }, {
  user: { posts: hasMany(Post.author_id) },
  post: { author: belongsTo(Post.author_id) },
}) {}
declare const db: Db;
declare const optional: { email: string; name?: string; tenant_id: string };
export {};
`;

/** The most characters of a message, and of all that the compiler adds to it. */
const MAX_LENGTH = 330;
/** The same, of a mistake in a condition on related rows, whose type has those of all tables. */
const MAX_RELATION_LENGTH = 370;

/** A mistake, the start of its message, and other parts of it. */
type Mistake = readonly [mistake: string, start: string, ...parts: string[]];

const UNKNOWN = (name: string) =>
  `Object literal may only specify known properties, and '${name}' does not exist in type '`;

const DATA: readonly Mistake[] = [
  [
    `await db.user.create({ data: { email: "e" } });`,
    "Type '{ email: string; }' is not assignable to type '\"",
    '"name is missing"',
    '"tenant_id is missing"',
  ],
  [
    `await db.user.create({ data: optional });`,
    "Type '{ email: string; name?: string; tenant_id: string; }' is not assignable to type " +
    "'\"name is missing\"'.",
  ],
  [
    `await db.post.create({ data: { author_id: 1, title: "t" } });`,
    "Type '{ author_id: number; title: string; }' is not assignable to type '\"id is missing\"'.",
  ],
  [
    `await db.user.scoped({ tenant_id: "a" }).create({ data: { email: "e" } });`,
    "Type '{ email: string; }' is not assignable to type '\"name is missing\"'.",
  ],
  [
    `await db.user.createMany({ data: [{ tenant_id: "a", email: "e" }] });`,
    "Type '{ tenant_id: string; email: string; }' is not assignable to type " +
    "'\"name is missing\"'.",
  ],
  [
    `await db.user.upsert({ where: { id: 1 }, create: { tenant_id: "a", email: "e" }, update: {} });`,
    "Type '{ tenant_id: string; email: string; }' is not assignable to type " +
    "'\"name is missing\"'.",
  ],
  [
    `await db.user.upsert({ where: { id: 1 }, create: { tenant_id: "a", name: "n" }, update: {} });`,
    "Type '{ tenant_id: string; name: string; }' is not assignable to type " +
    "'\"email is missing\"'.",
  ],
  [
    `await db.user.upsert({ where: { email: "e" }, create: { tenant_id: "a" }, update: {} });`,
    "Type '{ tenant_id: string; }' is not assignable to type '\"name is missing\"'.",
  ],
  [
    `await db.post.upsert({ where: { id: "e" }, create: { author_id: 1, titel: "" }, update: {} });`,
    "Type '{ author_id: number; titel: string; }' is not assignable to type " +
    "'\"titel is not a column to set\"'.",
  ],
  [
    `await db.user.create({ data: { tenant_id: "a", email: "e", name: 1 } });`,
    "Type 'number' is not assignable to type 'string'.",
  ],
  [
    `await db.user.update({ where: { id: 1 }, data: { nope: 1 } });`,
    "Type '{ nope: number; }' is not assignable to type '\"nope is not a column to set\"'.",
  ],
  [
    `await db.user.update({ where: { id: 1 }, data: { id: 2 } });`,
    "Type '{ id: number; }' is not assignable to type '\"id is not a column to set\"'.",
  ],
  [
    `await db.job.update({ where: { id: "" }, data: { role: "owner" } });`,
    `Type '"owner"' is not assignable to type '"in" | "out" | undefined'.`,
  ],
  [
    `await db.job.findMany({ where: { role: "owner" } });`,
    `Type '"owner"' is not assignable to type 'Condition<"enum", "in" | "out"> | undefined'.`,
  ],
  [
    `await db.user.updateMany({ all: true, data: { active: "yes" } });`,
    "Type 'string' is not assignable to type 'boolean | undefined'.",
  ],
];

const MANY: readonly Mistake[] = [
  [
    `await db.user.createMany({ data: [], skip: true });`,
    `${UNKNOWN("skip")}{ readonly data: `,
  ],
  [
    `await db.user.createManyAndReturn({ data: [{ tenant_id: "a", email: "e" }] });`,
    "Type '{ tenant_id: string; email: string; }' is not assignable to type " +
    "'\"name is missing\"'.",
  ],
  [
    `await db.user.upsertMany({ by: "name", create: [], update: ["nick"] });`,
    `Type '"name"' is not assignable to type '"id" | "email"'.`,
  ],
  [
    `await db.user.upsertMany({ by: "email", create: [], update: ["nope"] });`,
    `Type '"nope"' is not assignable to type '"`,
  ],
  [
    `await db.user.upsertMany({ by: "email", create: [], update: ["id"] });`,
    `Type '"id"' is not assignable to type '"`,
  ],
  [
    `await db.user.upsertMany({ by: "email", create: [{ email: "e" }], update: ["nick"] });`,
    "Type '{ email: string; }' is not assignable to type '\"",
    '"name is missing"',
  ],
  [
    `await db.user.updateManyAndReturn({ all: true, data: { nope: 1 } });`,
    "Type '{ nope: number; }' is not assignable to type '\"nope is not a column to set\"'.",
  ],
];

const FINDS: readonly Mistake[] = [
  [
    `await db.user.findMany({ where: { nope: 1 } });`,
    `${UNKNOWN("nope")}Conditions<"`,
    '"age: integer?"',
    '"email: text"',
  ],
  [
    `await db.user.findMany({ where: { age: "1" } });`,
    "Type 'string' is not assignable to type 'Condition<\"integer\", number | null> | undefined'.",
  ],
  [
    `await db.user.findMany({ where: { name: { contain: "a" } } });`,
    "Object literal may only specify known properties, but 'contain' does not exist in type ",
    "Did you mean to write 'contains'?",
  ],
  [`await db.user.findMany({ select: { nope: true } });`, `${UNKNOWN("nope")}Select<"`],
  [`await db.user.findMany({ orderBy: { nope: "asc" } });`, `${UNKNOWN("nope")}Orders<"`],
  [
    `await db.user.findMany({ distinct: ["nope"] });`,
    `Type '"nope"' is not assignable to type '"`,
  ],
  [
    `await db.user.findMany({ include: { author: true } });`,
    "Type '{ author: true; }' is not assignable to type '\"author is not a relation\"'.",
  ],
  [
    `await db.user.findMany({ include: { posts: true, nope: true } });`,
    "Type '{ posts: true; nope: true; }' is not assignable to type '\"nope is not a relation\"'.",
  ],
  [`db.user.stream({ where: { nope: 1 } });`, `${UNKNOWN("nope")}Conditions<"`],
  [`db.user.stream({ orderBy: { nope: "asc" } });`, `${UNKNOWN("nope")}Orders<"`],
  [`db.user.stream({ distinct: ["name"] });`, UNKNOWN("distinct")],
  [
    `db.user.stream({ include: { nope: true } });`,
    "Type '{ nope: true; }' is not assignable to type '\"nope is not a relation\"'.",
  ],
  [`await db.user.findMany({ limit: 1 });`, `${UNKNOWN("limit")}FindOptions<"`],
  [`await db.user.findUnique({ where: { name: "a" } });`, UNKNOWN("name"), "readonly email"],
  [
    `await db.user.upsert({ where: { name: "a" }, create: { ...optional, name: "n" }, update: {} });`,
    UNKNOWN("name"),
    "readonly email",
  ],
  [
    `await db.user.deleteMany({});`,
    "Argument of type '{}' is not assignable to parameter of type 'ManyOf<\"",
  ],
  [`db.user.scoped({ nope: 1 });`, `${UNKNOWN("nope")}{ `],
  [
    `(await db.user.findMany())[0]!.nope;`,
    "Property 'nope' does not exist on type '{ ",
    "email: string;",
  ],
];

const AGGREGATES: readonly Mistake[] = [
  [
    `await db.user.aggregate({ _sum: { age: true, nope: true } });`,
    `${UNKNOWN("nope")}Select<"id" | "age">'.`,
  ],
  [`await db.user.aggregate({ _max: { nope: true } });`, `${UNKNOWN("nope")}Select<"`],
  [`await db.user.aggregate({ _count: { id: true, nope: true } });`, `${UNKNOWN("nope")}Counts<"`],
  [
    `await db.user.aggregate({ _sum: { age: false } });`,
    "Type 'false' is not assignable to type 'true'.",
  ],
  [`await db.user.aggregate({ _total: true });`, `${UNKNOWN("_total")}AggregateOptions<"`],
  [
    `await db.user.aggregate({ _count: true, where: { nope: 1 } });`,
    `${UNKNOWN("nope")}Conditions<"`,
  ],
  [
    `(await db.user.aggregate({ _sum: { age: true } }))._sum.nope;`,
    "Property 'nope' does not exist on type '{ age: number | null; }'.",
  ],
  [`await db.user.groupBy({ by: ["nope"] });`, `Type '"nope"' is not assignable to type '"`],
  [
    `await db.user.groupBy({ by: ["name"], orderBy: { age: "asc" } });`,
    `${UNKNOWN("age")}GroupOrders<"`,
  ],
  [
    `await db.user.groupBy({ by: ["name"], having: { nope: { _sum: 1 } } });`,
    `${UNKNOWN("nope")}Having<"`,
  ],
  [
    `await db.user.groupBy({ by: ["name"], having: { name: { _sum: 1 } } });`,
    `${UNKNOWN("_sum")}HavingAggregates<"text", string>'.`,
  ],
  [
    `await db.user.groupBy({ by: ["name"], having: { age: { _sum: "1" } } });`,
    "Type 'string' is not assignable to type 'Condition<\"integer\", number | null> | undefined'.",
  ],
  [
    `(await db.user.groupBy({ by: ["name"], _count: true }))[0]!.nope;`,
    "Property 'nope' does not exist on type '{ name: string; _count: number; }'.",
  ],
];

const RELATED: readonly Mistake[] = [
  [
    `await db.user.findMany({ include: { posts: { where: { nope: 1 } } } });`,
    `${UNKNOWN("nope")}Conditions<"posts", "`,
    '"author_id: integer"',
    '"author -> users"',
  ],
  [
    `await db.user.findMany({ where: { posts: { some: { nope: 1 } } } });`,
    `${UNKNOWN("nope")}Conditions<"posts", "`,
    '"author_id: integer"',
  ],
  [
    `await db.user.count({ where: { posts: { title: "a" } } });`,
    `${UNKNOWN("title")}ManyCondition<Conditions<"posts", "`,
  ],
  [
    `await db.user.deleteMany({ where: { posts: { non: {} } } });`,
    "Object literal may only specify known properties, but 'non' does not exist in type ",
    "Did you mean to write 'none'?",
  ],
  [
    `await db.user.aggregate({ _count: true, where: { posts: { some: { nope: 1 } } } });`,
    `${UNKNOWN("nope")}Conditions<"posts", "`,
  ],
  [
    `await db.user.groupBy({ by: ["name"], where: { posts: { title: "a" } } });`,
    `${UNKNOWN("title")}ManyCondition<Conditions<"posts", "`,
  ],
  [
    `await db.user.groupBy({ by: ["name"], having: { posts: { _count: 1 } } });`,
    `${UNKNOWN("posts")}Having<"`,
  ],
  [
    `db.post.stream({ where: { author: { nope: 1 } } });`,
    `${UNKNOWN("nope")}Conditions<"users", "`,
  ],
  [`db.post.stream({ orderBy: { author: { name: "asc" } } });`, `${UNKNOWN("author")}Orders<"`],
  [
    `await db.user.updateManyAndReturn({ where: { posts: { some: { nope: 1 } } }, data: {} });`,
    `${UNKNOWN("nope")}Conditions<"posts", "`,
  ],
  [
    `await db.post.findMany({ where: { OR: [{ author: { nmae: "a" } }] } });`,
    `${UNKNOWN("nmae")}Conditions<"users", "`,
  ],
  [
    `await db.post.findMany({ where: { author: { is: { nope: "a" } } } });`,
    `${UNKNOWN("nope")}Conditions<"users", "`,
  ],
  [
    `await db.post.findMany({ where: { author: { posts: { every: { title: 1 } } } } });`,
    "Type 'number' is not assignable to type 'Condition<\"text\", string> | undefined'.",
  ],
  [
    `await db.post.findMany({ where: { author: 1 } });`,
    "Type 'number' has no properties in common ",
  ],
];

const RELATIONS: readonly Mistake[] = [
  [
    `DbService.with({ user: User, post: Post }, { post: { author: belongsTo(User.name) } });`,
    "Type 'NoRelation<\"name does not refer to a model\">' is missing",
  ],
  [
    `DbService.with({ user: User, post: Post }, { user: { posts: hasMany(Post.title) } });`,
    "Type 'NoRelation<\"title does not refer to a model\">' is missing",
  ],
  [`DbService.with({ user: User }, { post: {} });`, `${UNKNOWN("post")}ModelRelations<"user">'.`],
];

function check(
  declarations: string,
  mistakes: readonly Mistake[],
  { maxLength = MAX_LENGTH }: { readonly maxLength?: number } = {},
): ReturnType<typeof messagesOf> {
  const messages = messagesOf(declarations, mistakes.map(([mistake]) => mistake));
  for (const [index, [mistake, start, ...parts]] of mistakes.entries()) {
    const { text } = messages[index]!;
    assert.ok(text.startsWith(start), `${mistake}\n${text}`);
    for (const part of parts) assert.ok(text.includes(part), `${mistake}\n${text}`);
    assert.ok(text.length <= maxLength, `${text.length}: ${text}`);
  }
  return messages;
}

test("the compiler names the columns that data lacks, or must not have", () => {
  const [missing] = check(MODELS, DATA);
  const all = [missing!.text, ...missing!.related].join("\n");
  assert.ok(all.length <= MAX_LENGTH, `${all.length}: ${all}`);
});

test("the compiler reports a mistake in many rows in a few words", () => void check(MODELS, MANY));

test("the compiler reports a mistake in a find in a few words", () => void check(MODELS, FINDS));

test("the compiler reports a mistake in an aggregate in a few words", () =>
  void check(MODELS, AGGREGATES));

test("the compiler reports a mistake in a condition on related rows at its member", () => {
  check(MODELS, RELATED, { maxLength: MAX_RELATION_LENGTH });
});

test("the compiler names the column that is not a reference", () => void check(MODELS, RELATIONS));

const ROUTES = `
import * as v from "valibot";
import { controller, route } from "../../mod.ts";
const Row = v.object({ id: v.number(), name: v.string(), email: v.string() });
export {};
`;

test("the compiler reports a mistake in a controller in a few words", () => {
  check(ROUTES, [
    [
      `class A extends controller("a", { gaurds: [] }) {}`,
      "Object literal may only specify known properties, but 'gaurds' does not exist in type " +
      "'ControllerOptions<undefined>'. Did you mean to write 'guards'?",
    ],
    [
      `class B extends controller("b") { one = route.get("/", { reponse: Row }, () => 1); }`,
      "Object literal may only specify known properties, but 'reponse' does not exist in type ",
      "Did you mean to write 'response'?",
    ],
    [
      `class C extends controller("c") { one = route.get("/:id", ({ params }) => params.di); }`,
      "Property 'di' does not exist on type 'PathParams<\"/:id\">'.",
    ],
    [
      `class D extends controller("d") {
        one = route.get("/", { response: Row }, () => ({ id: "a", name: "b", email: "c" }));
      }`,
      "Type 'string' is not assignable to type 'number'.",
    ],
  ]);
});

test("the compiler names the field that a response lacks", () => {
  const [message] = messagesOf(ROUTES, [
    `route.get("/", { response: Row }, () => ({ id: 1, name: "a" }));`,
  ]);
  const { text } = message!;
  assert.match(text, /^Type '{ id: number; name: string; }' is not assignable to type '/);
  assert.match(text, /\n {2}Property 'email' is missing in type '{ id: number; name: string; }'/);
  // The compiler shows the type of a library's schema whole.
  assert.ok(text.length <= 500, `${text.length}: ${text}`);
});
