/** Values of things and rows of them, at random. */
import fc from "fast-check";
import type { JsonValue } from "../../../src/db/mod.ts";
import { MOODS } from "../support/thing.ts";
import type { Change, Creation, Target, Unique } from "../support/thing_operations.ts";

/** Text that SQL, LIKE, GLOB, a collation or an encoding could take for another. */
const TEXTS = [
  "",
  " ",
  "a",
  "A",
  "a ",
  "ab",
  "á",
  "a\u0301",
  "ß",
  "ss",
  "\u00c1",
  "I",
  "\u0130",
  "\u0131",
  "\u03a3",
  "\u03c2",
  "\u212a",
  "'",
  '"',
  "\\",
  "\\'",
  "%",
  "_",
  "!",
  "*",
  "?",
  "[a]",
  "100%_!",
  "😀",
  "\uff5e",
  "; drop table things; --",
  "$1",
  ":a",
  "\n",
  "null",
];
const NUMBERS = [-2, -1, 0, 1, 2, 3, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER];

/** Keys that are given; sequences do not generate them, as no test has as many rows. */
const farKey = fc.constantFrom(-1, 0, 1000, 2000, 3000);

/** Text that is one character or a few. */
export const text = fc.constantFrom(...TEXTS);

/** A whole number. */
export const number = fc.constantFrom(...NUMBERS);

/** A generated key; few, so that rows are found, and get in each other's way. */
export const id = fc.oneof({ arbitrary: fc.integer({ min: -1, max: 8 }), weight: 9 }, farKey);

/** A code, of few as well. */
export const code = fc.constantFrom("a", "A", "a ", "á", "a\u0301", "\\'", "%", "😀");

/** A time; those that the repository sets come after. */
export const time = fc.constantFrom(0, 1, 2000).map((ms) => new Date(ms));

/** The values that the repository or the database sets otherwise. */
const filled = { made: time, touched: time, note: fc.constantFrom("old", null) };

/** A mood. */
export const mood = fc.constantFrom(...MOODS);

/** A date. */
export const day = fc.constantFrom("1000-01-01", "2024-02-29", "2026-11-26", "9999-12-31");

/** A time of the day. */
export const hour = fc.constantFrom("00:00:00", "12:30:00", "12:30:00.001", "23:59:59.999");

/** A whole number of 64 bits. */
export const big = fc.constantFrom(-1n, 0n, 1n, 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n));

/** A decimal. */
export const price = fc.constantFrom("-9.50", "0.00", "0.05", "9.00", "10.00", "12345678901234.56");

/** An element of a list, or text in JSON. */
export const word = fc.constantFrom("", "a", "A", "1", "null", '"', "\\", "]", ",", "é😀", "%");

/** A list. */
export const tags = fc.array(word, { maxLength: 3 });

/** A value in JSON. */
export const scalar = fc.oneof(word, fc.constantFrom(0, 1, -2.5, 1e10), fc.boolean());

/** JSON, whose members PostgreSQL keeps in this order. */
export const json: fc.Arbitrary<JsonValue> = fc.oneof(
  scalar,
  fc.array(fc.oneof(scalar, fc.constant(null)), { maxLength: 3 }),
  fc.record({
    a: fc.oneof(scalar, fc.constant(null), fc.array(scalar, { maxLength: 2 })),
    b: fc.record({ $: scalar, a: scalar }, { requiredKeys: [], noNullPrototype: true }),
  }, { requiredKeys: [], noNullPrototype: true }),
);

/** The values of the other columns; names and ranks of which rows have the same. */
export const rest = {
  name: fc.option(fc.oneof({ arbitrary: fc.constantFrom("a", "A"), weight: 2 }, text)),
  rank: fc.option(fc.oneof({ arbitrary: fc.constantFrom(0, 1), weight: 2 }, number)),
  flag: fc.boolean(),
  mood: fc.option(mood),
  day: fc.option(day),
  hour: fc.option(hour),
  big: fc.option(big),
  price: fc.option(price),
  tags: fc.option(tags),
  data: fc.option(json),
};

/** A row without `id`. */
const row = { code, ...rest, ...filled };

