/** Schemas of models: what they accept is what repositories store, and what is sent is documented. */
import assert from "node:assert/strict";
import * as v from "valibot";

import { DbOptions, DbService, field, model } from "../../../src/db/mod.ts";
import {
  createSchemaOf,
  keySchemaOf,
  schemaOf,
  updateSchemaOf,
} from "../../../src/db/schemas/mod.ts";

import { test } from "../../support/test.ts";
import { testOnEach } from "../support/database.ts";

const Size = v.object({ unit: v.picklist(["cm", "in"]), width: v.number() });
const Padded = v.object({ at: v.pipe(v.string(), v.trim()) });

const Offer = model("offers", {
  id: field.integer().primaryKey(),
  title: field.text({ min: 2, max: 4 }),
  email: field.text().email().nullable(),
  slug: field.text().check((slug) => /^[a-z]*$/.test(slug), "lower case letters").default("none"),
  seats: field.integer({ min: 0, max: 10 }).default(1),
  views: field.bigint({ max: 2n ** 60n }).default(0n),
  state: field.enum(["draft", "sent"]).default("draft"),
  ratio: field.real({ min: -0.5 }).nullable(),
  price: field.decimal({ precision: 8, scale: 2, min: "0" }).default("0"),
  open: field.boolean().default(true),
  begins: field.timestamp().nullable(),
  day: field.date().nullable(),
  hour: field.time().nullable(),
  code: field.uuid().nullable(),
  image: field.blob().nullable(),
  tags: field.text({ max: 3 }).array().check(({ length }) => length < 3, "at most two tags")
    .default([]),
  keys: field.bigint().array().default([]),
  size: field.json(Size).nullable(),
  padded: field.json(Padded).nullable(),
  notes: field.json().nullable(),
  created: field.createdAt(),
  updated: field.updatedAt(),
  gone: field.deletedAt(),
  version: field.version(),
});
class Db extends DbService.with({ offer: Offer }) {}

const Create = createSchemaOf(Offer);
const Update = updateSchemaOf(Offer);
const OfferRow = schemaOf(Offer, { omit: ["created", "updated", "version"] });

/** JSON that fits a column, with the value that is stored; and JSON that is refused, and why. */
const CASES: Readonly<
  Record<string, {
    readonly accepted: readonly (readonly [json: unknown, value?: unknown])[];
    readonly refused: readonly (readonly [json: unknown, message: string])[];
  }>
