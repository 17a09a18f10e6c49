/**
 * Read replicas: databases that follow another one, the primary, and answer reads in its place.
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import { AsyncLocalStorage } from "node:async_hooks";
import type { CompiledQuery, Driver, RootOperationNode } from "kysely";
import type { PoolUsage } from "../../platform/pool_usage.ts";
import { trackRequests } from "../../platform/request_scope.ts";
import { DbError, dbError } from "../errors.ts";
import type { TimeLimits } from "../transaction/time_limits.ts";
import type { TransactionOptions } from "../transaction/transaction.ts";
import type { DbConnection } from "./connection.ts";
import type { Statement, StatementResult } from "./statement.ts";

/** How long a replica that cannot be reached is left out, in milliseconds. */
const LEFT_OUT_MS = 10_000;

/** On whose behalf a statement runs: an object for each request, and each operation outside one. */
const readers = new AsyncLocalStorage<object>();

/** Opens a database. */
export type Opener = () => Promise<DbConnection>;

/** The replicas of a database, and which of them answers which read. */
export class Replicas {
  readonly #replicas: readonly Replica[];
  /** Whether the caller is inside an operation that writes. */
  readonly #writing = new AsyncLocalStorage<true>();
  /** The replica of each reader, unless it reads from the primary. */
  readonly #chosen = new WeakMap<object, Replica>();
  /** The readers that no other replica may answer: it may lack what they have read or written. */
  readonly #bound = new WeakSet<object>();
  #turn = 0;

  /** Creates replicas, of which none is open yet; `now` is a clock in milliseconds. */
  constructor(
    openers: readonly Opener[],
    { now = () => performance.now() }: { readonly now?: () => number } = {},
  ) {
    this.#replicas = openers.map((open) => new Replica(open, now));
  }

  /**
   * Opens the replicas, and returns the database whose reads they answer. One that cannot be
   * reached is left out for 10 s.
   *
   * @throws {DbError} if one fails otherwise
   */
  async open(primary: DbConnection): Promise<DbConnection> {
    trackRequests((work) => readers.run({}, work));
    await Promise.all(this.#replicas.map(async (replica) => {
      try {
        await replica.connect();
      } catch (error) {
        if (!isUnreachable(error)) throw error;
        replica.leaveOut(error);
      }
    }));
    return this.#routed(primary);
  }

  /** Closes those that are open. */
  async close(): Promise<void> {
    await Promise.all(this.#replicas.map((replica) => replica.close()));
  }

  /** Returns the database whose reads the replicas answer. */
  #routed(primary: DbConnection): DbConnection {
    const marking = this.#marking(primary);
    return overriding(marking, {
      primary: () => marking,
      execute: () => (action: string, statement: Statement) =>
        this.#execute(primary, { action, statement }),
      limited: () => <T>(limits: TimeLimits, work: () => Promise<T>) =>
        readers.run(readers.getStore() ?? {}, () => primary.limited(limits, work)),
      parts: () => () => {
        const reader = readers.getStore() ?? {};
        return (part) => readers.run(reader, part);
      },
      canShareWait: () => primary.canShareWait && this.#choose(primary) === undefined,
      usages: () => [primary.usage, ...this.#replicas.flatMap(({ usage }) => usage ?? [])],
    });
  }

  /** Returns the database without its replicas; its writes move the reads of the request to it. */
  #marking(primary: DbConnection): DbConnection {
    const kysely = primary.createKysely((driver) => noting(driver, () => this.#leaveReplicas()));
    const marking: DbConnection = overriding(primary, {
      primary: () => marking,
      kysely: () => kysely,
      writing: () => <T>(limits: TimeLimits, work: () => Promise<T>) => {
        this.#leaveReplicas();
        return this.#writing.run(true, () => primary.writing(limits, work));
      },
      transaction: () => <T>(run: () => T | Promise<T>, options?: TransactionOptions) => {
        this.#leaveReplicas();
        return primary.transaction(run, options);
      },
    });
    return marking;
  }

  #execute(
    primary: DbConnection,
    { action, statement }: { readonly action: string; readonly statement: Statement },
  ): StatementResult | Promise<StatementResult> {
    const replica = statement.reads ? this.#choose(primary) : undefined;
    return replica
      ? this.#read(replica, { primary, action, statement })
      : primary.execute(action, statement);
  }

  /** Reads from a replica; if that cannot be reached, from another one or the primary. */
  async #read(
    first: Replica,
    { primary, action, statement }: {
      readonly primary: DbConnection;
      readonly action: string;
      readonly statement: Statement;
    },
  ): Promise<StatementResult> {
    for (let replica: Replica | undefined = first; replica; replica = this.#choose(primary)) {
      try {
        const connection = await replica.connect();
        const { signal } = primary;
        const result = await connection.limited(
          { signal },
          async () => await connection.execute(action, statement),
        );
        const reader = readers.getStore();
        if (reader) this.#bound.add(reader);
        return result;
      } catch (error) {
        // What the primary has changed since then can end a statement of a replica.
        if (isCode(error, "SerializationFailure")) break;
        if (isLate(error)) replica.check();
        if (!isUnreachable(error)) throw error;
        replica.leaveOut(error);
      }
    }
    this.#leaveReplicas();
    return await primary.execute(action, statement);
  }

  /** Chooses the replica of the caller; `undefined` stands for the primary. */
  #choose(primary: DbConnection): Replica | undefined {
    if (this.#writing.getStore() || primary.isInTransaction) return undefined;
    const reader = readers.getStore();
    const chosen = reader && this.#chosen.get(reader);
    if (chosen?.isReady) return chosen;
    const replica = reader && this.#bound.has(reader) ? undefined : this.#leastBusy();
    if (!replica) this.#leaveReplicas();
    else if (reader) this.#chosen.set(reader, replica);
    return replica;
  }

  /** Returns the replica with the fewest statements; of several, each in its turn. */
  #leastBusy(): Replica | undefined {
    const all = this.#replicas;
    this.#turn = (this.#turn + 1) % all.length;
    const inTurn = [...all.slice(this.#turn), ...all.slice(0, this.#turn)];
    return inTurn.filter(({ isReady }) => isReady)
      .reduce<Replica | undefined>((a, b) => a && a.load <= b.load ? a : b, undefined);
  }

  /** Has the request or operation of the caller read from the primary, from here to its end. */
  #leaveReplicas(): void {
    const reader = readers.getStore();
    if (!reader) return;
    this.#chosen.delete(reader);
    this.#bound.add(reader);
  }
}

