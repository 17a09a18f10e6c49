/** Nodes and their owners in memory, as plain as can be. */
import { EDGES, type Kind, type PrimaryKeys } from "../support/graph.ts";
import type { Query } from "./arbitrary_graph.ts";
import { compare, holds, inMode, type Row } from "./memory_condition.ts";

/** The rows of each model, in the order of their keys. */
export type Rows = Readonly<Record<Kind, readonly Row[]>>;

/** Rows in a scope, where those outside it do not exist. */
export class MemoryGraph {
  readonly #rows: Rows;
  readonly #keys: PrimaryKeys;
  /** The models of the rows. */
  readonly #kinds = new Map<Row, Kind>();

  /** Creates the rows of a scope. */
  constructor(
    rows: Rows,
    { scope, keys }: { readonly scope: object; readonly keys: PrimaryKeys },
  ) {
    this.#keys = keys;
    const scoped = Object.entries(rows).map(([kind, all]) => {
      const own = all.filter((row) => holds(scope, row));
      for (const row of own) this.#kinds.set(row, kind as Kind);
      return [kind, own];
    });
    this.#rows = Object.fromEntries(scoped);
  }

  /** Returns the rows that meet a condition. */
  where(kind: Kind, where: object): readonly Row[] {
    return this.#rows[kind].filter((row) => holds(where, row, this.#related) === true);
  }

  /** Returns the page of a query, with the related rows and the numbers that it includes. */
  find({ kind, where, orderBy, take, skip, distinct, include }: Query): readonly Row[] {
    const sorted = this.#sorted(this.where(kind, where), orderBy);
    const first = sorted.filter((row, index) =>
      distinct.length === 0 ||
      sorted.findIndex((other) => distinct.every((name) => other[name] === row[name])) === index
    );
    return first.slice(skip, skip + take).map((row) => ({
      ...row,
      ...this.#included(row, include),
    }));
  }

  #included(row: Row, include: Query["include"]): object {
    const related = (name: string, where: object = {}) =>
      this.#related(row, name)!.filter((other) => holds(where, other, this.#related) === true);
    const relations = Object.entries(include.relations).map(([name, options = {}]) => {
      const rows = related(name, options.where);
      if (!EDGES[this.#kinds.get(row)!][name]!.isMany) return [name, rows[0] ?? null];
      return [name, this.#sorted(rows, options.orderBy ?? []).slice(0, options.take)];
    });
    const counts = Object.entries(include.counts).map(([name, { where } = {}]) =>
      [name, related(name, where).length] as const
    );
    return {
      ...Object.fromEntries(relations),
      ...counts.length > 0 && { _count: Object.fromEntries(counts) },
    };
  }

  #sorted(rows: readonly Row[], orderBy: readonly object[]): readonly Row[] {
    const key = rows[0] ? this.#keys[this.#kinds.get(rows[0])!] : [];
    const terms = [...orderBy, ...key.map((name) => ({ [name]: "asc" }))];
    return rows.toSorted((a, b) => {
      for (const order of terms) {
        const [[name, by]] = Object.entries(order) as [[string, unknown]];
        const compared = compare(this.#value(a, name, by), this.#value(b, name, by));
        if (compared !== 0) return directionIn(by) === "asc" ? compared : -compared;
      }
      return 0;
    });
  }

  /** Returns the value by which a row is ordered. */
  #value(row: Row, name: string, by: unknown): unknown {
    const rows = this.#related(row, name);
    if (!rows) return inMode((by as { mode?: unknown }).mode, row[name]);
    const [[member, inner]] = Object.entries(by as object) as [[string, unknown]];
    if (member === "_count") return rows.length;
    return rows[0] ? this.#value(rows[0], member, inner) : null;
  }

  readonly #related = (row: Row, name: string): readonly Row[] | undefined => {
    const { owner, card, node, link } = this.#rows;
    switch (`${this.#kinds.get(row)}.${name}`) {
      case "owner.nodes":
        return node.filter(({ owner_id }) => owner_id === row.id);
      case "owner.card":
        return card.filter(({ owner_id }) => owner_id === row.id);
      case "owner.liked":
        return link.filter(({ owner_id }) => owner_id === row.id)
          .flatMap(({ node_id }) => node.filter(({ id }) => id === node_id));
      case "node.parent":
        return node.filter(({ id }) => id === row.parent_id);
      case "node.children":
        return node.filter(({ parent_id }) => parent_id === row.id);
      case "node.fans":
        return link.filter(({ node_id }) => node_id === row.id)
          .flatMap(({ owner_id }) => owner.filter(({ id }) => id === owner_id));
      case "node.links":
        return link.filter(({ node_id }) => node_id === row.id);
      case "link.node":
        return node.filter(({ id }) => id === row.node_id);
      case "card.owner":
      case "node.owner":
      case "link.owner":
        return owner.filter(({ id }) => id === row.owner_id);
      default:
        return undefined;
    }
  };
}

function directionIn(by: unknown): unknown {
  return typeof by === "string" ? by : directionIn(Object.values(by as object)[0]);
}
