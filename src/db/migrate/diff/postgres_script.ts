/**
 * The scripts of changes on PostgreSQL.
 *
 * @module
 */
import { compareSchemas, type Pair, type TableChange } from "./compare.ts";
import { renamed } from "./rename.ts";
import {
  isUnfilled,
  laterKeys,
  mentions,
  notNullName,
  renameStatements,
  type Script,
  type ScriptOptions,
  withoutKeys,
} from "./script_parts.ts";
import {
  checkDefinition,
  columnDefinition,
  createIndex,
  createTable,
  defaultOf,
  foreignKeyDefinition,
  isUniqueIndex,
  primaryKeyDefinition,
  typeOf,
  uniqueDefinition,
} from "./table_ddl.ts";
import {
  type ColumnSchema,
  type ForeignKeySchema,
  mapTables,
  quoted,
  quotedTable,
  type Schema,
  schemaOf,
  type TableSchema,
} from "./table_schema.ts";
import { typeChange } from "./type_change.ts";

const BRAND = { brand: "PostgreSQL" } as const;

/** Returns the script that changes tables in a transaction. */
export function postgresScript({ from, to, renames, fills }: ScriptOptions): Script {
  const before = renamed(from, renames);
  const change = compareSchemas({ from: before, to }, BRAND);
  const { created, dropped, altered } = change;
  const later = laterKeys(created);
  const statements = [
    ...renameStatements(renames, BRAND),
    ...altered.flatMap(renameParts),
    // The foreign keys of tables that refer to each other stop both from being dropped.
    ...laterKeys(dropped.toReversed()).map(({ table, key }) =>
      alter(table, `drop constraint ${quoted(key.name, BRAND)}`)
    ),
    ...altered.flatMap(({ to, foreignKeys }) =>
      foreignKeys.dropped.map(({ name }) => alter(to, `drop constraint ${quoted(name, BRAND)}`))
    ),
    ...dropped.map(({ name }) => `drop table ${quotedTable(name, BRAND)}`),
    ...altered.flatMap(dropParts),
    ...altered.flatMap((table) => changeColumns(table, fills)),
    ...altered.flatMap(addParts),
    ...newSchemas(before, created),
    ...withoutKeys(created, later).flatMap((table) => createTable(table, { brand: BRAND })),
    ...later.map(({ table, key }) => addForeignKey(table, key)),
    ...altered.flatMap(({ to, foreignKeys }) =>
      foreignKeys.added.map((key) => addForeignKey(to, key))
    ),
  ];
  return { change, statements };
}

/**
 * Returns tables without what takes long to add to those that exist: indexes, unique and foreign
 * keys, checks, and that columns are not null.
 */
export function withoutSlowParts({ from, to }: Pair<Schema>): Schema {
  const { altered } = compareSchemas({ from, to }, BRAND);
  const slowKeys = new Set<string>();
  for (const { to, uniques } of altered) {
    for (const { columns } of uniques.added) slowKeys.add(`${to.name}.${columns.join()}`);
  }
  return mapTables(to, (table) => {
    const isReady = ({ table, key }: ForeignKeySchema) => !slowKeys.has(`${table}.${key}`);
    const change = altered.find(({ to }) => to === table);
    const foreignKeys = table.foreignKeys.filter(isReady);
    if (!change) return { ...table, foreignKeys };
    const wasNullable = (name: string) =>
      change.changed.some(({ from, to }) =>
        to.name === name && from.isNullable && !to.isNullable
      ) &&
      !change.primaryKey.added.some(({ columns }) => columns.includes(name));
    return {
      ...table,
      columns: table.columns.map((column) =>
        wasNullable(column.name) && column.generation === undefined
          ? { ...column, isNullable: true }
          : column
      ),
      uniques: table.uniques.filter((key) => !change.uniques.added.includes(key)),
      indexes: table.indexes.filter((key) => !change.indexes.added.includes(key)),
      checks: table.checks.filter((check) => !change.checks.added.includes(check)),
      foreignKeys: foreignKeys.filter((key) => !change.foreignKeys.added.includes(key)),
    };
  });
}

/**
 * Returns the script that adds the slow parts, outside a transaction: none of its statements locks
 * writes while it reads a table. It can run again after a failure.
 */
