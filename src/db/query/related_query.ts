/**
 * Builds the queries of rows that are related to others.
 *
 * @module
 */
import type { Compilable, CompiledQuery } from "kysely";
import type { Grammar } from "../connection/grammar.ts";
import type { Slot } from "../connection/statement.ts";
import { every, rowValue } from "./filters.ts";
import {
  isBounded,
  namedTerms,
  type OrderTerm,
  type PageOptions,
  readOrder,
} from "./find_options.ts";
import type { Operation } from "./operation.ts";
import { bindList, type Builder, type Filter } from "./operators.ts";
import type { Subquery } from "./related_rows.ts";
import { ordered, readPage, withOrder } from "./rows_query.ts";
import type { TableRelation } from "./table.ts";
import {
  countOfRows,
  selectAs,
  type Selection,
  selectionOf,
  type TableColumn,
} from "./table_column.ts";

/** Names that no column has. */
const OWNER = "~owner";
const OWNERS = "~owners";
const OWNED = "~owned";
const LINK = "~link";
const LINKS = "~links";
const ROWS = "~rows";

/** The most keys in a query; with more there are more queries. */
const MAX_KEYS = 8192;
/** The most pages that one query unites. */
const MAX_UNITED = 128;

/** Which related rows to read. */
export interface RelatedOptions {
  /** The relation. */
  readonly relation: TableRelation;
  /** Whether the rows of each owner are counted, and not read. */
  readonly isCount: boolean;
  /** The order and the bounds. */
  readonly page: PageOptions;
  /** The columns to read. */
  readonly columns: readonly TableColumn[];
  /** The condition on the rows. */
  readonly filter: Filter;
  /** The conditions on the rows of the join table. */
  readonly links: readonly Filter[];
}

/** Returns the condition on the owner of a row, by the name of the column that holds its key. */
type Owned = (name: string) => Filter;

/**
 * The query of related rows, each after the key of its owner. Bounds count for each owner; the rows
 * beyond them are not read, if an index on the foreign key has the order.
 */
export class RelatedQuery {
  /** The most keys that it takes. */
  readonly maxKeys: number;
  readonly #options: RelatedOptions;
  readonly #operation: Operation;
  readonly #order: readonly OrderTerm[];
  readonly #bounded: (query: Subquery) => Subquery;
  readonly #form: "all" | Grammar["firstOfEach"];

  /**
   * Reads the options.
   *
   * @throws {TypeError} if they name an unknown column
   * @throws {DbError} `CheckViolation` if they have a value of another type
   * @throws {RangeError} if `take` or `skip` is not a whole number of 0 or more
   */
  constructor(options: RelatedOptions, operation: Operation) {
    const { page, relation: { own, through } } = options;
    this.#options = options;
    this.#operation = operation;
    this.#order = readOrder({ orderBy: page.orderBy, isTotal: true }, operation);
    this.#bounded = readPage(page, operation);
    const { firstOfEach } = own.grammar;
    const isKeyless = (through ?? options.relation).table.primaryKey.length === 0;
    // Without a key, rows cannot be found on a page.
    const form = firstOfEach === "correlated" && isKeyless ? "union" : firstOfEach;
    this.#form = isBounded(page) ? form : "all";
    this.maxKeys = this.#form === "union" ? maxUnited(operation) : MAX_KEYS;
  }

