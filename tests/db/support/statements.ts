/** Operations on a blog, and the statements that they must run. */
import assert from "node:assert/strict";
import type { DbConnection } from "../../../src/db/connection/connection.ts";
import { Blog } from "./blog.ts";
import { type Brand, testOnEach } from "./database.ts";
import { type Noted, openNoted } from "./noted.ts";

/** The statements of an operation on each brand; those of the brand MySQL are MariaDB's. */
export interface Expected extends Readonly<Record<Brand, readonly Noted[]>> {
  /** Those of MySQL itself, where they differ by more than names. */
  readonly mysqlItself?: readonly Noted[];
}

/** An operation, and its statements. */
export type Operation<Db = Blog> = readonly [
  run: (db: Db) => Promise<unknown>,
  expected: Expected,
];

/** The columns of authors. */
export const ROW = '"id", "email", "name", "active"';

/** How a read of authors begins. */
export const READ = `select ${ROW} from "authors" where`;

/** Statements that are the same on each brand but for its notation. */
export function same(...statements: readonly Noted[]): Expected {
  return { sqlite: statements, postgres: statements, mysql: statements };
}

/**
 * Statements whose second one begins after a row: MySQL derives the range of an index from
 * alternatives, and the others do not. SQLite finds a key by its collation.
 */
export function compared(first: Noted, ofRows: Noted, spelledOut: Noted): Expected {
  const [text, ...values] = ofRows;
  const ofKey = text.replace("> (?, ?)", "> (?, ? collate binary)")
    .replace("< (?, ?)", "< (?, ? collate binary)");
  return {
    ...same(first, ofRows),
    sqlite: [first, [ofKey, ...values]],
    mysql: [first, spelledOut],
  };
}

/** Checks operations, which come one after the other on the same database. */
export function testStatements(
  title: string,
  operations: readonly Operation[],
  { fill = async () => {}, Service = Blog }: {
    readonly fill?: (db: Blog) => Promise<unknown>;
    readonly Service?: typeof Blog;
  } = {},
): void {
  testStatementsOf(Service, { title, operations, fill });
}

/** Checks operations on the tables of a service as {@linkcode testStatements} does. */
export function testStatementsOf<
  Db extends AsyncDisposable & { readonly createTables: () => Promise<void> },
>(
  Service: new (database: DbConnection) => Db,
  { title, operations, fill = async () => {} }: {
    readonly title: string;
    readonly operations: readonly Operation<Db>[];
    readonly fill?: (db: Db) => Promise<unknown>;
  },
): void {
  testOnEach(title, async (database) => {
    await using noted = await openNoted(Service, database);
    const { db, notes, system } = noted;
    await db.createTables();
    await fill(db);
    notes.take();
    for (const [run, expected] of operations) {
      await run(db);
      const { brand } = database;
      const { mysqlItself = expected[brand] } = expected;
      const statements = system === "mysql"
        ? mysqlItself.map((noted) => renamed(inDialect(brand, noted)))
        : expected[brand].map((noted) => inDialect(brand, noted));
      assert.deepEqual(notes.take(), statements, String(run));
    }
  });
}

/** How a brand compares text exactly. */
const EXACTLY: Readonly<Record<Brand, string>> = {
  sqlite: "($1 = ? and $1 = ? collate binary)",
  postgres: '($1::text = ? and nullif($1::text = ? collate "C", false) is not null)',
  mysql: "($1 = ? and cast(convert($1 using utf8mb4) as binary) = cast(? as binary))",
};

/**
 * Translates a statement with `"name"`, `?`, booleans and exact comparisons of text, `"name" == ?`, to
 * a brand.
 */
function inDialect(brand: Brand, [given, ...all]: Noted): Noted {
  const places = [...given.matchAll(/(== )?\?/g)].map(([place]) => place);
  const values = all.flatMap((value, index) => places[index] === "?" ? [value] : [value, value]);
  const sql = given.replaceAll(/("\w+") == \?/g, EXACTLY[brand]);
  switch (brand) {
    case "sqlite":
      return [sql, ...values.map((value) => typeof value === "boolean" ? Number(value) : value)];
    case "postgres":
      return numbered(sql, values);
    case "mysql":
      return [sql.replaceAll('"', "`"), ...values];
  }
}

/** Returns a statement of MariaDB in the words of MySQL. */
function renamed([sql, ...values]: Noted): Noted {
  const text = sql.replaceAll("utf8mb4_nopad_bin", "utf8mb4_0900_bin")
    .replace("lock in share mode skip locked", "for share skip locked");
  return [text, ...values];
}

/** Numbers the places of values, but for limits: they are written into the SQL. */
function numbered(sql: string, values: readonly unknown[]): Noted {
  const left = values.values();
  const bound: unknown[] = [];
  const text = sql.replaceAll(/(limit )?\?/g, (_, limit?: string) => {
    const { value } = left.next();
    return limit ? limit + value : `$${bound.push(value)}`;
  });
  return [text, ...bound];
}
