import assert from "node:assert/strict";
import fc from "fast-check";
import { sql } from "kysely";
import { DbOptions, DbService, field, type JsonValue, model } from "../../../src/db/mod.ts";
import type { JsonPathOperators } from "../../../src/db/types.ts";
import { type Brand, dbError, testOnEach } from "../support/database.ts";
import { openNoted } from "../support/noted.ts";

const Doc = model("docs", {
  id: field.integer().primaryKey(),
  // The name of a column of SQLite's json_each.
  value: field.json().nullable(),
});
class Db extends DbService.with({ doc: Doc }) {}

async function open(url: string): Promise<Db> {
  const db = await Db.open(DbOptions.fromUrl(url));
  await db.createTables();
  return db;
}

/** Conditions, which the compiler has not seen. */
type Condition = JsonPathOperators;

/** Returns whether a document meets a condition; `undefined` stands for unknown, as in SQL. */
function holds(doc: JsonValue, { path, ...operators }: Condition): boolean | undefined {
  const value = path.reduce<unknown>((at, step) => {
    const isFit = typeof step === "number"
      ? Array.isArray(at)
      : typeof at === "object" && at !== null && !Array.isArray(at) && Object.hasOwn(at, step);
    return isFit ? (at as Record<string | number, unknown>)[step] : undefined;
  }, doc ?? undefined);
  const results = Object.entries(operators).map(([operator, operand]) => {
    if (operator === "isSet") return (value !== undefined) === operand;
    if (value === undefined) return undefined;
    const number = typeof value === "number" ? value : NaN;
    const text = typeof value === "string" ? value : undefined;
    switch (operator) {
      case "equals":
        return value === operand;
      case "not":
        return value !== operand;
      case "lt":
        return number < Number(operand);
      case "lte":
        return number <= Number(operand);
      case "gt":
        return number > Number(operand);
      case "gte":
        return number >= Number(operand);
      case "string_contains":
        return text?.includes(String(operand)) ?? false;
      case "string_starts_with":
        return text?.startsWith(String(operand)) ?? false;
      case "string_ends_with":
        return text?.endsWith(String(operand)) ?? false;
      case "array_contains":
        return Array.isArray(value) && [operand].flat().every((it) => value.includes(it));
      default:
        throw new Error(operator);
    }
  });
  return results.includes(false) ? false : results.includes(undefined) ? undefined : true;
}

const NAMES = ["a", "b", "0", 'q"', "b\\", "$", "a.b", "é😀", "", "*", "[0]", "\n", "it's", "type"];
const name = fc.oneof(
  { arbitrary: fc.constantFrom("a", "b"), weight: 4 },
  fc.constantFrom(...NAMES),
);
const scalar = fc.oneof(
  fc.constantFrom<(string | number | boolean | null)[]>(
    ...[null, true, false, 0, 1, -1, 0.1, 1.5, 1e21, 5e-324, 9007199254740991, "", "1", "true"],
    ...["null", "a", "A", "a ", "ab", "%", "_", "!", 'q"', "b\\", "é😀", "\n", "it's", "[1]"],
  ),
);
const { json } = fc.letrec<{ json: JsonValue }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4 },
    { arbitrary: scalar, weight: 3 },
    { arbitrary: fc.array(tie("json"), { maxLength: 3 }), weight: 2 },
    { arbitrary: fc.dictionary(name, tie("json"), { maxKeys: 4 }), weight: 4 },
  ),
}));
const step = fc.oneof(
  { arbitrary: name, weight: 4 },
  { arbitrary: fc.nat({ max: 2 }), weight: 2 },
);
const number = fc.constantFrom(-1, 0, 0.1, 1, 1.5, 1e21, 9007199254740991);
const part = fc.constantFrom(
  "",
  "a",
  "A",
  " ",
  "%",
  "_",
  "!",
  "1",
  '"',
  "\\",
  "é",
  "😀",
  "\n",
  "'",
);
const operators = fc.oneof(
  fc.record({ equals: scalar }),
  fc.record({ not: scalar }),
  fc.record({ isSet: fc.boolean() }),
  fc.record({ array_contains: fc.oneof(scalar, fc.array(scalar, { maxLength: 2 })) }),
  fc.tuple(fc.constantFrom("lt", "lte", "gt", "gte"), number).map((it) => Object.fromEntries([it])),
  fc.record({ gte: number, lt: number }),
  fc.tuple(
    fc.constantFrom("string_contains", "string_starts_with", "string_ends_with"),
    part,
  ).map((it) => Object.fromEntries([it])),
);
const condition: fc.Arbitrary<Condition> = fc.tuple(fc.array(step, { maxLength: 3 }), operators)
  .map(([path, rest]) => ({ path, ...rest }));

