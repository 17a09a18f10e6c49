/**
 * The tables of a database of PostgreSQL, with all that they consist of.
 *
 * @module
 */
import { type Kysely, type RawBuilder, sql } from "kysely";
import type { AnyTables } from "../../connection/dialect.ts";
import {
  type CheckSchema,
  type ColumnSchema,
  declarableCheck,
  type ForeignKeySchema,
  type KeySchema,
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
  readonly is_nullable: boolean;
  readonly expression: string | null;
  readonly identity: string;
  readonly is_computed: boolean;
  readonly labels: readonly string[] | null;
}

interface ConstraintRow {
  readonly table_name: string;
  readonly name: string;
  readonly kind: "p" | "u" | "f" | "c" | "x";
  readonly columns: readonly string[] | null;
  readonly target_table: string | null;
  readonly target_columns: readonly string[] | null;
  readonly on_delete: string;
  readonly definition: string;
  readonly condition: string | null;
  readonly is_plain: boolean;
}

interface IndexRow {
  readonly table_name: string;
  readonly name: string;
  readonly columns: readonly string[];
  readonly is_unique: boolean;
  readonly is_plain: boolean;
}

interface OtherRow {
  readonly table_name: string | null;
  readonly kind: "view" | "trigger" | "policy" | "table";
  readonly name: string;
}

const ON_DELETE: RawBuilder<string> =
  sql`case c.confdeltype when 'r' then 'restrict' when 'c' then 'cascade'
    when 'n' then 'set null' when 'd' then 'set default' else 'no action' end`;
const SERIALS: Readonly<Record<string, string>> = {
  bigint: "bigserial",
  integer: "serial",
  smallint: "smallserial",
};

/** Whether an index takes nulls of its columns for equal, which no model declares. */
function hasEqualNulls(index: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`exists (select 1 from pg_index u join pg_attribute a on a.attrelid = u.indrelid
    where u.indexrelid = ${index} and a.attnum = any(u.indkey::int2[]) and not a.attnotnull
      and to_jsonb(u) ->> 'indnullsnotdistinct' = 'true')`;
}

/** Reads the tables of the current schema of PostgreSQL, and of others. */
export async function readPostgres(
  kysely: Kysely<AnyTables>,
  schemas: readonly string[],
): Promise<Schema> {
  const listed = sql.join([sql`current_schema()`, ...schemas.map((name) => sql.lit(name))]);
  // the dot is that between the schema and the table: no model has a name with one
  const hasDot = (table: string, schema: string) =>
    sql`strpos(${sql.ref(`${schema}.nspname`)} || ${sql.ref(`${table}.relname`)}, '.') > 0`;
  const isListed = sql`n.nspname in (${listed})`;
  const isRead = sql`${isListed} and not ${hasDot("r", "n")}
    and not exists (select 1 from pg_depend e where e.objid = r.oid and e.deptype = 'e')`;
  const name = sql`case when n.nspname = current_schema() then r.relname::text
    else n.nspname || '.' || r.relname end`;
  const names = (ids: string, table: string) =>
    sql`(select array_agg(a.attname::text order by k.place)
      from unnest(${sql.raw(ids)}) with ordinality as k (num, place)
      join pg_attribute a on a.attrelid = ${sql.raw(table)} and a.attnum = k.num)`;
  const relations = sql`pg_class r join pg_namespace n on n.oid = r.relnamespace`;
  const { rows: columns } = await sql<ColumnRow>`select ${name} as table_name, a.attname as name,
      format_type(a.atttypid, a.atttypmod) as type,
      case when a.attcollation <> t.typcollation then quote_ident(l.collname) end as collation,
      not a.attnotnull as is_nullable, pg_get_expr(d.adbin, d.adrelid) as expression,
      a.attidentity as identity, a.attgenerated <> '' as is_computed,
      (select array_agg(e.enumlabel::text order by e.enumsortorder) from pg_enum e
        where e.enumtypid = a.atttypid) as labels
    from ${relations} left join pg_attribute a
      on a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
    left join pg_type t on t.oid = a.atttypid left join pg_collation l on l.oid = a.attcollation
    left join pg_attrdef d on d.adrelid = r.oid and d.adnum = a.attnum
    where r.relkind in ('r', 'p') and not r.relispartition and ${isRead}
    order by n.nspname, r.relname, a.attnum`.execute(kysely);
  const { rows: constraints } = await sql<ConstraintRow>`select ${name} as table_name,
      c.conname as name, c.contype as kind, ${names("c.conkey", "c.conrelid")} as columns,
      (select case when fn.nspname = current_schema() then f.relname::text
        else fn.nspname || '.' || f.relname end
        from pg_class f join pg_namespace fn on fn.oid = f.relnamespace
        where f.oid = c.confrelid and not ${hasDot("f", "fn")})
        as target_table,
      ${names("c.confkey", "c.confrelid")} as target_columns, ${ON_DELETE} as on_delete,
      pg_get_constraintdef(c.oid) as definition, pg_get_expr(c.conbin, c.conrelid) as condition,
      not c.condeferrable and not ${hasEqualNulls(sql`c.conindid`)} as is_plain
    from ${relations} join pg_constraint c on c.conrelid = r.oid
    where c.contype in ('p', 'u', 'f', 'c', 'x') and r.relkind in ('r', 'p') and ${isRead}
      and c.conparentid = 0
    order by c.conname`.execute(kysely);
  const { rows: indexes } = await sql<IndexRow>`select ${name} as table_name, i.relname as name,
      ${names("x.indkey::int2[]", "x.indrelid")} as columns, x.indisunique as is_unique,
      x.indpred is null and x.indexprs is null and m.amname = 'btree'
        and x.indnatts = x.indnkeyatts and x.indisvalid
        and not exists (select 1 from unnest(x.indoption::int2[]) as o where o <> 0)
        and not exists (select 1 from unnest(x.indclass::oid[]) as k
          join pg_opclass o on o.oid = k where not o.opcdefault)
        and not ${hasEqualNulls(sql`x.indexrelid`)} as is_plain
    from ${relations} join pg_index x on x.indrelid = r.oid join pg_class i on i.oid = x.indexrelid
    join pg_am m on m.oid = i.relam
    where r.relkind in ('r', 'p') and ${isRead}
      and not exists (select 1 from pg_constraint c
        where c.conindid = x.indexrelid and c.contype in ('p', 'u', 'x'))
    order by i.relname`.execute(kysely);
  const { rows: others } = await sql<OtherRow>`
    select null as table_name, 'view' as kind, ${name} as name from ${relations}
    where r.relkind in ('v', 'm') and ${isRead}
    union all select ${name}, 'trigger', g.tgname from ${relations}
    join pg_trigger g on g.tgrelid = r.oid and not g.tgisinternal where ${isRead}
    union all select ${name}, 'policy', p.polname from ${relations}
    join pg_policy p on p.polrelid = r.oid where ${isRead}
    union all select null, 'table', ${name} || ', whose name has a dot' from ${relations}
    where r.relkind in ('r', 'p') and not r.relispartition and ${isListed} and ${hasDot("r", "n")}
    order by 2, 1, 3`.execute(kysely);
  return {
    tables: tablesOf(columns, (own, pick) =>
      tableOf(own, {
        constraints: pick(constraints),
        indexes: pick(indexes),
        others: pick(others),
      })),
    others: others.filter(({ table_name }) => table_name === null).map(viewOf),
  };
}

