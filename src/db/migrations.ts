/**
 * Where migrations come from: a folder, a file, or the application itself.
 *
 * @module
 */
import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";
import type { AnyTables } from "./dialect.ts";

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

const NAME = /^(\d+)(_[\w-]+)?$/;
const FILE = /^(\d.*?)(\.down)?\.(sql|ts|mts|js|mjs)$/;

/** Takes migrations that the application holds. */
export function migrationMap(migrations: Migrations): MigrationSource {
  const checked = checkNames({ ...migrations });
  return () => Promise.resolve(checked);
}

/** Reads a folder of migrations, or a file with one. */
export function migrationFiles(path: string): MigrationSource {
  return async () => {
    const [{ readdir, readFile, stat }, { basename, join, resolve }, { pathToFileURL }] =
      await Promise.all([import("node:fs/promises"), import("node:path"), import("node:url")]);
    if (!(await stat(path)).isDirectory()) {
      return { [basename(path).replace(/\.sql$/, "")]: await readFile(path, "utf8") };
    }
    const steps: Record<string, { up?: unknown; down?: unknown }> = {};
    for (const file of (await readdir(path)).toSorted()) {
      const [, name = "", isDown, extension] = FILE.exec(file) ?? [];
      if (name === "" || file.endsWith(".d.ts")) continue;
      const step = steps[name] ??= {};
      if (extension !== "sql") {
        const { up, down } = await import(pathToFileURL(resolve(path, file)).href);
        Object.assign(step, { up, down });
      } else {
        step[isDown ? "down" : "up"] = await readFile(join(path, file), "utf8");
      }
    }
    // What a module exports is checked below.
    return checkNames(steps as Migrations);
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

function checkNames(migrations: Migrations): Migrations {
  let last = -1;
  for (const name of Object.keys(migrations).toSorted()) {
    const number = Number(NAME.exec(name)?.[1] ?? NaN);
    if (Number.isNaN(number)) {
      throw new TypeError(`Cannot migrate: ${name} is not a number, or one and a name: 0001_name`);
    }
    if (number <= last) {
      throw new TypeError(`Cannot migrate: the number of ${name} is taken, or of another length`);
    }
    last = number;
    const step = migrations[name];
    const up = typeof step === "object" ? step.up : step;
    if (typeof up !== "string" && typeof up !== "function") {
      throw new TypeError(`Cannot migrate: ${name} has no up`);
    }
  }
  return migrations;
}
