/**
 * Changes of tables in words, and which of them lose data.
 *
 * @module
 */
import type { SchemaChange, TableChange } from "./compare.ts";
import type { Rename } from "./rename.ts";
import { isUnfilled } from "./script_parts.ts";
import type { Brand } from "./table_ddl.ts";
import { type ColumnSchema, schemaOf } from "./table_schema.ts";
import { typeChange } from "./type_change.ts";

/** What a change does. */
export interface ChangeTexts {
  /** Each part of it: `add column users.age: bigint`. */
  readonly changes: readonly string[];
  /** Those that lose data. */
  readonly losses: readonly string[];
  /** Columns that are not null, and were or had none: rows that exist have no value for them. */
  readonly unfilled: readonly string[];
  /** Names that may be new ones of others: `users.name:full_name`. */
  readonly candidates: readonly string[];
}

/**
 * Describes a change.
 *
 * @throws {TypeError} if a value is for a column that needs none
 */
export function describeChange(
  { created, dropped, altered }: SchemaChange,
  { renames, fills, brand }: {
    readonly renames: readonly Rename[];
    readonly fills: ReadonlyMap<string, string>;
    readonly brand: Brand;
  },
): ChangeTexts {
  const renamedTexts = renames.map(({ table, from, to }) =>
    table === undefined
      ? `rename table ${from} to ${to}`
      : `rename column ${table}.${from} to ${to}`
  );
  const tablesLost = dropped.map(({ name }) => `drop table ${name}`);
  const columnsLost = altered.flatMap((change) => columnLosses(change, brand));
  const unfilled = altered.flatMap(({ to, columns, changed }) => [
    ...columns.added.filter(isUnfilled).map(({ name }) => `${to.name}.${name}`),
    ...changed.filter(({ from, to }) => from.isNullable && !to.isNullable)
      .map((pair) => `${to.name}.${pair.to.name}`),
  ]);
  const unknown = [...fills.keys()].find((name) => !unfilled.includes(name));
  if (unknown !== undefined) {
    throw new TypeError(`Cannot fill ${unknown}: it is no column that rows need a value for`);
  }
  return {
    changes: [
      ...renamedTexts,
      ...tablesLost,
      ...created.map(({ name }) => `create table ${name}`),
      ...altered.flatMap(describeTable),
    ],
    losses: [...tablesLost, ...columnsLost],
    unfilled: unfilled.filter((name) => !fills.has(name)),
    candidates: [
      ...created.flatMap((to) =>
        dropped.filter((from) =>
          schemaOf(from.name) === schemaOf(to.name) && isSimilar(from.columns, to.columns)
        )
          .map((from) => `${from.name}:${to.name}`)
      ),
      ...altered.flatMap(({ to, columns }) =>
        columns.added.flatMap((after) =>
          columns.dropped
            .filter((before) => before.type === after.type && before.name !== after.name)
            .map((before) => `${to.name}.${before.name}:${after.name}`)
        )
      ),
    ],
  };
}

/** Describes the columns that others replace, as their values cannot be converted. */
export function describeReplaced(change: TableChange): readonly string[] {
  const { dropped, added } = change.columns;
  return dropped.filter(({ name }) => added.some((after) => after.name === name))
    .flatMap((column) => columnLoss(column, change));
}

function columnLoss(before: ColumnSchema, { to, columns }: TableChange): readonly string[] {
  if (before.computed !== undefined) return [];
  const after = columns.added.find(({ name }) => name === before.name);
  const reason = after ? `, whose ${before.type} cannot become ${after.type}` : "";
  return [`drop column ${to.name}.${before.name}${reason}`];
}

function columnLosses(change: TableChange, brand: Brand): readonly string[] {
  const { to, columns, changed } = change;
  return [
    ...columns.dropped.flatMap((column) => columnLoss(column, change)),
    ...changed.flatMap(({ from, to: after }) => {
      const { loss } = typeChange(from, { to: after, brand }) ?? {};
      if (loss === undefined) return [];
      return [`change ${to.name}.${after.name} from ${from.type} to ${after.type}, ${loss}`];
    }),
  ];
}

function describeTable(change: TableChange): readonly string[] {
  const { to: { name }, columns, changed } = change;
  const listed = (names: readonly string[]) => `${name} (${names.join(", ")})`;
  const parts = [
    ["primary key", change.primaryKey],
    ["unique", change.uniques],
    ["index", change.indexes],
  ] as const;
  return [
    ...columns.dropped.map((column) => `drop column ${name}.${column.name}`),
    ...columns.added.map((column) => `add column ${name}.${column.name}: ${definitionOf(column)}`),
    ...changed.map(({ from, to }) =>
      `change ${name}.${to.name}: ${definitionOf(from)} -> ${definitionOf(to)}`
    ),
    ...parts.flatMap(([what, { dropped, added }]) => [
      ...dropped.map(({ columns }) => `drop ${what} of ${listed(columns)}`),
      ...added.map(({ columns }) => `add ${what} of ${listed(columns)}`),
    ]),
    ...change.foreignKeys.dropped.map((key) =>
      `drop reference ${name}.${key.column} to ${key.table}.${key.key}`
    ),
    ...change.foreignKeys.added.map((key) =>
      `add reference ${name}.${key.column} to ${key.table}.${key.key}${
        key.onDelete === "no action" ? "" : `, on delete ${key.onDelete}`
      }`
    ),
    ...change.checks.dropped.map(({ column }) => `drop check of ${name}.${column}`),
    ...change.checks.added.map(({ column }) => `add check of ${name}.${column}`),
  ];
}

/** Describes a column: `bigint not null default 0`. */
function definitionOf(column: ColumnSchema): string {
  return [
    column.type,
    column.isNullable ? "" : "not null",
    column.default === undefined ? "" : `default ${column.default}`,
    column.generation ?? "",
    column.computed ?? "",
  ].filter(Boolean).join(" ");
}

/** Checks whether most columns have the same names. */
function isSimilar(one: readonly ColumnSchema[], other: readonly ColumnSchema[]): boolean {
  const same = one.filter(({ name }) => other.some((column) => column.name === name)).length;
  return same * 2 > Math.max(one.length, other.length);
}
