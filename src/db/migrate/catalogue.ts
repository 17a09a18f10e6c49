/**
 * The tables of a database, as its catalogue describes them.
 *
 * @module
 */
import { type RawBuilder, sql } from "kysely";
import type { DbConnection } from "../connection/connection.ts";
import type { Grammar } from "../connection/grammar.ts";
import { sizeOf, type StoredType } from "./column_type.ts";

/** A column of a table. */
export interface StoredColumn {
  /** Its name. */
  readonly name: string;
  /** Its type. */
  readonly type: StoredType;
  /** Whether it can be null. */
  readonly isNullable: boolean;
  /** Whether rows that are created without it have a value: a default, or a generated one. */
  readonly isFilled: boolean;
  /** Whether they all have the same value: a default that calls no function. */
  readonly isConstant: boolean;
  /** Whether it is computed from other columns, and cannot be written. */
  readonly isComputed: boolean;
}

/** A foreign key, column by column. */
export interface StoredReference {
  /** Its column. */
  readonly column: string;
  /** The table that it refers to; in another schema, after the name of that. */
  readonly table: string;
  /** The column that it refers to. */
  readonly key: string;
  /** The effect of deleting a row that it refers to: `no action`. */
  readonly onDelete: string;
}

/** A column that is unique alone. */
export interface StoredUnique {
  /** The column. */
  readonly column: string;
  /** Why it is less than the model needs: `deferrable`. */
  readonly flaw: string | undefined;
}

/** A table, or a view. */
export interface StoredTable {
  /** Whether it is a view or a foreign table, which have no constraints. */
  readonly isView: boolean;
  /** The engine, if that has no transactions. */
  readonly unsafeEngine: string | undefined;
  /** The columns. */
  readonly columns: readonly StoredColumn[];
  /** The columns of the primary key, in its order; empty without one. */
  readonly primaryKey: readonly string[];
  /** Why the primary key is less than the model needs: `deferrable`. */
  readonly primaryKeyFlaw: string | undefined;
  /** The columns that are unique alone. */
  readonly uniques: readonly StoredUnique[];
  /** The columns of foreign keys. */
  readonly references: readonly StoredReference[];
}

interface ColumnRow {
  readonly table_name: string;
  readonly is_view: unknown;
  /** On MySQL. */
  readonly unsafe_engine?: string | null;
  readonly column_name: string;
  readonly declared: string;
  readonly type_name: string;
  readonly sized: string;
  readonly is_nullable: unknown;
  readonly is_filled: unknown;
  readonly is_constant: unknown;
  readonly is_computed: unknown;
}

interface KeyRow {
  readonly table_name: string;
  readonly key_name: string;
  readonly is_primary: unknown;
  /** Missing if the index is on an expression, or on the beginning of text. */
  readonly column_name: string | null;
  /** On PostgreSQL. */
  readonly flaw?: string | null;
}

interface ReferenceRow {
  readonly table_name: string;
  readonly column_name: string;
  readonly target_table: string;
  readonly target_column: string | null;
  readonly on_delete: string;
}

/** The queries of a catalogue: columns, unique indexes and foreign keys. */
interface Queries {
  readonly columns: RawBuilder<ColumnRow>;
  readonly keys: RawBuilder<KeyRow>;
  readonly references: RawBuilder<ReferenceRow>;
}

const QUERIES: Readonly<Record<Grammar["brand"], (names: readonly string[]) => Queries>> = {
  PostgreSQL: postgresQueries,
  MySQL: mysqlQueries,
  SQLite: sqliteQueries,
};

/**
 * Reads the tables with some names, of the schemas that the connection searches; a missing one is
 * not in the result. The queries bind nothing, so that poolers need to prepare nothing.
 *
 * @throws {DbError} if it fails
 */
export async function readTables(
  { kysely, grammar }: DbConnection,
  names: readonly string[],
): Promise<ReadonlyMap<string, StoredTable>> {
  const queries = QUERIES[grammar.brand](names);
  const { rows: columns } = await queries.columns.execute(kysely);
  const { rows: keys } = await queries.keys.execute(kysely);
  const { rows: references } = await queries.references.execute(kysely);
  const ofTable = (name: string) => (row: { readonly table_name: string }) =>
    row.table_name === name;
  const byName = Map.groupBy(columns, ({ table_name }) => table_name);
  return new Map(Array.from(byName, ([name, own]) => {
    const rows = { keys: keys.filter(ofTable(name)), references: references.filter(ofTable(name)) };
    return [folded(name, grammar), tableOf(own, rows)];
  }));
}