/** What operations write to things, and how they name one. */
export interface Writing {
  /** A row without `id`. */
  readonly keyless: fc.Arbitrary<Creation>;
  /** A row with one. */
  readonly keyed: fc.Arbitrary<Creation>;
  /** Rows that do not get in each other's way by a part of their key. */
  readonly fewRows: fc.Arbitrary<Creation[]>;
  /** Rows with and without `id`. */
  readonly mixedRows: fc.Arbitrary<Creation[]>;
  /** The data of an update; `gone` is for repositories that see marked rows. */
  readonly change: fc.Arbitrary<Change>;
  /** A condition that one row meets at most. */
  readonly unique: fc.Arbitrary<Unique>;
  /** A key, and its values. */
  readonly key: fc.Arbitrary<Unique>;
  /** Rows that are created, or update others with the values of a key. */
  readonly upserts: readonly {
    readonly by: string;
    readonly rows: fc.Arbitrary<Creation[]>;
    readonly update: fc.Arbitrary<(keyof Change)[]>;
  }[];
}

const keyless = fc.record(row, { requiredKeys: ["code"] });
const someChanged = fc.subarray(
  [...Object.keys(rest), "touched", "note"] as (keyof Change)[],
).map((names): (keyof Change)[] => [...new Set([...names, "rank" as const])]);
const changed = { ...rest, touched: time, note: filled.note, gone: fc.option(time) };

/** What operations write to things with keys of one column. */
export const WRITING: Writing = {
  keyless,
  keyed: fc.record({ id, ...row }, { requiredKeys: ["id", "code"] }),
  fewRows: few(keyless, ({ code }) => code),
  mixedRows: few(
    fc.oneof(keyless, fc.record({ id: farKey, code, ...rest }, { requiredKeys: ["id", "code"] })),
    ({ code }) => code,
  ),
  change: fc.record({ code, ...changed }, { requiredKeys: [] }),
  unique: fc.oneof(
    fc.record({ id }),
    { arbitrary: fc.record({ code }), weight: 3 },
    fc.record({ id, code: fc.record({ equals: code }) }),
  ),
  key: fc.oneof(fc.record({ id }), fc.record({ code })),
  upserts: [
    { by: "code", rows: few(keyless, ({ code }) => code), update: someChanged },
    {
      by: "id",
      rows: few(fc.record({ id, ...row }, { requiredKeys: ["id", "code"] }), ({ id }) => id),
      update: fc.oneof(someChanged, someChanged.map((names) => [...names, "code" as const])),
    },
  ],
};

/** Returns a condition on the row of a write, with or without its version. */
export function targetOf({ unique }: Pick<Writing, "unique">): fc.Arbitrary<Target> {
  return fc.tuple(unique, fc.option(fc.integer({ min: 1, max: 3 })))
    .map(([where, version]) => version === null ? where : { ...where, version });
}

/** A part of a key; few, so that rows are found, and get in each other's way. */
const part = fc.integer({ min: 0, max: 2 });
const withPart = fc.record({ id: part, ...row }, { requiredKeys: ["id", "code"] });
const someRows = few(fc.oneof(withPart, keyless), ({ id = 1, code }) => `${id} ${code}`);
const codeAndId = fc.record({
  // The order of the members is not that of the key.
  code_id: fc.oneof(fc.record({ code, id: part }), fc.record({ id: part, code })),
});
const ranked = { name: fc.constantFrom("a", "A"), rank: fc.constantFrom(0, 1) };
const nameAndRank = fc.record({ name_rank: fc.record(ranked) });
// By type, conditions have the keys of one column.
const keys = fc.oneof(codeAndId, nameAndRank) as unknown as fc.Arbitrary<Unique>;

/** What operations write to things with keys of several columns. */
export const KEYED_WRITING: Writing = {
  keyless,
  keyed: withPart,
  fewRows: someRows,
  mixedRows: someRows,
  change: fc.record(changed, { requiredKeys: [] }),
  unique: fc.oneof(
    { arbitrary: keys, weight: 4 },
    fc.tuple(codeAndId, nameAndRank).map(([one, other]) =>
      ({ ...one, ...other }) as unknown as Unique
    ),
  ),
  key: keys,
  upserts: [
    {
      by: "code_id",
      // Two may have the same key.
      rows: fc.oneof({ arbitrary: someRows, weight: 3 }, fc.array(withPart, { maxLength: 6 })),
      update: someChanged,
    },
    {
      by: "name_rank",
      rows: few(
        fc.record({ id: part, ...row, ...ranked }, { requiredKeys: ["code", "name", "rank"] }),
        ({ name, rank }) => `${name} ${rank}`,
      ),
      update: someChanged,
    },
  ],
};

/** Returns a few rows, of which no two have the same key. */
function few(
  row: fc.Arbitrary<Creation>,
  keyOf: (row: Creation) => unknown,
): fc.Arbitrary<Creation[]> {
  return fc.uniqueArray(row, { maxLength: 6, selector: keyOf });
}
