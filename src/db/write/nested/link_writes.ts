/**
 * Writes the rows of join models, which relate rows of two models.
 *
 * @module
 */
import { every, hasUnseen, scopeFilters, valueFilters } from "../../query/filters.ts";
import { identity } from "../../query/key.ts";
import { operatorFilter } from "../../query/operators.ts";
import type { AnyRow, TableColumn } from "../../query/table_column.ts";
import { namesRelation, updateStamps } from "../assignments.ts";
import { writesOf } from "../hooked_writes.ts";
import { lockRows } from "../locked_rows.ts";
import { keysFilter } from "../row_reading.ts";
import type { Owner } from "./child_writes.ts";
import { findExisting, findTargets, readCurrent } from "./related_targets.ts";
import { begin, type DataPlace, listOf, type RelationWrite, stepOf } from "./relation_data.ts";

/** Links rows to a row, and removes links. */
export async function writeLinks(
  { relation, place, steps }: RelationWrite,
  { row, isNew, creates }: Owner,
): Promise<void> {
  const links = new Links({ relation, place, key: row[relation.own.name], isNew });
  if (steps.has("set")) {
    const kept = await findTargets(listOf(steps.get("set")), stepOf(place, "set"));
    await links.removeOthers(kept);
    await links.add(kept);
  }
  if (steps.has("disconnect")) {
    const named = listOf(steps.get("disconnect"));
    await links.remove(await findExisting(named, stepOf(place, "disconnect")));
  }
  const connected = [
    ...await findTargets(listOf(steps.get("connect")), stepOf(place, "connect")),
  ];
  for (const value of listOf(steps.get("connectOrCreate"))) {
    connected.push(await creates.findOrCreate(value, stepOf(place, "connectOrCreate")));
  }
  await links.add(connected);
  const data = listOf(steps.get("create"));
  const create = stepOf(place, "create");
  if (data.length > 1 && !data.some((row) => namesRelation(row, place.table))) {
    const rows = await writesOf(place.table).createManyAndReturn(data, begin("create", create));
    return await links.add(rows);
  }
  const created: AnyRow[] = [];
  for (const value of data) created.push(await creates.create(value, create));
  await links.add(created);
}

/** What identifies the links of a row. */
interface LinksOptions extends Pick<RelationWrite, "relation" | "place"> {
  /** The value by which rows are linked to the row. */
  readonly key: unknown;
  /** Whether the row is new, and not linked. */
  readonly isNew: boolean;
}

/** The rows of the join model of one row. */
class Links {
  readonly #options: LinksOptions;
  /** The place of the rows of the join model. */
  readonly #place: DataPlace;
  readonly #own: TableColumn;
  readonly #their: TableColumn;

  constructor(options: LinksOptions) {
    const { place, relation: { through } } = options;
    const { table, own, their } = through!;
    this.#options = options;
    this.#place = { ...place, table };
    this.#own = own;
    this.#their = their;
  }

  /** Links rows that are not linked. */
  async add(rows: readonly AnyRow[]): Promise<void> {
    const { key, isNew } = this.#options;
    const keys = new Map(this.#keysOf(rows).map((key) => [identity(key), key]));
    if (!isNew && keys.size > 0) {
      const links = await this.#read([...keys.values()], { seesDeleted: this.#areUnique });
      for (const link of links) keys.delete(identity(link[this.#their.name]));
      await this.#restore(links);
    }
    const data = Array.from(keys.values(), (their) => ({
      [this.#own.name]: key,
      [this.#their.name]: their,
    }));
    if (data.length === 0) return;
    await writesOf(this.#place.table).createMany({ data }, begin("create", this.#place));
  }

  /** Removes the links to rows. */
  async remove(rows: readonly AnyRow[]): Promise<void> {
    if (rows.length > 0) await this.#delete(await this.#read(this.#keysOf(rows)));
  }

  /** Removes the links to all rows of the scope but some. */
  async removeOthers(rows: readonly AnyRow[]): Promise<void> {
    const kept = new Set(this.#keysOf(rows).map(identity));
    const links = (await this.#read()).filter((link) =>
      !kept.has(identity(link[this.#their.name]))
    );
    await this.#delete(await this.#inScope(links));
  }

  async #delete(links: readonly AnyRow[]): Promise<void> {
    if (links.length === 0) return;
    const operation = begin("delete", this.#place);
    const { table, table: { mark } } = operation;
    const filter = keysFilter(links, operation);
    const { deleteMany, markMany } = writesOf(table);
    await (mark ? markMany({ filter, mark }, operation) : deleteMany(filter, operation));
  }

  /** Restores those of some links that are marked as deleted, and hidden. */
  async #restore(links: readonly AnyRow[]): Promise<void> {
    const { table, table: { mark }, root } = this.#place;
    if (!mark || root.seesDeleted) return;
    const marked = links.filter((link) => link[mark.name] !== null);
    if (marked.length === 0) return;
    const operation = begin("restore", this.#place, { seesDeleted: true });
    const values = new Map([[mark, null], ...updateStamps([mark], operation)]);
    const filter = keysFilter(marked, operation);
    await writesOf(table).updateMany({ filter, values }, operation);
  }

  /** Whether two rows are linked at most once, marked links included. */
  get #areUnique(): boolean {
    const { keys } = this.#place.table;
    const pair = [this.#own, this.#their];
    return [...keys.values()].some((key) => key.every((column) => pair.includes(column)));
  }

  /** Locks and reads the links to rows, by default to all. */
  async #read(
    keys?: readonly unknown[],
    { seesDeleted = false }: { readonly seesDeleted?: boolean } = {},
  ): Promise<readonly AnyRow[]> {
    const operation = begin("links", this.#place, { seesDeleted });
    const filters = [
      ...scopeFilters(operation),
      ...valueFilters(new Map([[this.#own, this.#options.key]]), operation),
      ...keys
        ? [operatorFilter({ column: this.#their, operator: "in", operand: keys }, operation)]
        : [],
    ];
    return await lockRows(every(filters), operation);
  }

  /** Returns the links whose rows are in the scope, and not hidden. */
  async #inScope(links: readonly AnyRow[]): Promise<readonly AnyRow[]> {
    const { place, relation } = this.#options;
    const operation = begin("scoped", place);
    if (!hasUnseen(operation) || links.length === 0) return links;
    const keys = links.map((link) => link[this.#their.name]);
    const filters = [
      ...scopeFilters(operation),
      operatorFilter({ column: relation.their, operator: "in", operand: keys }, operation),
    ];
    const rows = await readCurrent(every(filters), operation);
    const own = new Set(this.#keysOf(rows).map(identity));
    return links.filter((link) => own.has(identity(link[this.#their.name])));
  }

  #keysOf(rows: readonly AnyRow[]): readonly unknown[] {
    return rows.map((row) => row[this.#options.relation.their.name]);
  }
}
