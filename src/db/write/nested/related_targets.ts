/**
 * Finds the rows that data names to connect or disconnect.
 *
 * @module
 */
import { sql } from "kysely";
import { type DbError, dbError } from "../../errors.ts";
import { uniqueValues } from "../../query/condition.ts";
import { every, scopeFilters, uniqueFilter } from "../../query/filters.ts";
import { identityOf } from "../../query/key.ts";
import type { Operation } from "../../query/operation.ts";
import { type Filter, operatorFilter } from "../../query/operators.ts";
import {
  type AnyRow,
  decodeRow,
  selectionOf,
  type TableColumn,
  type Values,
} from "../../query/table_column.ts";
import { keyOfValue } from "../create_many.ts";
import { batchesOf } from "../row_reading.ts";
import { begin, type DataPlace, subjectOf } from "./relation_data.ts";

/**
 * Finds the rows in the scope that conditions on unique columns name, in their order; once each.
 * They are those that exist now, also where a transaction of MySQL would read older ones.
 *
 * @throws {DbError} `RowNotFound` if one does not exist, or is out of scope
 */
export async function findTargets(
  wheres: readonly unknown[],
  place: DataPlace,
): Promise<readonly AnyRow[]> {
  const rows = await findSome(wheres, place);
  if (!rows.includes(undefined)) return unique(rows as readonly AnyRow[], place);
  throw missing(place);
}

/** Creates the error of a row that data names, and that does not exist or is out of scope. */
export function missing(place: DataPlace): DbError {
  const reason = `there is no row that ${subjectOf(place)} names`;
  return dbError(place.root.action, { code: "RowNotFound", reason });
}

/** Finds the rows as `findTargets` does, without those that do not exist. */
export async function findExisting(
  wheres: readonly unknown[],
  place: DataPlace,
): Promise<readonly AnyRow[]> {
  const rows = await findSome(wheres, place);
  return unique(rows.filter((row) => row !== undefined), place);
}

/** Reads rows as they are now. */
export async function readCurrent(filter: Filter, operation: Operation): Promise<AnyRow[]> {
  const { source, columns, connection: { kysely, grammar } } = operation.table;
  operation.section("current");
  const { rows } = await operation.run(() =>
    kysely.selectFrom(source).select(selectionOf(columns)).where(filter)
      // MariaDB has no FOR SHARE; the others read the last commit.
      .$if(!grammar.returning, (query) => query.modifyEnd(sql`lock in share mode`))
  );
  return rows.map((row) => decodeRow(row, columns));
}

async function findSome(
  wheres: readonly unknown[],
  place: DataPlace,
): Promise<readonly (AnyRow | undefined)[]> {
  const check = begin("check", place);
  const uniques = wheres.map((where) => uniqueValues(where, check));
  const found = new Map<Values, AnyRow>();
  for (const [column, group] of Map.groupBy(uniques, columnOf)) {
    // Rows that are named by one column are found together.
    for (const some of column ? batchesOf(group) : group.map((unique) => [unique])) {
      const operation = begin("targets", place);
      const filter = column && some.length > 1
        ? every([
          ...scopeFilters(operation),
          operatorFilter({
            column,
            operator: "in",
            operand: some.map((unique) => unique.get(column)),
          }, operation),
        ])
        : uniqueFilter(some[0]!, operation);
      const rows = new Map<unknown, AnyRow>();
      for (const row of await readCurrent(filter, operation)) {
        rows.set(column && keyOfValue(column, row[column.name]), row);
      }
      for (const unique of some) {
        const row = rows.get(column && keyOfValue(column, unique.get(column)));
        if (row) found.set(unique, row);
      }
    }
  }
  return uniques.map((unique) => found.get(unique));
}

/** Returns the column, if it is the only one. */
function columnOf(unique: Values): TableColumn | undefined {
  return unique.size === 1 ? [...unique.keys()][0] : undefined;
}

function unique(rows: readonly AnyRow[], { table: { primaryKey } }: DataPlace): readonly AnyRow[] {
  return [...new Map(rows.map((row) => [identityOf(row, primaryKey), row])).values()];
}
