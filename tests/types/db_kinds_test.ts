import * as v from "valibot";
import { z } from "zod";
import {
  type CreateInput,
  DbService,
  field,
  model,
  type Row,
  type UpdateInput,
  type Where,
} from "../../src/db/mod.ts";
import { inject } from "../../mod.ts";
import { test } from "../support/test.ts";
import { same } from "./same.ts";

const Settings = v.object({
  theme: v.optional(v.picklist(["light", "dark"]), "light"),
  size: v.pipe(v.string(), v.transform(Number)),
});
const Post = model("posts", {
  id: field.integer().primaryKey(),
  tags: field.text().array().default([]),
  sizes: field.bigint().array().nullable(),
  states: field.enum(["a", "b"]).array(),
  settings: field.json(Settings),
  plan: field.json(z.object({ seats: z.number() })).nullable(),
  any: field.json().nullable(),
});
class Db extends DbService.with({ post: Post }) {}

type PostRow = {
  id: number;
  tags: string[];
  sizes: bigint[] | null;
  states: ("a" | "b")[];
  settings: { theme: "light" | "dark"; size: number };
  plan: { seats: number } | null;
};

function fits<T>(_: readonly T[]): void {}

/** Code for the compiler, which never runs. */
function compiles(_: () => unknown): void {}

test("rows have the values of arrays and of schemas", () => {
  same<Omit<Row<typeof Post>, "any">, PostRow>();
});

test("data has the input of schemas, and lists that are not changed", () => {
  const tags: readonly string[] = [];
  fits<CreateInput<typeof Post>>([
    { states: ["a"], settings: { size: "1" } },
    {
      states: ["a"],
      settings: { size: "1", theme: "dark" },
      tags,
      sizes: [1n],
      plan: { seats: 1 },
    },
    // @ts-expect-error: not in the list
    { states: ["c"], settings: { size: "1" } },
    // @ts-expect-error: the output of the schema
    { states: [], settings: { size: 1 } },
    // @ts-expect-error: elements are never null
    { states: [null], settings: { size: "1" } },
    // @ts-expect-error: another type
    { states: [], settings: { size: "1" }, sizes: [1] },
  ]);
  fits<UpdateInput<typeof Post>>([
    { tags: { push: "a" }, sizes: { push: [1n, 2n] }, states: { set: ["a"] } },
    { tags, sizes: null, plan: null, settings: { size: "1" } },
    // @ts-expect-error: another type
    { tags: { push: 1 } },
    // @ts-expect-error: one change
    { tags: { push: "a", set: [] } },
    // @ts-expect-error: not a number
    { tags: { increment: ["a"] } },
  ]);
});

test("conditions on arrays and JSON have the operators of their kinds", () => {
  fits<Where<typeof Post>>([
    { tags: ["a"], states: { has: "a" }, sizes: { hasSome: [1n] } },
    { tags: { hasEvery: ["a"], isEmpty: false, equals: [] }, sizes: null },
    { sizes: { isNull: true, not: null }, NOT: { tags: { has: "a" } } },
    { settings: { path: ["size"], gt: 1, lte: 5 }, plan: null },
    { any: { path: ["a", 0, "b"], equals: null }, plan: { not: null } },
    { any: { path: [], array_contains: [1, "a"] } },
    // @ts-expect-error: not in the list
    { states: { has: "c" } },
    // @ts-expect-error: another type
    { sizes: { has: 1 } },
    // @ts-expect-error: an array has no order
    { tags: { gt: ["a"] } },
    // @ts-expect-error: a path is a list
    { any: { path: "a", equals: 1 } },
    // @ts-expect-error: a path is missing
    { any: { equals: 1 } },
    // @ts-expect-error: objects are not compared
    { any: { path: [], equals: {} } },
  ]);
});

test("arrays have no order, and are no keys", () => {
  compiles(async () => {
    const { post } = inject(Db);
    const found = await post.findFirst({ where: { tags: { has: "a" } }, select: { states: true } });
    same<typeof found, { states: ("a" | "b")[] } | null>();
    // @ts-expect-error: no order
    await post.findMany({ orderBy: { tags: "asc" } });
    // @ts-expect-error: not distinct
    await post.findMany({ distinct: ["tags"] });
    // @ts-expect-error: no greatest value
    await post.aggregate({ _max: { tags: true } });
    // @ts-expect-error: a scope has values that can be compared
    post.scoped({ tags: ["a"] });
    // @ts-expect-error: an element has no flags
    field.text().unique().array();
    // @ts-expect-error: JSON is no element
    field.json().array();
  });
});

test("rules fit the kind of a field", () => {
  compiles(() => {
    field.decimal({ precision: 4, scale: 2, min: "0.5" }).check((value) => value !== "1", "no 1");
    field.enum(["a", "b"]).check((value: "a" | "b") => value === "a", "a");
    // @ts-expect-error: only a text is an email address
    field.integer().email();
    // @ts-expect-error: the bounds of a bigint are bigints
    field.bigint({ min: 1 });
    // @ts-expect-error: a boolean has no bounds
    field.boolean({ min: 1 });
    // @ts-expect-error: a test returns a boolean
    field.text().check((value) => value.length, "some");
    // @ts-expect-error: a number is no text
    field.integer().check((value: string) => value === "", "none");
  });
});
