/**
 * The tables of a database of SQLite, with all that they consist of.
 *
 * @module
 */
import { type Kysely, sql } from "kysely";
import type { AnyTables } from "../../connection/dialect.ts";
import { isSet } from "../catalogue.ts";
import { readDefinition } from "./sqlite_definition.ts";
import {
  type CheckSchema,
  declarableCheck,
  type KeySchema,
  type OtherPart,
  type Schema,
  type TableSchema,
  tablesOf,
} from "./table_schema.ts";

interface MasterRow {
  readonly type: "table" | "view" | "trigger" | "index";
  readonly name: string;
  readonly tbl_name: string;
  readonly sql: string | null;
}

interface ColumnRow {
  readonly table_name: string;
  readonly name: string;
  readonly type: string;
  readonly is_nullable: unknown;
  readonly expression: string | null;
  readonly key_place: unknown;
  readonly hidden: unknown;
}

interface IndexRow {
  readonly table_name: string;
  readonly name: string;
  readonly is_unique: unknown;
  readonly origin: "c" | "u" | "pk";
  readonly is_partial: unknown;
  readonly column_name: string | null;
  readonly is_descending: unknown;
  readonly collation: string;
}

interface ReferenceRow {
  readonly table_name: string;
  readonly id: unknown;
  readonly column_name: string;
  readonly target_table: string;
  readonly target_column: string | null;
  readonly on_delete: string;
  readonly on_update: string;
}

/** Reads the tables of a database of SQLite. */
export async function readSqlite(kysely: Kysely<AnyTables>): Promise<Schema> {
  const { rows: master } = await sql<MasterRow>`select type, name, tbl_name, sql from sqlite_master
    where name not like 'sqlite~_%' escape '~' order by rowid`.execute(kysely);
  // The tables in which a virtual table stores its rows have no SQL of their own that creates them.
  const own = sql`sqlite_master m join pragma_table_list(m.name) l on l.schema = 'main'
    and l.type = 'table'`;
  const isOwn = sql`m.type = 'table' and m.name not like 'sqlite~_%' escape '~'`;
  const { rows: columns } = await sql<ColumnRow>`select m.name as table_name, c.name as name,
      lower(c.type) as type, c."notnull" = 0 and c.pk = 0 as is_nullable,
      c.dflt_value as expression, c.pk as key_place, c.hidden as hidden
    from ${own} join pragma_table_xinfo(m.name) c where ${isOwn} and c.hidden <> 1
    order by m.rowid, c.cid`.execute(kysely);
  const { rows: indexes } = await sql<IndexRow>`select m.name as table_name, i.name as name,
      i."unique" as is_unique, i.origin as origin, i.partial as is_partial,
      k.name as column_name, k."desc" as is_descending, k.coll as collation
    from ${own} join pragma_index_list(m.name) i join pragma_index_xinfo(i.name) k
    where ${isOwn} and k.key = 1 order by i.name, k.seqno`.execute(kysely);
  const { rows: references } = await sql<ReferenceRow>`select m.name as table_name, f.id as id,
      f."from" as column_name, f."table" as target_table, f."to" as target_column,
      f.on_delete as on_delete, f.on_update as on_update
    from ${own} join pragma_foreign_key_list(m.name) f where ${isOwn}
    order by f.id desc, f.seq`.execute(kysely); // the first one has the highest id
  const keyOf = new Map(
    columns.filter(({ key_place }) => Number(key_place) === 1)
      .map(({ table_name, name }) => [table_name.toLowerCase(), name]),
  );
  return {
    tables: tablesOf(columns, (own, pick) =>
      tableOf(own, {
        master: master.filter(({ tbl_name }) => tbl_name === own[0]?.table_name),
        indexes: pick(indexes),
        references: pick(references).map((row) => ({
          ...row,
          target_column: row.target_column ?? keyOf.get(row.target_table.toLowerCase()) ?? null,
        })),
      })),
    others: master.flatMap(({ type, name, tbl_name, sql }) =>
      type === "view" || type === "trigger"
        ? [{
          kind: type,
          name,
          text: type === "view" ? `view ${name}` : `trigger ${name} of ${tbl_name}`,
          sql: sql ?? "",
          ...type === "trigger" && { table: tbl_name },
        }]
        : []
    ),
  };
}

