import assert from "node:assert/strict";
import { field, model } from "../../../src/db/mod.ts";
import type { Field, FieldFlag, FieldKind } from "../../../src/db/types.ts";
import { test } from "../../support/test.ts";

const id = field.integer().primaryKey();

test("field's methods return a new field and leave the old one unchanged", () => {
  const plain = field.text();
  const built = plain.unique().nullable().default("x");
  assert.deepEqual([...plain.flags], []);
  assert.deepEqual([...built.flags], ["unique", "nullable", "default"]);
  assert.equal(plain.traits.defaultValue, undefined);
  assert.equal(built.traits.defaultValue, "x");
  assert.equal(built.nullable().traits.defaultValue, "x");
});

test("Field.default() rejects a value that is not of the field's kind", () => {
  const wrong: readonly (readonly [Field<FieldKind, FieldFlag>, unknown])[] = [
    [field.integer(), 1.5],
    [field.integer(), 2 ** 53],
    [field.integer(), "1"],
    [field.real(), NaN],
    [field.text(), 1],
    [field.text(), "a\0b"],
    [field.boolean(), 1],
    [field.boolean(), null],
  ];
  for (const [field, value] of wrong) {
    assert.throws(() => field.default(value as never), {
      name: "TypeError",
      message: `Cannot set default: it is not of kind ${field.kind}`,
    });
  }
});

test("model() rejects an invalid table", () => {
  const wrong: readonly (readonly [() => unknown, string])[] = [
    [() => model("", { id }), 'Cannot define model: "" is not a table name'],
    [() => model('a"b', { id }), 'Cannot define model: "a\\"b" is not a table name'],
    [() => model("1a", { id }), 'Cannot define model: "1a" is not a table name'],
    [
      () => model("a".repeat(64), { id }),
      `Cannot define model: "${"a".repeat(64)}" is not a table name`,
    ],
    [() => model("t", {}), "Cannot define t: it has 0 primary keys, not one"],
    [() => model("t", { a: field.text() }), "Cannot define t: it has 0 primary keys, not one"],
    [() => model("t", { id, b: id }), "Cannot define t: it has 2 primary keys, not one"],
    [() => model("t", { id: id.nullable() }), "Cannot define t: the primary key id is nullable"],
    [() => model("t", { id, "": id }), 'Cannot define t: "" is not a column name'],
    [() => model("t", { id, "a b": id }), 'Cannot define t: "a b" is not a column name'],
    [() => model("t", { id, "é": id }), 'Cannot define t: "é" is not a column name'],
    [() => model("t", { id, AND: id }), "Cannot define t: the column name AND is reserved"],
    [
      () => model("t", { id, toString: id }),
      "Cannot define t: the column name toString is reserved",
    ],
    [
      () => model("t", { id, ["__proto__"]: id }),
      "Cannot define t: the column name __proto__ is reserved",
    ],
    [() => model("t", { id, a: "text" as never }), "Cannot define t: a is not made by field"],
    [
      () => model("t", { id, a: field.deletedAt(), b: field.deletedAt() }),
      "Cannot define t: 2 columns mark deleted rows",
    ],
    [
      () => model("t", { id, a: field.deletedAt().unique() }),
      "Cannot define t: a marks rows, and is unique or has a default",
    ],
    [
      () => model("t", { id, a: field.deletedAt().defaultSql("now()") }),
      "Cannot define t: a marks rows, and is unique or has a default",
    ],
    [
      () => model("t", { id, a: field.version(), b: field.version() }),
      "Cannot define t: 2 columns are versions of its rows",
    ],
    ...[
      field.version().nullable(),
      field.version().unique(),
      field.version().references("self"),
      field.version().check((value) => value < 9, "less than 9"),
    ].map((a) =>
      [
        () => model("t", { id, a }),
        "Cannot define t: a is the version of rows, and has another declaration",
      ] as const
    ),
    [
      () => model("t", { id, a: field.version() }, { unique: [["id", "a"]] }),
      "Cannot define t: unique has a, which each update changes",
    ],
    [
      () => model("t", { id, a: field.version().default(2) }),
      "Cannot set default: the field has another",
    ],
  ];
  for (const [define, message] of wrong) assert.throws(define, { name: "TypeError", message });
});

test("model() does not change with its arguments", () => {
  const fields = { id, a: field.text() };
  const made = model("t", fields);
  delete (fields as { a?: unknown }).a;
  assert.deepEqual(Object.keys(made["~model"].fields), ["id", "a"]);
  assert.throws(() => Object.assign(made, { id: 1 }), TypeError);
});

test("a model's columns build the same plain values as object notation", () => {
  const User = model("users", { id, email: field.text().nullable() });
  assert.deepEqual(User.email.equals("a"), { email: { equals: "a" } });
  assert.deepEqual(User.email.equals(null), { email: { equals: null } });
  assert.deepEqual(User.id.order("desc"), { id: "desc" });
});