/** Returns a name for a comparison: only PostgreSQL distinguishes names by case. */
export function folded(name: string, { brand }: Pick<Grammar, "brand">): string {
  return brand === "PostgreSQL" ? name : name.toLowerCase();
}

function tableOf(
  columns: readonly ColumnRow[],
  { keys, references }: {
    readonly keys: readonly KeyRow[];
    readonly references: readonly ReferenceRow[];
  },
): StoredTable {
  const byKey = [...Map.groupBy(keys, ({ key_name }) => key_name).values()];
  const primary = keys.filter(({ is_primary }) => isSet(is_primary));
  return {
    isView: isSet(columns[0]?.is_view),
    unsafeEngine: columns[0]?.unsafe_engine ?? undefined,
    columns: columns.map((row) => ({
      name: row.column_name,
      type: { declared: row.declared, name: row.type_name.toLowerCase(), size: sizeOf(row.sized) },
      isNullable: isSet(row.is_nullable),
      isFilled: isSet(row.is_filled),
      isConstant: isSet(row.is_constant),
      isComputed: isSet(row.is_computed),
    })),
    primaryKey: primary.map(({ column_name }) => String(column_name)),
    primaryKeyFlaw: primary[0]?.flaw ?? undefined,
    uniques: byKey.flatMap(([first, ...others]) =>
      first?.column_name != null && others.length === 0
        ? { column: first.column_name, flaw: first.flaw ?? undefined }
        : []
    ),
    references: references.map((row) => ({
      column: row.column_name,
      table: row.target_table,
      // SQLite's reference to a primary key that it does not name.
      key: row.target_column ?? "",
      onDelete: row.on_delete.toLowerCase(),
    })),
  };
}

/** Databases without booleans have numbers, which some drivers read as text. */
function isSet(value: unknown): boolean {
  return Number(value) !== 0;
}

function listed(names: readonly string[]): RawBuilder<unknown> {
  // Names of models are identifiers.
  return sql.join(names.map((name) => sql.lit(name)));
}

function postgresQueries(names: readonly string[]): Queries {
  const tables = sql`(select name, to_regclass(quote_ident(name)) as id
    from unnest(array[${listed(names)}]::text[]) as name) t`;
  return {
    columns: sql`select t.name as table_name, r.relkind in ('v', 'm', 'f') as is_view,
      a.attname as column_name, format_type(a.atttypid, a.atttypmod) as declared,
      case base.typtype when 'e' then 'enum' else base.typname end as type_name,
      format_type(base.oid, base.typmod) as sized,
      not (a.attnotnull or base.is_required) as is_nullable,
      (a.atthasdef and a.attgenerated = '') or a.attidentity <> '' or base.has_default as is_filled,
      a.attidentity = '' and coalesce(pg_get_expr(d.adbin, d.adrelid) not like '%(%', false)
        as is_constant,
      a.attgenerated <> '' as is_computed
      from ${tables}
      join pg_class r on r.oid = t.id and r.relkind in ('r', 'p', 'v', 'm', 'f')
      join pg_attribute a on a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
      left join pg_attrdef d on d.adrelid = r.oid and d.adnum = a.attnum
      join lateral (
        with recursive layer as (
          select oid, typname, typtype, typbasetype, typtypmod, a.atttypmod as typmod,
            typnotnull as is_required, typdefault is not null as has_default
          from pg_type where oid = a.atttypid
          union all
          select d.oid, d.typname, d.typtype, d.typbasetype, d.typtypmod, layer.typtypmod,
            layer.is_required or d.typnotnull, layer.has_default or d.typdefault is not null
          from layer join pg_type d on d.oid = layer.typbasetype where layer.typtype = 'd'
        ) select * from layer where typtype <> 'd'
      ) base on true
      order by a.attnum`,
    keys: sql`select t.name as table_name, x.indexrelid::text as key_name,
      x.indisprimary as is_primary, a.attname as column_name,
      case when not x.indimmediate then 'deferrable'
        when to_jsonb(x) ->> 'indnullsnotdistinct' = 'true' and not a.attnotnull
        then 'its nulls are not distinct' end as flaw
      from ${tables}
      join pg_index x on x.indrelid = t.id and x.indisunique and x.indisvalid and x.indpred is null
      cross join lateral unnest(x.indkey::int2[]) with ordinality as k (attnum, place)
      left join pg_attribute a on a.attrelid = t.id and a.attnum = k.attnum and k.attnum > 0
      where k.place <= x.indnkeyatts
      order by x.indexrelid, k.place`,
    references: sql`select t.name as table_name, a.attname as column_name,
      case when pg_table_is_visible(f.oid) then f.relname::text
        else f.relnamespace::regnamespace || '.' || f.relname end as target_table,
      fa.attname as target_column,
      case c.confdeltype when 'r' then 'restrict' when 'c' then 'cascade' when 'n' then 'set null'
        when 'd' then 'set default' else 'no action' end as on_delete
      from ${tables}
      join pg_constraint c on c.conrelid = t.id and c.contype = 'f'
      join pg_class f on f.oid = c.confrelid
      cross join lateral unnest(c.conkey, c.confkey) as k (own, their)
      join pg_attribute a on a.attrelid = t.id and a.attnum = k.own
      join pg_attribute fa on fa.attrelid = f.oid and fa.attnum = k.their
      order by c.conname`,
  };
}

