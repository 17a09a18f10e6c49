/**
 * The tables of models: columns with their codecs, relations, and compiled statements.
 *
 * @module
 */
import { type AliasedExpression, type Compilable, sql } from "kysely";
import type { DbConnection, ResultsOf } from "../connection/connection.ts";
import type { Codec, Grammar } from "../connection/grammar.ts";
import {
  compile,
  type CompiledStatement,
  type DriverRow,
  type Statement,
  type StatementResult,
} from "../connection/statement.ts";
import { DbError, dbError } from "../errors.ts";
import { FIELD_KINDS, type FieldKindRules } from "../model/field_kind.ts";
import type { TableHooks } from "../model/hooks.ts";
import {
  type AnyField,
  type AnyModel,
  columnOf,
  isMemberName,
  type ModelDefinition,
} from "../model/model.ts";
import type { AnyRelation, RelationKind, Relations } from "../model/relation.ts";
import { type StorageLimit, storageLimit } from "./storage_limit.ts";
import { BoundedMap, type BoundedMapOptions } from "../../platform/bounded_map.ts";

/** At most 256 statements, and fewer where they bind many values or their SQL is long. */
const STATEMENTS: BoundedMapOptions<string, CompiledStatement> = {
  max: 102_400,
  weigh: ({ parameters, sql }) => Math.max(400, parameters.length, sql.length / 16),
};

/** A row of any model. */
export type AnyRow = Record<string, unknown>;

/** A column in an open database. */
export class TableColumn {
  /** The name of its field. */
  readonly name: string;
  /** Its name in the SQL. */
  readonly column: string;
  /** Its name in error messages. */
  readonly label: string;
  /** The name of its model. */
  readonly table: string;
  /** Its index among the columns of the model. */
  readonly index: number;
  /** Its field in the model. */
  readonly field: AnyField;
  /** The SQL of its database. */
  readonly grammar: Grammar;
  /** Encodes and decodes its values. */
  readonly codec: Codec;
  /** The rules of its kind. */
  readonly rules: FieldKindRules;
  readonly #limit: StorageLimit | undefined;

  /** Creates a column of a model's table. */
  constructor(
    name: string,
    field: AnyField,
    { table, grammar, index, label = name }: {
      table: string;
      grammar: Grammar;
      index: number;
      label?: string;
    },
  ) {
    this.name = name;
    this.column = columnOf(name, field);
    this.label = label;
    this.table = table;
    this.index = index;
    this.field = field;
    this.grammar = grammar;
    this.codec = grammar.codecs[field.kind];
    this.rules = FIELD_KINDS[field.kind];
    this.#limit = storageLimit(field, grammar);
  }

  /**
   * Encodes a value to be stored, or `null`.
   *
   * @throws {TypeError} if it is `undefined`
   * @throws {DbError} `CheckViolation` as of `encode`, or if it exceeds the limit of the column
   */
  store(value: unknown, action: string): unknown {
    if (value === null) return null;
    const encoded = this.encode(value, action);
    if (!this.#limit || this.#limit.admits(value)) return encoded;
    const reason = `${this.name} takes at most ${this.#limit.name}`;
    throw dbError(action, { code: "CheckViolation", fields: [this.name], reason });
  }

  /**
   * Encodes a value for the driver.
   *
   * @throws {TypeError} if it is `undefined`
   * @throws {DbError} `CheckViolation` if it is of another type, `null` included, or not every
   * database stores it unchanged
   */
  encode(value: unknown, action: string): unknown {
    this.check(value, action);
    return this.codec.encode(value, this.field);
  }

  /**
   * Checks a value.
   *
   * @throws {TypeError} if it is `undefined`
   * @throws {DbError} `CheckViolation` if it is of another type, `null` included, or not every
   * database stores it unchanged
   */
  check(value: unknown, action: string): void {
    const { rules, field, label: name } = this;
    const isAccepted = value !== null && rules.accepts(value);
    if (isAccepted && rules.keeps(value, field.traits)) return;
    const given = value === null ? "null" : typeof value;
    const { list } = field.traits;
    const reason = !isAccepted
      ? `${name} takes ${rules.type}, not ${given}`
      : list === undefined
      ? undefined
      : `${name} takes one of ${list.replaceAll("|", ", ")}`;
    // No client can send it: the caller has forgotten a value.
    if (value === undefined) throw new TypeError(`Cannot ${action}: ${reason}`);
    throw dbError(action, { code: "CheckViolation", fields: [name], reason });
  }

  /**
   * Decodes a value that the driver read.
   *
   * @throws {DbError} `Database`, naming the column, if the field cannot have the value
   */
  decode(raw: unknown): unknown {
    try {
      return this.codec.decode(raw, this.field);
    } catch (cause) {
      // the messages of other errors contain the value
      const reason = cause instanceof RangeError ? cause.message : `it is not ${this.rules.type}`;
      throw new DbError("Database", `Cannot read ${this.table}.${this.label}: ${reason}`, {
        cause,
      });
    }
  }
}

/** What selects a column. */
export type Selection = string | AliasedExpression<unknown, string>;

/** Selects columns; their names in the result are not significant. */
export function selectionOf(columns: readonly TableColumn[]): Selection[] {
  return columns.map(({ column, grammar, field }) =>
    // Rows are ordered by the column, so the expression that reads it has another name.
    grammar.read?.(sql.ref(column), field)?.as(`${column}~`) ?? column
  );
}

/** Selects a column under another name; `from` is its name in a subquery or a join table. */
export function selectAs(
  { grammar, field }: TableColumn,
  { from, alias }: { readonly from: string; readonly alias: string },
): Selection {
  const read = grammar.read?.(sql.ref(from), field);
  return read ? read.as(alias) : from === alias ? from : `${from} as ${alias}`;
}

/** Selects the number of rows. */
export function countOfRows(): AliasedExpression<number, "count"> {
  return sql<number>`count(*)`.as("count");
}

/** Values by column. */
export type Values = ReadonlyMap<TableColumn, unknown>;

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
  /** The primary key. */
  readonly primaryKey: TableColumn;
  /** The column that marks deleted rows, if it has one. */
  readonly mark: TableColumn | undefined;
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

