/** Kinds of JSON: bodies of requests, and data of responses. */
import fc from "fast-check";
import * as v from "valibot";
import { z } from "zod";
import {
  BIGINTS,
  CHOICES,
  type Kind,
  listOf,
  optionalOf,
  same,
  textsOf,
  TIMESTAMPS,
} from "./kind.ts";
import { fieldsOf, kindOf } from "./fields.ts";

/** A kind of what one of the two sides sends. */
export type Data = fc.Arbitrary<Kind>;

const ANY_TEXT = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ maxLength: 12, unit: "binary" }),
  fc.constantFrom("\ud800", "\udc00x", '"\\', "\u2028", "\ufeff", "__proto__"),
);

const NUMBERS: Kind = {
  name: "number",
  valibot: v.number(),
  zod: z.number(),
  samples: fc.double({ noNaN: true, noDefaultInfinity: true })
    .map((number) => ({ sent: number, received: number === 0 ? 0 : number })), // JSON has no -0
  wrong: fc.constantFrom("1", null, true),
};

const TRUTH: Kind = {
  name: "boolean",
  valibot: v.boolean(),
  zod: z.boolean(),
  samples: same(fc.boolean()),
  wrong: fc.constantFrom("true", 1, null),
};

const TEXTS: Kind = { ...textsOf(ANY_TEXT), wrong: fc.constantFrom(1, null, ["a"]) };

/** A `Date` that a handler returns, which is sent as text. */
const DATES: Kind = {
  name: "date",
  valibot: v.date(),
  zod: z.date(),
  samples: fc.date({ noInvalidDate: true })
    .map((date) => ({ sent: date, received: date.toISOString() })),
  wrong: fc.constantFrom("2026-01-01", 0),
};

/** A `bigint` that a handler returns, which its schema writes as text. */
const WRITTEN_BIGINTS: Kind = {
  name: "written bigint",
  valibot: v.pipe(v.bigint(), v.transform(String)),
  zod: z.bigint().transform(String),
  samples: fc.bigInt().map((number) => ({ sent: number, received: String(number) })),
  wrong: fc.constantFrom("1", 1),
};

const COMMON = [NUMBERS, TRUTH, TEXTS, CHOICES];

/** Bodies of requests. `JSON.stringify` refuses a `bigint`, so it is sent as text. */
export const BODIES: Data = dataOf([
  ...COMMON,
  TIMESTAMPS,
  { ...BIGINTS, samples: BIGINTS.samples.map((it) => ({ ...it, sent: String(it.sent) })) },
]);

/** What handlers return. */
export const RESULTS: Data = dataOf([...COMMON, DATES, WRITTEN_BIGINTS]);

/** Objects that handlers return. */
export const RECORDS: Data = fieldsOf(fc.constantFrom(...COMMON), { minLength: 1 }).map(kindOf);

/** Values of these kinds, and objects, lists and maps of them. */
function dataOf(leaves: readonly Kind[]): Data {
  const { kind } = fc.letrec<{ kind: Kind }>((tie) => ({
    kind: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      fc.constantFrom(...leaves),
      fieldsOf(fc.oneof(tie("kind"), tie("kind").map((kind) => optionalOf(kind)))).map(kindOf),
      tie("kind").map(listOf),
      tie("kind").map(mapOf),
      tie("kind").map(orNull),
    ),
  }));
  return kind;
}

function mapOf({ name, valibot, zod, samples }: Kind): Kind {
  const keys = fc.string({ maxLength: 5 }).filter((key) => key !== "__proto__");
  return {
    name: `map of ${name}`,
    valibot: v.record(v.string(), valibot),
    zod: z.record(z.string(), zod),
    samples: fc.dictionary(keys, samples, { maxKeys: 3, noNullPrototype: true }).map((map) => ({
      sent: mapped(map, ({ sent }) => sent),
      received: mapped(map, ({ received }) => received),
    })),
    wrong: fc.constantFrom("{}", null),
  };
}

function orNull({ name, valibot, zod, samples }: Kind): Kind {
  return {
    name: `${name} or null`,
    valibot: v.nullable(valibot),
    zod: z.nullable(zod),
    samples: fc.oneof(samples, fc.constant({ sent: null, received: null })),
  };
}

function mapped<T, U>(map: Readonly<Record<string, T>>, to: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, to(value)]));
}
