/**
 * Texts that satisfy a schema of strings, at random.
 *
 * @module
 */
import fc from "fast-check";
import type { JsonSchema } from "../../../openapi/json_schema/json_schema.ts";
import { cannotGenerate, keep } from "./keep.ts";
import { isNumberText, isWithin, numberTextOf } from "./number_text.ts";

/** Days that stay within the years 1000 to 9999, which databases store, with any offset. */
const days = fc.date({
  min: new Date("1000-01-02T00:00:00Z"),
  max: new Date("9999-12-30T00:00:00Z"),
  noInvalidDate: true,
}).map((date) => date.toISOString());

const offsets = fc.constantFrom("Z", "Z", "+00:00", "-08:00", "+05:45");

/** Texts by the formats of JSON Schema (draft 2020-12, Validation §7.3). */
const FORMATS: Readonly<Record<string, fc.Arbitrary<string>>> = {
  date: days.map((day) => day.slice(0, 10)),
  "date-time": fc.tuple(days, fc.constantFrom(19, 21, 23), offsets)
    .map(([day, length, offset]) => day.slice(0, length) + offset),
  duration: fc.constantFrom("P1D", "PT1H30M", "P1Y2M3DT4H5M6S", "P2W"),
  // the addresses of every day: no library takes all that RFC 5321 and RFC 4291 have
  email: fc.stringMatching(/^[a-z]{1,9}(\.[a-z]{1,9})?@[a-z]{1,9}\.[a-z]{2,9}$/),
  hostname: fc.domain(),
  ipv4: fc.ipV4(),
  ipv6: fc.stringMatching(/^([\da-f]{1,4}:){7}[\da-f]{1,4}$/),
  time: fc.tuple(days, offsets).map(([day, offset]) => day.slice(11, 19) + offset),
  uri: fc.webUrl({ withFragments: true, withQueryParameters: true }),
  "uri-reference": fc.webPath(),
  uuid: fc.uuid(),
};

/** How long a text is that may have any length. */
const LONG = 300;

/** Any text: mostly ASCII, with all of Unicode. */
export function anyText(lengths: fc.StringConstraints = {}): fc.Arbitrary<string> {
  return fc.oneof(
    { arbitrary: fc.string(lengths), weight: 3 },
    { arbitrary: fc.string({ ...lengths, size: "max" }), weight: 1 },
    { arbitrary: fc.string({ ...lengths, unit: "binary" }), weight: 1 },
    { arbitrary: fc.string({ ...lengths, unit: fc.constantFrom(...UNITS) }), weight: 1 },
  );
}

/** What means something in URLs, forms, headers, JSON, SQL or C. */
const UNITS = [..."\u0000 %/+&=#;,:'\"<\\", "é", "名"];

/**
 * Checks whether the length of a text is within limits: as JSON Schema counts it, and as schema
 * libraries of JavaScript do. These count UTF-16 units: texts on which both differ are undecided.
 */
export function hasLength(text: string, min: number, max: number): boolean {
  return [[...text].length, text.length].every((length) => length >= min && length <= max);
}

/** Texts that satisfy a schema of strings. */
export function textOf(schema: JsonSchema): fc.Arbitrary<string> {
  const { format, contentEncoding } = schema;
  const minLength = Number(schema.minLength ?? 0);
  const maxLength = Number(schema.maxLength ?? Infinity);
  if (minLength > maxLength) cannotGenerate(schema);
  const pattern = schema.pattern === undefined
    ? undefined
    : new RegExp(String(schema.pattern), "u");
  const isNumber = isNumberText(schema);
  const limits = { minLength, maxLength: Math.min(maxLength, minLength + LONG) };
  const unencoded = () => {
    if (!isNumber) {
      return FORMATS[String(format)] ?? (pattern ? matching(pattern) : anyText(limits));
    }
    // a pattern has numbers of all its lengths, to which few of other numbers are fit
    return pattern ? fc.oneof(numberTextOf(schema), matching(pattern)) : numberTextOf(schema);
  };
  const texts = contentEncoding === "base64" ? fc.base64String() : unencoded();
  const isFit = (text: string) =>
    // no database keeps the character NUL
    !text.includes("\0") && hasLength(text, minLength, maxLength) &&
    (pattern?.test(text) ?? true) && (!isNumber || isWithin(text, schema));
  return keep(texts, isFit, schema);
}

/** Texts that mostly match a pattern; of one that cannot be followed, texts of known formats. */
function matching(pattern: RegExp): fc.Arbitrary<string> {
  try {
    const around = /\(\?<?[!=]\^?[^()]*\)/g; // what must precede or follow is left to chance
    return fc.stringMatching(new RegExp(pattern.source.replace(around, ""), "u"));
  } catch {
    return fc.oneof(...Object.values(FORMATS));
  }
}
