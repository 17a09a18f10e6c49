/**
 * The tables of a database of MySQL or MariaDB, with all that they consist of.
 *
 * @module
 */
import { type Kysely, sql } from "kysely";
import type { AnyTables } from "../../connection/dialect.ts";
import { isSet } from "../catalogue.ts";
import {
  type CheckSchema,
  type ColumnSchema,
  declarableCheck,
  type KeySchema,
  mysqlText,
  type OtherPart,
  type Schema,
  type TableSchema,
  tablesOf,
  viewOf,
} from "./table_schema.ts";

interface ColumnRow {
  readonly table_name: string;
  readonly name: string;
  readonly type: string;
  readonly collation: string | null;
  readonly table_collation: string | null;
  readonly is_nullable: unknown;
  readonly expression: string | null;
  readonly extra: string;
  readonly computed: string | null;
}

interface KeyRow {
  readonly table_name: string;
  readonly name: string;
  readonly is_unique: unknown;
  readonly column_name: string | null;
  readonly is_plain: unknown;
}

interface ReferenceRow {
  readonly table_name: string;
  readonly name: string;
  readonly column_name: string;
  readonly target_table: string;
  readonly target_column: string;
  readonly on_delete: string;
  readonly on_update: string;
}

interface CheckRow {
  readonly table_name: string;
  readonly name: string;
  readonly condition: string;
  readonly is_inline: unknown;
}

interface OtherRow {
  readonly table_name: string | null;
  readonly kind: "view" | "trigger";
  readonly name: string;
}

/** Reads the tables of the database of MySQL, or of MariaDB. */
export async function readMysql(
  kysely: Kysely<AnyTables>,
  { isMariadb }: { readonly isMariadb: boolean },
): Promise<Schema> {
  const { rows: columns } = await sql<ColumnRow>`select c.table_name as table_name,
      c.column_name as name, c.column_type as type, c.collation_name as collation,
      t.table_collation as table_collation, c.is_nullable = 'YES' as is_nullable,
      c.column_default as expression, c.extra as extra, c.generation_expression as computed
    from information_schema.columns c join information_schema.tables t
      on t.table_schema = c.table_schema and t.table_name = c.table_name
    where c.table_schema = database() and t.table_type = 'BASE TABLE'
    order by c.table_name, c.ordinal_position`.execute(kysely);
  const { rows: keys } = await sql<KeyRow>`select s.table_name as table_name, s.index_name as name,
      s.non_unique = 0 as is_unique, s.column_name as column_name,
      s.sub_part is null and s.index_type in ('BTREE', 'HASH') and s.column_name is not null
        and coalesce(s.collation, 'A') = 'A' as is_plain
    from information_schema.statistics s where s.table_schema = database()
    order by s.index_name, s.seq_in_index`.execute(kysely);
  const { rows: references } = await sql<ReferenceRow>`select k.table_name as table_name,
      k.constraint_name as name, k.column_name as column_name,
      k.referenced_table_name as target_table, k.referenced_column_name as target_column,
      r.delete_rule as on_delete, r.update_rule as on_update
    from information_schema.key_column_usage k join information_schema.referential_constraints r
      on r.constraint_schema = k.constraint_schema and r.constraint_name = k.constraint_name
        and r.table_name = k.table_name
    where k.table_schema = database()
    order by k.constraint_name, k.ordinal_position`.execute(kysely);
  // The names of the checks of MariaDB are unique in their table only.
  const { rows: checks } =
    await (isMariadb
      ? sql<CheckRow>`select c.table_name as table_name, c.constraint_name as name,
        c.check_clause as ${sql.ref("condition")}, c.level = 'Column' as is_inline
      from information_schema.check_constraints c where c.constraint_schema = database()
      order by c.constraint_name`
      : sql<CheckRow>`select t.table_name as table_name, c.constraint_name as name,
        c.check_clause as ${sql.ref("condition")}, 0 as is_inline
      from information_schema.check_constraints c join information_schema.table_constraints t
        on t.constraint_schema = c.constraint_schema and t.constraint_name = c.constraint_name
      where c.constraint_schema = database() order by c.constraint_name`).execute(kysely);
  const { rows: others } = await sql<OtherRow>`select null as table_name, 'view' as kind,
      v.table_name as name from information_schema.views v where v.table_schema = database()
    union all select g.event_object_table, 'trigger', g.trigger_name
    from information_schema.triggers g where g.trigger_schema = database()
    order by 2, 1, 3`.execute(kysely);
  return {
    tables: tablesOf(columns, (own, pick) =>
      tableOf(own, {
        keys: pick(keys),
        references: pick(references),
        checks: pick(checks),
        others: pick(others),
        isMariadb,
      })),
    others: others.filter(({ kind }) => kind === "view").map(viewOf),
  };
}

