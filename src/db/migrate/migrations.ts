/**
 * Where migrations come from: a folder, a file, or the application itself.
 *
 * @module
 */
import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";
import type { AnyTables } from "../connection/dialect.ts";
import { DbError } from "../errors.ts";

/** A step of a database's schema: a script of SQL, or functions that are given a Kysely. */
export type MigrationStep = string | {
  /** Takes the step: a script, or what does it. */
  readonly up: string | ((kysely: Kysely<AnyTables>) => Promise<void>);
  /** Undoes it. */
  readonly down?: string | ((kysely: Kysely<AnyTables>) => Promise<void>) | undefined;
};

/** Migrations by name, such as `0001_users`. */
export type Migrations = Readonly<Record<string, MigrationStep>>;

/** Gives migrations when they are needed. */
export type MigrationSource = () => Promise<Migrations>;

interface FoundStep {
  up?: unknown;
  down?: unknown;
}

const NAME = /^(\d+)(_[\w-]+)?$/;
const SCRIPT = /^([^.].*?)(\.down)?\.sql$/;
const MODULE = /^(\d.*)\.(ts|mts|js|mjs)$/;
/** What of a script does nothing; MySQL runs comments that begin with `!`, MariaDB with `M!` too. */
const NOTHING = /--.*|#.*|\/\*(?!M?!)[^]*?\*\/|[\s;]+/g;

/**
 * Takes migrations that the application holds.
 *
 * @throws {TypeError} if a name is not a number, or one and a name; if numbers are alike, or of
 * different length; if a migration has no `up`, or there is none
 */
export function migrationMap(migrations: Migrations): MigrationSource {
  const checked = checkSteps({ ...migrations });
  if (Object.keys(checked).length === 0) {
    throw new TypeError("Cannot migrate: the map holds no migration");
  }
  return () => Promise.resolve(checked);
}

/**
 * Reads a folder of migrations, which may hold none yet, or a script, which is one of any name. In a
 * folder, files other than scripts and modules whose name begins with a number are left alone.
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
    // What the files hold is checked here.
    return checkSteps(steps as Migrations);
  };
}

/** Turns a step into what Kysely runs. */
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
  // a specifier that begins with its scheme asks no import map, which `deno publish` wants to know
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

/** An empty script is refused: what is written into it later would not be run. */
function checkScript(name: string, script: string): string {
  if (!holdsNothing(script)) return script;
  throw new TypeError(`Cannot migrate: ${name} is empty`);
}

/** Tells whether a script is nothing but space and comments. */
function holdsNothing(script: string): boolean {
  return script.replaceAll(NOTHING, "") === "";
}
