/**
 * The files that a command writes: all are known before the first is written, and a
 * failure undoes all.
 *
 * @module
 */
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import process from "node:process";
import { CliError, SIGNALS } from "../terminal/cli_error.ts";
import { isTaken, readText } from "./files.ts";
import { withLock } from "./lock.ts";

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

/** The file that exists while a process edits files, in the root. */
const LOCK_FILE = ".fw.lock";

const MEANWHILE = "in the meantime; run the command again";

/** The files to write below a folder. */
export class FilePlan {
  readonly #root: string;
  readonly #texts = new Map<string, string>();
  /** The texts of files when they were first read, on which edits depend. */
  readonly #read = new Map<string, string | undefined>();
  /** The texts before edits. */
  readonly #originals = new Map<string, string>();
  readonly #notes = new Set<string>();

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
    const original = this.#texts.has(path) ? undefined : this.read(path);
    if (original !== undefined) this.#originals.set(path, original);
    this.#texts.set(path, text);
  }

  /** Adds a note for the user, unless it has been added. */
  note(text: string): void {
    this.#notes.add(text);
  }

  /** Returns the notes for the user. */
  notes(): readonly string[] {
    return [...this.#notes];
  }

  /** Returns the planned or current text of a file, `undefined` for a missing one. */
  read(path: string): string | undefined {
    const planned = this.#texts.get(path);
    if (planned !== undefined) return planned;
    if (!this.#read.has(path)) this.#read.set(path, readText(join(this.#root, path)));
    return this.#read.get(path);
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
   * Edits of several processes run one after another. `changes` are those that were checked.
   *
   * @throws {CliError} naming a file that cannot be written, was changed since it was read, or was
   * created since it was checked
   */
  apply(changes: readonly Change[] = this.changes()): void {
    const ignore = () => {};
    for (const signal of SIGNALS) process.on(signal, ignore);
    try {
      // a file that is only created needs no lock
      if (this.#originals.size === 0) this.#writeAll(changes);
      else withLock(join(this.#root, LOCK_FILE), () => this.#writeAll(changes));
    } finally {
      for (const signal of SIGNALS) process.off(signal, ignore);
    }
  }

  #writeAll(changes: readonly Change[]): void {
    const undo: (() => void)[] = [];
    try {
      for (const change of changes) this.#write(change, undo);
    } catch (cause) {
      for (const step of undo.reverse()) attempt(step);
      throw cause;
    }
  }

  #write({ path, text, verb }: Change, undo: (() => void)[]): void {
    const file = join(this.#root, path);
    const isSecret = basename(path) === ".env";
    try {
      for (const folder of missingFolders(dirname(file))) {
        mkdirSync(folder);
        undo.push(() => rmdirSync(folder));
      }
      if (verb === "create") {
        closeSync(openSync(file, "wx", isSecret ? SECRET : undefined));
        undo.push(() => rmSync(file, { force: true }));
      } else {
        const before = readText(file);
        if (before === undefined || before !== (this.#originals.get(path) ?? before)) {
          throw new CliError(`Cannot write ${path}: it was changed ${MEANWHILE}`);
        }
        const { mode } = statSync(file);
        undo.push(() => replace(file, { text: before, mode }));
        return replace(file, { text, mode: isSecret ? SECRET : mode });
      }
      writeFileSync(file, text);
    } catch (cause) {
      if (cause instanceof CliError) throw cause;
      const { code = "an error" } = cause as NodeJS.ErrnoException;
      const why = code === "EEXIST" ? `it was created ${MEANWHILE}` : code;
      throw new CliError(`Cannot write ${path}: ${why}`, { cause });
    }
  }
}

/**
 * Replaces a file at once: another process that reads it meanwhile, as to plan its own edit, sees
 * no part of a text.
 */
function replace(
  file: string,
  { text, mode }: { readonly text: string; readonly mode: number },
): void {
  const target = realpathSync(file);
  accessSync(target, constants.W_OK); // a rename would not need it
  const whole = `${target}.${process.pid}.tmp`;
  try {
    writeFileSync(whole, text, { mode });
    chmodSync(whole, mode); // whatever the umask
    renameSync(whole, target);
  } catch (cause) {
    rmSync(whole, { force: true });
    throw cause;
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