> = {
  title: {
    accepted: [["ab"], ["🎈🎈🎈🎈"]],
    refused: [
      ["🎈", "Expected at least 2 characters"],
      ["abcde", "Expected at most 4 characters"],
      ["a\0b", "Expected well-formed text without U+0000"],
      ["a\ud800", "Expected well-formed text without U+0000"],
      [1, "Invalid type: Expected string but received 1"],
      [null, "Invalid type: Expected string but received null"],
    ],
  },
  email: {
    accepted: [["ada@example.org"], [null]],
    refused: [["ada", "Expected an email address"], [
      `a@${"b.".repeat(126)}example`,
      "Expected an email address",
    ]],
  },
  slug: { accepted: [["abc"]], refused: [["Abc", "Expected lower case letters"]] },
  seats: {
    accepted: [[0], [10]],
    refused: [
      [-1, "Expected at least 0"],
      [11, "Expected at most 10"],
      [1.5, "Invalid safe integer: Received 1.5"],
      ["1", 'Invalid type: Expected number but received "1"'],
    ],
  },
  views: {
    accepted: [["-5", -5n], [String(2n ** 60n), 2n ** 60n], ["-9223372036854775808", -(2n ** 63n)]],
    refused: [
      [String(2n ** 60n + 1n), `Expected at most ${2n ** 60n}`],
      ["1.5", "Expected a whole number"],
      ["-9999999999999999999", "Expected a whole number of 64 bits"],
      [1, "Invalid type: Expected string but received 1"],
    ],
  },
  state: {
    accepted: [["sent"]],
    refused: [["lost", 'Invalid type: Expected ("draft" | "sent") but received "lost"']],
  },
  ratio: { accepted: [[-0.5], [1e300]], refused: [[-0.51, "Expected at least -0.5"]] },
  price: {
    accepted: [["0", "0.00"], ["012.5", "12.50"], ["999999.99"]],
    refused: [
      ["-0.01", "Expected at least 0"],
      ["1.001", "Expected a decimal number of at most 8 digits, 2 of them after the point"],
      ["1e3", "Expected a number such as 12.50"],
    ],
  },
  open: { accepted: [[false]], refused: [[0, "Invalid type: Expected boolean but received 0"]] },
  begins: {
    accepted: [
      ["2026-11-27T09:30:00Z", new Date("2026-11-27T09:30:00Z")],
      ["2026-11-27T09:30:00.123456+02:00", new Date("2026-11-27T07:30:00.123Z")],
    ],
    refused: [
      ["2026-02-30T09:30:00Z", "Expected a time that exists, in the form of RFC 3339"],
      ["2026-11-27 09:30:00Z", "Expected a time that exists, in the form of RFC 3339"],
      ["2026-11-27T09:30:00", "Expected a time such as 2026-11-27T09:30:00Z"],
      ["0999-11-27T09:30:00Z", "Expected a time that exists, in the form of RFC 3339"],
      ["1000-01-01T00:30:00+01:00", "Expected a time of the years 1000 to 9999"],
      [1764236000000, "Invalid type: Expected string but received 1764236000000"],
    ],
  },
  day: {
    accepted: [["2024-02-29"]],
    refused: [
      ["2026-02-29", "Expected a date that exists, of the years 1000 to 9999"],
      ["29.02.2024", "Expected a date such as 2026-11-27"],
    ],
  },
  hour: {
    accepted: [["12:30:00"], ["12:30:00.500"]],
    refused: [["24:00:00", "Expected a time such as 12:30:00"]],
  },
  code: {
    accepted: [["6F9619FF-8B86-D011-B42D-00C04FC964FF", "6f9619ff-8b86-d011-b42d-00c04fc964ff"]],
    refused: [["6F9619FF", 'Invalid UUID: Received "6F9619FF"']],
  },
  image: {
    accepted: [["AP8=", new Uint8Array([0, 255])], ["", new Uint8Array()]],
    refused: [["AP8", 'Invalid Base64: Received "AP8"'], [
      {},
      "Invalid type: Expected string but received Object",
    ]],
  },
  tags: {
    accepted: [[[]], [["abc", "🎈🎈🎈"]]],
    refused: [[["abcd"], "Expected at most 3 characters"], [
      ["a", "b", "c"],
      "Expected at most two tags",
    ]],
  },
  keys: { accepted: [[["1", "-2"], [1n, -2n]]], refused: [[["x"], "Expected a whole number"]] },
  size: {
    accepted: [[{ unit: "cm", width: 2 }], [
      { unit: "in", width: 1, more: 1 },
      { unit: "in", width: 1 },
    ]],
    refused: [[{ unit: "m", width: 2 }, 'Invalid type: Expected ("cm" | "in") but received "m"']],
  },
  padded: { accepted: [[{ at: " x " }, { at: "x" }]], refused: [] },
  notes: {
    accepted: [[[1, { a: null }]], [nested(31)], [null]],
    refused: ["a\0", "\ud800", { "\0": 1 }, JSON.parse('{"a":1e400}'), nested(32)].map((
      value,
    ) => [
      value,
      "Expected JSON of at most 31 levels, of finite numbers and well-formed text without U+0000",
    ]),
  },
};

/** Returns lists inside of each other. */
function nested(levels: number): readonly unknown[] {
  return levels === 1 ? [] : [nested(levels - 1)];
}

testOnEach(
  "createSchemaOf() and updateSchemaOf() read what the repository stores",
  async ({ url }) => {
    await using db = await Db.open(DbOptions.fromUrl(url));
    await db.createTables();
    const { id } = await db.offer.create({ data: v.parse(Create, { title: "one" }) });
    for (const [name, { accepted, refused }] of Object.entries(CASES)) {
      for (const [json, value = json] of accepted) {
        const created = await db.offer.create({
          data: v.parse(Create, { title: "new", [name]: json }),
        });
        assert.deepEqual(created[name as "title"], value, name);
        const data = v.parse(Update, { [name]: json });
        const updated = await db.offer.update({ where: { id }, data });
        assert.deepEqual(updated[name as "title"], value, name);
        // What is sent of a row creates the same row.
        const sent = JSON.parse(JSON.stringify(v.parse(OfferRow, created)));
        const { id: _, created: __, updated: ___, version: ____, ...again } = await db.offer.create(
          {
            data: v.parse(Create, sent),
          },
        );
        assert.deepEqual({ ...created, ...again }, created, name);
      }
      for (const [json, message] of refused) {
        for (const [schema, data] of [[Create, { title: "new" }], [Update, {}]] as const) {
          const { issues = [] } = v.safeParse(schema, { ...data, [name]: json });
          assert.deepEqual(issues.map((issue) => issue.message), [message], `${name} ${json}`);
        }
      }
    }
  },
);

