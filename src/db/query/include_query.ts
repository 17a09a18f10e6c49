/**
 * Reads the rows that are related to others: one query for each relation, however many rows.
 *
 * @module
 */
import { every, valueFilters, whereFilter } from "./condition.ts";
import { Operation } from "../connection/operation.ts";
import { bindList } from "./operators.ts";
import type { PageOptions } from "./page.ts";
import { checkOptions, isPlainObject } from "../model/plain_object.ts";
import { readRelated } from "./rows_query.ts";
import { dropUnselected, readSelection } from "./selection.ts";
import {
  type AnyRow,
  decodeRow,
  type Table,
  type TableColumn,
  type TableRelation,
  type Values,
} from "./table.ts";

/** A relation to read with rows. */
export interface Inclusion {
  /** The column of the rows that the relation goes by. */
  readonly own: TableColumn;
  /** Reads the related rows, and adds them to the rows. */
  readonly addTo: (rows: readonly AnyRow[]) => Promise<void>;
}

const ONE_OPTIONS: readonly string[] = ["select", "include"];
const MANY_OPTIONS: readonly string[] = [...ONE_OPTIONS, "where", "orderBy", "take", "skip"];
/** How many keys a query has at most; with more rows there are more queries. */
const MAX_KEYS = 8192;

/**
 * Reads an `include`, with all that is in it.
 *
 * @throws {TypeError} if it has an unknown relation, or an option that is none
 */
export function readInclude(
  include: unknown,
  scope: Values,
  table: Table,
  operation: Operation,
): readonly Inclusion[] {
  if (include === undefined) return [];
  const { action } = operation;
  if (!isPlainObject(include)) {
    throw new TypeError(`Cannot ${action}: include is not a plain object`);
  }
  return Object.keys(include).flatMap((name) => {
    const options = include[name];
    const relation = table.relations.get(name);
    if (!relation) {
      throw new TypeError(`Cannot ${action}: there is no relation ${JSON.stringify(name)}`);
    }
    if (options === undefined || options === false) return [];
    const known = optionsOf(name, options, relation, operation);
    const prepare = () => new RelatedReading(relation, known, scope, action);
    // What is wrong with the options is told before anything is read.
    const first = prepare();
    const addTo = (rows: readonly AnyRow[]) => addRelated(name, rows, relation, { first, prepare });
    return { own: relation.own, addTo };
  });
}

/** One query of related rows, and what is related to those. */
class RelatedReading {
  readonly #relation: TableRelation;
  readonly #operation: Operation;
  readonly #select: unknown;
  readonly #columns: readonly TableColumn[];
  readonly #inclusions: readonly Inclusion[];
  readonly #query: ReturnType<typeof readRelated>;

  constructor(
    relation: TableRelation,
    options: Readonly<Record<string, unknown>>,
    scope: Values,
    action: string,
  ) {
    const { table, their, through } = relation;
    const operation = new Operation("related", action);
    operation.section(
      through
        ? `through ${through.table.name} ${through.own} ${through.their}`
        : `by ${their.name}`,
    );
    const between = through && {
      ...through,
      filters: valueFilters(scopeOf(through.table, scope, action), operation),
    };
    operation.section("of");
    this.#relation = relation;
    this.#operation = operation;
    this.#select = options.select;
    this.#inclusions = readInclude(options.include, scope, table, operation);
    const needed = this.#inclusions.map(({ own }) => own);
    this.#columns = readSelection(options.select, needed, table, operation);
    const filters = [...valueFilters(scopeOf(table, scope, action), operation)];
    if (options.where !== undefined) filters.push(whereFilter(options.where, table, operation));
    this.#query = readRelated(
      {
        // What is not of its type is told where it is read.
        ...options as PageOptions,
        columns: this.#columns,
        filter: every(filters),
        owner: through?.own ?? their.name,
        through: between,
      },
      table,
      operation,
    );
  }

  /** Reads the rows that belong to keys, each with its key. */
  async read(keys: readonly unknown[]): Promise<readonly (readonly [unknown, AnyRow])[]> {
    const { table, own } = this.#relation;
    this.#operation.section("keys");
    const slots = bindList(own, keys, this.#operation);
    const { rows } = await table.run(this.#operation, this.#query(slots));
    const found = rows.map(([key, ...values]) =>
      [own.codec.decode(key, own.field), decodeRow(values, this.#columns)] as const
    );
    const read = found.map(([, row]) => row);
    for (const inclusion of this.#inclusions) await inclusion.addTo(read);
    dropUnselected(read, this.#select, this.#columns);
    return found;
  }
}

async function addRelated(
  name: string,
  rows: readonly AnyRow[],
  { kind, own }: TableRelation,
  { first, prepare }: { readonly first: RelatedReading; readonly prepare: () => RelatedReading },
): Promise<void> {
  const values = new Map<unknown, unknown>();
  for (const { [own.name]: value } of rows) if (value !== null) values.set(identity(value), value);
  const keys = [...values.values()];
  const related = new Map<unknown, AnyRow[]>();
  for (let start = 0; start < keys.length; start += MAX_KEYS) {
    const reading = start === 0 ? first : prepare();
    for (const [key, row] of await reading.read(keys.slice(start, start + MAX_KEYS))) {
      const found = related.get(identity(key));
      if (found) found.push(row);
      else related.set(identity(key), [row]);
    }
  }
  for (const row of rows) {
    const found = related.get(identity(row[own.name])) ?? [];
    // Several rows may belong to one: each gets its own.
    row[name] = kind === "many" ? found : found[0] ? { ...found[0] } : null;
  }
}

function optionsOf(
  name: string,
  options: unknown,
  { kind }: TableRelation,
  { action }: Operation,
): Readonly<Record<string, unknown>> {
  if (options === true) return {};
  const subject = `include.${name}`;
  if (!isPlainObject(options)) {
    throw new TypeError(`Cannot ${action}: ${subject} is neither a boolean nor a plain object`);
  }
  checkOptions(options, kind === "many" ? MANY_OPTIONS : ONE_OPTIONS, { action, subject });
  return options;
}

/**
 * A scope holds for related rows, and those of a join model, as far as their table has its columns.
 *
 * @throws {TypeError} if a column of the same name is of another kind
 */
function scopeOf(table: Table, scope: Values, action: string): Values {
  const own = new Map<TableColumn, unknown>();
  for (const [{ name, field: { kind } }, value] of scope) {
    if (!table.has(name)) continue;
    const column = table.column(name, action);
    if (column.field.kind !== kind) {
      throw new TypeError(
        `Cannot ${action}: ${name} is in the scope, and of ${table.name} no ${kind}`,
      );
    }
    own.set(column, value);
  }
  return own;
}

/** Tells equal values by what a Map takes for equal. */
export function identity(value: unknown): unknown {
  return value instanceof Date ? value.getTime() : value;
}
