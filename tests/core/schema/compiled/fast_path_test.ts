import assert from "node:assert/strict";
import process from "node:process";
import { inspect } from "node:util";
import fc from "fast-check";
import * as v from "valibot";
import {
  loadFastPaths,
  MISS,
  validateFast,
} from "../../../../src/core/schema/compiled/fast_path.ts";
import { compile } from "../../../../src/core/schema/compiled/valibot_code.ts";
import { runSideBySide } from "../../../support/side_by_side.ts";
import { casesOf, SCOPE, test, testOn } from "../../../support/test.ts";

/** A schema, and values that it accepts, most of the time. */
interface Case {
  readonly schema: v.GenericSchema;
  readonly values: fc.Arbitrary<unknown>;
}

const KEYS = ["a", "b", "name", "toString", "constructor", "0", "length", 'quo"te', "__proto__"];

const text = fc.string({ maxLength: 6 });
const whole = fc.integer({ min: -3, max: 12 });

/** Values of every kind, as JSON has them and as handlers return them. */
const anything = fc.oneof(
  fc.anything({ withDate: true, withBigInt: true, withMap: true, maxDepth: 2 }),
  fc.constantFrom(undefined, null, NaN, -0, Infinity, "", "5", [], {}, "true", 3),
);

const leaves: readonly Case[] = [
  { schema: v.string(), values: text },
  { schema: v.number(), values: fc.oneof(whole, fc.double()) },
  { schema: v.boolean(), values: fc.boolean() },
  { schema: v.null(), values: fc.constant(null) },
  { schema: v.unknown(), values: anything },
  { schema: v.any(), values: anything },
  { schema: v.literal("x"), values: fc.constant("x") },
  { schema: v.literal(NaN), values: fc.constantFrom(NaN, 0) },
  { schema: v.literal(0), values: fc.constantFrom(-0, 0) },
  { schema: v.picklist(["x", "y", 3]), values: fc.constantFrom("x", "y", 3) },
  { schema: v.enum({ A: "x", B: 4 }), values: fc.constantFrom("x", 4) },
  { schema: v.date(), values: fc.date() },
  { schema: v.fallback(v.string(), "else"), values: anything },
  { schema: v.pipe(v.fallback(v.number(), 5), v.minValue(4)), values: whole },
  { schema: v.cache(v.pipe(v.string(), v.toUpperCase())), values: text },
  { schema: v.config(v.pipe(v.string(), v.minLength(2)), { abortEarly: true }), values: text },
  { schema: v.pipe(v.string(), v.trim(), v.minLength(1), v.maxLength(4)), values: text },
  { schema: v.pipe(v.string(), v.trimStart(), v.toLowerCase(), v.trimEnd()), values: text },
  { schema: v.pipe(v.string(), v.nonEmpty(), v.length(2)), values: text },
  { schema: v.pipe(v.string(), v.email()), values: fc.emailAddress() },
  { schema: v.pipe(v.string(), v.uuid()), values: fc.uuid() },
  { schema: v.pipe(v.string(), v.url()), values: fc.webUrl() },
  { schema: v.pipe(v.string(), v.isoDate()), values: fc.constantFrom("2026-02-03", "2026-2-3") },
  {
    schema: v.pipe(v.string(), v.regex(/^\d+$/), v.transform(Number), v.maxValue(9)),
    values: text,
  },
  { schema: v.pipe(v.string(), v.startsWith("a"), v.description("An a")), values: text },
  { schema: v.pipe(v.string(), v.decimal(), v.toNumber(), v.number()), values: fc.constant("2.5") },
  { schema: v.pipe(v.string(), v.transform((it) => it.length), v.gtValue(2)), values: text },
  { schema: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(9)), values: whole },
  { schema: v.pipe(v.number(), v.safeInteger(), v.multipleOf(3)), values: whole },
  { schema: v.pipe(v.number(), v.finite(), v.ltValue(4.5)), values: whole },
  { schema: v.pipe(v.number(), v.check((it) => it % 2 === 0), v.brand("Even")), values: whole },
  { schema: v.pipe(v.number(), v.toMinValue(4), v.readonly()), values: whole },
  { schema: v.lazy(() => v.object({ a: v.number() })), values: fc.record({ a: whole }) },
  { schema: v.record(v.string(), v.number()), values: fc.dictionary(text, whole) },
  { schema: v.tuple([v.string(), v.number()]), values: fc.tuple(text, whole) },
];

