/**
 * The tables of models: columns, relations, and compiled statements.
 *
 * @module
 */
import type { Compilable } from "kysely";
import type { DbConnection, ResultsOf } from "../connection/connection.ts";
import type { Grammar } from "../connection/grammar.ts";
import {
  compile,
  type CompiledStatement,
  type Statement,
  type StatementResult,
} from "../connection/statement.ts";
import { DbError, dbError } from "../errors.ts";
import type { TableHooks } from "../model/hooks.ts";
import { compoundKeys, indexesOf } from "../model/compound_keys.ts";
import type { ReferenceTarget } from "../model/reference.ts";
import type { AnyModel } from "../model/model.ts";
import type { RelationKind } from "../model/relation.ts";
import { TableColumn } from "./table_column.ts";
import { BoundedMap, type BoundedMapOptions } from "../../platform/bounded_map.ts";

/** At most 256 statements, and fewer where they bind many values or their SQL is long. */
const STATEMENTS: BoundedMapOptions<string, CompiledStatement> = {
  max: 102_400,
  weigh: ({ parameters, sql }) => Math.max(400, parameters.length, sql.length / 16),
};

/** How many limits of a table are written into its SQL. */
const WRITTEN_LIMITS = 16;

/** A relation of a table in an open database. */
export interface TableRelation {
  /** How many rows it has. */
  readonly kind: RelationKind;
  /** Whether `own` is the foreign key. */
  readonly isOwn: boolean;
  /** The column of this table that relates the rows. */
  readonly own: TableColumn;
  /** This table in the database, with its schema. */
  readonly source: string;
  /** The related table. */
  readonly table: Table;
  /** The column of that table with the same value. */
  readonly their: TableColumn;
  /** The table between the two, with the column that holds `own` and the one that holds `their`. */
  readonly through?: {
    readonly table: Table;
    readonly own: TableColumn;
    readonly their: TableColumn;
  };
}

/** A model's table in an open database. */
export class Table {
  /** The name of its model. */
  readonly name: string;
  /** The table in the database, with its schema. */
  readonly source: string;
  /** The name of its rows in the SQL: that of the table without its schema. */
  readonly rows: string;
  /** The columns, in the order of the model. */
  readonly columns: readonly TableColumn[];
  /** The columns of the primary key. */
  readonly primaryKey: readonly TableColumn[];
  /** The primary key that each index has as its last column without naming it, if it has one. */
  readonly rowid: TableColumn | undefined;
  /** The unique keys of several columns, also a primary one, by their names in conditions. */
  readonly keys: ReadonlyMap<string, readonly TableColumn[]>;
  /** The columns of further indexes, without those that they have by themselves. */
  readonly indexes: readonly (readonly TableColumn[])[];
  /** The column that marks deleted rows, if it has one. */
  readonly mark: TableColumn | undefined;
  /** The column that is the version of rows, if it has one. */
  readonly version: TableColumn | undefined;
  /** The database. */
  readonly connection: DbConnection;
  /** The relations by name, once the service has bound them. */
  readonly relations: Map<string, TableRelation> = new Map();
  /** What runs after its rows are written. */
  readonly hooks: TableHooks | undefined;
  readonly #columnsByName: ReadonlyMap<string, TableColumn>;
  /** Whether a field has another name than its column. */
  readonly #isMapped: boolean;
  readonly #statements = new BoundedMap(STATEMENTS);
  readonly #limits = new Set<number>();

