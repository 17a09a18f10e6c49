/**
 * The files that a command writes: all are known before the first is written, and a
 * failure undoes all.
 *
 * @module
 */
import {
  chmodSync,
  mkdirSync,
  realpathSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import process from "node:process";
import { CliError, SIGNALS } from "../terminal/cli_error.ts";
import { isTaken, readText } from "./files.ts";

/** A file to write. */
export interface Change {
  /** The path below the root, with `/`. */
  readonly path: string;
  /** Whether the file is new, replaced or edited. */
  readonly verb: "create" | "overwrite" | "update";
  /** The whole text. */
  readonly text: string;
}

/** The mode of `.env`: only its owner reads the secrets in it. */
const SECRET = 0o600;

/** The files to write below a folder. */
export class FilePlan {
  readonly #root: string;
  readonly #texts = new Map<string, string>();
  /** The texts before edits. */
  readonly #originals = new Map<string, string>();
  readonly #notes: string[] = [];

  /** Creates an empty plan for a folder. */
  constructor(root: string) {
    this.#root = root;
  }

  /** Plans a new file. `check` reports one that exists. */
  create(path: string, text: string): void {
    this.#texts.set(path, text);
  }

  /** Plans the files that are missing. */
  createMissing(files: Readonly<Record<string, string>>): void {
    for (const [path, text] of Object.entries(files)) {
      if (this.read(path) === undefined) this.create(path, text);
    }
  }

  /** Plans the new text of a file, which may be missing. */
  update(path: string, text: string): void {
    const original = readText(join(this.#root, path));
    if (!this.#texts.has(path) && original !== undefined) this.#originals.set(path, original);
    this.#texts.set(path, text);
  }

  /** Adds a note for the user. */
  note(text: string): void {
    this.#notes.push(text);
  }

  /** Returns the notes for the user. */
  notes(): readonly string[] {
    return [...this.#notes];
  }

  /** Returns the planned or current text of a file, `undefined` for a missing one. */
  read(path: string): string | undefined {
    return this.#texts.get(path) ?? readText(join(this.#root, path));
  }

  /** Formats new files. Edited files keep the formatting of their author. */
  async formatNew(
    format: (file: { path: string; text: string }) => Promise<string>,
  ): Promise<void> {
    const created = [...this.#texts].filter(([path]) => !this.#originals.has(path));
    await Promise.all(
      created.map(async ([path, text]) => this.#texts.set(path, await format({ path, text }))),
    );
  }

  /** Lists the changes in the order in which they were planned. */
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
   * Checks that no file is overwritten without `force`, and none is outside of the root.
   *
   * @throws {CliError} naming the first such file
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
        throw new CliError(`Cannot write ${path}: it is not a file`);
      }
    }
  }

  /**
   * Writes all files or none: a failure restores what was there, and a signal waits until the end.
   *
   * @throws {CliError} naming a file that cannot be written, or was changed since it was read
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
        throw new CliError(`Cannot write ${path}: it was changed in the meantime`);
      }
      const mode = before === undefined ? undefined : statSync(file).mode;
      undo.push(() => {
        if (before === undefined) return rmSync(file, { force: true });
        writeFileSync(file, before);
        if (mode !== undefined) chmodSync(file, mode);
      });
      const isSecret = basename(path) === ".env";
      // before it has secrets; the mode of `writeFileSync` is that of a new file
      if (isSecret && before !== undefined) chmodSync(file, SECRET);
      writeFileSync(file, text, isSecret ? { mode: SECRET } : {});
    } catch (cause) {
      if (cause instanceof CliError) throw cause;
      const { code = "an error" } = cause as NodeJS.ErrnoException;
      throw new CliError(`Cannot write ${path}: ${code}`, { cause });
    }
  }
}

/** Undoes a step, which may not have happened. */
function attempt(step: () => void): void {
  try {
    step();
  } catch {
    // the first failure is reported
  }
}

/** Lists the missing folders of a path, outermost first. */
function missingFolders(folder: string): readonly string[] {
  return isTaken(folder) ? [] : [...missingFolders(dirname(folder)), folder];
}

/** Checks whether a path, or a link on it, leads out of a folder. */
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

/** Follows links. A broken link counts as one that leads out. */
function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return sep;
  }
}
