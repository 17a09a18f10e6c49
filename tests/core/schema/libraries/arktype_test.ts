/** Responses of arktype: what their schema declares is sent, and nothing else. */
import { type } from "arktype";
import assert from "node:assert/strict";
import fc from "fast-check";
import type { AnySchema } from "../../../../mod.ts";
import { stripping } from "../../../../src/core/schema/schema_libraries.ts";
import { test, testOnce } from "../../../support/test.ts";

const ROW = { name: "Ann", password_hash: "s3cret" };
const SENT = { name: "Ann" };
const AT = new Date(0);

/** Objects with the keys of a row that they are created from; `toJSON` returns more. */
const DISGUISES: Readonly<Record<string, (row: object) => object>> = {
  "an object with its own toJSON": (row) => ({ ...row, toJSON: () => ROW }),
  "an object whose prototype has toJSON": (row) =>
    Object.create({ toJSON: () => ROW }, Object.getOwnPropertyDescriptors(row)),
  "properties that are not enumerable": (row) =>
    Object.create(
      { toJSON: () => ROW },
      Object.fromEntries(Object.entries(row).map(([key, value]) => [key, { value }])),
    ),
  "an entity with a private row": (row) => {
    class Entity {
      readonly #row = ROW;

      toJSON() {
        return this.#row;
      }
    }
    return Object.assign(new Entity(), row);
  },
  "getters of a private row": (row) => {
    class Accessors {
      readonly #row: Readonly<Record<string, unknown>> = { ...row };

      static get(entity: Accessors, key: string): unknown {
        return entity.#row[key];
      }
      toJSON() {
        return ROW;
      }
    }
    for (const key of Object.keys(row)) {
      Object.defineProperty(Accessors.prototype, key, {
        get(this: Accessors) {
          return Accessors.get(this, key);
        },
      });
    }
    return new Accessors();
  },
  "a proxy": (row) =>
    new Proxy(row, {
      get: (target, key) => key === "toJSON" ? () => ROW : Reflect.get(target, key),
    }),
  "a frozen object": (row) => Object.freeze({ password_hash: "s3cret", ...row }),
};

/** A class that types name: they send what its `toJSON` returns. */
class Price {
  readonly cents = 100;

  toJSON() {
    return this.cents;
  }
}

function sent(schema: AnySchema, value: unknown): unknown {
  const result = stripping(schema)["~standard"].validate(value);
  assert.ok(!(result instanceof Promise) && !result.issues, String(Object(result).issues));
  return JSON.parse(JSON.stringify(result.value));
}

test("stripping() sends the declared keys of objects beside instances, of any kind", () => {
  const Name = type({ name: "string" });
  const patch = { "from?": "string", "to?": "string" } as const;
  const byUrl = type({ k: "'a'", at: "URL" }).or({ k: "'b'", at: { "to?": "string" } });
  const byClass = type({ k: "'a'", by: type.instanceOf(Price) }).or({ k: "'b'", by: Name });
  const url = new URL("https://example.com/");
  const cases: readonly (readonly [AnySchema, (by: object) => unknown, expected: unknown])[] = [
    [type({ by: Name, at: "Date" }), (by) => ({ by, at: AT }), { by: SENT, at: AT.toJSON() }],
    [type([patch, "Date", Name]), (by) => [{ to: "x" }, AT, by], [{ to: "x" }, AT.toJSON(), SENT]],
    [type([patch, "URL", Name]), (by) => [{}, url, by], [{}, url.href, SENT]],
    [type([Name, "...", "Date[]", patch]), (by) => [by, AT, {}], [SENT, AT.toJSON(), {}]],
    [type([byUrl, Name]), (by) => [{ k: "a", at: url }, by], [{ k: "a", at: url.href }, SENT]],
    [byClass.array(), (by) => [{ k: "b", by }, { k: "a", by: new Price() }], [
      { k: "b", by: SENT },
      { k: "a", by: 100 },
    ]],
  ];
  for (const [what, disguise] of Object.entries(DISGUISES)) {
    for (const [schema, value, expected] of cases) {
      assert.deepEqual(sent(schema, value(disguise({ name: "Ann" }))), expected, what);
    }
  }
});

