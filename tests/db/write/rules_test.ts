/** Rules of fields: bounds, email addresses and checks. */
import assert from "node:assert/strict";
import { sql } from "kysely";
import { DbOptions, DbService, field, model } from "../../../src/db/mod.ts";
import { test } from "../../support/test.ts";
import { dbError, testOnEach } from "../support/database.ts";

const Offer = model("offers", {
  id: field.integer().primaryKey(),
  name: field.text({ min: 2, max: 4 }).map("title"),
  email: field.text().email().nullable(),
  slug: field.text().check((slug) => /^[a-z]*$/.test(slug), "lower case letters").default("none"),
  seats: field.integer({ min: 0, max: 10 }).default(1),
  views: field.bigint({ max: 2n ** 60n }).default(0n),
  ratio: field.real({ min: -0.5, max: 1e21 }).default(0),
  price: field.decimal({ precision: 8, scale: 2, min: "-1.50", max: "99.9" }).default("0"),
  tags: field.text({ max: 3 }).array().check(({ length }) => length < 3, "at most two tags")
    .default([]),
});
class Offers extends DbService.with({ offer: Offer }) {}

/** Values of a field at its bounds, and what is refused and why. */
const CASES: readonly {
  readonly name: string;
  readonly taken: readonly unknown[];
  readonly refused: readonly (readonly [value: unknown, takes: string])[];
}[] = [
  {
    name: "name",
    taken: ["ab", "abcd", "🎈🎈🎈🎈"],
    refused: [
      ["", "at least 2 characters"],
      ["🎈", "at least 2 characters"],
      ["abcde", "at most 4 characters"],
      ["x".repeat(1000), "at most 4 characters"],
    ],
  },
  {
    name: "email",
    taken: ["ada@example.org", "a.b+c@x-y.example", "a@localhost", null],
    refused: [
      "",
      "ada",
      "ada@",
      "@x",
      "a b@x.org",
      "a@-x.org",
      "a@x..org",
      `${"a".repeat(250)}@x.org`,
    ]
      .map((email) => [email, "an email address"]),
  },
  { name: "slug", taken: ["", "abc"], refused: [["Abc", "lower case letters"]] },
  {
    name: "seats",
    taken: [0, 10],
    refused: [[-1, "at least 0"], [11, "at most 10"]],
  },
  { name: "views", taken: [-5n, 2n ** 60n], refused: [[2n ** 60n + 1n, `at most ${2n ** 60n}`]] },
  {
    name: "ratio",
    taken: [-0.5, 1e21],
    refused: [[-0.51, "at least -0.5"], [1.1e21, "at most 1e+21"]],
  },
  {
    name: "price",
    taken: ["-1.50", "-1.5", "99.90", "7"],
    refused: [["-1.51", "at least -1.50"], ["99.91", "at most 99.9"], ["100", "at most 99.9"]],
  },
  {
    name: "tags",
    taken: [[], ["abc", "🎈🎈🎈"]],
    refused: [
      [["a", "abcd"], "elements, each at most 3 characters"],
      [["a", "b", "c"], "at most two tags"],
    ],
  },
];

testOnEach("the rules of fields hold in everything that is written", async ({ url }) => {
  await using db = await Offers.open(DbOptions.fromUrl(url));
  await db.createTables();
  await db.checkTables();
  const { id } = await db.offer.create({ data: { name: "one" } });
  for (const { name, taken, refused } of CASES) {
    for (const value of taken) {
      await db.offer.create({ data: { name: "ok", [name]: value } });
      await db.offer.update({ where: { id }, data: { [name]: value } });
    }
    for (const [value, takes] of refused) {
      const data = { name: "ok", [name]: value };
      const is = (verb: string) =>
        dbError("CheckViolation", `Cannot ${verb} offers: ${name} takes ${takes}`, [name]);
      await assert.rejects(db.offer.create({ data }), is("create"));
      await assert.rejects(db.offer.createMany({ data: [{ name: "ok" }, data] }), is("create"));
      await assert.rejects(
        db.offer.update({ where: { id }, data: { [name]: value } }),
        is("update"),
      );
      await assert.rejects(
        db.offer.updateMany({ where: { id }, data: { [name]: value } }),
        is("update"),
      );
      for (const where of [{ id }, { id: 5000 }]) {
        await assert.rejects(db.offer.upsert({ where, create: data, update: {} }), is("upsert"));
      }
    }
  }
  assert.equal(await db.offer.count({ where: { name: { in: ["🎈", "abcde"] } } }), 0);
  await assert.rejects(
    db.offer.update({ where: { id }, data: { tags: { push: "abcd" } } }),
    dbError(
      "CheckViolation",
      "Cannot update offers: tags takes elements, each at most 3 characters",
      ["tags"],
    ),
  );
  // only the database knows the list that a push adds to
  await db.offer.update({ where: { id }, data: { tags: { push: ["a", "b", "c"] } } });
});

testOnEach(
  "created tables hold the bounds, also of increments and other clients",
  async ({ url }) => {
    await using db = await Offers.open(DbOptions.fromUrl(url));
    await db.createTables();
    const { id } = await db.offer.create({ data: { name: "one", seats: 10, price: "99.9" } });
    const refused = { name: "DbError", code: "CheckViolation" };
    for (
      const data of [{ seats: { increment: 1 } }, { seats: { decrement: 11 } }, {
        price: { increment: "0.01" },
      }]
    ) {
      await assert.rejects(db.offer.update({ where: { id }, data }), refused);
    }
    await db.offer.update({ where: { id }, data: { seats: { decrement: 10 } } });
    const set = (column: string, value: unknown) =>
      sql`update offers set ${sql.ref(column)} = ${value}`.execute(db.kysely);
    for (const title of ["🎈", "🎈🎈🎈🎈🎈"]) {
      await assert.rejects(
        set("title", title),
        refused,
      );
    }
    await set("title", "🎈🎈🎈🎈");
    await assert.rejects(set("ratio", -1), refused);
    await assert.rejects(set("views", 2n ** 61n), refused);
  },
);

test("mistakes in rules are found where they are declared", () => {
  const mistakes: readonly (readonly [() => unknown, string])[] = [
    [() => field.text({ min: -1 }), "text: min is not one of its values"],
    [() => field.text({ max: 1.5 }), "text: max is not one of its values"],
    [() => field.integer({ min: "0" as never }), "integer: min is not one of its values"],
    [() => field.integer({ min: 2, max: 1 }), "integer: min is over max"],
    [() => field.bigint({ max: 1 as never }), "bigint: max is not one of its values"],
    [() => field.real({ min: Infinity }), "real: min is not one of its values"],
    [
      () => field.decimal({ precision: 4, scale: 1, min: "0.25" }),
      "decimal: min is not one of its values",
    ],
    [
      () => field.decimal({ precision: 4, scale: 1, min: "10", max: "9.5" }),
      "decimal: min is over max",
    ],
    [() => field.text({ least: 1 } as never), "text: there is no option least"],
    [
      () => model("a", { id: field.integer().primaryKey(), n: field.text({ min: 1 }).default("") }),
      "a: n takes at least 1 character, unlike its default",
    ],
  ];
  for (const [declare, message] of mistakes) {
    assert.throws(declare, { name: "TypeError", message: `Cannot define ${message}` });
  }
});
