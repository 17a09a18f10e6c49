import assert from "node:assert/strict";
import * as v from "valibot";
import { type CreateInput, field, model, type UpdateInput } from "../../src/db/mod.ts";
import { createSchemaOf, keySchemaOf, schemaOf, updateSchemaOf } from "../../src/db/schemas/mod.ts";
import { test, testOn } from "../support/test.ts";
import { messagesOf } from "./error_messages.ts";
import { same } from "./same.ts";

const testMessages = testOn(["deno"], "the compiler does the same on each runtime");

const Post = model("posts", {
  id: field.bigint().primaryKey(),
  title: field.text({ min: 2 }),
  at: field.timestamp(),
  state: field.enum(["draft", "sent"]).default("draft"),
  image: field.blob().nullable(),
  size: field.json(v.object({ width: v.number() })),
  keys: field.bigint().array(),
  created: field.createdAt(),
  gone: field.deletedAt(),
  version: field.version(),
});
const Line = model("lines", { order: field.integer(), no: field.integer(), text: field.text() }, {
  primaryKey: ["order", "no"],
});
const PostRow = schemaOf(Post, { omit: ["gone", "image", "version"] });
const Created = createSchemaOf(Post);
const Updated = updateSchemaOf(Post, { omit: ["at"] });

test("the types of schemas of a model are plain objects", () => {
  same<v.InferInput<typeof PostRow>, {
    id: bigint;
    title: string;
    at: Date;
    state: "draft" | "sent";
    size: { width: number };
    keys: bigint[];
    created: Date;
  }>();
  same<v.InferOutput<typeof PostRow>, {
    id: string;
    title: string;
    at: Date;
    state: "draft" | "sent";
    size: { width: number };
    keys: string[];
    created: Date;
  }>();
  same<v.InferInput<typeof Created>, {
    title: string;
    at: string;
    state?: "draft" | "sent" | undefined;
    image?: string | null | undefined;
    size: { width: number };
    keys: readonly string[];
  }>();
  same<v.InferOutput<typeof Created>, {
    title: string;
    at: Date;
    state?: "draft" | "sent" | undefined;
    image?: Uint8Array | null | undefined;
    size: { width: number };
    keys: readonly bigint[];
  }>();
  same<v.InferInput<typeof Updated>, {
    title?: string | undefined;
    state?: "draft" | "sent" | undefined;
    image?: string | null | undefined;
    size?: { width: number } | undefined;
    keys?: readonly string[] | undefined;
  }>();
  assert.ok(v.is(Updated, {}));
});

test("options choose the columns, and extend adds members", () => {
  const schema = createSchemaOf(Post, {
    pick: ["id", "title", "created"],
    omit: ["created"],
    optional: ["title"],
    extend: { password: v.optional(v.string()), id: v.number() },
  });
  same<v.InferOutput<typeof schema>, {
    title?: string | undefined;
    password?: string | undefined;
    id: number;
  }>();
  const key = keySchemaOf(Line);
  same<v.InferInput<typeof key>, { order: string; no: string }>();
  same<v.InferOutput<typeof key>, { order: number; no: number }>();
  const line = updateSchemaOf(Line);
  same<v.InferOutput<typeof line>, { text?: string | undefined }>();
  const list = v.array(PostRow);
  same<v.InferOutput<typeof list>[number], v.InferOutput<typeof PostRow>>();
  assert.ok(v.is(line, { text: "t" }));
});

test("what is read is data of create and update", () => {
  const data = v.parse(Created, {
    title: "one",
    at: "2026-11-27T09:30:00Z",
    size: { width: 1 },
    keys: [],
  });
  const created: CreateInput<typeof Post> = data;
  const updated: UpdateInput<typeof Post> = v.parse(Updated, { title: "two" });
  assert.deepEqual([created.title, updated], ["one", { title: "two" }]);
});

const MODELS = `
import { field, model } from "../../src/db/mod.ts";
import { createSchemaOf, schemaOf, updateSchemaOf } from "../../src/db/schemas/mod.ts";
import * as v from "valibot";
const Post = model("posts", {
  id: field.bigint().primaryKey(),
  title: field.text({ min: 2 }),
  body: field.text(),
});
const Row = schemaOf(Post);
export {};
`;

/** Mistakes, and their messages. */
const MISTAKES: readonly (readonly [mistake: string, message: string])[] = [
  [
    `schemaOf(Post, { omit: ["titel"] });`,
    `Type '"titel"' is not assignable to type '"id" | "title" | "body"'. Did you mean '"title"'?`,
  ],
  [
    `updateSchemaOf(Post, { pick: ["id"] });`,
    `Type '"id"' is not assignable to type '"title" | "body"'.`,
  ],
  [
    `const row: v.InferOutput<typeof Row> = { id: "1", title: "t" };`,
    `Property 'body' is missing in type '{ id: string; title: string; }' but required in type '{ id: string; title: string; body: string; }'.`,
  ],
];

testMessages("a mistake in the options has one short message, at the right token", () => {
  const messages = messagesOf(MODELS, MISTAKES.map(([mistake]) => mistake));
  for (const [i, [mistake, message]] of MISTAKES.entries()) {
    assert.equal(messages[i]?.text.split("\n")[0], message, mistake);
  }
});
