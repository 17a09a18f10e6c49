import assert from "node:assert/strict";
import * as fc from "fast-check";
import * as v from "valibot";
import { DbOptions, DbService, field, model } from "../../src/db/mod.ts";
import { createSchemaOf } from "../../src/db/schemas/mod.ts";
import { factory } from "../../src/testing/mod.ts";
import { testOnEach } from "../db/support/database.ts";
import { test } from "../support/test.ts";

const Sample = model("samples", {
  id: field.integer().primaryKey(),
  name: field.text(),
  code: field.text({ min: 8, max: 8 }).unique(),
  short: field.text({ max: 3 }),
  email: field.text().email().unique(),
  contact_address: field.text({ max: 20 }).email().unique(),
  long_address: field.text({ min: 40 }).email().unique(),
  count: field.integer(),
  seats: field.integer({ min: 5, max: 7 }),
  debt: field.integer({ max: -3 }),
  big: field.bigint({ min: 2n ** 60n }),
  ratio: field.real({ min: 0.5, max: 0.75 }),
  price: field.decimal({ precision: 6, scale: 2, min: "9.99", max: "12" }),
  state: field.enum(["draft", "sent", "gone"]),
  open: field.boolean(),
  at: field.timestamp(),
  day: field.date(),
  hour: field.time(),
  uuid: field.uuid().unique(),
  bytes: field.blob(),
  json: field.json(),
  tags: field.text({ max: 4 }).array(),
  keys: field.bigint().array(),
  note: field.text().nullable(),
  draft: field.boolean().default(true),
  created: field.createdAt(),
});
class Db extends DbService.with({ sample: Sample }) {}

testOnEach("factory() makes rows that every database stores", async ({ url }) => {
  await using db = await Db.open(DbOptions.fromUrl(url));
  await db.createTables();
  const samples = factory(Sample);
  const rows = await db.sample.createManyAndReturn({ data: samples.buildMany(300) });
  assert.equal(new Set(rows.map(({ code }) => code)).size, 300);
  const { id: _, created: __, ...first } = rows[0]!;
  assert.deepEqual(first, {
    name: "name 1",
    code: "code 1..",
    short: "001",
    email: "email1@example.com",
    contact_address: "1@a.test",
    long_address: "xxxxxxxxxxxxxxxlong_address1@example.com",
    count: 1,
    seats: 6,
    debt: -1001,
    big: 2n ** 60n + 1n,
    ratio: 0.75,
    price: "10.99",
    state: "sent",
    open: false,
    at: new Date("2026-01-01T00:00:01Z"),
    day: "2026-01-02",
    hour: "00:00:01",
    uuid: "00000000-0000-4000-8000-000000000001",
    bytes: new Uint8Array([1]),
    json: {},
    tags: ["0001"],
    keys: [1n],
    note: null,
    draft: true,
  });
  // the same as JSON of a request
  const json = JSON.parse(JSON.stringify(samples.json()));
  await db.sample.create({ data: v.parse(createSchemaOf(Sample), json) });
});

test("values of a factory replace those of the model, and count the rows", () => {
  const samples = factory(Sample, { name: (i) => `Sample ${i}`, note: "n" });
  const { name, note, count } = samples.build();
  assert.deepEqual([name, note, count], ["Sample 1", "n", 1]);
  const second = samples.build({ note: null, seats: 7, draft: (i) => i > 5 });
  assert.deepEqual([second.name, second.note, second.seats, second.draft], [
    "Sample 2",
    null,
    7,
    false,
  ]);
  // @ts-expect-error: of another type
  samples.build({ seats: "7" });
});

test("what a factory cannot know has to be given", () => {
  const User = model("users", { id: field.integer().primaryKey() });
  const Post = model("posts", {
    id: field.integer().primaryKey(),
    author_id: field.integer().references(User),
    size: field.json(v.object({ width: v.number() })),
    slug: field.text().check((slug) => /^[a-z]+$/.test(slug), "lower case letters"),
  });
  const size = { width: 1 };
  const cases: readonly (readonly [() => unknown, string])[] = [
    [
      () => factory(Post).build(),
      "Cannot build posts: author_id refers to users; give it a value",
    ],
    [
      () => factory(Post, { author_id: 1 }).build(),
      "Cannot build posts: size has a schema; give it a value",
    ],
    [
      () => factory(Post, { author_id: 1, size }).build(),
      "Cannot build posts: slug takes lower case letters; give it a value",
    ],
    [() => factory(Post, { titel: 1 } as never), "Cannot build posts: there is no column titel"],
    [
      () => factory(Post).build({ titel: 1 } as never),
      "Cannot build posts: there is no column titel",
    ],
  ];
  for (const [build, message] of cases) assert.throws(build, { name: "TypeError", message });
  assert.deepEqual(factory(Post, { author_id: 1, size, slug: "a" }).build(), {
    author_id: 1,
    size,
    slug: "a",
  });
});

test("every row of a factory is within the bounds of its fields", () => {
  const bounds = fc.tuple(fc.integer({ min: -50, max: 50 }), fc.nat(20))
    .map(([min, more]) => ({ min, max: min + more }));
  fc.assert(
    fc.property(bounds, fc.nat(30), fc.nat(3), ({ min, max }, least, more) => {
      const Bounded = model("bounded", {
        id: field.uuid().primaryKey(),
        a: field.integer({ min, max }),
        b: field.integer({ min }),
        c: field.integer({ max }),
        d: field.decimal({ precision: 9, scale: 3, min: String(min), max: String(max) }),
        e: field.text({ min: least, max: least + more }),
        f: field.decimal({ precision: 2, scale: 2 }),
        g: field.bigint({ min: 2n ** 63n - 5n }),
        h: field.bigint({ max: -(2n ** 63n) }),
      });
      const schema = createSchemaOf(Bounded);
      const rows = factory(Bounded);
      for (let i = 0; i < 120; i++) assert.ok(v.is(schema, rows.json()));
    }),
    { numRuns: 200 },
  );
});
