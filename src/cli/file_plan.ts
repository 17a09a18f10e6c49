/**
 * What a command is about to write: known whole before anything is written, and undone when it fails.
 *
 * @module
 */
import {
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import process from "node:process";
import { CliError } from "./cli_error.ts";

/** One file that is to be written. */
export interface Change {
  /** The path below the root, with `/`. */
  readonly path: string;
  /** Whether the file is new, takes the place of another, or is one that is edited. */
  readonly verb: "create" | "overwrite" | "update";
  /** All of its text. */
  readonly text: string;
}

/** The files that are to be written below a folder. */
export class FilePlan {
  readonly #root: string;
  readonly #texts = new Map<string, string>();
  readonly #updated = new Set<string>();
  readonly #notes: string[] = [];

  /** Creates an empty plan for a folder. */
  constructor(root: string) {
    this.#root = root;
  }

  /** Plans a new file; where there is one already, `check` says so. */
  create(path: string, text: string): void {
    this.#texts.set(path, text);
  }

  /** Plans new text of a file that is there. */
  update(path: string, text: string): void {
    if (!this.#texts.has(path)) this.#updated.add(path);
    this.#texts.set(path, text);
  }

  /** Plans to tell the user something when all is written. */
  note(text: string): void {
    this.#notes.push(text);
  }

  /** What the user is to be told. */
  notes(): readonly string[] {
    return [...this.#notes];
  }

  /** Gives the text of a file as it will be; nothing where there will be none. */
  read(path: string): string | undefined {
    return this.#texts.get(path) ?? readText(join(this.#root, path));
  }

  /** Changes the text of every planned file, as a formatter does. */
  async transform(change: (path: string, text: string) => Promise<string>): Promise<void> {
    await Promise.all(
      [...this.#texts].map(async ([path, text]) => {
        if (!this.#updated.has(path)) this.#texts.set(path, await change(path, text));
      }),
    );
  }

  /** Lists the changes, in the order they were planned. */
  changes(): readonly Change[] {
    return [...this.#texts].map(([path, text]) => {
      const exists = existsSync(join(this.#root, path));
      return {
        path,
        verb: this.#updated.has(path) ? "update" : exists ? "overwrite" : "create",
        text,
      };
    });
  }

  /**
   * Checks that nothing is lost and nothing is written elsewhere.
   *
   * @throws {CliError} if a new file exists and is not to be overwritten, or a path leads out of the
   * root
   */
  check({ force = false }: { readonly force?: boolean } = {}): void {
    for (const { path, verb } of this.changes()) {
      if (leaves(this.#root, path)) {
        throw new CliError(`Cannot write ${path}: it is outside of the project`);
      }
      if (verb === "overwrite" && !force) {
        throw new CliError(`Cannot write ${path}: it exists; --force overwrites it`);
      }
      if (verb === "overwrite" && !statSync(join(this.#root, path)).isFile()) {
        throw new CliError(`Cannot write ${path}: it is a folder`);
      }
    }
  }

  /**
   * Writes all files, or none: when one cannot be written, what was is put back, and a signal waits
   * until all is done.
   *
   * @throws {CliError} naming the file that cannot be written
   */
  apply(): void {
    const undo: (() => void)[] = [];
    const ignore = () => {};
    for (const signal of SIGNALS) process.on(signal, ignore);
    try {
      for (const { path, text } of this.changes()) this.#write(path, text, undo);
    } catch (cause) {
      for (const step of undo.reverse()) undone(step);
      throw cause;
    } finally {
      for (const signal of SIGNALS) process.off(signal, ignore);
    }
  }

  #write(path: string, text: string, undo: (() => void)[]): void {
    const file = join(this.#root, path);
    try {
      for (const folder of missingFolders(dirname(file))) {
        mkdirSync(folder);
        undo.push(() => rmdirSync(folder));
      }
      const before = readText(file);
      undo.push(() =>
        before === undefined ? rmSync(file, { force: true }) : writeFileSync(file, before)
      );
      writeFileSync(file, text);
    } catch (cause) {
      const { code = "an error" } = cause as NodeJS.ErrnoException;
      throw new CliError(`Cannot write ${path}: ${code}`, { cause });
    }
  }
}

/** The signals by which a user or a supervisor ends a command. */
export const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Reads a file; gives nothing where there is none. */
export function readText(file: string): string | undefined {
  return existsSync(file) && statSync(file).isFile() ? readFileSync(file, "utf8") : undefined;
}

/** Undoes a step as far as it was taken. */
function undone(step: () => void): void {
  try {
    step();
  } catch {
    // what failed first is told
  }
}

/** Tells whether a path, or a link on it, leads out of a folder. */
function leaves(root: string, path: string): boolean {
  let existing = resolve(root, path);
  while (!existsSync(existing)) existing = dirname(existing);
  return [[root, resolve(root, path)], [realpathSync(root), realpathSync(existing)]].some(
    ([from = "", to = ""]) => {
      const way = relative(from, to);
      return way === ".." || way.startsWith(`..${sep}`) || resolve(way) === way;
    },
  );
}

/** Lists the folders that a folder needs and that are not there, outermost first. */
function missingFolders(folder: string): readonly string[] {
  if (existsSync(folder)) return [];
  return [...missingFolders(dirname(folder)), folder];
}