function mysqlQueries(names: readonly string[]): Queries {
  // The catalogue ignores case, which names of tables may have.
  const among = (alias: string) => {
    const name = sql.ref(`${alias}.table_name`);
    return sql`${sql.ref(`${alias}.table_schema`)} = database() and ${name} in (${listed(names)})
      and (@@lower_case_table_names > 0 or cast(${name} as binary) in (${listed(names)}))`;
  };
  return {
    columns: sql`select c.table_name as table_name, t.table_type like '%VIEW' as is_view,
      case when e.transactions <> 'YES' then t.engine end as unsafe_engine,
      c.column_name as column_name, c.column_type as declared, c.data_type as type_name,
      c.column_type as sized, c.is_nullable = 'YES' as is_nullable,
      c.column_default is not null or c.extra like '%auto_increment%' as is_filled,
      c.extra not like '%auto_increment%' and coalesce(c.column_default not like '%(%', 0)
        as is_constant,
      c.extra like '%VIRTUAL%' or c.extra like '%STORED%' as is_computed
      from information_schema.columns c join information_schema.tables t
        on t.table_schema = c.table_schema and t.table_name = c.table_name
      left join information_schema.engines e on e.engine = t.engine
      where ${among("c")} order by c.ordinal_position`,
    keys: sql`select s.table_name as table_name, s.index_name as key_name,
      s.index_name = 'PRIMARY' as is_primary,
      case when s.sub_part is null then s.column_name end as column_name
      from information_schema.statistics s
      where ${among("s")} and s.non_unique = 0 order by s.index_name, s.seq_in_index`,
    references: sql`select k.table_name as table_name, k.column_name as column_name,
      case when k.referenced_table_schema = database() then k.referenced_table_name
        else concat(k.referenced_table_schema, '.', k.referenced_table_name) end as target_table,
      k.referenced_column_name as target_column, r.delete_rule as on_delete
      from information_schema.key_column_usage k join information_schema.referential_constraints r
        on r.constraint_schema = k.constraint_schema and r.constraint_name = k.constraint_name
          and r.table_name = k.table_name
      where ${among("k")} order by k.constraint_name`,
  };
}

function sqliteQueries(names: readonly string[]): Queries {
  const tables = sql`sqlite_master m`;
  const among = sql`m.type in ('table', 'view')
    and lower(m.name) in (${listed(names.map((name) => name.toLowerCase()))})`;
  // A column of type INTEGER is the generated key of rows unless the primary key has an index.
  const isAlias = sql`(c.pk = 1 and upper(c.type) = 'INTEGER' and not exists (
    select 1 from pragma_index_list(m.name) i where i.origin = 'pk'))`;
  return {
    // A primary key may be null in other tables, but that is no intention.
    columns: sql`select m.name as table_name, m.type = 'view' as is_view, c.name as column_name,
      lower(c.type) as declared, c.type as type_name, c.type as sized,
      c."notnull" = 0 and c.pk = 0 as is_nullable,
      c.dflt_value is not null or ${isAlias} as is_filled,
      coalesce(c.dflt_value not like '%(%', 0) and not ${isAlias} as is_constant,
      c.hidden > 1 as is_computed
      from ${tables} join pragma_table_xinfo(m.name) c
      where ${among} and c.hidden <> 1 order by c.cid`,
    keys: sql`select m.name as table_name, '' as key_name, 1 as is_primary, c.name as column_name,
      c.pk as place
      from ${tables} join pragma_table_info(m.name) c where ${among} and c.pk > 0
      union all
      select m.name, i.name, 0, k.name, k.seqno
      from ${tables} join pragma_index_list(m.name) i join pragma_index_info(i.name) k
      where ${among} and i."unique" = 1 and i.partial = 0 and i.origin <> 'pk' order by 2, 5`,
    references: sql`select m.name as table_name, f."from" as column_name,
      f."table" as target_table, f."to" as target_column, f.on_delete
      from ${tables} join pragma_foreign_key_list(m.name) f where ${among} order by f.id`,
  };
}
