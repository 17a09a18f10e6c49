/**
 * The sources of migrations: a folder, a file, or the application itself.
 *
 * @module
 */
import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";
import type { AnyTables } from "../connection/dialect.ts";
import { DbError } from "../errors.ts";

/** A migration: a script of SQL, or functions that take a Kysely. */
export type MigrationStep = string | {
  /** Runs the migration: a script, or a function. */
  readonly up: string | ((kysely: Kysely<AnyTables>) => Promise<void>);
  /** Rolls it back. */
  readonly down?: string | ((kysely: Kysely<AnyTables>) => Promise<void>) | undefined;
};

/** Migrations by name, such as `0001_users`. */
export type Migrations = Readonly<Record<string, MigrationStep>>;

/** Reads migrations. */
export type MigrationSource = () => Promise<Migrations>;

interface FoundStep {
  up?: unknown;
  down?: unknown;
}

const NAME = /^(\d+)(_[\w-]+)?$/;
const SCRIPT = /^([^.].*?)(\.down)?\.sql$/;
const MODULE = /^(\d.*)\.(ts|mts|js|mjs)$/;
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
    throw new TypeError("Cannot migrate: the map holds no migration");
  }
  return () => Promise.resolve(checked);
}

/**
 * Returns the source of migrations in a folder, which may be empty, or of a single script, which
 * may have any name. Files in a folder other than scripts, and modules whose name begins with a
 * number, are ignored.
 */
export function migrationFiles(path: string): MigrationSource {
  return async () => {
    const { readdir, readFile, stat } = await import("node:fs/promises");
    const { basename, join, resolve } = await import("node:path");
    const read = (file: string) => reading(file, () => readFile(file, "utf8"));
    if (!(await reading(path, () => stat(path))).isDirectory()) {
      const [, name] = /^(.+)\.sql$/.exec(basename(path)) ?? [];
      if (name) return { [name]: checkScript(name, await read(path)) };
      throw new TypeError(`Cannot migrate: ${path} is neither a folder nor a .sql file`);
    }
    const steps: Record<string, FoundStep> = {};
    for (const file of (await reading(path, () => readdir(path))).toSorted()) {
      const [, script = "", down] = SCRIPT.exec(file) ?? [];
      const [, module = ""] = MODULE.exec(file) ?? [];
      if (script) {
        const text = await read(join(path, file));
        if (holdsNothing(text)) continue;
        addTo(steps, script, down ? { down: text } : { up: text });
      } else if (module && !module.endsWith(".d")) {
        const { up, down } = await load(resolve(path, file));
        addTo(steps, module, { up, down });
      }
    }
    // The members of modules are of unknown types until they are checked.
    return checkSteps(steps as Migrations);
  };
}

/** Converts a migration for Kysely. */
export function kyselyMigration(
  step: MigrationStep,
  runScript: (script: string, kysely: Kysely<AnyTables>) => Promise<void>,
): Migration {
  const { up, down } = typeof step === "string" ? { up: step, down: undefined } : step;
  const runner = (action: typeof up) => (kysely: Kysely<AnyTables>) =>
    typeof action === "string" ? runScript(action, kysely) : action(kysely);
  return down === undefined ? { up: runner(up) } : { up: runner(up), down: runner(down) };
}

async function load(path: string): Promise<FoundStep> {
  const { pathToFileURL } = await import("node:url");
  const { host, pathname } = pathToFileURL(path);
  // `deno publish` accepts a specifier that begins with a scheme: no import map applies to it
  return await reading(path, () => import(`file://${host}${pathname}`));
}

async function reading<T>(path: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    throw new DbError("Database", `Cannot migrate: ${path} cannot be read`, { cause });
  }
}

function addTo(steps: Record<string, FoundStep>, name: string, found: FoundStep): void {
  const step = steps[name] ??= {};
  for (const direction of ["up", "down"] as const) {
    if (found[direction] === undefined) continue;
    if (step[direction] !== undefined) {
      throw new TypeError(`Cannot migrate: ${name} has its ${direction} in two files`);
    }
    step[direction] = found[direction];
  }
}

function checkSteps(migrations: Migrations): Migrations {
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
}

/** An empty script is an error: statements that are added to it later would not run. */
function checkScript(name: string, script: string): string {
  if (!holdsNothing(script)) return script;
  throw new TypeError(`Cannot migrate: ${name} is empty`);
}

/** Checks whether a script consists of space and comments. */
function holdsNothing(script: string): boolean {
  return script.replaceAll(NOTHING, "") === "";
}
