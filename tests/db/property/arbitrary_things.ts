/** Values of things and rows of them, at random. */
import fc from "fast-check";
import { MOODS } from "../support/thing.ts";

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

/** A key; few, so that rows are found, and get in each other's way. */
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

/** The values of the other columns. */
export const rest = {
  name: fc.option(text),
  rank: fc.option(number),
  flag: fc.boolean(),
  mood: fc.option(mood),
  day: fc.option(day),
  hour: fc.option(hour),
};

/** The data of an update; `gone` is for repositories that see marked rows. */
export const change = fc.record({
  code,
  ...rest,
  touched: time,
  note: filled.note,
  gone: fc.option(time),
}, { requiredKeys: [] });

/** A row whose key is to be generated. */
export const keyless = fc.record({ code, ...rest, ...filled }, { requiredKeys: ["code"] });

/** A row with a key. */
export const keyed = fc.record({ id, code, ...rest, ...filled }, {
  requiredKeys: ["id", "code"],
});

/** Rows that do not get in each other's way. */
export const fewRows = fc.uniqueArray(keyless, { maxLength: 6, selector: ({ code }) => code });

/** Rows with and without a key. */
export const mixedRows = fc.uniqueArray(
  fc.oneof(
    keyless,
    fc.record({ id: farKey, code, ...rest }, { requiredKeys: ["id", "code"] }),
  ),
  { maxLength: 6, selector: ({ code }) => code },
);
