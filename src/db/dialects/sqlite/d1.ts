/**
 * D1, the SQLite of Cloudflare Workers: without transactions, and with a connection for each
 * statement.
 *
 * @module
 */
import { CompiledQuery, type Driver } from "kysely";
import type { Codec, Grammar } from "../../connection/grammar.ts";
import { DbError, dbError } from "../../errors.ts";
import { field } from "../../model/field_factory.ts";
import { SQLITE } from "./sqlite.ts";
import { explainSqliteError } from "./sqlite_errors.ts";

/** Sends a whole number as a number: D1 takes no bigint. */
function numbered({ encode, decode }: Codec): Codec {
  return {
    encode(value, field) {
      const number = Number(encode(value, field));
      if (Number.isSafeInteger(number)) return number;
      throw new DbError(
        "CheckViolation",
        `Cannot use ${field.kind}: D1 has whole numbers up to 2^53 - 1`,
      );
    },
    decode,
  };
}

const WHOLE = field.integer();
/** How many digits any number has that D1 stores. */
const DIGITS = 15;

/**
 * The SQL of D1, which binds at most 100 values in a statement
 * (https://developers.cloudflare.com/d1/platform/limits).
 */
export const D1: Grammar = {
  ...SQLITE,
  codecs: {
    ...SQLITE.codecs,
    bigint: numbered(SQLITE.codecs.bigint),
    decimal: numbered(SQLITE.codecs.decimal),
  },
  // a number that it binds is a double, and so is its sum with a column
  checked(change, changed) {
    const { kind, traits: { size } } = changed;
    const isWhole = kind === "bigint" || kind === "decimal" && size.precision > DIGITS;
    return SQLITE.checked(change, isWhole ? WHOLE : changed);
  },
  maxParameters: 100,
  hasTransactions: false,
};

/**
 * Checks whether a driver has transactions, which other statements on its only connection could
 * join.
 *
 * @throws {DbError} if the database cannot be reached
 */
export async function hasTransactions(driver: Driver): Promise<boolean> {
  await driver.init();
  const connection = await driver.acquireConnection();
  try {
    await driver.beginTransaction(connection, {});
    await driver.rollbackTransaction(connection);
    return true;
  } catch {
    await connection.executeQuery(CompiledQuery.raw("select 1")).catch((error) => {
      throw dbError("open SQLite database", explainSqliteError(error), error);
    });
    return false;
  } finally {
    await driver.releaseConnection(connection);
  }
}
