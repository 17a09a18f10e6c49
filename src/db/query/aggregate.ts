/**
 * Reads aggregates of all rows, or of groups of them.
 *
 * @module
 */
import { AGGREGATES } from "../model/aggregate.ts";
import { membersOf } from "../model/plain_object.ts";
import { decimalDigits, decimalText } from "../model/stored_value.ts";
import { givenFilters, whereFilter } from "./condition.ts";
import { drivenFilter } from "./driven_rows.ts";
import { every, scopeFilters } from "./filters.ts";
import type { PageOptions } from "./find_options.ts";
import { havingWhere, readBy, readGroupOrder } from "./group_options.ts";
import { GroupValues } from "./group_values.ts";
import type { Operation } from "./operation.ts";
import { ordered, readPage } from "./rows_query.ts";
import { type AnyRow, selectionOf, type TableColumn } from "./table_column.ts";

/** How many more digits than its column the average of decimals has. */
const MORE_DIGITS = 4;

/** Which values to read of which groups; they are checked where they are read. */
export interface GroupsOptions extends PageOptions {
  /** The condition on rows. */
  readonly where?: unknown;
  /** Whether there are groups; otherwise, all rows are one. */
  readonly isGrouped: boolean;
  /** The columns of the groups. */
  readonly by?: unknown;
  /** The condition on groups. */
  readonly having?: unknown;
}

/** A value of a result. */
interface Output {
  readonly aggregate: string;
  /** The name of its column; without one, it is not nested. */
  readonly name?: string;
  /** What it is computed of. */
  readonly columns: readonly TableColumn[];
}

/**
 * Reads aggregates of the rows of each group, or of all rows.
 *
 * @throws {TypeError} if the options name an unknown column or aggregate, or none
 * @throws {DbError} `CheckViolation` if a sum is too large
 */
export async function readGroups(options: GroupsOptions, operation: Operation): Promise<AnyRow[]> {
  const { source, connection: { kysely, grammar } } = operation.table;
  const met = every([...scopeFilters(operation), ...givenFilters(options, operation)]);
  const filter = await drivenFilter(met, operation);
  const values = new GroupValues(operation);
  const by = options.isGrouped ? readBy(options.by, operation) : [];
  const outputs = readOutputs({ ...options }, values);
  if (!options.isGrouped && outputs.length === 0) throw operation.mistake("it names no aggregate");
  operation.section("having");
  const having = "having" in options
    ? whereFilter(havingWhere(options.having, values), operation)
    : undefined;
  const order = readGroupOrder({ ...options, by }, values);
  const bounded = readPage(options, operation);
  const names = by.map(({ column }) => column);
  // Rows of drivers are objects, which have each name once.
  const columns = [...new Set([...by, ...outputs.flatMap(({ columns }) => columns)])];
  const { rows } = await values.run(() =>
    operation.run(() => {
      const groups = kysely.selectFrom(source).select([...names, ...values.selection])
        .where(filter).$if(by.length > 0, (query) => query.groupBy(names));
      const selected = kysely.selectFrom(groups.as("~groups")).select(selectionOf(columns));
      return bounded(ordered(having ? selected.where(having) : selected, order, grammar));
    })
  );
  return rows.map((raw) => {
    const read = new Map(
      columns.map((column, index) => [column, values.decode(raw[index], column)]),
    );
    const row: AnyRow = {};
    for (const column of by) row[column.name] = read.get(column);
    for (const { aggregate, name, columns } of outputs) {
      const value = valueOf(columns.map((column) => read.get(column)), columns);
      row[aggregate] = name === undefined ? value : { ...row[aggregate] as AnyRow, [name]: value };
    }
    return row;
  });
}

function readOutputs(
  options: Readonly<Record<string, unknown>>,
  values: GroupValues,
): readonly Output[] {
  const { operation } = values;
  operation.section("values");
  return AGGREGATES.flatMap((aggregate): readonly Output[] => {
    const given = options[aggregate];
    if (given === undefined) return [];
    if (aggregate === "_count" && given === true) {
      return [{ aggregate, columns: [values.column(aggregate, "_all")] }];
    }
    const members = membersOf(given, aggregate, operation);
    if (members.length === 0) throw operation.mistake(`${aggregate} names no column`);
    return members.map(([name, value]) => {
      const column = values.column(aggregate, name);
      if (value !== true) throw operation.mistake(`${aggregate}.${name} is not true`);
      const isDecimal = aggregate === "_avg" && operation.column(name).field.kind === "decimal";
      const columns = isDecimal
        ? [values.column("_sum", name), values.column("_count", name)]
        : [column];
      return { aggregate, name, columns };
    });
  });
}

/** Returns the value of one column, or the average of the sum of decimals and their number. */
function valueOf([value, count]: readonly unknown[], [column]: readonly TableColumn[]): unknown {
  if (count === undefined || value === null) return value;
  const { size } = column!.field.traits;
  const divisor = BigInt(count as number);
  const units = decimalDigits(value as string, size)! * 10n ** BigInt(MORE_DIGITS);
  // Half away from zero; a division of bigints is cut.
  const half = units < 0n ? -divisor : divisor;
  return decimalText((2n * units + half) / (2n * divisor), {
    ...size,
    scale: size.scale + MORE_DIGITS,
  });
}
