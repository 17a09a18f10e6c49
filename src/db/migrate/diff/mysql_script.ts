/**
 * The scripts of changes on MySQL and MariaDB.
 *
 * @module
 */
import { compareSchemas, type SchemaChange, type TableChange } from "./compare.ts";
import { renamed } from "./rename.ts";
import {
  isUnfilled,
  laterKeys,
  notNullName,
  renameStatements,
  type Script,
  type ScriptOptions,
  withoutKeys,
} from "./script_parts.ts";
import {
  checkDefinition,
  checkName,
  columnDefinition,
  createTable,
  foreignKeyDefinition,
  listed,
  primaryKeyDefinition,
  uniqueDefinition,
} from "./table_ddl.ts";
import { mapTables, quoted, type Schema, type TableSchema } from "./table_schema.ts";
import { becomesBoolean } from "./type_change.ts";

const BRAND = { brand: "MySQL" } as const;

/**
 * Returns the script that changes tables. What changes a table is one statement as far as possible:
 * each takes effect by itself, and may copy the table.
 */
export function mysqlScript({ from, to, renames, fills }: ScriptOptions): Script {
  const change = compareSchemas({ from: renamed(from, renames), to }, BRAND);
  const { created, dropped, altered } = change;
  const later = laterKeys(created);
  const statements = [
    ...renameStatements(renames, BRAND),
    ...altered.flatMap(dropConstraints),
    // The foreign keys of tables that refer to each other stop both from being dropped.
    ...laterKeys(dropped.toReversed()).map(({ table, key }) =>
      alter(table, [`drop foreign key ${quoted(key.name, BRAND)}`])
    ),
    ...dropped.map(({ name }) => `drop table ${quoted(name, BRAND)}`),
    ...altered.flatMap((table) => changeTable(table, fills)),
    ...withoutKeys(created, later).flatMap((table) => createTable(table, { brand: BRAND })),
    ...later.map(({ table, key }) => alter(table, [`add ${foreignKeyDefinition(key, BRAND)}`])),
    ...altered.flatMap(({ to, foreignKeys }) =>
      foreignKeys.added.length > 0
        ? [alter(to, foreignKeys.added.map((key) => `add ${foreignKeyDefinition(key, BRAND)}`))]
        : []
    ),
  ];
  return { change, statements };
}

/**
 * Returns tables after a change: a check that it adds has another name than that of
 * `createTables()` on MariaDB, where it is a part of its column.
 */
export function settled(to: Schema, { created, altered }: SchemaChange): Schema {
  return mapTables(to, (table) => {
    const added = created.includes(table)
      ? table.checks
      : altered.find((change) => change.to === table)?.checks.added ?? [];
    const checks = table.checks.map(({ isInline, ...check }) =>
      added.some(({ column, condition }) =>
          column === check.column && condition === check.condition
        )
        ? { ...check, name: checkName(check, { table, brand: BRAND }) }
        : { ...check, ...isInline && { isInline } }
    );
    return { ...table, checks };
  });
}

function dropConstraints({ from, to, foreignKeys, checks, changed }: TableChange) {
  // A check that is a part of its column ends with the definition of that.
  const named = checks.dropped.filter(({ isInline }) => !isInline);
  const inline = checks.dropped.filter(({ isInline, column }) =>
    isInline && !changed.some(({ to }) => to.name === column)
  );
  const kept = inline.flatMap(({ column }) => {
    const definition = to.columns.find(({ name }) => name === column);
    const before = from.columns.find(({ name }) => name === column);
    return definition && before ? [`modify column ${columnDefinition(before, BRAND)}`] : [];
  });
  const actions = [
    ...foreignKeys.dropped.map(({ name }) => `drop foreign key ${quoted(name, BRAND)}`),
    ...named.map(({ name }) => `drop constraint ${quoted(name, BRAND)}`),
    ...kept,
  ];
  return actions.length > 0 ? [alter(to, actions)] : [];
}

function changeTable(
  { to, columns, changed, primaryKey, uniques, indexes, checks, foreignKeys }: TableChange,
  fills: ScriptOptions["fills"],
): readonly string[] {
  const fillOf = (name: string) => fills.get(`${to.name}.${name}`);
  const isKey = (column: string) => to.primaryKey?.columns.includes(column) ?? false;
  // MySQL would set them to 0 or to text without characters, so first they are null.
  const unfilled = columns.added.filter((column) => isUnfilled(column) && !isKey(column.name));
  // Where there are rows, this fails before a column that another one replaces is dropped.
  const guarded = unfilled.filter(({ name }) => fillOf(name) === undefined);
  const isRequired = changed.filter(({ from, to }) => from.isNullable && !to.isNullable);
  const actions = [
    ...[...uniques.dropped, ...indexes.dropped].map(({ name }) =>
      `drop index ${quoted(name, BRAND)}`
    ),
    ...primaryKey.dropped.map(() => "drop primary key"),
    ...columns.dropped.map(({ name }) => `drop column ${quoted(name, BRAND)}`),
    ...columns.added.map((column) =>
      `add column ${
        columnDefinition(
          unfilled.includes(column) ? { ...column, isNullable: true } : column,
          BRAND,
        )
      }`
    ),
    ...guarded.map((column) =>
      `add constraint ${quoted(notNullName(column), BRAND)} check (${
        quoted(column.name, BRAND)
      } is not null)`
    ),
    ...changed.map(({ to }) => `modify column ${columnDefinition(to, BRAND)}`),
    ...primaryKey.added.map((key) => `add ${primaryKeyDefinition(key, BRAND)}`),
    ...uniques.added.map((key) => `add ${uniqueDefinition(key, BRAND)}`),
    // A foreign key creates its own.
    ...indexes.added.filter(({ name }) => !foreignKeys.added.some((key) => key.name === name))
      .map(({ name, columns }) => `add index ${quoted(name, BRAND)} ${listed(columns, BRAND)}`),
    ...checks.added.map((check) => `add ${checkDefinition(check, { table: to, brand: BRAND })}`),
  ];
  const fill = (name: string) => {
    const value = fillOf(name);
    const column = quoted(name, BRAND);
    return value === undefined
      ? []
      : [`update ${quoted(to.name, BRAND)} set ${column} = ${value} where ${column} is null`];
  };
  const booleans = changed.filter(({ from, to }) => becomesBoolean(from, to));
  return [
    ...isRequired.flatMap(({ to }) => fill(to.name)),
    ...booleans.map(({ to: { name } }) => {
      const column = quoted(name, BRAND);
      return `update ${quoted(to.name, BRAND)} set ${column} = ${column} <> 0 where ${column} <> 0`;
    }),
    ...actions.length > 0 ? [alter(to, actions)] : [],
    ...unfilled.flatMap(({ name }) => fill(name)),
    ...unfilled.length > 0
      ? [
        alter(to, [
          ...guarded.map((column) => `drop constraint ${quoted(notNullName(column), BRAND)}`),
          ...unfilled.map((column) => `modify column ${columnDefinition(column, BRAND)}`),
        ]),
      ]
      : [],
  ];
}

function alter({ name }: TableSchema, actions: readonly string[]): string {
  const table = `alter table ${quoted(name, BRAND)}`;
  return actions.length === 1 ? `${table} ${actions[0]}` : `${table}\n  ${actions.join(",\n  ")}`;
}