const cases: fc.Arbitrary<Case> = fc.letrec<{ case: Case }>((tie) => ({
  case: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    { weight: 4, arbitrary: fc.constantFrom(...leaves) },
    { weight: 4, arbitrary: objects(tie("case")) },
    { weight: 1, arbitrary: tie("case").map(listOf) },
    { weight: 2, arbitrary: fc.tuple(tie("case"), fc.nat(8)).map(([each, i]) => wrapped(each, i)) },
    { weight: 1, arbitrary: fc.tuple(tie("case"), tie("case")).map(unionOf) },
  ),
})).case;

function objects(each: fc.Arbitrary<Case>): fc.Arbitrary<Case> {
  const entries = fc.dictionary(fc.constantFrom(...KEYS), each, { maxKeys: 5 });
  return fc.tuple(entries, fc.nat(2)).map(([entries, kind]) => {
    const schemas = Object.fromEntries(Object.entries(entries).map(([k, it]) => [k, it.schema]));
    const values = Object.fromEntries(Object.entries(entries).map(([k, it]) => [k, it.values]));
    const schema = [v.object(schemas), v.strictObject(schemas), v.looseObject(schemas)][kind]!;
    const requiredKeys = Object.keys(entries).slice(1);
    return {
      schema,
      values: fc.tuple(fc.record(values, { requiredKeys }), fc.boolean())
        .map(([value, isMore]) => isMore ? { ...value, more: 1 } : value),
    };
  });
}

function listOf({ schema, values }: Case): Case {
  return {
    schema: v.pipe(v.array(schema), v.maxLength(3)),
    values: fc.array(values, { maxLength: 4 }),
  };
}

function wrapped({ schema, values }: Case, kind: number): Case {
  const wrap: ((schema: v.GenericSchema) => v.GenericSchema)[] = [
    (schema) => v.optional(schema),
    (schema) => v.optional(schema, "x"),
    (schema) => v.optional(schema, () => 3),
    (schema) => v.nullable(schema),
    (schema) => v.nullable(schema, 5),
    (schema) => v.nullish(schema),
    (schema) => v.nullish(schema, null),
    (schema) => v.undefinedable(schema, "u"),
    (schema) => v.exactOptional(schema, () => 0),
  ];
  return {
    schema: wrap[kind]!(schema),
    values: fc.oneof(values, fc.constantFrom(undefined, null)),
  };
}

function unionOf([one, other]: readonly [Case, Case]): Case {
  return {
    schema: v.union([one.schema, other.schema]),
    values: fc.oneof(one.values, other.values),
  };
}

/** Compares the verdicts and outputs of so many schemas and, for each, a hundred values. */
async function compare(schemas: number): Promise<void> {
  await loadFastPaths([v.string()]);
  fc.assert(
    fc.property(cases, fc.integer(), ({ schema, values }, seed) => {
      const input = fc.oneof({ weight: 5, arbitrary: values }, { weight: 1, arbitrary: anything });
      for (const value of fc.sample(input, { numRuns: 100, seed })) {
        const expected = shown(() => {
          const { issues, ...dataset } = schema["~run"]({ value }, {});
          return issues ? MISS : dataset.value;
        });
        assert.equal(shown(() => validateFast(schema, value)), expected);
      }
    }),
    { numRuns: schemas },
  );
}

