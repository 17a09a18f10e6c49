/**
 * Values of rows, for the parameters and properties of requests by their names.
 *
 * @module
 */
import { jsonOf } from "../../factory.ts";
import { MARKS, type SeedRow } from "./seed_rows.ts";
import {
  referredTable,
  type Side,
  type Tables,
  tenantColumns,
  type TenantPair,
} from "./tenant_pairs.ts";

/** Values of the rows of each side: those of one index belong together. */
export type Series = Readonly<Record<Exclude<Side, "shared">, readonly unknown[]>>;

/** Values of rows by the names of what requests have. */
export class RowValues {
  readonly #tables: Tables;
  readonly #pair: TenantPair;
  readonly #seeds: readonly SeedRow[];
  readonly #texts: ReadonlySet<string>;

  /** Takes the rows, and their tables. */
  constructor(
    seeds: readonly SeedRow[],
    { tables, pair }: { readonly tables: Tables; readonly pair: TenantPair },
  ) {
    this.#seeds = seeds;
    this.#tables = tables;
    this.#pair = pair;
    const texts = seeds.flatMap(({ values }) => Object.values(values).map(jsonOf));
    this.#texts = new Set(texts.filter((text) => typeof text === "string"));
  }

  /** Whether a text is a value of a row. */
  has(text: string): boolean {
    return this.#texts.has(text);
  }

  /**
   * Returns values for a name: those of a column with the name, or with it and `_id`; and of keys,
   * if it is one, such as `id`, `user_id` and `userIds`, or there is no column with the name.
   */
  named(name: string): readonly Series[] {
    const plain = snakeCase(name);
    const isId = /(?:^|_)ids?$/.test(plain);
    const columns = isId && plain !== "id" ? [] : this.#series((column) => column === plain);
    const own = isId
      ? this.#series((column, { key }) => key.includes(column))
      : columns.length > 0
      ? columns
      : this.#series((column, { key, unique }) => key.includes(column) || unique.includes(column));
    // a reference has the keys of its target; another column of the name, such as a tenant, itself
    const others = isId && plain !== "id"
      ? this.#series((column) => column === plain)
      : columns.length === 0
      ? this.#series((column) => column === `${plain}_id`)
      : [];
    return distinct([...others, ...own]);
  }

  /** Whether a name is that of keys, such as `userIds`, or of a column without its `_id`. */
  isReference(name: string): boolean {
    const plain = snakeCase(name);
    return /(?:^|_)ids?$/.test(plain) || this.hasColumn(`${plain}_id`) && !this.hasColumn(plain);
  }

  /** Whether a table has a column of a name. */
  hasColumn(name: string): boolean {
    const plain = snakeCase(name);
    return this.#tables.values().some(({ columns }) => columns.some(({ name }) => name === plain));
  }

  /** Returns the columns of a name that are part of a unique key of rows of tenants. */
  uniqueColumns(name: string): readonly string[] {
    const plain = snakeCase(name);
    return [...this.#tables.values()].flatMap((table) => {
      const keys = [...table.keys.values(), table.primaryKey];
      const isUnique = table.columns.some((column) =>
        column.name === plain && column.field.traits.reference === undefined &&
        !this.#pair.columns.has(plain) &&
        (column.field.flags.has("unique") || keys.some((key) => key.includes(column)))
      );
      return isUnique && tenantColumns(table, this.#pair).length > 0
        ? [`${table.name}.${plain}`]
        : [];
    });
  }

  /** Returns the columns by which rows are of tenants, with the claims of the owner. */
  get tenant(): Readonly<Record<string, unknown>> {
    const { columns, owner } = this.#pair;
    return Object.fromEntries([...columns].map((name) => [name, owner.claims[name]]));
  }

  /** Returns the marked values of the owner that a text has. */
  ownersValuesIn(text: string): readonly string[] {
    return text.match(new RegExp(`${MARKS.owner}\\d[\\w.@-]*`, "g")) ?? [];
  }

  /** Whether a value is the key of a row of the owner. */
  isOwnersKey(value: unknown): boolean {
    return this.#seeds.some(({ side, table, values }) =>
      side === "owner" &&
      this.#tables.get(table)?.primaryKey.some(({ name, field }) =>
        !this.#pair.columns.has(name) && field.traits.reference === undefined &&
        String(values[name]) === String(value)
      )
    );
  }

  #series(
    isNamed: (
      column: string,
      of: { readonly key: readonly string[]; readonly unique: readonly string[] },
    ) => boolean,
  ): readonly Series[] {
    return [...this.#tables].flatMap(([key, table]) => {
      const names = {
        key: table.primaryKey.map(({ name }) => name),
        unique: table.columns.filter(({ field }) => field.flags.has("unique"))
          .map(({ name }) => name),
      };
      return table.columns.filter(({ name }) => isNamed(name, names)).flatMap((column) => {
        const { name } = column;
        const isOwned = tenantColumns(table, this.#pair).length > 0;
        const values = (side: Side) =>
          this.#seeds.filter((row) => row.table === key && row.side === side)
            .map(({ values }) => jsonOf(values[name]))
            .filter((value) => value !== undefined && value !== null);
        const referred = referredTable(this.#tables, { key, column });
        if (referred && !isOwned) return [];
        const series = isOwned
          ? { owner: values("owner"), stranger: values("stranger") }
          : { owner: values("shared"), stranger: values("shared") };
        return series.owner.length > 0 && series.stranger.length > 0 ? [series] : [];
      });
    });
  }
}

function snakeCase(name: string): string {
  return name.replace(/\[.*$/, "").replaceAll(/(?<=[a-z\d])[A-Z]/g, "_$&").toLowerCase();
}

/** Keeps the first of equal series, those of tenants before those that are shared. */
function distinct(series: readonly Series[]): readonly Series[] {
  const isShared = ({ owner, stranger }: Series) => Number(owner[0] === stranger[0]);
  const sorted = series.toSorted((a, b) => isShared(a) - isShared(b));
  return [...new Map(sorted.map((each) => [JSON.stringify(each), each])).values()];
}
