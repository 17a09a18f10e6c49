/**
 * A model at work: its columns with their codecs, and the SQL it has run.
 *
 * @module
 */
import type { Compilable } from "kysely";
import { BoundedCache } from "./bounded_cache.ts";
import type { DbConnection } from "./connection.ts";
import type { Codec, Dialect, DriverRow } from "./dialect.ts";
import { dbError } from "./errors.ts";
import type { Field, FieldFlag } from "./field.ts";
import { FIELD_KINDS, type FieldKind, type FieldKindRules } from "./field_kind.ts";
import type { AnyModel } from "./model.ts";
import { compile, fill, type Operation, type Statement } from "./operation.ts";

const MAX_STATEMENTS = 256;

/** A column in an open database. */
export class TableColumn {
  /** Its name. */
  readonly name: string;
  /** What the model says of it. */
  readonly field: Field<FieldKind, FieldFlag>;
  /** What its database does in its own way. */
  readonly dialect: Dialect;
  /** How its values travel. */
  readonly codec: Codec;
  /** What its kind allows. */
  readonly rules: FieldKindRules;

  /** Creates a column of a model's table. */
  constructor(name: string, field: Field<FieldKind, FieldFlag>, dialect: Dialect) {
    this.name = name;
    this.field = field;
    this.dialect = dialect;
    this.codec = dialect.codecs[field.kind];
    this.rules = FIELD_KINDS[field.kind];
  }

  /**
   * Turns a value into what the driver takes.
   *
   * @throws {TypeError} if it is of another type, `null` included
   * @throws {DbError} `CheckViolation` if no database would keep it as it is
   */
  encode(value: unknown, action: string): unknown {
    if (!this.rules.accepts(value)) {
      const given = value === null ? "null" : typeof value;
      throw new TypeError(`Cannot ${action}: ${this.name} takes ${this.rules.type}, not ${given}`);
    }
    if (!this.rules.keeps(value)) {
      throw dbError(action, { code: "CheckViolation", fields: [this.name] });
    }
    return this.codec.encode(value);
  }
}

/** A model's table in an open database. */
export class Table {
  /** Its name. */
  readonly name: string;
  /** The columns, in the order of the model. */
  readonly columns: readonly TableColumn[];
  /** The names of the columns, in the order of the model. */
  readonly columnNames: readonly string[];
  /** The name of the primary key. */
  readonly primaryKey: string;
  /** The database. */
  readonly connection: DbConnection;
  readonly #columnsByName: ReadonlyMap<string, TableColumn>;
  readonly #statements = new BoundedCache<Statement>(MAX_STATEMENTS);

  /** Binds a model to an open database. */
  constructor({ "~model": { table, fields, primaryKey } }: AnyModel, connection: DbConnection) {
    this.name = table;
    this.columns = Object.entries(fields).map(([name, field]) =>
      new TableColumn(name, field, connection.dialect)
    );
    this.columnNames = Object.keys(fields);
    this.primaryKey = primaryKey;
    this.connection = connection;
    this.#columnsByName = new Map(this.columns.map((column) => [column.name, column]));
  }

  /**
   * Gives a column by a name that comes from the caller.
   *
   * @throws {TypeError} if there is none
   */
  column(name: string, action: string): TableColumn {
    const column = this.#columnsByName.get(name);
    if (column) return column;
    throw new TypeError(`Cannot ${action}: there is no column ${JSON.stringify(name)}`);
  }

  /** Runs an operation, with the SQL that the first of its shape had compiled. */
  run(operation: Operation, build: () => Compilable): Promise<readonly DriverRow[]> {
    const statement = this.#statements.getOrMake(operation.shape, () => compile(build()));
    return this.connection.execute(operation.action, fill(statement, operation));
  }

  /** Turns what was read of all columns, in the order of the model, into a row. */
  decode(values: DriverRow): Record<string, unknown> {
    const row: Record<string, unknown> = {};
    let index = 0;
    for (const { name, codec } of this.columns) {
      const value = values[index++];
      row[name] = value === null ? null : codec.decode(value);
    }
    return row;
  }
}
