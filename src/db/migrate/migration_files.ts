/**
 * Reads migrations from files. What it needs of Node.js is loaded by the call: a bundle has this
 * module too.
 *
 * @module
 */
import { DbError } from "../errors.ts";
import { checkScript, checkSteps, isBlank, type Migrations } from "./migrations.ts";
import type { ScriptBrand } from "./script.ts";

interface FoundStep {
  up?: unknown;
  down?: unknown;
}

/** The folders of the migrations of each database. */
const FOLDERS: Readonly<Record<ScriptBrand, string>> = {
  PostgreSQL: "postgres",
  MySQL: "mysql",
  SQLite: "sqlite",
};
/** Fails at invalid bytes, in whose place U+FFFD would be stored. */
const UTF_8 = new TextDecoder("utf-8", { fatal: true });
const SCRIPT = /^([^.].*?)(\.down)?\.sql$/;
const MODULE = /^(\d.*)\.(ts|mts|js|mjs)$/;

/**
 * Reads the migrations in a folder, which may be empty, or in a single script, which may have any
 * name. Files in a folder other than scripts, and modules whose name begins with a number, are
 * ignored, as is a last script with only comments. In a folder that contains one for a database,
 * the migrations are in those.
 *
 * @throws {TypeError} if they are invalid, or a script is not UTF-8
 * @throws {DbError} `Database` if they cannot be read
 */
export async function readMigrations(path: string, brand: ScriptBrand): Promise<Migrations> {
  const { readdir, readFile, stat } = await import("node:fs/promises");
  const { basename, join, resolve } = await import("node:path");
  const read = async (file: string) => textOf(file, await reading(file, () => readFile(file)));
  if (!(await reading(path, () => stat(path))).isDirectory()) {
    const [, name] = /^(.+)\.sql$/.exec(basename(path)) ?? [];
    if (name) return { [name]: checkScript(name, await read(path)) };
    throw new TypeError(`Cannot migrate: ${path} is neither a folder nor a .sql file`);
  }
  const entries = await reading(path, () => readdir(path, { withFileTypes: true }));
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  const [folder] = Object.values(FOLDERS).filter((name) => folders.includes(name));
  if (folder !== undefined) {
    const own = FOLDERS[brand];
    const beside = entries.find(({ name }) => SCRIPT.test(name) || MODULE.test(name));
    if (beside) {
      throw new TypeError(`Cannot migrate: ${path} has ${beside.name} beside the folder ${folder}`);
    }
    if (folders.includes(own)) return await readMigrations(join(path, own), brand);
    throw new TypeError(`Cannot migrate: ${path} has the folder ${folder}, and none named ${own}`);
  }
  const steps: Record<string, FoundStep> = {};
  const blank: string[] = [];
  for (const file of entries.map(({ name }) => name).toSorted()) {
    const [, script = "", down] = SCRIPT.exec(file) ?? [];
    const [, module = ""] = MODULE.exec(file) ?? [];
    if (script) {
      const text = await read(join(path, file));
      if (!isBlank(text)) addTo(steps, script, down ? { down: text } : { up: text });
      else if (!down) blank.push(script);
    } else if (module && !module.endsWith(".d")) {
      const { up, down } = await load(resolve(path, file));
      addTo(steps, module, { up, down });
    }
  }
  // The members of modules are of unknown types until they are checked.
  const migrations = checkSteps(steps as Migrations);
  checkOrder(blank, migrations);
  return migrations;
}

/** Refuses a blank script before others: after them, its statements would never run. */
function checkOrder(blank: readonly string[], migrations: Migrations): void {
  const last = Object.keys(migrations).toSorted().at(-1) ?? "";
  const early = blank.find((name) => name < last);
  if (early === undefined) return;
  throw new TypeError(
    `Cannot migrate: ${early} is empty, and ${last} is after it: write its statements, or remove it`,
  );
}

async function load(path: string): Promise<FoundStep> {
  const { pathToFileURL } = await import("node:url");
  const { host, pathname } = pathToFileURL(path);
  // `deno publish` accepts a specifier that begins with a scheme: no import map applies to it
  return await reading(path, () => import(`file://${host}${pathname}`));
}

function textOf(path: string, bytes: Uint8Array): string {
  try {
    return UTF_8.decode(bytes);
  } catch (cause) {
    throw new TypeError(`Cannot migrate: ${path} is not UTF-8`, { cause });
  }
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