function tableOf(
  columns: readonly ColumnRow[],
  { master, indexes, references }: {
    readonly master: readonly MasterRow[];
    readonly indexes: readonly IndexRow[];
    readonly references: readonly ReferenceRow[];
  },
): TableSchema {
  const name = columns[0]!.table_name;
  const sqlOf = (type: MasterRow["type"], of: string) =>
    master.find((it) => it.type === type && it.name === of)?.sql ?? "";
  const definition = readDefinition(sqlOf("table", name));
  const names = columns.map((column) => column.name);
  const checks: CheckSchema[] = [];
  const others: OtherPart[] = definition.others.map((text) => ({
    text: `foreign key of several columns of ${name}`,
    sql: text,
    isInside: true,
  }));
  for (const { condition, name: own } of definition.checks) {
    const check = declarableCheck(condition, names);
    if (check) checks.push({ name: "", ...check });
    else {
      const text = `check (${condition.trim()})`;
      const sql = own === undefined ? text : `constraint ${own} ${text}`;
      others.push({ text: `${text} of ${name}`, sql, isInside: true });
    }
  }
  for (const conflict of definition.conflicts) {
    others.push({ text: `${conflict} of ${name}`, isLost: true });
  }
  const keys = [...Map.groupBy(indexes, (index) => index.name).values()];
  const isPlain = (key: readonly IndexRow[]) =>
    !isSet(key[0]!.is_partial) &&
    key.every((row) =>
      row.column_name !== null && !isSet(row.is_descending) &&
      row.collation.toLowerCase() ===
        (definition.columns.get(row.column_name.toLowerCase())?.collation ?? "binary").toLowerCase()
    );
  const keySchema = (key: readonly IndexRow[]): KeySchema => ({
    name: key[0]!.origin === "c" ? key[0]!.name : "",
    columns: key.map(({ column_name }) => String(column_name)),
    ...key[0]!.origin === "c" && { isIndex: true },
  });
  const plain = keys.filter((key) => key[0]!.origin !== "pk" && isPlain(key));
  const primary = columns.filter(({ key_place }) => isSet(key_place))
    .toSorted((a, b) => Number(a.key_place) - Number(b.key_place));
  const isReference = (column: string) =>
    references.some(({ column_name }) => column_name.toLowerCase() === column.toLowerCase());
  const byReference = [...Map.groupBy(references, ({ id }) => String(id)).values()];
  return {
    name,
    columns: columns.map((row) => {
      const { collation, computed, isAutoincrement } =
        definition.columns.get(row.name.toLowerCase()) ?? {};
      return {
        name: row.name,
        type: row.type,
        isNullable: isSet(row.is_nullable),
        ...row.expression !== null && !isSet(row.hidden) && { default: defaultOf(row.expression) },
        ...collation !== undefined && { collation },
        ...computed !== undefined && { computed },
        ...isAutoincrement && { generation: "autoincrement" },
        // A key is no decimal.
        ...(isAutoincrement || isReference(row.name)) && { scale: 0 },
      };
    }),
    primaryKey: primary.length > 0
      ? { name: "", columns: primary.map((column) => column.name) }
      : undefined,
    uniques: plain.filter((key) => isSet(key[0]!.is_unique)).map(keySchema),
    indexes: plain.filter((key) => !isSet(key[0]!.is_unique)).map(keySchema),
    foreignKeys: byReference.filter(({ length }) => length === 1).map(([row]) => ({
      name: "",
      column: row!.column_name,
      table: row!.target_table,
      key: row!.target_column ?? "",
      onDelete: row!.on_delete.toLowerCase(),
      rest: [
        /^no action$/i.test(row!.on_update) ? "" : ` on update ${row!.on_update.toLowerCase()}`,
        definition.deferred.has(row!.column_name.toLowerCase())
          ? " deferrable initially deferred"
          : "",
      ].join(""),
    })),
    checks,
    others: [
      ...others,
      ...keys.filter((key) => key[0]!.origin === "c" && !isPlain(key)).map((key) => ({
        text: `index ${key[0]!.name} of ${name}`,
        sql: sqlOf("index", key[0]!.name),
      })),
    ],
    options: definition.options,
  };
}

/** Returns the SQL after `default` of an expression: in parentheses, unless it is a literal. */
function defaultOf(expression: string): string {
  const isLiteral = /^(?:'(?:''|[^'])*'|[-+]?[\d.]+(?:e[-+]?\d+)?|null|true|false|x'[\da-f]*')$/i
    .test(expression);
  return isLiteral ? expression : `(${expression})`;
}
