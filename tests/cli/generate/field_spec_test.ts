import assert from "node:assert/strict";
import { fieldCode } from "../../../src/cli/generate/fields/field_code.ts";
import { readField, readFields } from "../../../src/cli/generate/fields/field_spec.ts";
import { CliError } from "../../../src/cli/terminal/cli_error.ts";
import { test } from "../../support/test.ts";

/** Fields as they are written, with their name and their code in a model. */
const FIELDS: Readonly<Record<string, readonly [name: string, code: string]>> = {
  "title": ["title", "field.text()"],
  "title:text:2..80": ["title", "field.text({ min: 2, max: 80 })"],
  "title:text:..80:unique?": ["title", "field.text({ max: 80 }).unique().nullable()"],
  "email:text:email:unique": ["email", "field.text().email().unique()"],
  "note:text=": ["note", 'field.text().default("")'],
  'note:text?=a "quote" = b:c?': [
    "note",
    'field.text().nullable().default("a \\"quote\\" = b:c?")',
  ],
  "views:integer:0..=0": ["views", "field.integer({ min: 0 }).default(0)"],
  "big:bigint:-5..5=-2": ["big", "field.bigint({ min: -5n, max: 5n }).default(-2n)"],
  "ratio:real:0.5..=0.75": ["ratio", "field.real({ min: 0.5 }).default(0.75)"],
  "price:decimal:12,2:0..=1.50": [
    "price",
    'field.decimal({ precision: 12, scale: 2, min: "0" }).default("1.50")',
  ],
  "status:enum:draft,in review=draft": [
    "status",
    'field.enum(["draft", "in review"]).default("draft")',
  ],
  "open:boolean=true": ["open", "field.boolean().default(true)"],
  "at:timestamp=now": ["at", "field.timestamp().default(() => new Date())"],
  "token:uuid:unique=random": [
    "token",
    "field.uuid().unique().default(() => crypto.randomUUID())",
  ],
  "day:date=2026-01-01": ["day", 'field.date().default("2026-01-01")'],
  "at:time=23:59:59": ["at", 'field.time().default("23:59:59")'],
  "face:text:..2=\u{1f600}\u{1f600}": [
    "face",
    'field.text({ max: 2 }).default("\u{1f600}\u{1f600}")',
  ],
  "email:text:email=a@example.com": [
    "email",
    'field.text().email().default("a@example.com")',
  ],
  "least:bigint=-9223372036854775807": ["least", "field.bigint().default(-9223372036854775807n)"],
  "cost:decimal:18,18:-0.50..0.999999999999999999=0": [
    "cost",
    'field.decimal({ precision: 18, scale: 18, min: "-0.50", max: "0.999999999999999999" })' +
    '.default("0")',
  ],
  "cent:decimal:3,2=9.9900": [
    "cent",
    'field.decimal({ precision: 3, scale: 2 }).default("9.9900")',
  ],
  "data:json?": ["data", "field.json().nullable()"],
  "author:references:user": ["author_id", "field.integer().references(User)"],
  "author_id:references:users?": ["author_id", "field.integer().references(User).nullable()"],
  "user:references": ["user_id", "field.integer().references(User)"],
  "profile:references:user:unique": ["profile_id", "field.integer().references(User).unique()"],
};

test("readField() reads a field, and fieldCode() writes its declaration", () => {
  for (const [text, [name, code]] of Object.entries(FIELDS)) {
    const spec = readField(text);
    assert.deepEqual([spec.name, fieldCode(spec)], [name, code], text);
  }
});

const SIZE = "its precision is not 1 to 18, or its scale is over its precision";

test("readField() names what is wrong in a field", () => {
  const kinds =
    "text, integer, bigint, boolean, real, decimal, enum, json, timestamp, date, time, " +
    "uuid, blob";
  const mistakes: Readonly<Record<string, string>> = {
    "1st:text": '"1st" is not the name of a field',
    "id:integer": '"id" is not the name of a field',
    "Id:integer": '"Id" is not the name of a field',
    "toString": '"toString" is not the name of a field',
    ":text": '"" is not the name of a field',
    "title:txet": `there is no kind txet; the kinds are ${kinds} and references`,
    "title:text:80": 'a field of kind text has no option "80"',
    "title:text:..": ".. is not a range",
    "title:text:-1..": "-1.. is not a range",
    "count:integer:email": 'a field of kind integer has no option "email"',
    "count:integer=many": "its default is not of kind integer",
    "open:boolean=yes": "its default is not of kind boolean",
    "price:decimal": "it has no size, as in price:decimal:12,2",
    "status:enum": "it has no values, as in status:enum:draft,published",
    "status:enum:a,a":
      "its values are empty, equal, or have other characters than letters, digits, -, _ and spaces",
    "status:enum:a,b=c": "its default is not of kind enum",
    "data:json={}": "its default is not of kind json",
    "data:blob:unique": 'a field of kind blob has no option "unique"',
    "price:decimal:99,2": SIZE,
    "price:decimal:19,2": SIZE,
    "price:decimal:0,0": SIZE,
    "price:decimal:2,3": SIZE,
    "price:decimal:4,2:..100": "100 is not a value of kind decimal",
    "price:decimal:0.125..:4,2": "0.125 is not a value of kind decimal",
    "price:decimal:4,2=0.125": "its default is not of kind decimal",
    "price:decimal:4,2=100": "its default is not of kind decimal",
    "price:decimal:4,2:-0.5..=-0.51": "its default is not within its bounds",
    "price:decimal:4,2:0.1..0.09": "its minimum is over its maximum",
    "title:text:5..2": "its minimum is over its maximum",
    "title:text:2..5=a": "its default is not within its bounds",
    "title:text:..2=\u{1f600}\u{1f600}\u{1f600}": "its default is not within its bounds",
    "title:text:..9007199254740992": "9007199254740992 is not a value of kind text",
    "email:text:email=notmail": "its default is not an email address",
    "count:integer:1..5=9": "its default is not within its bounds",
    "count:integer:..9007199254740992": "9007199254740992 is not a value of kind integer",
    "count:integer=9007199254740992": "its default is not of kind integer",
    "count:integer=-0": "its default is not of kind integer",
    "count:integer=007": "its default is not of kind integer",
    "count:integer:007..": "007.. is not a range",
    "count:bigint:..9223372036854775808": "9223372036854775808 is not a value of kind bigint",
    "count:bigint:9007199254740993..9007199254740992": "its minimum is over its maximum",
    "ratio:real=-0.0": "its default is not of kind real",
    "ratio:real:0.5..0.25": "its minimum is over its maximum",
    [`ratio:real=${"9".repeat(400)}`]: "its default is not of kind real",
    "day:date=2026-02-30": "its default is not of kind date",
    "day:date=0999-01-01": "its default is not of kind date",
    "at:time=25:00:00": "its default is not of kind time",
    "at:time=23:60:00": "its default is not of kind time",
    "user:references:user:email": 'a reference has no option "email"',
  };
  for (const [text, reason] of Object.entries(mistakes)) {
    assert.throws(() => readField(text), (error) => {
      assert.ok(error instanceof CliError);
      assert.equal(error.message, `Cannot read the field ${JSON.stringify(text)}: ${reason}`);
      return true;
    });
  }
  for (const name of ["a", "A"]) {
    assert.throws(() => readFields(["a:text", `${name}:integer`]), {
      message: `Cannot generate two fields named ${name}`,
    });
  }
});
