/**
 * The scripts of changes on SQLite.
 *
 * @module
 */
import { compareSchemas, hasChanges, inOrder, type TableChange } from "./compare.ts";
import { oldName, renamed } from "./rename.ts";
import {
  isUnfilled,
  mentions,
  renameStatements,
  type Script,
  type ScriptOptions,
} from "./script_parts.ts";
import {
  checkDefinition,
  columnDefinition,
  createIndex,
  createIndexes,
  createTable,
  isUniqueIndex,
  listed,
} from "./table_ddl.ts";
import { type ColumnSchema, type OtherSchema, quoted, type TableSchema } from "./table_schema.ts";
import { typeChange } from "./type_change.ts";

const BRAND = { brand: "SQLite" } as const;

/**
 * Returns the script that changes tables. SQLite adds and drops plain columns; for all else, a
 * table is created again, as its documentation describes in 12 steps, of which `migrate()` does
 * those about foreign keys and the transaction:
 * https://sqlite.org/lang_altertable.html#otheralter.
 *
 * @throws {TypeError} if the SQL of a view or trigger that it creates again has a renamed name
 */
export function sqliteScript({ from, to, renames, fills }: ScriptOptions): Script {
  const before = renamed(from, renames);
  const change = compareSchemas({ from: before, to }, BRAND);
  const { created, dropped, altered } = change;
  // The SQL of views and triggers is that before the renames.
  const isUsed = (table: string) =>
    before.others.some(({ sql = "" }) =>
      mentions(sql, table) || mentions(sql, oldName(table, renames))
    );
  const isRebuilt = (table: TableChange) =>
    !isInPlace(table, { isUsed: isUsed(table.to.name), fills });
  // Views and triggers that name the table stop it from being renamed.
  const isRecreated = [...altered.filter(isRebuilt).map(({ to }) => to), ...dropped]
    .some(({ name }) => isUsed(name));
  const dependants = isRecreated ? before.others : [];
  refuseStale(dependants, renames);
  const referred = new Set(
    [...before.tables.values()].filter((table) => !dropped.includes(table))
      .flatMap(({ foreignKeys }) => foreignKeys.map(({ table }) => table)),
  );
  const drop = (table: string) =>
    `${referred.has(table) ? cascadeComment(table) : ""}drop table ${quoted(table, BRAND)}`;
  // Before those that refer to it: it is dropped with the rows that still refer to it.
  const order = inOrder(altered.map(({ to }) => to));
  const inTurn = altered.toSorted((a, b) => order.indexOf(a.to) - order.indexOf(b.to));
  const isKept = (other: OtherSchema) =>
    !isRecreated && before.others.some((it) => it.kind === other.kind && it.name === other.name);
  const statements = [
    ...renameStatements(renames, BRAND),
    ...dependants.toReversed().map(({ kind, name }) => `drop ${kind} ${quoted(name, BRAND)}`),
    ...dropped.map(({ name }) => drop(name)),
    ...inTurn.flatMap((table) =>
      isRebuilt(table) ? rebuild(table, { fills, drop }) : changeInPlace(table)
    ),
    ...created.flatMap((table) => createTable(table, { brand: BRAND })),
    ...to.others.flatMap((other) => isKept(other) ? [] : other.sql ?? []),
  ];
  const losses = altered.filter(isRebuilt).flatMap(({ from }) =>
    from.others.filter(({ isLost = false }) => isLost).map(({ text }) => `drop ${text}`)
  );
  return { change, statements, losses };
}

/** SQLite changes names in views and triggers, which are no longer created by their SQL then. */
function refuseStale(
  dependants: readonly OtherSchema[],
  renames: ScriptOptions["renames"],
): void {
  for (const { from } of renames) {
    const stale = dependants.find(({ sql = "" }) => mentions(sql, from));
    if (!stale) continue;
    throw new TypeError(
      `Cannot rename ${from}: the migration also creates ${stale.text} again, whose SQL has that ` +
        "name; rename it in a migration before this one",
    );
  }
}

