/**
 * Models with each kind of relation whose rows are written together, each with a code by which it is
 * known, the column of a scope and a mark.
 */
import assert from "node:assert/strict";
import {
  belongsTo,
  DbService,
  field,
  hasMany,
  hasOne,
  manyToMany,
  model,
} from "../../../src/db/mod.ts";

const COLUMNS = { flag: field.boolean().default(true), gone: field.deletedAt() };
const OWN = { id: field.integer().primaryKey(), code: field.text().unique() };

const Person = model("people", { ...OWN, ...COLUMNS });
const Card = model("cards", {
  ...OWN,
  person_id: field.integer().nullable().unique().references(Person),
  ...COLUMNS,
});
const Book = model("books", {
  ...OWN,
  person_id: field.integer().nullable().references(Person),
  ...COLUMNS,
});
const Tag = model("tags", { ...OWN, ...COLUMNS });
const BookTag = model("book_tags", {
  id: field.integer().primaryKey(),
  book_id: field.integer().references(Book),
  tag_id: field.integer().references(Tag),
  ...COLUMNS,
});
const MODELS = { person: Person, card: Card, book: Book, tag: Tag, bookTag: BookTag };
const RELATIONS = {
  person: { books: hasMany(Book.person_id), card: hasOne(Card.person_id) },
  card: { owner: belongsTo(Card.person_id) },
  book: { author: belongsTo(Book.person_id), tags: manyToMany(BookTag.book_id, BookTag.tag_id) },
  tag: { books: manyToMany(BookTag.tag_id, BookTag.book_id) },
};

/** The house that all rows are in: it makes each of their keys one of several columns. */
export const HOUSE = "h";
const KEYED = {
  house: field.text().default(HOUSE),
  id: field.uuid().unique().default(() => crypto.randomUUID()),
  code: field.text(),
};
const KEYS = { primaryKey: ["house", "id"], unique: [["house", "code"]] } as const;

const KeyedPerson = model("people", { ...KEYED, ...COLUMNS }, KEYS);
const OF_ROW = { column: "id" } as const;
const KeyedCard = model("cards", {
  ...KEYED,
  person_id: field.uuid().nullable().unique().references(KeyedPerson, OF_ROW),
  ...COLUMNS,
}, KEYS);
const KeyedBook = model("books", {
  ...KEYED,
  person_id: field.uuid().nullable().references(KeyedPerson, OF_ROW),
  ...COLUMNS,
}, KEYS);
const KeyedTag = model("tags", { ...KEYED, ...COLUMNS }, KEYS);
const KeyedBookTag = model("book_tags", {
  book_id: field.uuid().references(KeyedBook, OF_ROW),
  tag_id: field.uuid().references(KeyedTag, OF_ROW),
  ...COLUMNS,
}, { primaryKey: ["book_id", "tag_id"] });
const KEYED_MODELS = {
  person: KeyedPerson,
  card: KeyedCard,
  book: KeyedBook,
  tag: KeyedTag,
  bookTag: KeyedBookTag,
};
const KEYED_RELATIONS = {
  person: { books: hasMany(KeyedBook.person_id), card: hasOne(KeyedCard.person_id) },
  card: { owner: belongsTo(KeyedCard.person_id) },
  book: {
    author: belongsTo(KeyedBook.person_id),
    tags: manyToMany(KeyedBookTag.book_id, KeyedBookTag.tag_id),
  },
  tag: { books: manyToMany(KeyedBookTag.tag_id, KeyedBookTag.book_id) },
};

/** A database of books, their authors and tags. */
export class Shelf extends DbService.with(MODELS, RELATIONS) {}

/** The same, whose rows have keys of several columns, and refer to unique ones. */
export class KeyedShelf extends DbService.with(KEYED_MODELS, KEYED_RELATIONS) {}

/** A row of the books, or of the join model. */
type Copied = Readonly<Record<string, unknown>>;

/** The hooks that copy committed rows. */
function mirroring(kind: "books" | "links") {
  type Db = Pick<DbService, "afterCommit">;
  return {
    created: (rows: readonly Copied[], db: Db) =>
      mirror(db, (copies) => rows.forEach((row) => add(copies[kind], row))),
    updated: (rows: readonly Changed[], db: Db) =>
      mirror(db, (copies) => rows.forEach((row) => change(copies[kind], row))),
    deleted: (rows: readonly Copied[], db: Db) =>
      mirror(db, (copies) => rows.forEach((row) => remove(copies[kind], row))),
  };
}

const HOOKS = { on: { book: mirroring("books"), bookTag: mirroring("links") } };

/** A shelf whose hooks copy the committed books and their tags. */
export class MirroredShelf extends DbService.with(MODELS, RELATIONS, HOOKS) implements Copies {
  readonly books: Copy = new Map();
  readonly links: Copy = new Map();
}

/** The same of a keyed shelf. */
export class MirroredKeyedShelf extends DbService.with(KEYED_MODELS, KEYED_RELATIONS, HOOKS)
  implements Copies {
  readonly books: Copy = new Map();
  readonly links: Copy = new Map();
}

/** What hooks have copied. */
export interface Copies {
  /** The live books by their keys. */
  readonly books: Copy;
  /** The live rows of the join model by their keys. */
  readonly links: Copy;
}

/** Copied rows by key. */
type Copy = Map<string, Copied>;
interface Changed {
  readonly before: Copied;
  readonly after: Copied;
}

async function mirror(
  db: Pick<DbService, "afterCommit">,
  change: (copies: Copies) => void,
): Promise<void> {
  assert.ok(db instanceof MirroredShelf || db instanceof MirroredKeyedShelf);
  await db.afterCommit(() => change(db));
}

/** Rows of the join model may be known by what they relate. */
function keyIn({ id, book_id, tag_id }: Copied): string {
  return String(id ?? [book_id, tag_id]);
}

function add(copy: Copy, row: Copied): void {
  assert.ok(!copy.has(keyIn(row)), "it is created once");
  copy.set(keyIn(row), row);
}

/** Copies a change, by which a link may be live again. */
function change(copy: Copy, { before, after }: Changed): void {
  assert.deepEqual(copy.get(keyIn(before)), before.gone === null ? before : undefined);
  copy.set(keyIn(after), after);
}

/** Removes a row; one that is purged may have been marked before. */
function remove(copy: Copy, row: Copied): void {
  assert.ok(copy.delete(keyIn(row)) || row.gone !== null, "it is deleted once");
}

/** The models whose rows have a code. */
export type Kind = "person" | "card" | "book" | "tag";

/** The relations of each model: to which, and what they are to it. */
export const EDGES: Readonly<
  Record<Kind, Readonly<Record<string, readonly [Kind, "own" | "one" | "many" | "join"]>>>
> = {
  person: { books: ["book", "many"], card: ["card", "one"] },
  card: { owner: ["person", "own"] },
  book: { author: ["person", "own"], tags: ["tag", "join"] },
  tag: { books: ["book", "join"] },
};
