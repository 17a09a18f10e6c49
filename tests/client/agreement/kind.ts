/** Kinds of values that a client sends, or a handler returns. */
import fc from "fast-check";
import * as v from "valibot";
import { z } from "zod";

/** A library of schemas. */
export type Library = "valibot" | "zod";

/** A value, and what of it arrives; `undefined` is not sent. */
export interface Sample {
  readonly sent: unknown;
  readonly received: unknown;
}

/** A kind of values: its schema, values that satisfy it, and some that do not. */
export interface Kind {
  readonly name: string;
  readonly valibot: v.GenericSchema;
  readonly zod: z.ZodType;
  readonly samples: fc.Arbitrary<Sample>;
  readonly wrong?: fc.Arbitrary<unknown>;
}

/** Values that arrive as they were sent. */
export function same<T>(values: fc.Arbitrary<T>): fc.Arbitrary<Sample> {
  return values.map((value) => ({ sent: value, received: value }));
}

/** Text that arrives as a number of any size. */
const INTEGER = v.pipe(v.string(), v.regex(/^-?\d+$/), v.toNumber());
const BIGINT = v.pipe(v.string(), v.regex(/^-?\d+$/), v.toBigint());
const WHOLE = z.string().regex(/^-?\d+$/);

/** Whole numbers as text: a client also accepts the number. */
export const INTEGERS: Kind = {
  name: "integer",
  valibot: INTEGER,
  zod: WHOLE.transform(Number),
  samples: fc.tuple(fc.maxSafeInteger(), fc.constantFrom(Number, String, BigInt))
    .map(([number, written]) => ({ sent: written(number), received: number })),
  wrong: fc.constantFrom("", "x", "1.5", 0.5, true, "0x1", "1 "),
};

/** Whole numbers of any size as text. */
export const BIGINTS: Kind = {
  name: "bigint",
  valibot: BIGINT,
  zod: WHOLE.transform(BigInt),
  samples: fc.tuple(fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n }), fc.boolean())
    .map(([number, isText]) => ({ sent: isText ? String(number) : number, received: number })),
  wrong: fc.constantFrom("", "1n", "NaN"),
};

/** Truth as text. */
export const BOOLEANS: Kind = {
  name: "boolean",
  valibot: v.pipe(v.picklist(["true", "false"]), v.transform((text) => text === "true")),
  zod: z.enum(["true", "false"]).transform((text) => text === "true"),
  samples: fc.tuple(fc.boolean(), fc.boolean())
    .map(([value, isText]) => ({ sent: isText ? String(value) : value, received: value })),
  wrong: fc.constantFrom("", "yes", 1),
};

/** One of some texts. */
export const CHOICES: Kind = {
  name: "choice",
  valibot: v.picklist(["asc", "desc & more"]),
  zod: z.enum(["asc", "desc & more"]),
  samples: same(fc.constantFrom("asc", "desc & more")),
  wrong: fc.constantFrom("", "ASC", "desc"),
};

/** Points in time as ISO 8601 text, which become a `Date`. */
export const TIMESTAMPS: Kind = {
  name: "timestamp",
  valibot: v.pipe(v.string(), v.isoTimestamp(), v.toDate()),
  zod: z.iso.datetime().transform((text) => new Date(text)),
  samples: fc.date({
    min: new Date("1000-01-01"),
    max: new Date("9999-12-31"),
    noInvalidDate: true,
  }).map((date) => ({ sent: date.toISOString(), received: date })),
  wrong: fc.constantFrom("", "yesterday", "2026-01-32T00:00:00Z"),
};

/** Any of these texts. */
export function textsOf(values: fc.Arbitrary<string>): Kind {
  return { name: "text", valibot: v.string(), zod: z.string(), samples: same(values) };
}

/** Lists of a kind, of at least as many members. */
export function listOf(kind: Kind, { minLength = 0 } = {}): Kind {
  const { wrong } = kind;
  return {
    name: `list of ${kind.name}`,
    valibot: v.array(kind.valibot),
    zod: z.array(kind.zod),
    samples: fc.array(kind.samples, { minLength, maxLength: 4 }).map((samples) => ({
      sent: samples.map(({ sent }) => sent),
      received: samples.map(({ received }) => received),
    })),
    ...wrong && { wrong: wrong.map((value) => [value]) },
  };
}

/** A kind that can be missing; `missing` are the values that are not sent. */
export function optionalOf(kind: Kind, missing: readonly unknown[] = [undefined]): Kind {
  const absent = fc.constantFrom(...missing).map((sent) => ({ sent, received: undefined }));
  return {
    ...kind,
    name: `optional ${kind.name}`,
    valibot: v.optional(kind.valibot),
    zod: kind.zod.optional(),
    samples: fc.oneof(kind.samples, absent),
  };
}

/** Text with a default. */
export function defaultOf({ samples, ...kind }: Kind): Kind {
  const value = "by default";
  return {
    ...kind,
    name: `${kind.name} with a default`,
    valibot: v.optional(kind.valibot, value),
    zod: kind.zod.default(value),
    samples: fc.oneof(samples, fc.constant({ sent: undefined, received: value })),
  };
}