/** One replica. */
class Replica {
  readonly #open: Opener;
  readonly #now: () => number;
  #connecting: Promise<DbConnection> | undefined;
  #connection: DbConnection | undefined;
  #checking: Promise<void> | undefined;
  #readyAtMs = -Infinity;
  #isLeftOut = false;

  constructor(open: Opener, now: () => number) {
    this.#open = open;
    this.#now = now;
  }

  /** Whether it may answer. */
  get isReady(): boolean {
    return this.#now() >= this.#readyAtMs;
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
   * Opens it, once. After it was left out, one caller tries it: the others wait 10 s more, unless
   * it answers.
   *
   * @throws {DbError} if it cannot be opened
   */
  async connect(): Promise<DbConnection> {
    const wasLeftOut = this.#isLeftOut;
    if (wasLeftOut) this.#readyAtMs = this.#now() + LEFT_OUT_MS;
    this.#connecting ??= this.#open();
    try {
      this.#connection = await this.#connecting;
    } catch (error) {
      this.#connecting = undefined;
      throw error;
    }
    if (wasLeftOut) {
      await ping(this.#connection);
      this.#isLeftOut = false;
      this.#readyAtMs = -Infinity;
    }
    return this.#connection;
  }

  /** Leaves it out unless it answers: each statement on a server that hangs is only late. */
  check(): void {
    if (!this.#connection) return;
    this.#checking ??= ping(this.#connection)
      .catch((error) => isCode(error.cause, "PoolClosed") || this.leaveOut(error))
      .then(() => this.#checking = undefined);
  }

  /** Leaves it out for 10 s. */
  leaveOut(error: unknown): void {
    this.#readyAtMs = this.#now() + LEFT_OUT_MS;
    if (!this.#isLeftOut) {
      const message = "A read replica cannot be reached, and is left out: {error}";
      getLogger(["fw", "db"]).warn(message, { error });
    }
    this.#isLeftOut = true;
  }

  async close(): Promise<void> {
    await (await this.#connecting?.catch(() => undefined))?.close();
  }
}

/** Getters that replace members of an object. */
type Members<T> = { readonly [K in keyof T]?: () => T[K] };

/**
 * Returns an object with other members. `DbConnection` and drivers have private fields, which an
 * object that inherits from them cannot reach.
 */
function overriding<T extends object>(original: T, members: Members<T>): T {
  return new Proxy(original, {
    get(target, name) {
      if (Object.hasOwn(members, name)) return members[name as keyof T]!();
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** Returns a driver that calls a function before each query that is not a plain `selectFrom`. */
function noting(driver: Driver, note: () => void): Driver {
  const noted = (query: CompiledQuery) => {
    if (!isSelectFrom(query.query)) note();
    return query;
  };
  return overriding(driver, {
    acquireConnection: () => async (options) => {
      // The driver compares the object, and returns a new one each time.
      const connection = await driver.acquireConnection(options);
      const execute = connection.executeQuery.bind(connection);
      const stream = connection.streamQuery.bind(connection);
      connection.executeQuery = (query, ...others) => execute(noted(query), ...others);
      connection.streamQuery = (query, ...others) => stream(noted(query), ...others);
      return connection;
    },
  });
}

/** Checks whether a query is one of `selectFrom`, without `with`, which may write. */
function isSelectFrom(query: RootOperationNode): boolean {
  return query.kind === "SelectQueryNode" && query.from !== undefined && query.with === undefined;
}

/**
 * Checks that a replica answers, on nobody's behalf.
 *
 * @throws {DbError} `ConnectionLost` if it does not
 */
async function ping(connection: DbConnection): Promise<void> {
  try {
    await connection.shared(() => connection.ping());
  } catch (error) {
    throw dbError("reach the replica", { code: "ConnectionLost" }, error);
  }
}

function isLate(error: unknown): boolean {
  return isCode(error, "StatementTimeout") || isCode(error, "PoolTimeout");
}

function isUnreachable(error: unknown): boolean {
  return isCode(error, "ConnectionLost");
}

function isCode(error: unknown, code: DbError["code"]): boolean {
  return error instanceof DbError && error.code === code;
}