export function postgresSlowScript(
  { fills, ...pair }: Pair<Schema> & Pick<ScriptOptions, "fills">,
): readonly string[] {
  const { altered } = compareSchemas(pair, BRAND);
  return [
    ...altered.flatMap(({ to, uniques, indexes }) => [
      ...uniques.added.flatMap((key) => {
        const index = createIndex(key, {
          table: to.name,
          brand: BRAND,
          isUnique: true,
          concurrently: true,
        });
        const name = quoted(key.name, BRAND);
        if (isUniqueIndex(key, BRAND)) return [dropConcurrently(to, key.name), index];
        return [
          alter(to, `drop constraint if exists ${name}`),
          dropConcurrently(to, key.name),
          index,
          alter(to, `add constraint ${name} unique using index ${name}`),
        ];
      }),
      ...indexes.added.flatMap((key) => [
        dropConcurrently(to, key.name),
        createIndex(key, { table: to.name, brand: BRAND, concurrently: true }),
      ]),
    ]),
    ...altered.flatMap(({ to, foreignKeys, checks, changed }) => [
      ...foreignKeys.added.flatMap((key) =>
        validated(to, { name: key.name, definition: foreignKeyDefinition(key, BRAND) })
      ),
      ...checks.added.flatMap((check) =>
        validated(to, {
          name: check.name,
          definition: checkDefinition(check, { table: to, brand: BRAND }),
        })
      ),
      ...changed.flatMap((column) => setNotNull(to, { ...column, fills })),
    ]),
  ];
}

/** Adds a constraint for new rows, and checks the others without a lock that stops writes. */
function validated(
  table: TableSchema,
  { name, definition }: { readonly name: string; readonly definition: string },
): readonly string[] {
  return [
    alter(table, `drop constraint if exists ${quoted(name, BRAND)}`),
    alter(table, `add ${definition} not valid`),
    alter(table, `validate constraint ${quoted(name, BRAND)}`),
  ];
}

/** Without a check that is valid, PostgreSQL would read the table under a lock. */
function setNotNull(
  table: TableSchema,
  { from, to, fills }: Pair<ColumnSchema> & Pick<ScriptOptions, "fills">,
): readonly string[] {
  if (!from.isNullable || to.isNullable) return [];
  const column = quoted(to.name, BRAND);
  const name = notNullName(to);
  const fill = fills.get(`${table.name}.${to.name}`);
  return [
    ...fill === undefined ? [] : [
      `update ${quotedTable(table.name, BRAND)} set ${column} = ${fill} where ${column} is null`,
    ],
    ...validated(table, {
      name,
      definition: `constraint ${quoted(name, BRAND)} check (${column} is not null)`,
    }),
    alter(table, `alter column ${column} set not null`),
    alter(table, `drop constraint ${quoted(name, BRAND)}`),
  ];
}

function renameParts({ to, renamed }: TableChange): readonly string[] {
  return renamed.map(({ from, to: name, isIndex }) =>
    isIndex
      ? `alter index ${qualified(to, from)} rename to ${quoted(name, BRAND)}`
      : alter(to, `rename constraint ${quoted(from, BRAND)} to ${quoted(name, BRAND)}`)
  );
}

function dropParts({ to, primaryKey, uniques, indexes, checks }: TableChange): readonly string[] {
  const constraints = [
    ...checks.dropped,
    ...uniques.dropped.filter((key) => !isUniqueIndex(key, BRAND)),
    ...primaryKey.dropped,
  ];
  return [
    ...constraints.map(({ name }) => alter(to, `drop constraint ${quoted(name, BRAND)}`)),
    ...[...indexes.dropped, ...uniques.dropped.filter((key) => isUniqueIndex(key, BRAND))]
      .map(({ name }) => `drop index ${qualified(to, name)}`),
  ];
}

function changeColumns(
  { to, columns, changed }: TableChange,
  fills: ScriptOptions["fills"],
): readonly string[] {
  return [
    ...columns.dropped.map(({ name }) => alter(to, `drop column ${quoted(name, BRAND)}`)),
    ...columns.added.flatMap((column) => {
      const fill = isUnfilled(column) ? fills.get(`${to.name}.${column.name}`) : undefined;
      return fill === undefined
        ? [alter(to, `add column ${columnDefinition(column, BRAND)}`)]
        : addFilled(to, { column, fill });
    }),
    ...changed.flatMap((pair) => changeColumn(to, pair)),
  ];
}