  /** Binds a model to an open database. */
  constructor(
    { "~model": { table, fields, primaryKey, options } }: AnyModel,
    connection: DbConnection,
    hooks?: TableHooks,
  ) {
    this.name = table;
    this.source = sourceOf({ table, options }, connection.grammar);
    this.rows = this.source.slice(this.source.indexOf(".") + 1);
    const { grammar } = connection;
    const keys = compoundKeys(options);
    const indexes = indexesOf(options);
    const indexed = new Set([...keys.values(), ...indexes].flat());
    this.columns = Object.entries(fields).map(([name, field], index) =>
      new TableColumn(name, field, { table, grammar, index, isIndexed: indexed.has(name) })
    );
    this.mark = this.columns.find(({ field }) => field.flags.has("deletedAt"));
    this.version = this.columns.find(({ field }) => field.flags.has("version"));
    this.connection = connection;
    this.hooks = hooks;
    this.#isMapped = this.columns.some(({ name, column }) => name !== column);
    this.#columnsByName = new Map(this.columns.map((column) => [column.name, column]));
    const named = (names: readonly string[]) =>
      names.map((name) => this.column(name, `open ${table}`));
    this.keys = new Map(Array.from(keys, ([name, columns]) => [name, named(columns)]));
    this.primaryKey = this.keys.get(primaryKey.join("_")) ?? named(primaryKey);
    const [key, second] = this.primaryKey;
    const isRowid = grammar.endsWithKey && key && !second &&
      grammar.columnType(key.field, false) === "integer";
    this.rowid = isRowid ? key : undefined;
    this.indexes = indexes.map(named)
      .map((columns) => columns.at(-1) === this.rowid ? columns.slice(0, -1) : columns)
      .filter((columns) => columns.length > 0);
    for (const { field } of this.columns) grammar.columnType(field, false);
  }

  /** Whether it has a column. */
  has(name: string): boolean {
    return this.#columnsByName.has(name);
  }

  /**
   * Returns a column by a name that comes from the caller.
   *
   * @throws {TypeError} if it is unknown
   */
  column(name: string, action: string): TableColumn {
    const column = this.#columnsByName.get(name);
    if (column) return column;
    throw new TypeError(`Cannot ${action}: there is no column ${JSON.stringify(name)}`);
  }

  /**
   * Runs a statement of the table; see `DbConnection.execute`.
   *
   * @throws {DbError} if it fails, with the names of fields in place of those of their columns
   */
  execute(action: string, statement: Statement): StatementResult | Promise<StatementResult> {
    const run = () => this.connection.execute(action, statement);
    return this.#isMapped ? this.#naming(action, run) : run();
  }

  /**
   * Runs statements of the table together; see `DbConnection.executeTogether`.
   *
   * @throws {DbError} if one fails, with the names of fields in place of those of their columns
   */
  executeTogether<const S extends readonly Statement[]>(
    action: string,
    statements: S,
  ): Promise<ResultsOf<S>> {
    const run = () => this.connection.executeTogether(action, statements);
    return this.#isMapped ? this.#naming(action, run) : run();
  }

  async #naming<T>(action: string, run: () => T | Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof DbError) || error.fields.length === 0) throw error;
      const fields = error.fields.map((name) =>
        this.columns.find(({ column }) => column === name)?.name ?? name
      );
      throw dbError(action, { code: error.code, fields }, error.cause);
    }
  }

  /**
   * Whether a limit is written into the SQL, where the database would otherwise plan each run: the
   * first limits of the table are, so that no client fills the caches of statements with others.
   */
  writesLimit(limit: number): boolean {
    if (!this.connection.grammar.plansByLimit) return false;
    if (this.#limits.size < WRITTEN_LIMITS) this.#limits.add(limit);
    return this.#limits.has(limit);
  }

  /** Returns the statement of a shape of operations, compiled at its first use. */
  statement(shape: string, build: () => Compilable): CompiledStatement {
    return this.#statements.getOrInsertComputed(shape, () => compile(build()));
  }
}

/** Returns the name of the table of a model, after that of its schema, on a database. */
export function sourceOf(
  { table, options }: Pick<ReferenceTarget["~model"], "table" | "options">,
  { brand }: Pick<Grammar, "brand">,
): string {
  const { table: stored = table, schema } = options;
  if (schema === undefined) return stored;
  return `${schema}${brand === "PostgreSQL" ? "." : "_"}${stored}`;
}
