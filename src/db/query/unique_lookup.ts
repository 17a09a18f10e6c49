/**
 * Finds rows by one unique column: the most frequent operation, and so little work for the database
 * that more than the SQL is prepared once here.
 *
 * @module
 */
import { isPlainObject } from "../model/plain_object.ts";
import { type CompiledStatement, fill, type Statement } from "../connection/statement.ts";
import { DbError } from "../errors.ts";
import { soleOperand, uniqueValues, whereFilter } from "./condition.ts";
import { every, scopeFilters, valueFilters } from "./filters.ts";
import { keyOf } from "./key.ts";
import { Operation, type OperationContext } from "./operation.ts";
import { readRows } from "./rows_query.ts";
import { type AnyRow, decodeRow, type TableColumn } from "./table_column.ts";

interface Lookup {
  readonly column: TableColumn;
  readonly compiled: CompiledStatement;
}

interface Key {
  readonly value: unknown;
  readonly encoded: unknown;
}

interface Waiter extends Key {
  readonly resolve: (row: AnyRow | null) => void;
  readonly reject: (error: unknown) => void;
}

/** Those that wait for a connection, by their key. */
type Batch = Map<unknown, Waiter[]>;

/** The maximum number of keys that one statement looks up. */
const MAX_BATCH = 128;
/** The kinds whose values are equal only if they are the same. */
const EXACT_KINDS: readonly string[] = ["integer", "bigint", "uuid"];
/** The failures that are not due to a value. */
const OUTAGES: readonly string[] = [
  "PoolTimeout",
  "PoolClosed",
  "ConnectionLost",
  "DiskFull",
  "StatementTimeout",
];

/** Finds whole rows of a table, in a scope, by one unique column. */
export class UniqueLookups {
  readonly #context: OperationContext;
  readonly #scoped: readonly unknown[];
  /** By the name of the column: at most as many as the model has. */
  readonly #lookups = new Map<string, Lookup>();
  readonly #waiting = new Map<Lookup, Batch>();

  /** Creates lookups, which have prepared nothing yet. */
  constructor(context: OperationContext) {
    this.#context = context;
    const { scope, action } = context;
    this.#scoped = Array.from(scope, ([column, value]) => column.encode(value, action));
  }

  /** Checks whether it can find a row by a condition: one that names a single column. */
  takes(where: unknown): where is Readonly<Record<string, unknown>> {
    if (!isPlainObject(where)) return false;
    const names = Object.keys(where);
    if (names.length !== 1 || where[names[0]!] === undefined) return false;
    const { keys } = this.#context.table;
    return keys.size === 0 || !keys.has(names[0]!);
  }

  /** Finds a row, or `null`. Those that wait for a connection are found by one statement. */
  async find(where: Readonly<Record<string, unknown>>): Promise<AnyRow | null> {
    const { table, action } = this.#context;
    const [name] = Object.keys(where) as [string];
    const lookup = this.#lookups.get(name) ?? this.#prepare(name, where);
    const value = soleOperand(where[name]);
    const encoded = lookup.column.encode(value, action);
    return table.connection.canShareWait
      ? await this.#together(lookup, { value, encoded })
      : await this.#alone(lookup, encoded);
  }

  async #alone(lookup: Lookup, encoded: unknown): Promise<AnyRow | null> {
    const { table, action } = this.#context;
    const result = table.connection.execute(action, this.#statement(lookup, encoded));
    const { rows: [row] } = result instanceof Promise ? await result : result;
    return row === undefined ? null : decodeRow(row, table.columns);
  }

  #statement({ compiled }: Lookup, encoded: unknown): Statement {
    return fill(compiled, [...this.#scoped, encoded]);
  }

  /** Joins those that wait for a connection. */
  #together(lookup: Lookup, { value, encoded }: Key): Promise<AnyRow | null> {
    let batch = this.#waiting.get(lookup);
    if (!batch || batch.size >= MAX_BATCH) {
      batch = new Map();
      this.#waiting.set(lookup, batch);
      const begun = batch;
      void this.#context.table.connection.shared(() => this.#lookUp(lookup, begun));
    }
    const { promise, resolve, reject } = Promise.withResolvers<AnyRow | null>();
    const key = keyOf(lookup.column, value);
    const waiter = { value, encoded, resolve, reject };
    const others = batch.get(key);
    if (others) others.push(waiter);
    else batch.set(key, [waiter]);
    return promise;
  }

  /** Finds the rows of a batch, which is closed when there is a connection for it. */
  async #lookUp(lookup: Lookup, batch: Batch): Promise<void> {
    const { table, action } = this.#context;
    const { column } = lookup;
    const alone = ({ encoded, resolve, reject }: Waiter) =>
      void this.#alone(lookup, encoded).then(resolve, reject);
    try {
      const { rows } = await table.connection.executeWhenFree(action, () => {
        this.#close(lookup, batch);
        return this.#statementOf(lookup, batch);
      });
      const index = table.columns.indexOf(column);
      const isOne = batch.size === 1;
      for (const row of rows) {
        const key = isOne ? [...batch.keys()][0] : keyOf(column, column.decode(row[index]));
        const found = decodeRow(row, table.columns);
        // Each caller has a row of its own, JSON values included.
        batch.get(key)?.forEach(({ resolve }, n) =>
          resolve(n === 0 ? found : structuredClone(found))
        );
        batch.delete(key);
      }
      // By the collation of its column, a text may equal another.
      const isFound = isOne || EXACT_KINDS.includes(column.field.kind);
      for (const waiter of [...batch.values()].flat()) {
        if (isFound) waiter.resolve(null);
        else alone(waiter);
      }
    } catch (error) {
      this.#close(lookup, batch);
      // Another one's value may be the reason, such as one that the column cannot hold.
      const isShared = error instanceof DbError && !OUTAGES.includes(error.code) && batch.size > 1;
      for (const waiter of [...batch.values()].flat()) {
        if (isShared) alone(waiter);
        else waiter.reject(error);
      }
    }
  }

  #close(lookup: Lookup, batch: Batch): void {
    if (this.#waiting.get(lookup) === batch) this.#waiting.delete(lookup);
  }

  #statementOf(lookup: Lookup, batch: Batch): Statement {
    const waiters = Array.from(batch.values(), ([first]) => first!);
    const [{ encoded } = { encoded: undefined }] = waiters;
    if (waiters.length === 1) return this.#statement(lookup, encoded);
    const operation = new Operation("read", this.#context);
    const values = waiters.map(({ value }) => value);
    const filter = every([
      ...scopeFilters(operation),
      whereFilter({ [lookup.column.name]: { in: values } }, operation),
    ]);
    return operation.statement(readRows({ columns: operation.table.columns, filter }, operation));
  }

  #prepare(name: string, where: unknown): Lookup {
    const operation = new Operation("read", this.#context);
    const unique = uniqueValues(where, operation);
    // The values are bound in this order.
    const filters = [
      ...scopeFilters(operation),
      ...valueFilters(unique, operation),
    ];
    const query = readRows(
      { columns: operation.table.columns, filter: every(filters) },
      operation,
    );
    const lookup = { column: operation.column(name), compiled: operation.compiled(query) };
    this.#lookups.set(name, lookup);
    return lookup;
  }
}