  /** Binds the keys of owners, after all other values; returns what builds the query. */
  of(keys: readonly unknown[]): () => Compilable {
    const { own } = this.#options.relation;
    this.#operation.section("keys");
    if (this.#form === "union") return this.#unite(keys);
    const isOwned = bindList({ column: own, operator: "in", operand: keys }, this.#operation);
    if (this.#options.isCount) {
      return () => this.#read(isOwned).select(countOfRows()).groupBy(this.#ownerName);
    }
    const order = this.#form === "lateral" ? namedTerms(this.#order) : this.#order;
    return () =>
      this.#ordered(this.#read(isOwned).select(selectionOf(this.#options.columns)), order);
  }

  /** Only the outermost query selects values as they are read. */
  #read(isOwned: Owned): Subquery {
    const { own } = this.#options.relation;
    switch (this.#form) {
      case "lateral":
        return this.#owners(isOwned)
          .crossJoinLateral(() =>
            withOrder(this.#page(isOfOwner), this.#names, this.#order).as(ROWS)
          )
          .select(selectAs(own, { from: OWNER, alias: OWNER }));
      case "correlated":
        return this.#correlate(isOwned);
      default:
        return this.#rows(isOwned).select(this.#owner);
    }
  }

  /** Reads the rows, or those of the join table, whose primary keys are on the page of an owner. */
  #correlate(isOwned: Owned): Subquery {
    const { table, their, through } = this.#options.relation;
    const owners = this.#owners(isOwned).select(`${OWNERS}.${OWNER}`);
    const key = through
      ? linkNames(through.table)
      : table.primaryKey.map(({ column }) => `${table.rows}.${column}`);
    const page = this.#page(isOfOwner).select(key);
    const isOnPage = (eb: Builder) => eb(rowValue(key), "in", page);
    if (!through) return owners.innerJoin(table.source, (join) => join.on(isOnPage));
    return owners.innerJoin(this.#links(through).as(LINKS), (join) => join.on(isOnPage))
      .innerJoin(table.source, `${LINKS}.${OWNED}`, `${table.rows}.${their.column}`);
  }

  /** Reads the pages of all owners one after the other, each in its order. */
  #unite(keys: readonly unknown[]): () => Compilable {
    const { own } = this.#options.relation;
    // No row belongs to null, and about as many keys share their SQL.
    const length = 2 ** Math.ceil(Math.log2(keys.length));
    this.#operation.add(`${length}`);
    const slots = Array.from({ length }, (_, index) => {
      const key = index < keys.length ? own.encode(keys[index], this.#operation.action) : null;
      return this.#operation.bind("?", key);
    });
    const [first] = slots;
    const selection = selectionOf(this.#options.columns);
    const page = () =>
      this.#page((name) => (eb) => eb(name, "=", first)).select(this.#owner).select(selection);
    // SQLite has no parentheses in a union.
    const open = own.grammar.brand === "SQLite" ? "select * from (" : "(";
    return () => ({ compile: () => repeat(page().compile(), { slots, open }) });
  }

  /** Reads the owners: a list of their keys would not be of the type of the column. */
  #owners(isOwned: Owned): Subquery {
    const { own, source, table: { connection: { kysely } } } = this.#options.relation;
    const owners = kysely.selectFrom(source).select(`${own.column} as ${OWNER}`)
      .where(isOwned(own.column));
    return kysely.selectFrom(owners.as(OWNERS));
  }

  #page(isOwned: Owned): Subquery {
    return this.#bounded(this.#ordered(this.#rows(isOwned), this.#orderOfPage));
  }

  /**
   * The order. In a lateral query, MySQL sorts all rows of an owner unless the column of the owner
   * begins it; to PostgreSQL, that is the same order.
   */
  get #orderOfPage(): readonly OrderTerm[] {
    const { their, through } = this.#options.relation;
    const [first] = this.#order;
    if (!first || through || this.#form !== "lateral") return this.#order;
    const { direction } = first;
    return [{ name: their.column, direction, isNullable: false }, ...this.#order];
  }

  #rows(isOwned: Owned): Subquery {
    const { relation: { table, their, through }, filter, links } = this.#options;
    const { kysely } = table.connection;
    if (!through) return kysely.selectFrom(table.source).where(isOwned(their.column)).where(filter);
    // In a subquery, its columns do not conflict with columns of the same name.
    const between = this.#links(through).where(isOwned(through.own.column))
      .$if(links.length > 0, (query) => query.where(every(links)));
    return kysely.selectFrom(between.as(ROWS))
      .innerJoin(table.source, `${ROWS}.${OWNED}`, `${table.rows}.${their.column}`)
      .where(filter);
  }

  #links({ table, own, their }: NonNullable<TableRelation["through"]>): Subquery {
    return table.connection.kysely.selectFrom(table.source)
      .select([`${own.column} as ${OWNER}`, `${their.column} as ${OWNED}`])
      .$if(
        this.#form === "correlated",
        (query) => {
          const names = linkNames(table);
          return query.select(table.primaryKey.map(({ column }, i) => `${column} as ${names[i]}`));
        },
      );
  }

  #ordered(query: Subquery, order: readonly OrderTerm[]): Subquery {
    return ordered(query, order, this.#options.relation.own.grammar);
  }

  /** The column that holds the key of the owner of a row. */
  get #owner(): Selection {
    return selectAs(this.#options.relation.own, { from: this.#ownerName, alias: OWNER });
  }

  get #ownerName(): string {
    const { their, through } = this.#options.relation;
    return through ? OWNER : their.column;
  }

  get #names(): readonly string[] {
    return this.#options.columns.map(({ column }) => column);
  }
}

/** Returns the names of the primary key of a join table. */
function linkNames({ primaryKey }: TableRelation["table"]): string[] {
  return primaryKey.map((_, index) => index === 0 ? LINK : `${LINK}${index}`);
}

function isOfOwner(name: string): Filter {
  return (eb) => eb(name, "=", eb.ref(`${OWNERS}.${OWNER}`));
}

/** Returns the most pages, a power of two, that can repeat the values that are bound so far. */
function maxUnited({ size, table: { connection: { grammar: { maxParameters } } } }: Operation) {
  const fitting = Math.max(1, Math.floor(maxParameters / (size + 1)));
  return Math.min(MAX_UNITED, 2 ** Math.floor(Math.log2(fitting)));
}

/** Unites a query with itself, where each has another slot in place of the first one. */
function repeat(
  { sql, parameters, ...query }: CompiledQuery,
  { slots, open }: { readonly slots: readonly Slot[]; readonly open: string },
) {
  return {
    ...query,
    sql: slots.map(() => `${open}${sql})`).join(" union all "),
    parameters: slots.flatMap((slot) => parameters.map((it) => it === slots[0] ? slot : it)),
  };
}
