/**
 * Writes the rows whose foreign key refers to a row.
 *
 * @module
 */
import { isPlainObject } from "../../model/plain_object.ts";
import { every, scopeFilters, valueFilters } from "../../query/filters.ts";
import type { Operation } from "../../query/operation.ts";
import { type Filter, operatorFilter } from "../../query/operators.ts";
import type { AnyRow } from "../../query/table_column.ts";
import { namesRelation, updateValues } from "../assignments.ts";
import { keysFilter } from "../row_reading.ts";
import { findExisting, findTargets, missing } from "./related_targets.ts";
import {
  begin,
  type DataPlace,
  listOf,
  type RelationWrite,
  stepOf,
  subjectOf,
} from "./relation_data.ts";
import { writesOf } from "../hooked_writes.ts";

/** Creates rows, with what their data has of related rows. */
export interface RelatedCreates {
  /** Creates a row, with values that a relation sets. */
  readonly create: (data: unknown, place: DataPlace, given?: Given) => Promise<AnyRow>;
  /** Finds a row, or creates it. */
  readonly findOrCreate: (value: unknown, place: DataPlace, given?: Given) => Promise<AnyRow>;
}

/** Values that a relation sets. */
export type Given = Readonly<Record<string, unknown>>;

/** The row that has a relation. */
export interface Owner {
  /** The row. */
  readonly row: AnyRow;
  /** Whether it is new, and no rows are related to it. */
  readonly isNew: boolean;
  /** What creates related rows. */
  readonly creates: RelatedCreates;
}

/** Connects, disconnects and creates the rows that refer to a row. */
export async function writeChildren(write: RelationWrite, owner: Owner): Promise<void> {
  const { relation, place, steps } = write;
  const children = new Children(write, owner);
  const targetsOf = (step: string) => findTargets(listOf(steps.get(step)), stepOf(place, step));
  if (relation.kind !== "many") return await writeChild(write, { owner, children });
  if (steps.has("set")) {
    const kept = await targetsOf("set");
    await children.disconnectOthers(kept);
    await children.connect(kept, "set");
  }
  if (steps.has("disconnect")) {
    const named = listOf(steps.get("disconnect"));
    await children.disconnect(await findExisting(named, stepOf(place, "disconnect")));
  }
  await children.connect(await targetsOf("connect"), "connect");
  for (const value of listOf(steps.get("connectOrCreate"))) {
    await children.connectOrCreate(value);
  }
  await children.create(listOf(steps.get("create")));
}

/** Writes a relation to at most one row: the new row replaces the related one. */
async function writeChild(
  { place, steps }: RelationWrite,
  { owner: { isNew }, children }: { readonly owner: Owner; readonly children: Children },
): Promise<void> {
  const [[step, value] = []] = steps;
  if (step === undefined) return;
  const found = step === "connect" ? await findTargets([value], stepOf(place, step)) : [];
  if (!isNew && (step === "disconnect" || children.isNullable)) {
    await children.disconnectOthers(found);
  }
  if (step === "connect") await children.connect(found, step);
  if (step === "connectOrCreate") await children.connectOrCreate(value);
  if (step === "create") await children.create([value]);
}

/** Joins the values of a row, of which each is set once. */
export function joined(
  parts: readonly Given[],
  place: DataPlace,
): Given {
  const all: Record<string, unknown> = Object.create(null);
  for (const [name, value] of parts.flatMap((part) => Object.entries(part))) {
    if (value === undefined) continue;
    if (Object.hasOwn(all, name)) {
      throw place.root.mistake(`${name} is set by ${subjectOf(place)} and by a relation`);
    }
    all[name] = value;
  }
  return all;
}

/** The rows whose foreign key refers to an owner. */
class Children {
  readonly #write: RelationWrite;
  readonly #owner: Owner;
  readonly #key: unknown;

  constructor(write: RelationWrite, owner: Owner) {
    const { place, relation: { own, their } } = write;
    this.#write = write;
    this.#owner = owner;
    this.#key = owner.row[own.name];
    if (begin("check", place).scope.has(their)) {
      throw place.root.mistake(`${subjectOf(place)} sets ${their.name}, which the scope sets`);
    }
  }

  /** Whether they can be disconnected. */
  get isNullable(): boolean {
    return this.#write.relation.their.field.flags.has("nullable");
  }

  get #given(): Given {
    return { [this.#write.relation.their.name]: this.#key };
  }

  /**
   * Makes the rows of a step refer to the owner.
   *
   * @throws {DbError} `RowNotFound` if one is gone since it was found
   */
  async connect(rows: readonly AnyRow[], step: string): Promise<void> {
    const { place, relation: { their } } = this.#write;
    const others = rows.filter((row) => row[their.name] !== this.#key);
    if (others.length === 0) return;
    const count = await this.#set(this.#key, (operation) => [keysFilter(others, operation)]);
    if (count < others.length) throw missing(stepOf(place, step));
  }

  /** Sets the foreign key of the given rows that refer to the owner to `null`. */
  async disconnect(rows: readonly AnyRow[]): Promise<void> {
    if (rows.length > 0) await this.#disconnect((operation) => [keysFilter(rows, operation)]);
  }

  /** Sets the foreign key of all rows that refer to the owner, except the given ones, to `null`. */
  async disconnectOthers(kept: readonly AnyRow[]): Promise<void> {
    await this.#disconnect((operation) => {
      if (kept.length === 0) return [];
      const { primaryKey: [column, ...others] } = operation.table;
      if (others.length > 0) {
        operation.add("none of ");
        const isKept = keysFilter(kept, operation);
        return [(eb) => eb.not(eb.parens(isKept(eb)))];
      }
      const operand = kept.map((row) => row[column!.name]);
      return [operatorFilter({ column: column!, operator: "notIn", operand }, operation)];
    });
  }

  /** Connects a row, or creates it. */
  async connectOrCreate(value: unknown): Promise<void> {
    const place = stepOf(this.#write.place, "connectOrCreate");
    const row = await this.#owner.creates.findOrCreate(value, place, this.#given);
    await this.connect([row], "connectOrCreate");
  }

  /** Creates rows that refer to the owner. */
  async create(rows: readonly unknown[]): Promise<void> {
    const place = stepOf(this.#write.place, "create");
    const { table } = place;
    if (rows.length > 1 && !rows.some((row) => namesRelation(row, table))) {
      const data = rows.map((row) => {
        if (isPlainObject(row)) return joined([row, this.#given], place);
        throw place.root.mistake(`${subjectOf(place)} is not a plain object`);
      });
      await writesOf(table).createMany({ data }, begin("create", place));
      return;
    }
    for (const row of rows) await this.#owner.creates.create(row, place, this.#given);
  }

  async #disconnect(filters: Filters): Promise<void> {
    const { place, relation: { their } } = this.#write;
    if (!this.isNullable) {
      throw place.root.mistake(
        `${subjectOf(place)} disconnects no row: ${their.name} is not nullable`,
      );
    }
    const isOwned = (operation: Operation) =>
      every(valueFilters(new Map([[their, this.#key]]), operation));
    await this.#set(null, (operation) => [isOwned(operation), ...filters(operation)]);
  }

  async #set(key: unknown, filters: Filters): Promise<number> {
    const { place, relation: { their } } = this.#write;
    const operation = begin("update", place);
    const values = updateValues({ [their.name]: key }, operation);
    operation.section("where");
    const filter = every([...scopeFilters(operation), ...filters(operation)]);
    return await writesOf(place.table).updateMany({ values, filter }, operation);
  }
}

type Filters = (operation: Operation) => readonly Filter[];
