/**
 * Databases through any Kysely dialect of PostgreSQL, SQLite or MySQL.
 *
 * @module
 */
import {
  CompiledQuery,
  type Dialect as KyselyDialect,
  type Driver,
  type Kysely,
  MysqlAdapter,
  PostgresAdapter,
  SqliteAdapter,
} from "kysely";
import { JSON_TEXT, SAME } from "../connection/codecs.ts";
import {
  type AnyTables,
  type Codec,
  type Dialect,
  type Grammar,
  withDriver,
} from "../connection/dialect.ts";
import { mysqlGrammar } from "./mysql/mysql.ts";
import { explainMysqlError } from "./mysql/mysql_errors.ts";
import { POSTGRES } from "./postgres/postgres.ts";
import { SQLITE } from "./sqlite/sqlite.ts";
import { dbError } from "../errors.ts";

interface Brand {
  /** Kysely's adapter. */
  readonly adapter: abstract new () => unknown;
  /** The adapter's name: a dialect may depend on another copy of Kysely, with other classes. */
  readonly name: string;
  readonly open: (kysely: KyselyDialect) => Dialect | Promise<Dialect>;
}

const BRANDS: readonly Brand[] = [
  {
    adapter: PostgresAdapter,
    name: "PostgresAdapter",
    open: (kysely) => ({
      grammar: withJson(POSTGRES, JSON_OBJECT),
      kysely,
      runScript: runPostgresScript,
    }),
  },
  {
    adapter: SqliteAdapter,
    name: "SqliteAdapter",
    open: (kysely) => ({ grammar: SQLITE, kysely, runScript: statementRunner("SQLite") }),
  },
  { adapter: MysqlAdapter, name: "MysqlAdapter", open: openMysql },
];

/** Values that drivers of MySQL read differently, and the collation of `mysql_driver.ts`. */
const PROBE = `select json_array(1) as json,
  timestamp('2000-01-01 00:00:00') as winter, timestamp('2000-07-01 00:00:00') as summer,
  (select collation_name from information_schema.collations
    where collation_name in ('utf8mb4_0900_bin', 'utf8mb4_nopad_bin') limit 1) as collation`;

/**
 * Some drivers of PostgreSQL encode a parameter of type JSON even if it is text: they get an
 * object, which all of them encode.
 */
const JSON_OBJECT: Codec = { encode: (value) => ({ toJSON: () => value }), decode: SAME.decode };
const PARSED_JSON: Codec = { encode: JSON_TEXT.encode, decode: SAME.decode };

/**
 * Returns the function that opens the database of a Kysely dialect, whose adapter
 * determines the brand.
 *
 * @throws {TypeError} if it is not of PostgreSQL, SQLite or MySQL
 */
export function fromKysely(kysely: KyselyDialect): () => Promise<Dialect> {
  const adapter = kysely.createAdapter();
  const names = namesOf(adapter);
  const brand = BRANDS.find((it) => adapter instanceof it.adapter || names.includes(it.name));
  if (!brand) throw new TypeError("Cannot use dialect: it is not of PostgreSQL, SQLite or MySQL");
  const limit = adapter.supportsMultipleConnections === false ? { poolMax: 1 } : {};
  return async () => ({ ...await brand.open(kysely), ...limit });
}

/**
 * Opens a database, after checking how its driver reads JSON and times.
 *
 * @throws {TypeError} if it reads times in another time zone than UTC
 * @throws {DbError} if the database cannot be reached
 */
async function openMysql(kysely: KyselyDialect): Promise<Dialect> {
  const driver = kysely.createDriver();
  try {
    const { json, winter, summer, collation } = await probe(driver);
    checkInstant(winter, Date.UTC(2000, 0));
    checkInstant(summer, Date.UTC(2000, 6));
    const grammar = mysqlGrammar({ collation: String(collation ?? "utf8mb4_bin"), bytes: buffer });
    return {
      grammar: typeof json === "string" ? grammar : withJson(grammar, PARSED_JSON),
      kysely: withDriver(kysely, () => driver),
      runScript: statementRunner("MySQL"),
    };
  } catch (error) {
    await driver.destroy().catch(() => {});
    throw error;
  }
}

async function probe(driver: Driver): Promise<Record<string, unknown>> {
  try {
    await driver.init();
    // A second call would create another pool.
    driver.init = () => Promise.resolve();
    const connection = await driver.acquireConnection();
    try {
      const { rows } = await connection.executeQuery<Record<string, unknown>>(
        CompiledQuery.raw(PROBE),
      );
      return rows[0] ?? {};
    } finally {
      await driver.releaseConnection(connection);
    }
  } catch (error) {
    throw dbError("open MySQL database", explainMysqlError(error ?? {}), error);
  }
}

