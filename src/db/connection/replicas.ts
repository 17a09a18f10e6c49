/**
 * Read replicas: databases that follow another one, the primary, and answer reads in its place.
 *
 * @module
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { CompiledQuery, Driver, RootOperationNode } from "kysely";
import { trackRequests } from "../../platform/request_scope.ts";
import type { TimeLimits } from "../transaction/time_limits.ts";
import type { TransactionOptions } from "../transaction/transaction.ts";
import type { DbConnection } from "./connection.ts";
import { isCode, type Opener, Replica } from "./replica.ts";
import type { Statement, StatementResult } from "./statement.ts";

/** On whose behalf a statement runs: an object for each request, and each operation outside one. */
const readers = new AsyncLocalStorage<object>();

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
    await Promise.all(this.#replicas.map((replica) => replica.start()));
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
        if (!replica.fail(error)) throw error;
      }
    }
    this.#leaveReplicas();
    return await primary.execute(action, statement);
  }

  /** Chooses the replica of the caller; `undefined` stands for the primary. */
  #choose(primary: DbConnection): Replica | undefined {
    if (this.#writing.getStore() || primary.isInTransaction) return undefined;
    for (const replica of this.#replicas) replica.retry();
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
