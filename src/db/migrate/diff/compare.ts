/**
 * Compares tables with others, part by part.
 *
 * @module
 */
import type { Brand } from "./table_ddl.ts";
import {
  type CheckSchema,
  type ColumnSchema,
  type ForeignKeySchema,
  type KeySchema,
  respaced,
  type Schema,
  type TableSchema,
} from "./table_schema.ts";
import { typeChange } from "./type_change.ts";

/** A list of parts that are dropped, and of those that are added. */
export interface PartChanges<P> {
  /** Those of the table before. */
  readonly dropped: readonly P[];
  /** Those of the table after. */
  readonly added: readonly P[];
}

/** A part before and after. */
export interface Pair<P> {
  /** Before. */
  readonly from: P;
  /** After. */
  readonly to: P;
}

/** How a table differs from another of its name. */
export interface TableChange extends Pair<TableSchema> {
  /** The columns that only one of them has, or whose values cannot be converted. */
  readonly columns: PartChanges<ColumnSchema>;
  /** The columns that differ. */
  readonly changed: readonly Pair<ColumnSchema>[];
  /** The primary key; at most one each. */
  readonly primaryKey: PartChanges<KeySchema>;
  /** The unique keys. */
  readonly uniques: PartChanges<KeySchema>;
  /** The indexes. */
  readonly indexes: PartChanges<KeySchema>;
  /** The foreign keys. */
  readonly foreignKeys: PartChanges<ForeignKeySchema>;
  /** The checks. */
  readonly checks: PartChanges<CheckSchema>;
  /** Parts that differ in their names, on PostgreSQL. */
  readonly renamed: readonly (Pair<string> & { readonly isIndex: boolean })[];
}

/** How the tables of a database differ from others. */
export interface SchemaChange {
  /** New tables, after those that they refer to. */
  readonly created: readonly TableSchema[];
  /** Tables that are dropped, before those that they refer to. */
  readonly dropped: readonly TableSchema[];
  /** Tables that differ. */
  readonly altered: readonly TableChange[];
}

/** Compares tables with others. */
export function compareSchemas({ from, to }: Pair<Schema>, brand: Brand): SchemaChange {
  const both = [...to.tables.values()].flatMap((after) => {
    const before = from.tables.get(after.name);
    return before ? [{ from: before, to: after }] : [];
  });
  const columns = new Map(both.map((pair) => [pair.to.name, compareColumns(pair, brand)]));
  const keys = new Map(both.map((pair) => [
    pair.to.name,
    compareKeys(pair, { columns: columns.get(pair.to.name)!, brand }),
  ]));
  const isTouched = (table: string, column: string) => {
    const own = columns.get(table);
    return own?.changed.some(({ from, to }) => to.name === column && from.type !== to.type) ||
      own?.columns.dropped.some(({ name }) => name === column);
  };
  const isKeyTouched = ({ table, key }: ForeignKeySchema) => {
    const { uniques, primaryKey } = keys.get(table) ?? {};
    const dropped = [...uniques?.dropped ?? [], ...primaryKey?.dropped ?? []];
    return isTouched(table, key) || dropped.some(({ columns: [first] }) => first === key);
  };
  const altered = both.map((pair): TableChange => ({
    ...pair,
    ...columns.get(pair.to.name)!,
    ...keys.get(pair.to.name)!,
    foreignKeys: changesOf(
      pair.from.foreignKeys,
      pair.to.foreignKeys,
      (before, after) =>
        isSameForeignKey(before, after) && hasName({ from: before, to: after }, brand) &&
        !isTouched(pair.to.name, after.column) && !isKeyTouched(after),
    ),
  }));
  return {
    created: inOrder([...to.tables.values()].filter(({ name }) => !from.tables.has(name))),
    dropped: inOrder([...from.tables.values()].filter(({ name }) => !to.tables.has(name)))
      .toReversed(),
    altered: altered.filter(isChange),
  };
}

/** Checks whether any part is dropped or added. */
export function hasChanges({ dropped, added }: PartChanges<unknown>): boolean {
  return dropped.length > 0 || added.length > 0;
}

/** Checks whether foreign keys have the same effect. */
export function isSameForeignKey(one: ForeignKeySchema, other: ForeignKeySchema): boolean {
  const effectOf = ({ onDelete }: ForeignKeySchema) =>
    onDelete === "restrict" ? "no action" : onDelete;
  return one.column === other.column && one.table === other.table && one.key === other.key &&
    one.rest === other.rest && effectOf(one) === effectOf(other);
}

/** Checks whether keys have the same columns in the same order. */
export function isSameKey(one: KeySchema, other: KeySchema): boolean {
  return one.columns.length === other.columns.length &&
    one.columns.every((column, place) => column === other.columns[place]);
}

/** Checks whether checks have the same condition, apart from space and the case of words. */
export function isSameCheck(one: CheckSchema, other: CheckSchema): boolean {
  return one.column === other.column &&
    respaced(one.condition, "") === respaced(other.condition, "");
}

