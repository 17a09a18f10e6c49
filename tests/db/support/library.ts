/** A library of tenants: models with each kind of relation, and a few rows. */
import {
  belongsTo,
  DbOptions,
  DbService,
  field,
  hasMany,
  hasOne,
  manyToMany,
  model,
} from "../../../src/db/mod.ts";
import { type Brand, testOnEach } from "./database.ts";

const Author = model("authors", {
  id: field.integer().primaryKey(),
  tenant: field.text(),
  name: field.text().nullable(),
});
const Profile = model("profiles", {
  author_id: field.integer().primaryKey().references(Author),
  bio: field.text(),
});
export const Book = model("books", {
  id: field.integer().primaryKey(),
  tenant: field.text(),
  author_id: field.integer().nullable().references(Author),
  sequel_of: field.integer().nullable().references("self"),
  title: field.text(),
  year: field.integer().nullable(),
});
const Tag = model("tags", { name: field.text().primaryKey() });
const BookTag = model("book_tags", {
  id: field.integer().primaryKey(),
  tenant: field.text(),
  book_id: field.integer().references(Book),
  name: field.text().references(Tag),
});

export class Library extends DbService.with(
  { author: Author, profile: Profile, book: Book, tag: Tag, bookTag: BookTag },
  {
    author: { books: hasMany(Book.author_id), profile: hasOne(Profile.author_id) },
    profile: { author: belongsTo(Profile.author_id) },
    book: {
      author: belongsTo(Book.author_id),
      prequel: belongsTo(Book.sequel_of),
      sequels: hasMany(Book.sequel_of),
      tags: manyToMany(BookTag.book_id, BookTag.name),
    },
    tag: { books: manyToMany(BookTag.name, BookTag.book_id) },
    bookTag: { book: belongsTo(BookTag.book_id), tag: belongsTo(BookTag.name) },
  },
) {}

/**
 * Books by their ids: 1 to 3 are Ada's, 3 of the other tenant; 4 is Bea's, 5 that of an author
 * without a name, 6 nobody's.
 */
export async function fillLibrary({ author, profile, book, tag, bookTag }: Library): Promise<void> {
  const tenant = "a";
  await author.createMany({
    data: [
      { tenant, name: "Ada" },
      { tenant: "b", name: "Bea" },
      { tenant, name: null },
      { tenant, name: "Dan" },
    ],
  });
  await profile.create({ data: { author_id: 1, bio: "Countess" } });
  await book.createMany({
    data: [
      { tenant, author_id: 1, title: "x", year: 1 },
      { tenant, author_id: 1, title: "y", year: null, sequel_of: 1 },
      { tenant: "b", author_id: 1, title: "x", year: 3, sequel_of: 2 },
      { tenant, author_id: 2, title: "z", year: 2, sequel_of: 1 },
      { tenant, author_id: 3, title: "y", year: 5 },
      { tenant, author_id: null, title: "x", year: 6, sequel_of: 5 },
    ],
  });
  await tag.createMany({ data: [{ name: "red" }, { name: "Red" }, { name: "blue" }] });
  await bookTag.createMany({
    data: [
      { tenant, book_id: 1, name: "red" },
      { tenant, book_id: 1, name: "blue" },
      { tenant: "b", book_id: 2, name: "red" },
      { tenant, book_id: 3, name: "Red" },
      { tenant, book_id: 4, name: "red" },
      { tenant, book_id: 4, name: "red" },
    ],
  });
}

/** Runs a test on a filled library on each brand. */
export function testLibraryOnEach(
  name: string,
  run: (db: Library, brand: Brand) => Promise<void>,
): void {
  testOnEach(name, async ({ brand, url }) => {
    await using db = await Library.open(DbOptions.fromUrl(url));
    await db.createTables();
    await fillLibrary(db);
    await run(db, brand);
  });
}
