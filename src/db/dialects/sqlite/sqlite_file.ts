/**
 * The file of a SQLite database.
 *
 * @module
 */
import type { BigIntStats } from "node:fs";

/** How long a check is good for reads, in milliseconds. */
const CHECK_MS = 1000;

/** The code of the error if another file, or none, is at the path. */
export const FILE_GONE = "SQLITE_FILE_GONE";

/**
 * The file at a path. An open file lives on when it is removed, so SQLite would go on to read and
 * write what ends with the process.
 */
export class SqliteFile {
  readonly #identity: () => string | undefined;
  readonly #opened: string | undefined;
  #isGone = false;
  #checkedAtMs: number;

  /** Remembers which file is at a path; `stat` describes it. */
  constructor(stat: () => Pick<BigIntStats, "dev" | "ino">) {
    this.#identity = () => {
      try {
        const { dev, ino } = stat();
        return `${dev}:${ino}`;
      } catch {
        return undefined;
      }
    };
    this.#opened = this.#identity();
    this.#checkedAtMs = performance.now();
  }

  /**
   * Checks, at most once in a second while it is there, whether it still is.
   *
   * @throws {Error} with the code `FILE_GONE` if it was removed, moved or replaced
   */
  check(): void {
    if (this.#isGone || performance.now() - this.#checkedAtMs > CHECK_MS) this.checkNow();
  }

  /**
   * Checks whether the file is still at its path.
   *
   * @throws {Error} with the code `FILE_GONE` if it was removed, moved or replaced
   */
  checkNow(): void {
    if (this.#opened === undefined) return; // what cannot be described is not checked
    this.#isGone = this.#identity() !== this.#opened;
    this.#checkedAtMs = performance.now();
    if (this.#isGone) {
      throw Object.assign(new Error("the file was removed, moved or replaced"), {
        code: FILE_GONE,
      });
    }
  }
}
