/**
 * Migrations, and those that the application holds.
 *
 * @module
 */
import type { Kysely } from "kysely";
import type { OpenDatabase } from "../connection/connection.ts";
import type { AnyTables } from "../connection/dialect.ts";
import { isOutsideTransaction, type ScriptBrand } from "./script.ts";

/** A migration: a script of SQL, or functions that take a Kysely. */
export type MigrationStep = string | {
  /** Runs the migration: a script, or a function. */
  readonly up: string | ((kysely: Kysely<AnyTables>) => Promise<void>);
  /** Rolls it back. */
  readonly down?: string | ((kysely: Kysely<AnyTables>) => Promise<void>) | undefined;
};

/** Migrations by name, such as `0001_users`. */
export type Migrations = Readonly<Record<string, MigrationStep>>;

/** Reads the migrations of a database. */
export type MigrationSource = (brand: ScriptBrand) => Promise<Migrations>;

/** An open database that was not migrated. */
export interface UnmigratedDatabase {
  /** The database. */
  readonly database: OpenDatabase;
  /** Reads its migrations; `undefined` if the options name none. */
  readonly source: MigrationSource | undefined;
}

const NAME = /^(\d+)(_[\w-]+)?$/;
/** Space and comments; MySQL runs comments that begin with `!`, MariaDB also those with `M!`. */
const NOTHING = /--.*|#.*|\/\*(?!M?!)[^]*?\*\/|[\s;]+/g;

/**
 * Returns the source of migrations that the application holds.
 *
 * @throws {TypeError} if a name does not have the form `0001` or `0001_name`; if two numbers are
 * equal, or have different lengths; if a migration has no `up`; or if there are no migrations
 */
export function migrationMap(migrations: Migrations): MigrationSource {
  const checked = checkSteps({ ...migrations });
  if (Object.keys(checked).length === 0) {
    throw new TypeError("Cannot migrate: the map is empty");
  }
  return () => Promise.resolve(checked);
}

/**
 * Checks migrations, and returns them.
 *
 * @throws {TypeError} if a name, a number or a step is invalid
 */
export function checkSteps(migrations: Migrations): Migrations {
  const namesByNumber = new Map<string, string>();
  for (const name of Object.keys(migrations).toSorted()) {
    const [, number] = NAME.exec(name) ?? [];
    if (number === undefined) {
      throw new TypeError(`Cannot migrate: ${name} is not a number, or one and a name: 0001_name`);
    }
    const other = namesByNumber.get(number);
    if (other) throw new TypeError(`Cannot migrate: ${other} and ${name} have one number`);
    // They run in the order of their text, which then is that of their numbers.
    const [[digits, first] = [number, name]] = namesByNumber;
    if (number.length !== digits.length) {
      throw new TypeError(
        `Cannot migrate: the numbers of ${first} and ${name} are of different length`,
      );
    }
    namesByNumber.set(number, name);
    checkStep(name, migrations[name]);
  }
  return migrations;
}

function checkStep(name: string, step: MigrationStep | undefined): void {
  const { up, down } = typeof step === "string" ? { up: step } : step ?? {};
  if (typeof up === "string") checkScript(name, up);
  else if (typeof up !== "function") throw new TypeError(`Cannot migrate: ${name} has no up`);
  if (down !== undefined && typeof down !== "string" && typeof down !== "function") {
    throw new TypeError(`Cannot migrate: the down of ${name} is neither a script nor a function`);
  }
  if (typeof down === "string" && isOutsideTransaction(down)) {
    throw new TypeError(`Cannot migrate: the down of ${name} cannot run outside a transaction`);
  }
}

/** Checks a script. An empty one is an error: statements that are added later would not run. */
export function checkScript(name: string, script: string): string {
  if (!isBlank(script)) return script;
  throw new TypeError(`Cannot migrate: ${name} is empty`);
}

/** Checks whether a script consists of space and comments. */
export function isBlank(script: string): boolean {
  return script.replaceAll(NOTHING, "") === "";
}