function tableOf(
  columns: readonly ColumnRow[],
  rows: {
    readonly keys: readonly KeyRow[];
    readonly references: readonly ReferenceRow[];
    readonly checks: readonly CheckRow[];
    readonly others: readonly OtherRow[];
    readonly isMariadb: boolean;
  },
): TableSchema {
  const name = columns[0]!.table_name;
  const names = columns.map((column) => column.name);
  const byKey = [...Map.groupBy(rows.keys, (key) => key.name).values()];
  const isPlain = (key: readonly KeyRow[]) => key.every((row) => isSet(row.is_plain));
  const keyOf = (key: readonly KeyRow[]): KeySchema => ({
    name: key[0]!.name,
    columns: key.map(({ column_name }) => String(column_name)),
    isIndex: true,
  });
  const primary = byKey.find(([first]) => first?.name === "PRIMARY");
  const plain = byKey.filter((key) => key !== primary && isPlain(key));
  const byReference = [...Map.groupBy(rows.references, (row) => row.name).values()];
  // MariaDB stores JSON as text with a check.
  const jsonOf = ({ condition }: Pick<CheckRow, "condition">) =>
    rows.isMariadb ? /^json_valid\(`([^`]+)`\)$/.exec(condition)?.[1] : undefined;
  const jsonColumns = rows.checks.map(jsonOf);
  const checks: CheckSchema[] = [];
  const parts: OtherPart[] = [];
  for (const { name: check, condition, is_inline } of rows.checks) {
    if (jsonOf({ condition }) !== undefined) continue;
    const text = rows.isMariadb ? condition : expressionOf(condition);
    const found = declarableCheck(text, names);
    if (found) checks.push({ name: check, ...found, ...isSet(is_inline) && { isInline: true } });
    else parts.push({ text: `constraint ${check} of ${name}` });
  }
  checks.sort((a, b) => names.indexOf(a.column) - names.indexOf(b.column));
  return {
    name,
    columns: columns.map((column) =>
      columnOf(column, {
        isJson: jsonColumns.includes(column.name),
        isMariadb: rows.isMariadb,
      })
    ),
    primaryKey: primary && keyOf(primary),
    uniques: plain.filter(([first]) => isSet(first!.is_unique)).map(keyOf),
    indexes: plain.filter(([first]) => !isSet(first!.is_unique)).map(keyOf),
    foreignKeys: byReference.filter(({ length }) => length === 1).map(([row]) => ({
      name: row!.name,
      column: row!.column_name,
      table: row!.target_table,
      key: row!.target_column,
      // MariaDB prints RESTRICT for both, which are the same.
      onDelete: row!.on_delete.toLowerCase().replace("restrict", "no action"),
      rest: /^(?:restrict|no action)$/i.test(row!.on_update)
        ? ""
        : ` on update ${row!.on_update.toLowerCase()}`,
    })),
    checks,
    others: [
      ...parts,
      ...byReference.filter(({ length }) => length > 1)
        .map(([row]) => ({ text: `constraint ${row!.name} of ${name}` })),
      ...byKey.filter((key) => key !== primary && !isPlain(key))
        .map(([row]) => ({ text: `index ${row!.name} of ${name}` })),
      ...rows.others.map((it) => ({ text: `${it.kind} ${it.name} of ${name}` })),
    ],
    options: optionsOf(columns[0]?.table_collation ?? ""),
  };
}

/** The collations of `createTables()`: each server ignores that of the other. */
const BINARY = /^utf8mb4_(?:0900|nopad)_bin$/;

function optionsOf(collation: string): string {
  if (BINARY.test(collation)) {
    return " /*!80017 collate utf8mb4_0900_bin */ /*M! collate utf8mb4_nopad_bin */";
  }
  const [charset] = collation.split("_");
  return charset ? ` default character set ${charset} collate ${collation}` : "";
}

function columnOf(
  row: ColumnRow,
  { isJson, isMariadb }: { readonly isJson: boolean; readonly isMariadb: boolean },
): ColumnSchema {
  const { type } = row;
  const [, list] = /^enum\((.+)\)$/i.exec(type) ?? [];
  const expression = defaultOf(row, isMariadb);
  const onUpdate = /on update \S+/i.exec(row.extra)?.[0];
  return {
    name: row.name,
    type: isJson ? "json" : type === "tinyint(1)"
      ? "boolean"
      // The width of the display, which MySQL no longer has.
      : type.replace(/^(tinyint|smallint|mediumint|int|bigint)\(\d+\)/, "$1").replaceAll(
        /(?<=\d),(?=\d)/g,
        ", ",
      ),
    isNullable: isSet(row.is_nullable),
    ...row.collation !== null && row.collation !== row.table_collation && !isJson &&
      { collation: row.collation },
    ...expression !== undefined && { default: `${expression}${onUpdate ? ` ${onUpdate}` : ""}` },
    ...expression === undefined && onUpdate && { default: `null ${onUpdate}` },
    ...row.extra.includes("auto_increment") && { generation: "auto_increment" },
    ...row.computed && {
      computed: `generated always as (${isMariadb ? row.computed : expressionOf(row.computed)}) ${
        /stored|persistent/i.test(row.extra) ? "stored" : "virtual"
      }`,
    },
    ...list !== undefined && {
      values: Array.from(list.matchAll(TEXT), ([, value = ""]) => mysqlText(value)),
    },
  };
}

/** A text in SQL, in which a quote is doubled, or escaped by a backslash. */
const TEXT = /'((?:''|\\[^]|[^'\\])*)'/g;

/** Returns the SQL of a default; of MySQL, the catalogue has the text of a literal as it is. */
function defaultOf(
  { expression, extra, type, computed }: ColumnRow,
  isMariadb: boolean,
): string | undefined {
  if (expression === null || computed) return undefined;
  const [time, digits] = /^(?:current_timestamp|now)(?:\((\d*)\))?$/i.exec(expression) ?? [];
  const precision = digits ? `(${digits})` : "";
  if (time && [`datetime${precision}`, `timestamp${precision}`].includes(type)) {
    return `current_timestamp${precision}`;
  }
  if (isMariadb) {
    if (expression === "NULL") return undefined;
    const isLiteral = /^(?:'(?:[^'\\]|''|\\[^])*'|-?[\d.]+(?:e[+-]?\d+)?)$/i.test(expression);
    if (!isLiteral) return `(${expression})`;
    return withDoubledQuotes(expression);
  }
  if (/default_generated/i.test(extra)) {
    // MySQL names the encoding of a text
    return `(${expressionOf(expression).replace(/^_utf8mb4('(?:[^'\\]|''|\\[^])*')$/, "$1")})`;
  }
  if (/^(?:\w*int|decimal|double|float|bit)\b/.test(type)) return expression;
  return `'${expression.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
}

/** A text, or a negative number as MySQL prints it: `-(5)`. */
const TEXT_OR_NEGATIVE = /'(?:[^'\\]|''|\\[^])*'|-\((\d[\d.e+-]*)\)/gi;

/**
 * Returns the SQL of an expression in the catalogue of MySQL, which escapes it as a text, those in
 * it once more, and prints `-5` as `-(5)`, but that as `-5`.
 */
function expressionOf(printed: string): string {
  return withDoubledQuotes(mysqlText(printed))
    .replaceAll(TEXT_OR_NEGATIVE, (part, number) => number ? `-${number}` : part);
}

/** Doubles the quotes in texts, which a server prints after a backslash. */
function withDoubledQuotes(expression: string): string {
  return expression.replaceAll(/\\([^])/g, (pair, escaped) => escaped === "'" ? "''" : pair);
}