/** Adds a column with a value for the rows that exist: a default, unless it reads others. */
function addFilled(
  table: TableSchema,
  { column, fill }: { readonly column: ColumnSchema; readonly fill: string },
): readonly string[] {
  const name = quoted(column.name, BRAND);
  const add = (definition: ColumnSchema) =>
    alter(table, `add column ${columnDefinition(definition, BRAND)}`);
  if (table.columns.some((other) => mentions(fill, other.name))) {
    return [
      add({ ...column, isNullable: true }),
      `update ${quotedTable(table.name, BRAND)} set ${name} = ${fill}`,
      alter(table, `alter column ${name} set not null`),
    ];
  }
  return [
    add({ ...column, default: `(${fill})` }),
    alter(table, `alter column ${name} drop default`),
  ];
}

function changeColumn(
  table: TableSchema,
  { from, to }: Pair<ColumnSchema>,
): readonly string[] {
  const name = quoted(to.name, BRAND);
  const set = (action: string) => alter(table, `alter column ${name} ${action}`);
  const { using } = typeChange(from, { to, brand: BRAND }) ?? {};
  const isTypeChanged = from.type !== to.type;
  const isGenerated = from.generation !== to.generation;
  const hadIdentity = from.generation?.startsWith("generated") ?? false;
  const hasIdentity = to.generation?.startsWith("generated") ?? false;
  const serial = `pg_get_serial_sequence('${quotedTable(table.name, BRAND)}', '${to.name}')`;
  const conversion = using ? ` using ${using(name)}` : "";
  return [
    ...isGenerated && from.generation ? [set(hadIdentity ? "drop identity" : "drop default")] : [],
    ...from.default !== undefined && (isTypeChanged || to.default === undefined)
      ? [set("drop default")]
      : [],
    ...isTypeChanged ? [set(`type ${typeOf(to, BRAND)}${conversion}`)] : [],
    ...to.default !== undefined && (isTypeChanged || from.default !== to.default)
      ? [set(`set default ${defaultOf(to)}`)]
      : [],
    ...!from.isNullable && to.isNullable ? [set("drop not null")] : [],
    ...from.isNullable && !to.isNullable ? [set("set not null")] : [],
    ...isGenerated && hasIdentity
      ? [
        set(`add ${to.generation}`),
        `select setval(${serial}, coalesce(max(${name}), 0) + 1, false) from ${
          quotedTable(table.name, BRAND)
        }`,
      ]
      : [],
  ];
}

function addParts({ to, primaryKey, uniques, indexes, checks }: TableChange): readonly string[] {
  return [
    ...primaryKey.added.map((key) => alter(to, `add ${primaryKeyDefinition(key, BRAND)}`)),
    ...uniques.added.map((key) =>
      isUniqueIndex(key, BRAND)
        ? createIndex(key, { table: to.name, brand: BRAND, isUnique: true })
        : alter(to, `add ${uniqueDefinition(key, BRAND)}`)
    ),
    ...checks.added.map((check) =>
      alter(to, `add ${checkDefinition(check, { table: to, brand: BRAND })}`)
    ),
    ...indexes.added.map((key) => createIndex(key, { table: to.name, brand: BRAND })),
  ];
}

function addForeignKey(table: TableSchema, key: ForeignKeySchema): string {
  return alter(table, `add ${foreignKeyDefinition(key, BRAND)}`);
}

function newSchemas(before: Schema, created: readonly TableSchema[]): readonly string[] {
  const known = new Set([...before.tables.keys()].map(schemaOf));
  const named = new Set(created.map(({ name }) => schemaOf(name)));
  return [...named].filter((name) => name !== "" && !known.has(name))
    .map((name) => `create schema if not exists ${quoted(name, BRAND)}`);
}

function dropConcurrently(table: TableSchema, name: string): string {
  return `drop index concurrently if exists ${qualified(table, name)}`;
}

function alter({ name }: TableSchema, action: string): string {
  return `alter table ${quotedTable(name, BRAND)} ${action}`;
}

/** Returns the name of an index, which is in the schema of its table. */
function qualified({ name: table }: TableSchema, name: string): string {
  const schema = schemaOf(table);
  return schema === "" ? quoted(name, BRAND) : `${quoted(schema, BRAND)}.${quoted(name, BRAND)}`;
}