function checkInstant(read: unknown, expected: number): void {
  if (!(read instanceof Date) || read.getTime() === expected) return;
  throw new TypeError(
    "Cannot use dialect: its driver reads times as of another time zone than UTC, such as with " +
      "the option timezone of mysql2 other than Z",
  );
}

function withJson(grammar: Grammar, json: Codec): Grammar {
  return { ...grammar, codecs: { ...grammar.codecs, json } };
}

/**
 * Runs the statements of a script one by one: most drivers reject several, or run only the first.
 */
function statementRunner(brand: ScriptBrand): NonNullable<Dialect["runScript"]> {
  return async (script: string, kysely: Kysely<AnyTables>) => {
    for (const statement of splitScript(script, brand)) {
      await kysely.executeQuery(CompiledQuery.raw(statement));
    }
  };
}

/** Runs a script inside a single statement, which any driver can prepare. */
async function runPostgresScript(script: string, kysely: Kysely<AnyTables>): Promise<void> {
  let tag = "fw";
  while (script.includes(`$${tag}`)) tag += "_";
  const body = `begin execute $${tag}_$${script}$${tag}_$; end`;
  await kysely.executeQuery(CompiledQuery.raw(`do $${tag}$${body}$${tag}$`));
}

/** Drivers of MySQL recognize bytes by Node's `Buffer`, where it exists. */
function buffer(bytes: unknown): unknown {
  const { Buffer } = globalThis as { Buffer?: { from(bytes: unknown): Uint8Array } };
  return Buffer?.from(bytes) ?? bytes;
}

/** Returns the names of the classes that an object is an instance of. */
function namesOf(value: object): readonly string[] {
  const prototype = Object.getPrototypeOf(value);
  return prototype === null ? [] : [String(prototype.constructor?.name), ...namesOf(prototype)];
}

/** The SQL dialect of a script. */
export type ScriptBrand = "SQLite" | "MySQL";

/** Comments, quoted text, words, and other characters one by one. */
const TOKENS: Readonly<Record<ScriptBrand, RegExp>> = {
  SQLite:
    /--.*|\/\*[^]*?(?:\*\/|$)|'[^']*'|"[^"]*"|`[^`]*`|\[[^\]]*\]|[\p{L}_][\p{L}\p{N}_$]*|[^]/gu,
  // In MySQL a backslash escapes in text, and two dashes begin a comment if a space follows.
  MySQL:
    /--(?=\s|$).*|#.*|\/\*(?!!)[^]*?(?:\*\/|$)|'(?:\\[^]|[^'\\])*'|"(?:\\[^]|[^"\\])*"|`[^`]*`|[\p{L}_][\p{L}\p{N}_$]*|[^]/gu,
};
const NOTHING = /^(?:--|#|\/\*(?!!)|\s)/;
/** Statements that contain statements. */
const ROUTINE = /^create(?: \S+)*? (?:trigger|procedure|function|event) /;
/** Blocks that `end` closes besides `begin` and `case`, which are not counted. */
const OTHER_BLOCKS: readonly string[] = ["if", "loop", "repeat", "while"];

/** Splits a script at the semicolons that end its statements; omits comments and space. */
function splitScript(script: string, brand: ScriptBrand): readonly string[] {
  const statements: string[] = [];
  let text = "";
  let tokens: string[] = [];
  for (const [token] of [...script.matchAll(TOKENS[brand]), [";"] as const]) {
    if (token === ";" && isWhole(tokens)) {
      if (tokens.length > 0) statements.push(text.trim());
      text = "";
      tokens = [];
      continue;
    }
    text += token;
    if (!NOTHING.test(token)) tokens.push(token.toLowerCase());
  }
  // The database rejects a body without an end.
  return tokens.length > 0 ? [...statements, text.trim()] : statements;
}

function isWhole(tokens: readonly string[]): boolean {
  if (tokens[0] !== "create" || !ROUTINE.test(tokens.join(" "))) return true;
  let depth = 0;
  for (const [index, token] of tokens.entries()) {
    const previous = tokens[index - 1];
    if (token === "begin" || (token === "case" && previous !== "end")) depth += 1;
    if (token === "end" && !OTHER_BLOCKS.includes(tokens[index + 1] ?? "")) depth -= 1;
  }
  return depth <= 0;
}
