import assert from "node:assert/strict";
import * as v from "valibot";
import {
  PAYLOAD_KINDS,
  readPayload,
  schemaCode,
  valueCode,
} from "../../../src/cli/generate/fields/payload_code.ts";
import { CliError } from "../../../src/cli/terminal/cli_error.ts";
import { test } from "../../support/test.ts";

/** Fields as they are written, with their schema, and values that it accepts and refuses. */
const FIELDS: Readonly<
  Record<string, readonly [schema: string, accepted: readonly unknown[], refused: unknown]>
> = {
  "title": ["v.string()", [""], null],
  "title:text:2..80": [
    "v.pipe(v.string(), v.minCodePoints(2), v.maxCodePoints(80))",
    ["ab"],
    "a",
  ],
  "title:text:10..": ["v.pipe(v.string(), v.minCodePoints(10))", [], "text"],
  "title:text:..3": ["v.pipe(v.string(), v.maxCodePoints(3))", [], "text"],
  "email:text:email?": ["v.nullish(v.pipe(v.string(), v.rfcEmail()), null)", [null, undefined], ""],
  "email:text:email:20..": [
    "v.pipe(v.string(), v.rfcEmail(), v.minCodePoints(20))",
    [],
    "ada@example.org",
  ],
  "id:integer": ["v.pipe(v.number(), v.safeInteger())", [-1], 1.5],
  "copies:integer:2..9": [
    "v.pipe(v.number(), v.safeInteger(), v.minValue(2), v.maxValue(9))",
    [9],
    1,
  ],
  "below:integer:..-5": ["v.pipe(v.number(), v.safeInteger(), v.maxValue(-5))", [], 0],
  "copies:integer=1": ["v.optional(v.pipe(v.number(), v.safeInteger()), 1)", [2, undefined], null],
  "note:text?=none": ['v.optional(v.nullable(v.string()), "none")', [null, undefined], 1],
  "ratio:number:0.5..": ["v.pipe(v.number(), v.finite(), v.minValue(0.5))", [0.75], 0],
  "ratio:real": ["v.pipe(v.number(), v.finite())", [0.1], Infinity],
  "open:boolean": ["v.boolean()", [false], 0],
  "status:enum:draft,in review": ['v.picklist(["draft","in review"])', ["in review"], "lost"],
  "at:timestamp": ["v.pipe(v.string(), v.isoTimestamp(), v.toDate())", [], "2026-01-31"],
  "day:date": ["v.pipe(v.string(), v.isoDate())", [], "2026"],
  "time:time": ["v.pipe(v.string(), v.isoTimeSecond())", [], "12"],
  "token:uuid": ["v.pipe(v.string(), v.uuid())", [], "token"],
};

test("schemaCode() writes the schema of a field, and valueCode() a value that satisfies it", () => {
  for (const [text, [code, accepted, refused]] of Object.entries(FIELDS)) {
    const [spec] = readPayload([text]);
    assert.ok(spec);
    assert.equal(schemaCode(spec), code, text);
    const schema = evaluate(code) as v.GenericSchema;
    const value = valueCode(spec);
    assert.equal(value === undefined, v.is(schema, undefined), text);
    for (const each of [...value === undefined ? [] : [evaluate(value)], ...accepted]) {
      assert.ok(v.is(schema, each), `${text} accepts ${each}`);
    }
    assert.ok(!v.is(schema, refused), `${text} refuses ${refused}`);
  }
});

test("a payload that lacks a field has its default, or null", () => {
  for (const [text, expected] of [["a:text?", null], ["a:text?=x", "x"], ["a:integer=3", 3]]) {
    const [spec] = readPayload([String(text)]);
    assert.equal(v.parse(evaluate(schemaCode(spec!)) as v.GenericSchema, undefined), expected);
  }
});

test("readPayload() refuses what a payload cannot have", () => {
  const kinds = "text, integer, number, boolean, enum, timestamp, date, time, uuid";
  assert.equal(PAYLOAD_KINDS.join(", "), kinds);
  const json = (kind: string) =>
    `a payload is JSON, without the kind ${kind}; its kinds are ${kinds}`;
  const mistakes: Readonly<Record<string, string>> = {
    "order:references": "order_id: a payload has no references; write order_id:integer",
    "data:blob": `data: ${json("blob")}`,
    "big:bigint": `big: ${json("bigint")}`,
    "price:decimal:12,2": `price: ${json("decimal")}`,
    "email:text:unique": "email: a field of a payload cannot be unique",
    "at:timestamp=now": "at: its default would be another one in each run; pass it to enqueue",
    "token:uuid=random": "token: its default would be another one in each run; pass it to enqueue",
  };
  for (const [text, reason] of Object.entries(mistakes)) {
    const expected = new CliError(`Cannot generate ${reason}`);
    assert.throws(() => readPayload([text]), expected);
  }
  assert.throws(() => readPayload(["a:text", "a:integer"]), {
    message: "Cannot generate two fields named a",
  });
});

function evaluate(code: string): unknown {
  return new Function("v", `return ${code};`)(v);
}