function tableOf(
  columns: readonly ColumnRow[],
  { constraints, indexes, others }: {
    readonly constraints: readonly ConstraintRow[];
    readonly indexes: readonly IndexRow[];
    readonly others: readonly OtherRow[];
  },
): TableSchema {
  const name = columns[0]!.table_name;
  const names = columns.flatMap((column) => column.name ?? []);
  const keysOf = (kind: "p" | "u"): KeySchema[] =>
    constraints.filter((it) => it.kind === kind && it.is_plain)
      .map(({ name, columns }) => ({ name, columns: columns ?? [] }));
  const foreignKeys: ForeignKeySchema[] = [];
  const checks: CheckSchema[] = [];
  const parts: OtherPart[] = [];
  for (const it of constraints) {
    const check = it.kind === "c" ? declarableCheck(it.condition ?? "", names) : undefined;
    const isPlainKey = it.kind === "f" && it.columns?.length === 1 && it.target_table !== null;
    if (isPlainKey) foreignKeys.push(foreignKeyOf(it));
    else if (check) checks.push({ name: it.name, ...check });
    else if (["c", "x", "f"].includes(it.kind) || !it.is_plain) {
      parts.push({ text: `constraint ${it.name} of ${name}` });
    }
  }
  const plain = indexes.filter(({ is_plain }) => is_plain);
  const keyOf = ({ name, columns }: IndexRow): KeySchema => ({ name, columns, isIndex: true });
  return {
    name,
    columns: columns.filter((column) => column.name !== null).map(columnOf),
    primaryKey: keysOf("p")[0],
    uniques: [...keysOf("u"), ...plain.filter(({ is_unique }) => is_unique).map(keyOf)],
    indexes: plain.filter(({ is_unique }) => !is_unique).map(keyOf),
    foreignKeys,
    checks,
    others: [
      ...parts,
      ...indexes.filter(({ is_plain }) => !is_plain)
        .map((it) => ({ text: `index ${it.name} of ${name}` })),
      ...others.map((it) => ({ text: `${it.kind} ${it.name} of ${name}` })),
    ],
    options: "",
  };
}

function columnOf(row: ColumnRow): ColumnSchema {
  const isSerial = row.expression?.startsWith("nextval(") ?? false;
  const type = shortType(row.type);
  return {
    name: row.name,
    type,
    isNullable: row.is_nullable,
    ...row.collation !== null && { collation: row.collation },
    ...row.expression !== null && !row.is_computed && !isSerial && { default: row.expression },
    ...isSerial && { generation: SERIALS[type] ?? "bigserial" },
    ...row.identity !== "" && {
      generation: `generated ${row.identity === "a" ? "always" : "by default"} as identity`,
    },
    ...row.is_computed && { computed: `generated always as (${row.expression}) stored` },
    ...row.labels && { values: row.labels },
  };
}

/** Returns a type by its short name: `timestamptz(3)`. */
function shortType(type: string): string {
  return type
    .replace(/^(timestamp|time)(\(\d\))? with time zone/, "$1tz$2")
    .replace(/^(timestamp|time)(\(\d\))? without time zone/, "$1$2")
    .replace(/^character varying/, "varchar")
    .replaceAll(/("[^"]*")|,/g, (_, quoted) => quoted ?? ", ");
}

function foreignKeyOf(row: ConstraintRow): ForeignKeySchema {
  const [, rest = ""] = /(?: MATCH FULL)?( ON UPDATE (?:CASCADE|RESTRICT|SET NULL|SET DEFAULT))/
    .exec(row.definition) ?? [];
  const [deferrable = ""] = / DEFERRABLE(?: INITIALLY DEFERRED)?/.exec(row.definition) ?? [];
  return {
    name: row.name,
    column: row.columns?.[0] ?? "",
    table: row.target_table ?? "",
    key: row.target_columns?.[0] ?? "",
    onDelete: row.on_delete,
    rest: `${rest}${deferrable}`.toLowerCase(),
  };
}