test("the columns of a schema are those that data has, or those that options choose", () => {
  const columns = (schema: object) => Object.keys((schema as { entries: object }).entries);
  const all = Object.keys(Offer["~model"].fields);
  const set = ["id", "created", "updated", "gone", "version"];
  assert.deepEqual(columns(schemaOf(Offer)), all);
  assert.deepEqual(columns(Create), all.filter((name) => !set.includes(name)));
  assert.deepEqual(columns(Update), columns(Create));
  assert.deepEqual(columns(createSchemaOf(Offer, { pick: ["created", "id"] })), ["id", "created"]);
  assert.deepEqual(columns(keySchemaOf(Offer)), ["id"]);
  assert.deepEqual(
    columns(schemaOf(Offer, { pick: ["id", "title"], omit: ["id"], extend: { more: v.string() } })),
    ["title", "more"],
  );
  const Tenant = model("rows", { tenant: field.text(), no: field.integer(), text: field.text() }, {
    primaryKey: ["tenant", "no"],
  });
  assert.deepEqual(columns(createSchemaOf(Tenant)), ["tenant", "no", "text"]);
  assert.deepEqual(columns(updateSchemaOf(Tenant)), ["text"]);
  assert.deepEqual(v.parse(keySchemaOf(Tenant), { tenant: "a", no: "7" }), { tenant: "a", no: 7 });
  assert.equal(v.is(keySchemaOf(Tenant), { tenant: "a", no: "7.5" }), false);
});

test("what may be missing is nullable, has a default, or is named by the options", () => {
  assert.deepEqual(v.parse(Create, { title: "one" }), {
    title: "one",
    slug: "none",
    seats: 1,
    state: "draft",
    price: "0",
    open: true,
  });
  assert.deepEqual(v.parse(Update, {}), {});
  assert.equal(v.is(Create, {}), false);
  assert.deepEqual(
    v.parse(createSchemaOf(Offer, { pick: ["title"], optional: ["title"] }), {}),
    {},
  );
  assert.deepEqual(v.parse(schemaOf(Offer, { pick: ["title"], optional: ["title"] }), {}), {});
});

test("JSON whose schema converts, completes or waits is left to the repository", () => {
  const schemas = [
    Padded,
    v.object({ a: v.optional(v.string(), "b") }),
    v.fallback(v.object({ a: v.string() }), { a: "b" }),
    v.objectAsync({ a: v.string() }),
    v.object({ a: v.lazy(() => v.string()) }),
  ];
  for (const schema of schemas) {
    const Left = model("left", { id: field.integer().primaryKey(), data: field.json(schema) });
    for (const data of [{ a: 1 }, [], "x", 0]) assert.ok(v.is(createSchemaOf(Left), { data }));
    assert.ok(!v.is(createSchemaOf(Left), { data: null }));
  }
  const Part = model("parts", { id: field.integer().primaryKey(), data: field.json(Size) });
  assert.ok(!v.is(createSchemaOf(Part), { data: {} }));
});

test("mistakes in the options are found where they are declared", () => {
  const keyless = model("views", { n: field.integer() }, { primaryKey: false });
  const mistakes: readonly (readonly [() => unknown, string])[] = [
    [
      () => schemaOf(Offer, { omit: ["titel" as never] }),
      "Cannot make a schema of offers: there is no column titel",
    ],
    [
      () => createSchemaOf(Offer, { omits: ["title"] } as never),
      "Cannot make a schema of offers: there is no option omits",
    ],
    [
      () => createSchemaOf(Offer, { optional: ["created"] }),
      "Cannot make a schema of offers: created is optional, and not part of it",
    ],
    [
      () => updateSchemaOf(Offer, { pick: ["id" as never] }),
      "Cannot make a schema of offers: id is its key, which never changes",
    ],
    [() => keySchemaOf(keyless), "Cannot make a schema of the key of views: there is none"],
  ];
  for (const [declare, message] of mistakes) assert.throws(declare, { name: "TypeError", message });
});
