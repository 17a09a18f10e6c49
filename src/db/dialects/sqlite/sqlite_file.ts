/**
 * The file of a SQLite database.
 *
 * @module
 */
import type { BigIntStats } from "node:fs";

/** How long a check is good, in milliseconds: it takes as long as a part of a small write. */
const GOOD_MS = { read: 1000, write: 10 } as const;

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
   * Checks whether the file is still at its path; while it is, at most once in a second for reads,
   * and once in 10 ms for writes.
   *
   * @throws {Error} with the code `FILE_GONE` if it was removed, moved or replaced
   */
  check(access: keyof typeof GOOD_MS): void {
    if (this.#opened === undefined) return; // what cannot be described is not checked
    const nowMs = performance.now();
    if (!this.#isGone && nowMs - this.#checkedAtMs < GOOD_MS[access]) return;
    this.#isGone = this.#identity() !== this.#opened;
    this.#checkedAtMs = nowMs;
    if (this.#isGone) {
      throw Object.assign(new Error("the file was removed, moved or replaced"), {
        code: FILE_GONE,
      });
    }
  }
}