testOnEach("conditions on the value at a path have the results of JavaScript", async ({ url }) => {
  await using db = await open(url);
  const runs = fc.asyncProperty(
    fc.array(json, { minLength: 1, maxLength: 12 }),
    fc.array(condition, { minLength: 10, maxLength: 10 }),
    async (docs, conditions) => {
      await db.doc.deleteMany({ all: true });
      const data = docs.map((value, index) => ({ id: index + 1, value }));
      await db.doc.createMany({ data });
      for (const value of conditions) {
        for (const isNot of [false, true]) {
          const where = isNot ? { NOT: { value } } : { value };
          const found = await db.doc.findMany({ where, orderBy: { id: "asc" } });
          const expected = data.filter(({ value: doc }) => holds(doc, value) === !isNot);
          assert.deepEqual(
            found.map(({ id }) => id),
            expected.map(({ id }) => id),
            JSON.stringify(where),
          );
        }
      }
    },
  );
  await fc.assert(runs, { numRuns: 40 });
});

testOnEach("each name is a name, and writes find rows by paths", async ({ url }) => {
  await using db = await open(url);
  await db.doc.createMany({
    data: NAMES.map((name, id) => ({ id: id + 1, value: { [name]: id } })),
  });
  for (const [id, name] of NAMES.entries()) {
    const found = await db.doc.findMany({ where: { value: { path: [name], gte: 0 } } });
    assert.deepEqual(found, [{ id: id + 1, value: { [name]: id } }], name);
    assert.equal(await db.doc.count({ where: { value: { path: [name, 0], isSet: true } } }), 0);
  }
  const text = { value: { path: ["a"], string_contains: "1" } };
  assert.equal(await db.doc.updateMany({ where: text, data: { value: null } }), 0);
  const where = { value: { path: ["a"], gte: 0 } };
  await db.doc.updateMany({ where, data: { value: { a: "text", b: ["1"] } } });
  assert.equal(await db.doc.updateMany({ where, data: { value: null } }), 0);
  assert.equal(
    await db.doc.deleteMany({ where: { value: { path: ["b"], array_contains: "1" } } }),
    1,
  );
  const { length } = NAMES;
  assert.equal(
    await db.doc.deleteMany({ where: { value: { path: [], isSet: true } } }),
    length - 1,
  );
});

testOnEach("JSON that another program has written is compared as JSON", async ({ brand, url }) => {
  await using db = await open(url);
  const docs = ['{ "a" : 1.0, "t": "\\u0061" }', '{"a": 1e0}', '{"a": "1"}', "null"];
  for (const [index, doc] of docs.entries()) {
    await sql`insert into docs values (${sql.lit(index + 1)}, ${doc})`.execute(db.kysely);
  }
  const ids = async (value: Condition) =>
    (await db.doc.findMany({ where: { value }, select: { id: true }, orderBy: { id: "asc" } }))
      .map(({ id }) => id);
  assert.deepEqual(await ids({ path: ["a"], equals: 1 }), [1, 2], brand);
  assert.deepEqual(await ids({ path: ["t"], equals: "a" }), [1]);
  assert.deepEqual(await ids({ path: [], equals: null }), [4]);
});

