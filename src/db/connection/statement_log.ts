/**
 * The log of statements.
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";

/**
 * Logs the SQL of each statement with its duration, at level `debug` of the category `fw.db`.
 * Values are placeholders in it and are never logged, but for a given key of a generated column.
 */
export class StatementLog {
  readonly #logger = getLogger(["fw", "db"]);

  /** Whether statements are logged. */
  get isOn(): boolean {
    return this.#logger.isEnabledFor("debug");
  }

  /** Logs a statement with its duration in milliseconds. */
  note(
    sql: string,
    { ms, failed }: { readonly ms: number; readonly failed: boolean },
  ): void {
    const message = failed ? "{sql} failed after {ms} ms" : "{sql} took {ms} ms";
    this.#logger.debug(message, { sql, ms: Math.round(ms * 1000) / 1000 });
  }

  /** Runs a statement, and logs it if statements are logged. */
  during<T>(sql: string, run: () => T | Promise<T>): T | Promise<T> {
    return this.isOn ? this.#logged(sql, run) : run();
  }

  async #logged<T>(sql: string, run: () => T | Promise<T>): Promise<T> {
    const startMs = performance.now();
    let failed = true;
    try {
      const result = await run();
      failed = false;
      return result;
    } finally {
      this.note(sql, { ms: performance.now() - startMs, failed });
    }
  }
}