/** Checks whether `alter table` can make a change. */
function isInPlace(
  { from, to, columns, changed, ...parts }: TableChange,
  { isUsed, fills }: { readonly isUsed: boolean; readonly fills: ScriptOptions["fills"] },
): boolean {
  const { uniques, primaryKey, foreignKeys, checks } = parts;
  const isIndexed = [...uniques.dropped, ...uniques.added].every((key) =>
    isUniqueIndex(key, BRAND)
  );
  if (changed.length > 0 || hasChanges(primaryKey) || !isIndexed) return false;
  const isAdded = (name: string) => columns.added.some((column) => column.name === name);
  if (foreignKeys.dropped.length + checks.dropped.length > 0) return false;
  if (!foreignKeys.added.every(({ column }) => isAdded(column))) return false;
  if (!checks.added.every(({ column }) => isAdded(column))) return false;
  const isReplaced = columns.dropped.some(({ name }) => isAdded(name));
  const isPlain = (name: string) =>
    ![from.primaryKey, ...from.uniques.filter((key) => !isUniqueIndex(key, BRAND))]
      .some((key) => key?.columns.includes(name));
  const canAdd = (column: ColumnSchema) =>
    !isUnfilled(column) && !column.default?.startsWith("(") && column.computed === undefined &&
    !(column.default !== undefined &&
      foreignKeys.added.some((key) => key.column === column.name)) &&
    !fills.has(`${to.name}.${column.name}`);
  return !isReplaced && columns.added.every(canAdd) &&
    columns.dropped.every(({ name }) =>
      from.others.every(({ isLost = false }) => isLost) && !isUsed && isPlain(name)
    );
}

function changeInPlace(change: TableChange): readonly string[] {
  const { to, columns, indexes, uniques, foreignKeys, checks } = change;
  const table = quoted(to.name, BRAND);
  const add = (column: ColumnSchema) => {
    const key = foreignKeys.added.find((it) => it.column === column.name);
    return [
      `alter table ${table} add column ${columnDefinition(column, BRAND)}`,
      ...checks.added.filter((check) => check.column === column.name)
        .map((check) => checkDefinition(check, { table: to, brand: BRAND })),
      ...key
        ? [
          `references ${quoted(key.table, BRAND)} ${listed([key.key], BRAND)}${
            key.onDelete === "no action" ? "" : ` on delete ${key.onDelete}`
          }${key.rest}`,
        ]
        : [],
    ].join(" ");
  };
  return [
    ...[...indexes.dropped, ...uniques.dropped].map(({ name }) =>
      `drop index ${quoted(name, BRAND)}`
    ),
    ...columns.dropped.map(({ name }) => `alter table ${table} drop column ${quoted(name, BRAND)}`),
    ...columns.added.map(add),
    ...uniques.added.map((key) =>
      createIndex(key, { table: to.name, brand: BRAND, isUnique: true })
    ),
    ...indexes.added.map((key) => createIndex(key, { table: to.name, brand: BRAND })),
  ];
}

function rebuild(
  { from, to, columns, changed }: TableChange,
  { fills, drop }: Pick<ScriptOptions, "fills"> & { readonly drop: (table: string) => string },
): readonly string[] {
  const [own, other] = [to.name, `fw_new_${to.name}`];
  const copied = to.columns.flatMap((column) => {
    if (column.computed !== undefined) return [];
    const name = quoted(column.name, BRAND);
    const fill = fills.get(`${own}.${column.name}`);
    const isAdded = columns.added.includes(column);
    if (isAdded) return fill === undefined ? [] : [[name, fill]] as const;
    const pair = changed.find((pair) => pair.to === column);
    const { using } = pair ? typeChange(pair.from, { to: column, brand: BRAND }) ?? {} : {};
    const value = using ? using(name) : name;
    return [[name, fill === undefined ? value : `coalesce(${value}, ${fill})`]] as const;
  });
  const isGenerated = (table: TableSchema) => table.columns.some(({ generation }) => generation);
  const sequence = `select '${other}', seq from sqlite_sequence where name = '${own}'`;
  const names = copied.map(([name]) => name).join(", ");
  const values = copied.map(([, value]) => value).join(", ");
  return [
    ...createTable(to, { brand: BRAND, as: other }),
    ...copied.length > 0
      ? [
        `insert into ${quoted(other, BRAND)} (${names}) select ${values} from ${
          quoted(own, BRAND)
        }`,
      ]
      : [],
    // Keys that were used are not used again.
    ...isGenerated(from) && isGenerated(to)
      ? [
        `delete from sqlite_sequence where name = '${other}'`,
        `insert into sqlite_sequence (name, seq) ${sequence}`,
      ]
      : [],
    drop(own),
    `alter table ${quoted(other, BRAND)} rename to ${quoted(own, BRAND)}`,
    ...createIndexes(to, BRAND),
  ];
}

/** Explains what migrations prevent, and a tool that only runs the script may not. */
function cascadeComment(table: string): string {
  const name = table.replaceAll(/[\r\n]/g, " ");
  return `-- If foreign keys are on, as always on D1, this may delete rows that refer to ${name}.\n`;
}
