import assert from "node:assert/strict";
import { sql } from "kysely";
import { belongsTo, DbOptions, DbService, field, model } from "../../../src/db/mod.ts";
import { type Brand, testOnEach } from "../support/database.ts";
import { openNoted } from "../support/noted.ts";
import { planOf } from "../support/plans.ts";

const Word = model("words", {
  id: field.integer().primaryKey(),
  text: field.text(),
  hint: field.text().nullable(),
  first_id: field.integer().nullable().references("self"),
});
class Words extends DbService.with({ word: Word }, {
  word: { first: belongsTo(Word.first_id) },
}) {}

/** Texts that some databases equate in some collations: only the first two are equal here. */
const EQUATED: readonly (readonly string[])[] = [
  ["Fw", "fW", "fw ", "f\u200dw", "\uff46\uff57"],
  ["x\u00c9", "X\u00c9", "x\u00e9", "xE\u0301", "xe"],
  ["I\u0130", "i\u0130", "ii", "\u0131\u0130", "i\u0307i"],
  ["Stra\u00dfe", "STRA\u00dfE", "STRASSE", "STRA\u1e9eE"],
  ["\u039f\u03a3 A", "\u039f\u03a3 a", "\u03bf\u03c2 a", "\u03bf\u03c3 a"],
  ["K", "k", "\u212a", "\uff2b"],
  ["Lj", "lJ", "\u01c7", "\u01c8", "\u01c9"],
  ["\u0416z", "\u0416Z", "\u0436z"],
  ["\ud801\udc00N", "\ud801\udc00n", "\ud801\udc28n"],
  ["100%_A", "100%_a", "100x_a", "100%xa"],
  ["@Z[", "@z[", "`z[", "@z{"],
];

testOnEach(
  "Repository equates A to Z with a to z in mode insensitive, no others",
  async ({ url }) => {
    await using db = await Words.open(DbOptions.fromUrl(url));
    await db.createTables();
    for (const texts of EQUATED) {
      await db.word.deleteMany({ all: true });
      await db.word.createMany({ data: texts.map((text) => ({ text })) });
      const lower = (text: string) => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
      for (const text of texts) {
        const same = texts.filter((other) => lower(other) === lower(text)).toSorted();
        for (
          const [operators, expected] of [
            [{ equals: text }, same],
            [{ in: [text] }, same],
            [{ in: [text, "-"] }, same],
            [{ startsWith: text }, texts.filter((it) => lower(it).startsWith(lower(text)))],
            [{ endsWith: text }, texts.filter((it) => lower(it).endsWith(lower(text)))],
            [{ contains: text }, texts.filter((it) => lower(it).includes(lower(text)))],
            [{ not: text }, texts.filter((it) => !same.includes(it))],
            [{ notIn: [text, "-"] }, texts.filter((it) => !same.includes(it))],
          ] as const
        ) {
          const where = { text: { ...operators, mode: "insensitive" } } as const;
          const found = (await db.word.findMany({ where })).map(({ text }) => text);
          assert.deepEqual(found.toSorted(), expected.toSorted(), JSON.stringify(where));
        }
      }
    }
  },
);

testOnEach("Repository orders by text in mode insensitive", async ({ url }) => {
  await using db = await Words.open(DbOptions.fromUrl(url));
  await db.createTables();
  const [first] = await db.word.createManyAndReturn({ data: [{ text: "_" }] });
  const hints = ["b", "A", "Z", "\u00c9", "a", null, "[", "\u00e9", "B"];
  await db.word.createMany({
    data: hints.map((hint) => ({ text: hint ?? "", hint, first_id: first!.id })),
  });
  const where = { first_id: { isNull: false } };
  const insensitive = { sort: "asc", mode: "insensitive" } as const;
  const sorted = [null, "[", "A", "a", "b", "B", "Z", "\u00c9", "\u00e9"];
  const found = await db.word.findMany({ where, orderBy: [{ hint: insensitive }, { id: "asc" }] });
  assert.deepEqual(found.map(({ hint }) => hint), sorted);
  const stream = db.word.stream({ where, orderBy: { hint: insensitive }, batchSize: 2 });
  assert.deepEqual((await Array.fromAsync(stream)).map(({ hint }) => hint), sorted);
  const back = { sort: "desc", mode: "insensitive" } as const;
  assert.deepEqual(
    (await Array.fromAsync(db.word.stream({ where, orderBy: { hint: back }, batchSize: 2 })))
      .map(({ hint }) => hint),
    ["\u00e9", "\u00c9", "Z", "b", "B", "A", "a", "[", null],
  );
  const exact = await db.word.findMany({ where, orderBy: { hint: { sort: "asc" } } });
  assert.deepEqual(
    exact.map(({ hint }) => hint),
    [null, "A", "B", "Z", "[", "a", "b", "\u00c9", "\u00e9"],
  );
  const related = await db.word.findMany({
    where,
    orderBy: [{ first: { text: back } }, { hint: insensitive }],
    distinct: ["hint"],
    take: 3,
  });
  assert.deepEqual(related.map(({ hint }) => hint), [null, "[", "A"]);
});

/** The index that serves conditions on `text` in mode insensitive; MySQL has none. */
const INDEXES: Partial<Readonly<Record<Brand, string>>> = {
  postgres: `create index words_text on words (lower(text collate "C"))`,
  sqlite: "create index words_text on words (lower(text))",
};

testOnEach("Conditions in mode insensitive use an index on lower()", async (database) => {
  await using noted = await openNoted(Words, database);
  const { db, notes } = noted;
  const { brand } = database;
  await db.createTables();
  await db.word.createMany({ data: Array.from({ length: 5000 }, (_, n) => ({ text: `T${n}` })) });
  await sql.raw(INDEXES[brand]!).execute(db.kysely);
  await sql`analyze`.execute(db.kysely);
  for (const operators of [{ equals: "t7" }, { in: ["T7", "t8"] }, { startsWith: "t77" }]) {
    notes.take();
    await db.word.findMany({ where: { text: { ...operators, mode: "insensitive" } } });
    const [statement] = notes.take();
    assert.match(await planOf(db.kysely, brand, statement!), /words_text/, String(statement));
  }
}, { brands: ["sqlite", "postgres"] });

testOnEach(
  "Repository refuses an unknown mode, and one of a column without text",
  async ({ url }) => {
    await using db = await Words.open(DbOptions.fromUrl(url));
    const refusals: readonly (readonly [options: object, reason: string])[] = [
      [{ where: { id: { equals: 1, mode: "insensitive" } } }, 'id takes no mode "insensitive"'],
      [{ where: { text: { equals: "a", mode: "ascii" } } }, 'text takes no mode "ascii"'],
      [{ where: { text: { mode: "insensitive" } } }, "text has no operator"],
      [
        { orderBy: { id: { sort: "asc", mode: "insensitive" } } },
        'id takes no mode "insensitive"',
      ],
      [{ orderBy: { text: { mode: "insensitive" } } }, "the order of text is not asc or desc"],
      [{ orderBy: { text: { sort: "asc", nulls: "last" } } }, 'the order of text takes no "nulls"'],
    ];
    for (const [options, reason] of refusals) {
      const message = `Cannot read words: ${reason}`;
      await assert.rejects(db.word.findMany(options), { name: "TypeError", message });
    }
    const where = { text: { contains: "", mode: "insensitive" } } as const;
    await assert.rejects(db.word.deleteMany({ where }), { name: "TypeError" });
  },
  { brands: ["sqlite"] },
);