/** Checks whether columns are the same; collations are not compared. */
export function isSameColumn(one: ColumnSchema, other: ColumnSchema): boolean {
  return one.type === other.type && one.isNullable === other.isNullable &&
    one.default === other.default && one.generation === other.generation &&
    one.computed === other.computed;
}

function compareColumns(
  { from, to }: Pair<TableSchema>,
  brand: Brand,
): Pick<TableChange, "columns" | "changed"> {
  const pairs = to.columns.flatMap((after) => {
    const before = from.columns.find(({ name }) => name === after.name);
    return before ? [{ from: before, to: after }] : [];
  });
  const kept = pairs.filter(({ from, to }) => typeChange(from, { to, brand }) !== undefined);
  const has = (name: string) => kept.some(({ to }) => to.name === name);
  return {
    columns: {
      dropped: from.columns.filter(({ name }) => !has(name)),
      added: to.columns.filter(({ name }) => !has(name)),
    },
    changed: kept.filter(({ from, to }) => !isSameColumn(from, to)),
  };
}

function compareKeys(
  { from, to }: Pair<TableSchema>,
  { columns: { columns, changed }, brand }: {
    readonly columns: Pick<TableChange, "columns" | "changed">;
    readonly brand: Brand;
  },
): Pick<TableChange, "primaryKey" | "uniques" | "indexes" | "checks" | "renamed"> {
  const isGone = (column: string) => columns.dropped.some(({ name }) => name === column);
  const isKept = (before: KeySchema, after: KeySchema) =>
    isSameKey(before, after) && !before.columns.some(isGone);
  const isSame = (before: KeySchema, after: KeySchema) =>
    isKept(before, after) && hasName({ from: before, to: after }, brand);
  const isInline = ({ isInline = false, column }: CheckSchema) =>
    isInline && changed.some(({ to }) => to.name === column);
  const changesType = ({ column }: CheckSchema) =>
    changed.some(({ from, to }) => to.name === column && from.type !== to.type);
  const isCheckKept = (before: CheckSchema, after: CheckSchema) =>
    isSameCheck(before, after) && !isGone(before.column) && !isInline(before) &&
    !changesType(before) && hasName({ from: before, to: after }, brand);
  const renamedOf = <P extends { readonly name: string; readonly isIndex?: boolean }>(
    before: readonly P[],
    after: readonly P[],
    isKept: (before: P, after: P) => boolean,
  ) =>
    brand.brand !== "PostgreSQL" ? [] : after.flatMap((to) => {
      const from = before.find((it) => isKept(it, to));
      return from && from.name !== to.name
        ? [{ from: from.name, to: to.name, isIndex: from.isIndex ?? false }]
        : [];
    });
  const primary = [from.primaryKey, to.primaryKey]
    .map((key) => key ? [key] : []) as [KeySchema[], KeySchema[]];
  return {
    primaryKey: changesOf(...primary, isKept),
    uniques: changesOf(from.uniques, to.uniques, isSame),
    indexes: changesOf(from.indexes, to.indexes, isSame),
    checks: changesOf(from.checks, to.checks, isCheckKept),
    renamed: [
      ...renamedOf(...primary, isKept),
      ...renamedOf(from.uniques, to.uniques, isKept),
      ...renamedOf(from.indexes, to.indexes, isKept),
      ...renamedOf(from.checks, to.checks, isCheckKept),
      ...renamedOf(from.foreignKeys, to.foreignKeys, isSameForeignKey),
    ],
  };
}

/** On PostgreSQL a part can get another name; elsewhere it is dropped and added. */
function hasName(
  { from, to }: Pair<{ readonly name: string }>,
  { brand }: Brand,
): boolean {
  return brand === "PostgreSQL" || from.name === to.name;
}

/** Compares lists; of several parts that are the same, each has one other. */
function changesOf<P>(
  from: readonly P[],
  to: readonly P[],
  isSame: (before: P, after: P) => boolean,
): PartChanges<P> {
  const left = [...from];
  const added = to.filter((after) => {
    const place = left.findIndex((before) => isSame(before, after));
    if (place >= 0) left.splice(place, 1);
    return place < 0;
  });
  return { dropped: left, added };
}

function isChange(change: TableChange): boolean {
  const { columns, primaryKey, uniques, indexes, foreignKeys, checks } = change;
  return change.changed.length > 0 || change.renamed.length > 0 ||
    [columns, primaryKey, uniques, indexes, foreignKeys, checks]
      .some(hasChanges);
}

/** Sorts tables after those that they refer to, as far as these do not refer to each other. */
export function inOrder(tables: readonly TableSchema[]): readonly TableSchema[] {
  const ordered = new Set<TableSchema>();
  const visiting = new Set<TableSchema>();
  const add = (table: TableSchema) => {
    if (visiting.has(table)) return;
    visiting.add(table);
    for (const { table: target } of table.foreignKeys) {
      const other = tables.find(({ name }) => name === target);
      if (other) add(other);
    }
    ordered.add(table);
  };
  tables.forEach(add);
  return [...ordered];
}