/** The condition of a statement, and its values. */
const STATEMENTS: Readonly<Record<Brand, readonly (readonly [string, ...unknown[]])[]>> = {
  sqlite: [
    [
      `(select case when "~1j"."type" in ('text') then "~1j"."value" = ? ` +
      `else "~1j"."type" = '' end from json_each("docs"."value") as "~0j", ` +
      `json_each(iif("~0j"."type" in ('object', 'array'), "~0j"."value", null)) as "~1j" ` +
      `where "~0j"."key" = ? and "~1j"."key" = ? limit 1)`,
      "x",
      `a'"`,
      0,
    ],
    [
      `not (coalesce((select "~0j"."type" <> '' from json_each("docs"."value") as "~0j" ` +
      `where "~0j"."key" = ? limit 1), 1 = 0))`,
      "a",
    ],
  ],
  postgres: [
    [
      `case when jsonb_typeof(case when jsonb_typeof("docs"."value"::jsonb -> $1::text) = 'array' ` +
      `then "docs"."value"::jsonb -> $2::text -> $3::int4 end) in ('string') ` +
      `then ((case when jsonb_typeof("docs"."value"::jsonb -> $4::text) = 'array' ` +
      `then "docs"."value"::jsonb -> $5::text -> $6::int4 end) #>> '{}') collate "C" = $7::text ` +
      `else jsonb_typeof(case when jsonb_typeof("docs"."value"::jsonb -> $8::text) = 'array' ` +
      `then "docs"."value"::jsonb -> $9::text -> $10::int4 end) = '' end`,
      ...[`a'"`, `a'"`, 0, `a'"`, `a'"`, 0, "x", `a'"`, `a'"`, 0],
    ],
    [`not (coalesce(jsonb_typeof("docs"."value"::jsonb -> $1::text) <> '', 1 = 0))`, "a"],
  ],
  mysql: [
    [
      "case when json_type(if(json_type(json_extract(`docs`.`value`, ?)) = 'ARRAY', " +
      "json_extract(`docs`.`value`, ?), null)) in ('STRING') " +
      "then cast(json_unquote(if(json_type(json_extract(`docs`.`value`, ?)) = 'ARRAY', " +
      "json_extract(`docs`.`value`, ?), null)) as binary) = cast(? as binary) " +
      "else json_type(if(json_type(json_extract(`docs`.`value`, ?)) = 'ARRAY', " +
      "json_extract(`docs`.`value`, ?), null)) = '' end",
      ...[`$."a'\\""`, `$."a'\\""[0]`, `$."a'\\""`, `$."a'\\""[0]`, "x"],
      ...[`$."a'\\""`, `$."a'\\""[0]`],
    ],
    [
      "not (coalesce(json_type(json_extract(`docs`.`value`, ?)) <> '', 1 = 0))",
      `$."a"`,
    ],
  ],
};

testOnEach("paths and values are bound", async (database) => {
  const { brand } = database;
  await using noted = await openNoted(Db, database);
  const { db, notes } = noted;
  await db.createTables();
  notes.take();
  await db.doc.count({ where: { value: { path: [`a'"`, 0], equals: "x" } } });
  await db.doc.count({ where: { value: { path: ["a"], isSet: false } } });
  const conditions = notes.take().map((
    [text, ...values],
  ) => [text.split(" where ").slice(1).join(" where "), ...values]);
  assert.deepEqual(conditions, STATEMENTS[brand]);
});

testOnEach("invalid paths, operators and operands are refused", async ({ url }) => {
  await using db = await open(url);
  const read = (value: unknown) => db.doc.findMany({ where: { value: value as Condition } });
  const isNoPath = "the path of value is not a list of at most 31 names and indexes";
  const wrong: readonly (readonly [unknown, string])[] = [
    [{ path: "$.a", equals: 1 }, isNoPath],
    [{ path: [-1], equals: 1 }, isNoPath],
    [{ path: [0.5], equals: 1 }, isNoPath],
    [{ path: [2 ** 31], equals: 1 }, isNoPath],
    [{ path: [null], equals: 1 }, isNoPath],
    [{ path: Array(1), equals: 1 }, isNoPath],
    [{ path: Array(32).fill("a"), equals: 1 }, isNoPath],
    [{ path: ["a"] }, "value has no operator"],
    [{ path: ["a"], equals: undefined }, "value.equals is undefined"],
    [{ path: ["a"], contains: "a" }, 'value with a path takes no "contains"'],
    [{ equals: 1 }, "value is compared with null only"],
  ];
  for (const [value, reason] of wrong) {
    await assert.rejects(read(value), {
      name: "TypeError",
      message: `Cannot read docs: ${reason}`,
    });
  }
  for (const name of ["a\0", "\ud800"]) {
    await assert.rejects(read({ path: [name], equals: 1 }), {
      code: "CheckViolation",
      message: "Cannot read docs: the path of value has U+0000 or a lone surrogate",
    });
  }
  const scalar = "a string, a number, a boolean or null";
  const operands: readonly (readonly [string, unknown, string])[] = [
    ["equals", {}, `${scalar}, not object`],
    ["not", NaN, `${scalar}, not number`],
    ["gt", "1", "a number, not string"],
    ["string_contains", 1, "a string, not number"],
    ["string_starts_with", "\ud800", "a string, not string"],
    ["array_contains", [[]], `a list of ${scalar}, not object`],
    ["isSet", null, "a boolean, not null"],
  ];
  for (const [operator, operand, reason] of operands) {
    const message = `Cannot read docs: value ${operator} takes ${reason}`;
    await assert.rejects(
      read({ path: ["a"], [operator]: operand }),
      dbError("CheckViolation", message, ["value"]),
    );
  }
});