  /** Binds a model to an open database. */
  constructor(
    { "~model": { table, fields, primaryKey, options } }: AnyModel,
    connection: DbConnection,
    hooks?: TableHooks,
  ) {
    this.name = table;
    this.source = sourceOf({ table, options }, connection.grammar);
    this.rows = this.source.slice(this.source.indexOf(".") + 1);
    this.columns = Object.entries(fields).map(([name, field], index) =>
      new TableColumn(name, field, { table, grammar: connection.grammar, index })
    );
    this.mark = this.columns.find(({ field }) => field.flags.has("deletedAt"));
    this.connection = connection;
    this.hooks = hooks;
    this.#isMapped = this.columns.some(({ name, column }) => name !== column);
    this.#columnsByName = new Map(this.columns.map((column) => [column.name, column]));
    this.primaryKey = this.column(primaryKey, `open ${table}`);
    for (const { field } of this.columns) connection.grammar.columnType(field, false);
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

  /** Returns the statement of a shape of operations, compiled at its first use. */
  statement(shape: string, build: () => Compilable): CompiledStatement {
    return this.#statements.getOrInsertComputed(shape, () => compile(build()));
  }
}

/** Returns the name of the table of a model, after that of its schema, on a database. */
export function sourceOf(
  { table, options }: Pick<ModelDefinition, "table" | "options">,
  { brand }: Pick<Grammar, "brand">,
): string {
  const { table: stored = table, schema } = options;
  if (schema === undefined) return stored;
  return `${schema}${brand === "PostgreSQL" ? "." : "_"}${stored}`;
}

/** Decodes the values of columns, in their order, into a row. */
export function decodeRow(values: DriverRow, columns: readonly TableColumn[]): AnyRow {
  const row: AnyRow = {};
  let index = 0;
  for (const column of columns) {
    const value = values[index++];
    row[column.name] = value === null ? null : column.decode(value);
  }
  return row;
}

type NamedModels = Readonly<Record<string, AnyModel>>;
type NamedRelations = Readonly<Record<string, Relations | undefined>>;

/**
 * Checks relations against models.
 *
 * @throws {TypeError} if one has the name of a column or a reserved one, or is of another model
 */
export function checkRelations(models: NamedModels, relations: NamedRelations): void {
  const tables = Object.values(models).map((model) => model["~model"]);
  for (const [accessor, named] of Object.entries(relations)) {
    const model = models[accessor]?.["~model"];
    if (!model) throw new TypeError(`Cannot relate ${accessor}: there is no such model`);
    for (const [name, relation] of Object.entries(named ?? {})) {
      const refuse = (reason: string) =>
        new TypeError(`Cannot relate ${accessor}.${name}: ${reason}`);
      if (!isMemberName(name) || name === "_count") throw refuse("the name is reserved");
      if (name in model.fields) throw refuse("a column has this name");
      if (relation.source["~model"] !== model) {
        throw refuse(`it begins at ${relation.source["~model"].table}`);
      }
      for (const other of [relation.target["~model"], relation.foreignKey["~model"]]) {
        if (!tables.includes(other)) throw refuse(`${other.table} has no model here`);
      }
    }
  }
}

/** Adds the relations to their tables. */
export function bindRelations(
  tables: ReadonlyMap<string, Table>,
  relations: NamedRelations,
): void {
  const byName = new Map(Array.from(tables.values(), (table) => [table.name, table]));
  const tableOf = (model: AnyModel): Table => byName.get(model["~model"].table)!;
  for (const [accessor, named] of Object.entries(relations)) {
    for (const [name, relation] of Object.entries(named ?? {})) {
      tables.get(accessor)?.relations.set(name, bind(relation, tableOf));
    }
  }
}

function bind(relation: AnyRelation, tableOf: (model: AnyModel) => Table): TableRelation {
  const { kind, foreignKey, through, isOwn } = relation;
  const source = tableOf(relation.source);
  const table = tableOf(relation.target);
  const own = isOwn ? source.column(foreignKey.name, "relate") : source.primaryKey;
  const ends = { kind, isOwn, own, source: source.source, table };
  if (isOwn) return { ...ends, their: table.primaryKey };
  if (!through) return { ...ends, their: table.column(foreignKey.name, "relate") };
  const between = tableOf({ "~model": foreignKey["~model"] });
  return {
    ...ends,
    their: table.primaryKey,
    through: {
      table: between,
      own: between.column(foreignKey.name, "relate"),
      their: between.column(through.name, "relate"),
    },
  };
}
