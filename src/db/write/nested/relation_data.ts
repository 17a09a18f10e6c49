/**
 * Reads data that names relations: what it sets in the row, and what it writes of related rows.
 *
 * @module
 */
import { checkOptions, isPlainObject } from "../../model/plain_object.ts";
import { scopeOf } from "../../query/filters.ts";
import { Operation } from "../../query/operation.ts";
import type { Table, TableRelation } from "../../query/table.ts";

/** Data may be what a client wrote: it must not nest without end. */
const MAX_DEPTH = 100;

const CREATE_STEPS: readonly string[] = ["create", "connect", "connectOrCreate"];

/** The place of data inside the data of an operation. */
export interface DataPlace {
  /** The operation of the repository, with its scope. */
  readonly root: Operation;
  /** The table of the row. */
  readonly table: Table;
  /** The relations and steps around it, such as `["posts", "create"]`. */
  readonly path: readonly string[];
}

/** What data writes of a relation. */
export interface RelationWrite {
  /** The relation. */
  readonly relation: TableRelation;
  /** The place of the related rows. */
  readonly place: DataPlace;
  /** The steps that are given, each with its value. */
  readonly steps: ReadonlyMap<string, unknown>;
}

/** The parts of data. */
export interface RelationData {
  /** The columns. */
  readonly columns: Readonly<Record<string, unknown>>;
  /** The relations whose foreign key is a column of the row: they are written before it. */
  readonly before: readonly RelationWrite[];
  /** The others, which are written after it. */
  readonly after: readonly RelationWrite[];
}

/**
 * Begins an operation on rows of a table, in the part of the scope that it has; with `seesDeleted`
 * also on hidden ones.
 */
export function begin(
  name: string,
  { root, table }: DataPlace,
  { seesDeleted = false }: { readonly seesDeleted?: boolean } = {},
): Operation {
  const scope = table === root.table ? root.scope : scopeOf(table, root);
  const context = {
    table,
    scope,
    seesDeleted: seesDeleted || root.seesDeleted,
    action: root.action,
  };
  return new Operation(name, context, { time: root.time() });
}

/**
 * Reads data, of which the columns are checked later.
 *
 * @throws {TypeError} if a relation has an unknown step, or it is nested over 100 levels deep
 */
export function readData(
  data: unknown,
  place: DataPlace,
  { isUpdate }: { readonly isUpdate: boolean },
): RelationData {
  const { root, table } = place;
  if (!isPlainObject(data)) throw root.mistake(`${subjectOf(place)} is not a plain object`);
  if (place.path.length > 2 * MAX_DEPTH) {
    throw root.mistake(`data is nested over ${MAX_DEPTH} levels deep`);
  }
  // Without a prototype: data from JSON can have a member "__proto__".
  const columns: Record<string, unknown> = Object.create(null);
  const writes: RelationWrite[] = [];
  for (const [name, value] of Object.entries(data)) {
    const relation = table.relations.get(name);
    if (!relation) columns[name] = value;
    else if (value !== undefined) {
      writes.push(readWrite(value, { relation, place: within(place, name), isUpdate }));
    }
  }
  const [before, after] = [true, false].map((isOwn) =>
    writes.filter(({ relation }) => relation.isOwn === isOwn)
  ) as [RelationWrite[], RelationWrite[]];
  return { columns, before, after };
}

/** Returns the place of what a step writes. */
export function stepOf(place: DataPlace, step: string): DataPlace {
  return { ...place, path: [...place.path, step] };
}

/** Returns how error messages call the data of a place. */
export function subjectOf({ path }: DataPlace): string {
  return path.length === 0 ? "data" : path.join(".");
}

/** Returns the values of a step, which can be a list of them; an empty list for `undefined`. */
export function listOf(value: unknown): readonly unknown[] {
  return value === undefined ? [] : Array.isArray(value) ? Array.from(value) : [value];
}

function within(place: DataPlace, name: string): DataPlace {
  return { ...stepOf(place, name), table: place.table.relations.get(name)!.table };
}

function readWrite(
  value: unknown,
  { relation, place, isUpdate }: Omit<RelationWrite, "steps"> & { readonly isUpdate: boolean },
): RelationWrite {
  const { root } = place;
  const subject = subjectOf(place);
  const known = isUpdate
    ? [...CREATE_STEPS, "disconnect", ...relation.kind === "many" ? ["set"] : []]
    : CREATE_STEPS;
  if (!isPlainObject(value)) throw root.mistake(`${subject} is not a plain object`);
  for (const table of [relation.table, relation.through?.table ?? relation.table]) {
    if (table.primaryKey.length > 0) continue;
    throw root.mistake(`${subject} is read-only: ${table.name} has no key`);
  }
  checkOptions(value, known, { action: root.action, subject });
  const steps = new Map(Object.entries(value).filter(([, step]) => step !== undefined));
  if (relation.kind !== "many") {
    if (steps.size > 1) throw root.mistake(`${subject} takes one of ${known.join(", ")}`);
    if (steps.has("disconnect") && steps.get("disconnect") !== true) {
      throw root.mistake(`${subject}.disconnect is not true`);
    }
  }
  return { relation, place, steps };
}