/** Shows what a function returns, with the order of its keys, or why it throws. */
function shown(run: () => unknown): string {
  try {
    return inspect(run(), { depth: Infinity });
  } catch (error) {
    return `throws ${error}`;
  }
}

test("a fast path has the verdict and output of valibot, for 30 000 schemas and values", () =>
  compare(300));

testOn(["deno"], "one runtime is enough")(
  "a fast path has the verdict and output of valibot, for many schemas and values",
  () => compare(casesOf(10_000, 1000)),
  { slow: true },
);

test("the code of usual schemas does not call the library", () => {
  const schema = v.object({
    name: v.pipe(v.string(), v.trim(), v.minLength(1), v.maxLength(9), v.regex(/a/), v.email()),
    count: v.pipe(v.number(), v.integer(), v.minValue(1), v.description("How many")),
    kind: v.optional(v.picklist(["a", "b"]), "a"),
    tags: v.nullable(v.array(v.union([v.literal("x"), v.boolean()]))),
    id: v.pipe(v.string(), v.transform(Number), v.brand("Id")),
  });
  assert.doesNotMatch(String(compile(schema, MISS)), /~run/);
  assert.match(String(compile(v.record(v.string(), v.number()), MISS)), /~run/);
});

test("an asynchronous schema has no fast path", async () => {
  const schema = v.objectAsync({ a: v.pipeAsync(v.string(), v.checkAsync(() => true)) });
  await loadFastPaths([schema]);
  assert.equal(validateFast(schema, { a: "x" }), MISS);
});

/** Tests whose names do not name MySQL, as mysql2 makes code from text. */
const TEST = ["test", "-A", "--no-check", "--parallel", "--filter=/^(?!.*mysql)/"];

/** How many characters of the output of a suite that failed are shown: its last ones. */
const SHOWN = 8000;

testOn(["deno"], "it can forbid code from text")(
  "the suites of what validates pass without fast paths",
  async () => {
    const flag = "--v8-flags=--disallow-code-generation-from-strings";
    const suites = ["core/http", "core/route", "application", "conformance", "testing/prove"];
    const folders = suites.map((suite) => `tests/${suite}`);
    const [suite] = runSideBySide([{
      // ends what the suites have started, too
      words: ["timeout", "10m", process.execPath, ...TEST, flag, ...folders],
      env: { [SCOPE]: "", DENO_JOBS: "2" },
    }], { maxMinutes: 11 });
    const { status, output } = await suite!;
    assert.equal(status, 0, `it ended with ${status}: ${output.slice(-SHOWN)}`);
  },
  { slow: true },
);

test("a schema that refers to itself is left to the library", async () => {
  interface Tree {
    readonly name: string;
    readonly child?: Tree | undefined;
  }
  const tree: v.GenericSchema<Tree> = v.object({
    name: v.string(),
    get child() {
      return v.optional(tree);
    },
  });
  await loadFastPaths([tree]);
  const value = { name: "a", child: { name: "b" } };
  assert.deepEqual(validateFast(tree, value), value);
  assert.equal(validateFast(tree, { name: "a", child: { name: 1 } }), MISS);
});

test("a schema or an action whose ~run is not that of its type is left to the library", async () => {
  const word = v.string();
  const refusing: v.GenericSchema<string> = {
    ...word,
    "~run": (dataset, config) =>
      dataset.value === "a" ? word["~run"](dataset, config) : word["~run"]({ value: 1 }, config),
  };
  const anyLength: v.BaseValidation<string, string, v.BaseIssue<unknown>> = {
    ...v.maxLength(0),
    "~run": (dataset) => dataset,
  };
  const schema = v.object({ word: refusing, text: v.pipe(v.string(), anyLength) });
  await loadFastPaths([schema]);
  assert.deepEqual(validateFast(schema, { word: "a", text: "b" }), { word: "a", text: "b" });
  assert.equal(validateFast(schema, { word: "b", text: "b" }), MISS);
});
