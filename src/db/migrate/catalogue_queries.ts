/**
 * The queries that read the tables of a database from its catalogue.
 *
 * @module
 */
import { type RawBuilder, sql } from "kysely";
import type { Grammar } from "../connection/grammar.ts";

/** A row of the columns of tables. */
export interface ColumnRow {
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

/** A row of the columns of indexes. */
export interface KeyRow {
  readonly table_name: string;
  readonly key_name: string;
  readonly is_primary: unknown;
  readonly is_unique: unknown;
  /** Missing if the index is on an expression, or on the beginning of text. */
  readonly column_name: string | null;
  /** On PostgreSQL. */
  readonly flaw?: string | null;
}

/** A row of the columns of foreign keys. */
export interface ReferenceRow {
  readonly table_name: string;
  readonly column_name: string;
  readonly target_table: string;
  readonly target_column: string | null;
  readonly on_delete: string;
}

/** The queries of a catalogue: columns, indexes and foreign keys. */
interface CatalogueQueries {
  readonly columns: RawBuilder<ColumnRow>;
  readonly keys: RawBuilder<KeyRow>;
  readonly references: RawBuilder<ReferenceRow>;
}

/**
 * The queries of each brand, for the tables with some names. They bind nothing, so that poolers
 * need to prepare nothing.
 */
export const CATALOGUE_QUERIES: Readonly<
  Record<Grammar["brand"], (names: readonly string[]) => CatalogueQueries>
> = {
  PostgreSQL: postgresQueries,
  MySQL: mysqlQueries,
  SQLite: sqliteQueries,
};

function listed(names: readonly string[]): RawBuilder<unknown> {
  // Names of models are identifiers.
  return sql.join(names.map((name) => sql.lit(name)));
}

function postgresQueries(names: readonly string[]): CatalogueQueries {
  const named = sql`(select name, to_regclass('"' || replace(name, '.', '"."') || '"') as id
    from unnest(array[${listed(names)}]::text[]) as name)`;
  const tables = sql`${named} t`;
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
      x.indisprimary as is_primary, x.indisunique as is_unique, a.attname as column_name,
      case when not x.indimmediate then 'deferrable'
        when to_jsonb(x) ->> 'indnullsnotdistinct' = 'true' and not a.attnotnull
        then 'its nulls are not distinct' end as flaw
      from ${tables}
      join pg_index x on x.indrelid = t.id and x.indisvalid and x.indpred is null
      join pg_class i on i.oid = x.indexrelid join pg_am m on m.oid = i.relam and m.amname = 'btree'
      cross join lateral unnest(x.indkey::int2[]) with ordinality as k (attnum, place)
      left join pg_attribute a on a.attrelid = t.id and a.attnum = k.attnum and k.attnum > 0
      where k.place <= x.indnkeyatts
      order by x.indexrelid, k.place`,
    references: sql`select t.name as table_name, a.attname as column_name,
      coalesce((select min(u.name) from ${named} u where u.id = f.oid),
        case when pg_table_is_visible(f.oid) then f.relname::text
        else f.relnamespace::regnamespace || '.' || f.relname end) as target_table,
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

function mysqlQueries(names: readonly string[]): CatalogueQueries {
  // The catalogue ignores case, which names of tables may have.
  const among = (alias: string) => {
    const name = sql.ref(`${alias}.table_name`);
    return sql`${sql.ref(`${alias}.table_schema`)} = database() and ${name} in (${listed(names)})
      and (@@lower_case_table_names > 0 or cast(${name} as binary) in (${listed(names)}))`;
  };
  return {
    // MariaDB describes a nullable column without a default as one with the default NULL.
    columns: sql`select c.table_name as table_name, t.table_type like '%VIEW' as is_view,
      case when e.transactions <> 'YES' then t.engine end as unsafe_engine,
      c.column_name as column_name, c.column_type as declared, c.data_type as type_name,
      c.column_type as sized, c.is_nullable = 'YES' as is_nullable,
      coalesce(c.column_default <> 'NULL', 0) or c.extra like '%auto_increment%' as is_filled,
      c.extra not like '%auto_increment%' and coalesce(c.column_default not like '%(%', 0)
        as is_constant,
      c.extra like '%VIRTUAL%' or c.extra like '%STORED%' as is_computed
      from information_schema.columns c join information_schema.tables t
        on t.table_schema = c.table_schema and t.table_name = c.table_name
      left join information_schema.engines e on e.engine = t.engine
      where ${among("c")} order by c.ordinal_position`,
    keys: sql`select s.table_name as table_name, s.index_name as key_name,
      s.index_name = 'PRIMARY' as is_primary, s.non_unique = 0 as is_unique,
      case when s.sub_part is null then s.column_name end as column_name
      from information_schema.statistics s
      where ${among("s")} and s.index_type in ('BTREE', 'HASH')
      order by s.index_name, s.seq_in_index`,
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

function sqliteQueries(names: readonly string[]): CatalogueQueries {
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
    keys: sql`select m.name as table_name, '' as key_name, 1 as is_primary, 1 as is_unique,
      c.name as column_name, c.pk as place
      from ${tables} join pragma_table_info(m.name) c where ${among} and c.pk > 0
      union all
      select m.name, i.name, 0, i."unique", k.name, k.seqno
      from ${tables} join pragma_index_list(m.name) i join pragma_index_info(i.name) k
      where ${among} and i.partial = 0 and i.origin <> 'pk' order by 2, 6`,
    references: sql`select m.name as table_name, f."from" as column_name,
      f."table" as target_table, f."to" as target_column, f.on_delete
      from ${tables} join pragma_foreign_key_list(m.name) f where ${among} order by f.id`,
  };
}
