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
  type Row,
} from "../../../src/db/mod.ts";

const Person = model("people", {
  id: field.integer().primaryKey(),
  code: field.text().unique(),
  flag: field.boolean().default(true),
  gone: field.deletedAt(),
});
const Card = model("cards", {
  id: field.integer().primaryKey(),
  code: field.text().unique(),
  person_id: field.integer().nullable().unique().references(Person),
  flag: field.boolean().default(true),
  gone: field.deletedAt(),
});
const Book = model("books", {
  id: field.integer().primaryKey(),
  code: field.text().unique(),
  person_id: field.integer().nullable().references(Person),
  flag: field.boolean().default(true),
  gone: field.deletedAt(),
});
const Tag = model("tags", {
  id: field.integer().primaryKey(),
  code: field.text().unique(),
  flag: field.boolean().default(true),
  gone: field.deletedAt(),
});
const BookTag = model("book_tags", {
  id: field.integer().primaryKey(),
  book_id: field.integer().references(Book),
  tag_id: field.integer().references(Tag),
  flag: field.boolean().default(true),
  gone: field.deletedAt(),
});
const MODELS = { person: Person, card: Card, book: Book, tag: Tag, bookTag: BookTag };
const RELATIONS = {
  person: { books: hasMany(Book.person_id), card: hasOne(Card.person_id) },
  card: { owner: belongsTo(Card.person_id) },
  book: { author: belongsTo(Book.person_id), tags: manyToMany(BookTag.book_id, BookTag.tag_id) },
  tag: { books: manyToMany(BookTag.tag_id, BookTag.book_id) },
};

/** A database of books, their authors and tags. */
export class Shelf extends DbService.with(MODELS, RELATIONS) {}

/** The same, whose hooks copy the committed books and their tags. */
export class MirroredShelf extends DbService.with(MODELS, RELATIONS, {
  on: {
    book: {
      created: (rows, db) => mirror(db, ({ books }) => rows.forEach((row) => add(books, row))),
      updated: (rows, db) => mirror(db, ({ books }) => rows.forEach((row) => change(books, row))),
      deleted: (rows, db) => mirror(db, ({ books }) => rows.forEach((row) => remove(books, row))),
    },
    bookTag: {
      created: (rows, db) => mirror(db, ({ links }) => rows.forEach((row) => add(links, row))),
      updated: (rows, db) => mirror(db, ({ links }) => rows.forEach((row) => change(links, row))),
      deleted: (rows, db) => mirror(db, ({ links }) => rows.forEach((row) => remove(links, row))),
    },
  },
}) {
  /** The live books by key. */
  readonly books: Copy<Row<typeof Book>> = new Map();
  /** The live rows of the join model by key. */
  readonly links: Copy<Row<typeof BookTag>> = new Map();
}

/** Copied rows by key. */
type Copy<R> = Map<number, R>;

async function mirror(
  db: Pick<DbService, "afterCommit">,
  change: (db: MirroredShelf) => void,
): Promise<void> {
  assert.ok(db instanceof MirroredShelf);
  await db.afterCommit(() => change(db));
}

function add<R extends { readonly id: number }>(copy: Copy<R>, row: R): void {
  assert.ok(!copy.has(row.id), "it is created once");
  copy.set(row.id, row);
}

function change<R extends { readonly id: number }>(
  copy: Copy<R>,
  { before, after }: { readonly before: R; readonly after: R },
): void {
  assert.deepEqual(copy.get(before.id), before);
  copy.set(after.id, after);
}

function remove<R extends { readonly id: number }>(copy: Copy<R>, row: R): void {
  assert.ok(copy.delete(row.id), "it is deleted once");
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
