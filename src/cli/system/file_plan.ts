/**
 * What a command is about to write: known whole before anything is written, and undone when it fails.
 *
 * @module
 */
import { mkdirSync, realpathSync, rmdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import process from "node:process";
import { CliError, SIGNALS } from "../terminal/cli_error.ts";
import { isTaken, readText } from "./files.ts";

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
  /** The texts that edits are made of. */
  readonly #originals = new Map<string, string>();
  readonly #notes: string[] = [];

  /** Creates an empty plan for a folder. */
  constructor(root: string) {
    this.#root = root;
  }

  /** Plans a new file; where there is one already, `check` says so. */
  create(path: string, text: string): void {
    this.#texts.set(path, text);
  }

  /** Plans those of the files that are not there yet. */
  createMissing(files: Readonly<Record<string, string>>): void {
    for (const [path, text] of Object.entries(files)) {
      if (this.read(path) === undefined) this.create(path, text);
    }
  }

  /** Plans new text of a file, which is created if there is none. */
  update(path: string, text: string): void {
    const original = readText(join(this.#root, path));
    if (!this.#texts.has(path) && original !== undefined) this.#originals.set(path, original);
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

  /** Formats the files that are new; those that are edited are as their author has them. */
  async formatNew(
    format: (file: { path: string; text: string }) => Promise<string>,
  ): Promise<void> {
    const created = [...this.#texts].filter(([path]) => !this.#originals.has(path));
    await Promise.all(
      created.map(async ([path, text]) => this.#texts.set(path, await format({ path, text }))),
    );
  }

  /** Lists the changes, in the order they were planned. */
  changes(): readonly Change[] {
    return [...this.#texts].map(([path, text]) => {
      const exists = isTaken(join(this.#root, path));
      return {
        path,
        verb: this.#originals.has(path) ? "update" : exists ? "overwrite" : "create",
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
      if (isOutside(this.#root, path)) {
        throw new CliError(`Cannot write ${path}: it is outside of the project`);
      }
      if (verb === "overwrite" && !force) {
        throw new CliError(`Cannot write ${path}: it exists; --force overwrites it`);
      }
      if (verb === "overwrite" && !statSync(join(this.#root, path)).isFile()) {
        throw new CliError(`Cannot write ${path}: it is no file`);
      }
    }
  }

  /**
   * Writes all files, or none: when one cannot be written, what was is put back, and a signal waits
   * until all is done.
   *
   * @throws {CliError} naming the file that cannot be written, or that was changed since it was read
   */
  apply(): void {
    const undo: (() => void)[] = [];
    const ignore = () => {};
    for (const signal of SIGNALS) process.on(signal, ignore);
    try {
      for (const change of this.changes()) this.#write(change, undo);
    } catch (cause) {
      for (const step of undo.reverse()) attempt(step);
      throw cause;
    } finally {
      for (const signal of SIGNALS) process.off(signal, ignore);
    }
  }

  #write({ path, text }: Change, undo: (() => void)[]): void {
    const file = join(this.#root, path);
    try {
      for (const folder of missingFolders(dirname(file))) {
        mkdirSync(folder);
        undo.push(() => rmdirSync(folder));
      }
      const before = readText(file);
      const original = this.#originals.get(path);
      if (original !== undefined && original !== before) {
        throw new CliError(`Cannot write ${path}: somebody else has changed it meanwhile`);
      }
      undo.push(() =>
        before === undefined ? rmSync(file, { force: true }) : writeFileSync(file, before)
      );
      writeFileSync(file, text);
    } catch (cause) {
      if (cause instanceof CliError) throw cause;
      const { code = "an error" } = cause as NodeJS.ErrnoException;
      throw new CliError(`Cannot write ${path}: ${code}`, { cause });
    }
  }
}

/** Takes a step back, as far as it was taken. */
function attempt(step: () => void): void {
  try {
    step();
  } catch {
    // what failed first is told
  }
}

/** Lists the folders that a folder needs and that are not there, outermost first. */
function missingFolders(folder: string): readonly string[] {
  return isTaken(folder) ? [] : [...missingFolders(dirname(folder)), folder];
}

/** Tells whether a path, or a link on it, leads out of a folder. */
function isOutside(root: string, path: string): boolean {
  const target = resolve(root, path);
  let existing = target;
  while (!isTaken(existing)) existing = dirname(existing);
  return leadsOut(root, target) || leadsOut(realpathSync(root), realPathOf(existing));
}

function leadsOut(from: string, to: string): boolean {
  const way = relative(from, to);
  return way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way);
}

/** Follows links; one that leads nowhere might lead anywhere. */
function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return sep;
  }
}