test("stripping() sends the declared keys of recursive types, and of what morphs return", () => {
  const Name = type({ "+": "delete", name: "string" });
  const { user } = type.module({ user: { "+": "delete", name: "string", "manager?": "user" } });
  for (const [what, disguise] of Object.entries(DISGUISES)) {
    const by = disguise({ name: "Ann" });
    assert.deepEqual(
      sent(user, { name: "Bob", manager: by }),
      { name: "Bob", manager: SENT },
      what,
    );
    const morph = type({ by: type("number").pipe(() => by as typeof SENT, Name) });
    assert.deepEqual(sent(morph, { by: 1 }), { by: SENT }, what);
  }
});

test("stripping() sends the items of a list, and an array that is declared as an object by its keys", () => {
  class Rows extends Array<unknown> {
    toJSON() {
      return [ROW];
    }
  }
  assert.deepEqual(sent(type({ name: "string" }).array(), Rows.of(ROW)), [SENT]);
  assert.deepEqual(sent(type({ length: "number" }), Rows.of(ROW)), { length: 1 });
});

test("stripping() refuses a value of which a plain copy does not satisfy the type", () => {
  const Own = type({ name: "string" }).narrow((value) => Object.hasOwn(value, "toJSON"));
  const value = [DISGUISES["an object with its own toJSON"]!({ name: "Ann" })];
  const hidden = [Object.defineProperty({ name: "Ann" }, "toJSON", { value: () => ROW })];
  assert.deepEqual(sent(Own.array(), value), [SENT]);
  const result = stripping(Own.array())["~standard"].validate(hidden);
  assert.ok(!(result instanceof Promise));
  assert.deepEqual(result.issues?.map(({ path }) => path), [[0]]);
});

/** The definition of a type, and values that satisfy it. */
interface Sample {
  readonly definition: unknown;
  readonly values: fc.Arbitrary<unknown>;
}

const LEAVES: readonly Sample[] = [
  { definition: "string", values: fc.constant("text") },
  { definition: "number", values: fc.constant(1) },
  { definition: "null", values: fc.constant(null) },
  { definition: "Date", values: fc.constant(AT) },
  { definition: "URL", values: fc.constant(new URL("https://example.com/")) },
  { definition: type.instanceOf(Price), values: fc.constant(new Price()) },
];

const KEYS = ["a", "b", "c?", "d?"];

function samples(depth: number): fc.Arbitrary<Sample> {
  const leaves = fc.constantFrom(...LEAVES);
  if (depth === 0) return leaves;
  const parts = samples(depth - 1);
  const pairs = fc.tuple(parts, parts);
  return fc.oneof(
    leaves,
    {
      arbitrary: fc.dictionary(fc.constantFrom(...KEYS), parts, { minKeys: 1 }).map(ofKeys),
      weight: 4,
    },
    parts.map(({ definition, values }) => ({
      definition: type(definition as "unknown").array(),
      values: fc.array(values, { maxLength: 2 }),
    })),
    pairs.map(([one, other]) => ({
      definition: [one.definition, other.definition],
      values: fc.tuple(one.values, other.values),
    })),
    pairs.map(([one, other]) => ({
      definition: type(one.definition as "unknown").or(other.definition as "unknown"),
      values: fc.oneof(one.values, other.values),
    })),
  );
}

function ofKeys(parts: Readonly<Record<string, Sample>>): Sample {
  const entries = Object.entries(parts);
  const required = entries.flatMap(([key]) => key.endsWith("?") ? [] : key);
  const rows = fc.record(
    Object.fromEntries(entries.map(([key, { values }]) => [key.replace("?", ""), values])),
    { requiredKeys: required },
  );
  return {
    definition: type(Object.fromEntries(entries.map(([key, part]) => [key, part.definition]))),
    values: fc.tuple(fc.constantFrom(...Object.values(DISGUISES)), rows)
      .map(([disguise, row]) => disguise(row)),
  };
}

testOnce("stripping() sends what arktype allows, without undeclared members, for any type", () => {
  const cases = samples(3).chain(({ definition, values }) =>
    fc.tuple(fc.constant(definition), fc.array(values, { minLength: 1, maxLength: 4 }))
  );
  const strippable = (schema: AnySchema) => {
    try {
      return stripping(schema);
    } catch {
      return undefined; // a union whose branches overlap
    }
  };
  fc.assert(
    fc.property(cases, ([definition, values]) => {
      const schema = type(definition as "unknown");
      fc.pre(strippable(schema) !== undefined);
      for (const value of values) {
        assert.ok(!JSON.stringify(sent(schema, value)).includes("s3cret"), schema.expression);
      }
    }),
    { numRuns: 500 },
  );
}, { slow: true });
