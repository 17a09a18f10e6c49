/**
 * The values of groups of rows, as columns that conditions and orders can name.
 *
 * @module
 */
import { type AliasedExpression, sql } from "kysely";
import type { Grammar, ValueAggregate } from "../connection/grammar.ts";
import { DbError, dbError } from "../errors.ts";
import { AGGREGATES } from "../model/aggregate.ts";
import { Field } from "../model/field.ts";
import type { AnyField } from "../model/model.ts";
import type { Operation } from "./operation.ts";
import { TableColumn } from "./table_column.ts";

/** The most digits of a sum of decimals. */
const MAX_DIGITS = 65;
/** The longest name that no database cuts. */
const MAX_NAME = 63;

/** The aggregates of an operation, each of which is computed once. */
export class GroupValues {
  /** Selects the values under the names of their columns. */
  readonly selection: AliasedExpression<unknown, string>[] = [];
  /** The operation that reads them. */
  readonly operation: Operation;
  readonly #columns = new Map<string, TableColumn>();

  /** Begins without values; the operation knows their columns by name. */
  constructor(operation: Operation) {
    this.operation = operation;
    operation.others = this.#columns;
  }

  /**
   * Returns the column of an aggregate of a column, or with `_all` of rows.
   *
   * @throws {TypeError} if the column is unknown, or has no such aggregate
   */
  column(aggregate: string, name: string): TableColumn {
    const { operation } = this;
    const { table, action } = operation;
    const { grammar } = table.connection;
    const isCount = aggregate === "_count";
    const isAll = isCount && name === "_all";
    const { rules, field, column: of } = isAll ? table.columns[0]! : table.column(name, action);
    const isNumeric = aggregate === "_sum" || aggregate === "_avg";
    const isKnown = AGGREGATES.includes(aggregate) &&
      (isNumeric ? rules.numeric : isCount || rules.comparable);
    if (!isKnown) throw operation.mistake(`${name} takes no ${JSON.stringify(aggregate)}`);
    const label = `${aggregate}.${name}`;
    const alias = label.length > MAX_NAME ? `~${this.selection.length}` : label.replace(".", "~");
    const known = this.#columns.get(alias);
    if (known) return known;
    operation.add(`${label},`);
    const value = isAll
      ? sql`count(*)`
      : isCount
      ? sql`count(${sql.ref(of)})`
      : grammar.aggregate(aggregate.slice(1) as ValueAggregate, sql.ref(of), field);
    this.selection.push(value.as(alias));
    const column = new TableColumn(alias, fieldOf(aggregate, field), {
      table: table.name,
      grammar: aggregate === "_sum" ? ofSums(grammar) : grammar,
      index: 0,
      label,
    });
    this.#columns.set(alias, column);
    return column;
  }

  /**
   * Decodes a value of a group.
   *
   * @throws {DbError} `CheckViolation` if it is a sum that is too large
   */
  decode(raw: unknown, column: TableColumn): unknown {
    if (raw === null) return null;
    const value = column.decode(raw);
    const { label, rules, field: { kind, traits } } = column;
    const isLimited = label.startsWith("_sum.") && kind !== "bigint";
    if (!isLimited || rules.keeps(value, traits)) return value;
    throw this.#tooLarge([label]);
  }

  /**
   * Runs a query of the values.
   *
   * @throws {DbError} `CheckViolation` with their names, if the database cannot compute a sum
   */
  async run<T>(query: () => T | Promise<T>): Promise<T> {
    try {
      return await query();
    } catch (error) {
      const labels = Array.from(this.#columns.values(), ({ label }) => label)
        .filter((label) => /^_(?:sum|avg)/.test(label));
      const isOverflow = error instanceof DbError && error.code === "CheckViolation";
      throw isOverflow && labels.length > 0 ? this.#tooLarge(labels, error) : error;
    }
  }

  #tooLarge(fields: readonly string[], cause?: unknown): DbError {
    const reason = `${fields.join(" or ")} is too large`;
    return dbError(this.operation.action, { code: "CheckViolation", fields, reason }, cause);
  }
}

/** Returns the field of the values of an aggregate of a field. */
function fieldOf(aggregate: string, { kind, traits: { size, list } }: AnyField): AnyField {
  if (aggregate === "_count") return new Field("integer", new Set(), { size });
  return new Field(aggregate === "_avg" ? "real" : kind, new Set(["nullable" as const]), {
    size: aggregate === "_sum" ? { ...size, precision: MAX_DIGITS } : size,
    ...list !== undefined && { list },
  });
}

/** Returns a grammar for sums, which have another form, and other bounds than columns. */
function ofSums(grammar: Grammar): Grammar {
  const { codecs, list, sums } = grammar;
  return {
    ...grammar,
    codecs: { ...codecs, integer: { ...codecs.integer, decode: Number }, ...sums },
    list: { ...list, minLength: Infinity },
  };
}
