/**
 * One read replica.
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import type { PoolUsage } from "../../platform/pool_usage.ts";
import { DbError, type DbErrorCode } from "../errors.ts";
import type { DbConnection } from "./connection.ts";

/** How long a replica that does not answer is left out, in milliseconds. */
const LEFT_OUT_MS = 10_000;

/** The errors of a server that may hang. */
const LATE: readonly DbErrorCode[] = ["StatementTimeout", "PoolTimeout"];

/** Opens a database. */
export type Opener = () => Promise<DbConnection>;

/** A read replica: whether it can answer reads, and how much it does. */
export class Replica {
  readonly #open: Opener;
  readonly #now: () => number;
  #connecting: Promise<DbConnection> | undefined;
  #connection: DbConnection | undefined;
  #checking: Promise<void> | undefined;
  #retryAtMs = -Infinity;
  #isLeftOut = false;
  #isClosed = false;

  /** Creates a replica that is not open yet; `now` is a clock in milliseconds. */
  constructor(open: Opener, now: () => number) {
    this.#open = open;
    this.#now = now;
  }

  /** Whether it may answer. */
  get isReady(): boolean {
    return this.#connection !== undefined && !this.#isLeftOut && !this.#checking;
  }

  /** The number of statements that it runs, or that wait. */
  get load(): number {
    const { used = 0, waiting = 0 } = this.usage ?? {};
    return used + waiting;
  }

  /** How its connections are used, once it was open. */
  get usage(): PoolUsage | undefined {
    return this.#connection?.usage;
  }

  /**
   * Opens it, or leaves it out if it cannot be reached.
   *
   * @throws {DbError} if it fails otherwise
   */
  async start(): Promise<void> {
    try {
      await this.connect();
    } catch (error) {
      if (!this.fail(error)) throw error;
    }
  }

  /**
   * Opens it, once.
   *
   * @throws {DbError} if it cannot be opened
   */
  async connect(): Promise<DbConnection> {
    this.#connecting ??= this.#open();
    try {
      return this.#connection = await this.#connecting;
    } catch (error) {
      this.#connecting = undefined;
      throw error;
    }
  }

  /**
   * Takes note of an error of it. Returns whether it cannot be reached: then it is left out for
   * 10 s. After a limit in time, it is left out until it has answered a ping: each statement on a
   * server that hangs is only late.
   */
  fail(error: unknown): boolean {
    if (LATE.some((code) => isCode(error, code))) this.#check();
    if (!isCode(error, "ConnectionLost")) return false;
    this.#leaveOut(error);
    return true;
  }

  /** Checks it again, in the background, once it was left out for 10 s. */
  retry(): void {
    if (this.#isLeftOut && this.#now() >= this.#retryAtMs) this.#check();
  }

  /** Closes it. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await (await this.#connecting?.catch(() => undefined))?.close();
  }

  /** Checks whether it answers; no read waits for that. */
  #check(): void {
    if (this.#isClosed) return;
    this.#checking ??= this.#ping().then(() => this.#checking = undefined);
  }

  async #ping(): Promise<void> {
    try {
      const connection = await this.connect();
      await connection.shared(() => connection.ping());
      this.#isLeftOut = false;
    } catch (error) {
      if (!isCode(error, "PoolClosed")) this.#leaveOut(error);
    }
  }

  #leaveOut(error: unknown): void {
    this.#retryAtMs = this.#now() + LEFT_OUT_MS;
    if (!this.#isLeftOut) {
      const message = "A read replica cannot be reached, and is left out: {error}";
      getLogger(["fw", "db"]).warn(message, { error });
    }
    this.#isLeftOut = true;
  }
}

/** Checks whether an error is a `DbError` with a code. */
export function isCode(error: unknown, code: DbErrorCode): boolean {
  return error instanceof DbError && error.code === code;
}
