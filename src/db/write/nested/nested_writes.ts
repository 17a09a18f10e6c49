/**
 * Writes rows together with rows that are related to them, all of them or none.
 *
 * @module
 */
import { isPlainObject } from "../../model/plain_object.ts";
import { targetValues } from "../../query/condition.ts";
import { keyOf } from "../../query/key.ts";
import type { Operation } from "../../query/operation.ts";
import type { AnyRow, Values } from "../../query/table_column.ts";
import { createValues, namesRelation, updateStamps, updateValues } from "../assignments.ts";
import { writesOf } from "../hooked_writes.ts";
import type { InsertionUnless } from "../inserts.ts";
import { lockRow } from "../locked_rows.ts";
import { readUnique, updateOrCreate, type UpsertOptions } from "../upsert.ts";
import { keyOfRow } from "../row_reading.ts";
import { readTarget, unmet } from "../writes.ts";
import {
  begin,
  type DataPlace,
  listOf,
  readData,
  type RelationWrite,
  stepOf,
  subjectOf,
} from "./relation_data.ts";
import { findTargets } from "./related_targets.ts";
import { writeLinks } from "./link_writes.ts";
import { joined, type RelatedCreates, writeChildren } from "./child_writes.ts";

/** Creates a row and what its data has of related rows. */
export function createNested(data: unknown, root: Operation): Promise<AnyRow> {
  return root.table.connection.inSavepoint(() => create(data, placeOf(root)));
}

/**
 * Updates a row and what its data has of related rows.
 *
 * @throws {DbError} `RowNotFound` if there is no such row, or one to connect; `Conflict` if the row
 * has another version
 */
export function updateNested(
  { where, data }: { readonly where: unknown; readonly data: unknown },
  root: Operation,
): Promise<AnyRow> {
  const unique = targetValues(where, root);
  return root.table.connection.inSavepoint(async () =>
    await update(unique, { data, place: placeOf(root) }) ?? await unmet(unique, root)
  );
}

/** Updates a row as `updateNested` does, or creates it as `createNested` does. */
export function upsertNested(options: UpsertOptions, root: Operation): Promise<AnyRow> {
  const place = placeOf(root);
  const { unique, data } = readUnique(options, root);
  const { connection } = root.table;
  return updateOrCreate({
    unique,
    created: new Map(),
    update: () => connection.inSavepoint(() => update(unique, { data: options.update, place })),
    create: (unless) => connection.inSavepoint(() => create(data, place, { unless })),
  }, root);
}

/** What a new row has besides its data. */
interface CreateOptions {
  /** Values that relations set. */
  readonly given?: Readonly<Record<string, unknown>> | undefined;
  /** What another row may have done first; see `insertRow`. */
  readonly unless?: InsertionUnless;
}

async function create(
  data: unknown,
  place: DataPlace,
  { given = {}, unless }: CreateOptions = {},
): Promise<AnyRow> {
  const { columns, before, after } = readData(data, place, { isUpdate: false });
  const keys = await writeParents(before, place);
  const operation = begin("create", place);
  const values = createValues(joined([columns, given, keys], place), operation);
  const row = await writesOf(place.table).insertRow(values, operation, unless);
  await writeRelated(after, { row, isNew: !mayRelate(after, place) });
  return row;
}

/** Whether a hook of a new row, or the data of others, may relate rows to it by itself. */
function mayRelate(after: readonly RelationWrite[], { table }: DataPlace): boolean {
  return table.hooks?.created !== undefined || after.some(({ steps, place }) => {
    const found = listOf(steps.get("connectOrCreate")).map((value) =>
      isPlainObject(value) ? value.create : undefined
    );
    return [...listOf(steps.get("create")), ...found].some((data) =>
      namesRelation(data, place.table)
    );
  });
}

async function update(
  unique: Values,
  { data, place }: { readonly data: unknown; readonly place: DataPlace },
): Promise<AnyRow | undefined> {
  const { table } = place;
  const { columns, before, after } = readData(data, place, { isUpdate: true });
  const found = await lockRow(unique, begin("lock", place));
  if (!found) return undefined;
  const keys = await writeParents(before, place);
  const operation = begin("update", place);
  const given = updateValues(joined([columns, keys], place), operation);
  const isNext = table.version && given.size === 0 && after.some(({ steps }) => steps.size > 0);
  const values = isNext ? updateStamps([], operation) : given;
  const key = keyOfRow(found, table);
  const row = values.size === 0
    ? found
    : await writesOf(table).updateRow({ unique: key, values }, operation);
  await writeRelated(after, { row, isNew: false });
  return row;
}

/** Writes the rows that a row refers to, and returns the values of its foreign keys. */
async function writeParents(
  writes: readonly RelationWrite[],
  place: DataPlace,
): Promise<Readonly<Record<string, unknown>>> {
  const keys: Record<string, unknown> = {};
  for (const { relation: { own, their, kind }, place: related, steps } of writes) {
    const [[step, value] = []] = steps;
    if (step === undefined) continue;
    if (Object.hasOwn(keys, own.name)) {
      throw place.root.mistake(`${subjectOf(related)} and another relation set ${own.name}`);
    }
    if (step === "disconnect") {
      if (kind === "one") throw place.root.mistake(`${subjectOf(related)} is not optional`);
      keys[own.name] = null;
    } else {
      const row = await target([step, value], stepOf(related, step));
      keys[own.name] = row[their.name];
    }
  }
  return keys;
}

/** Returns the row that a step of a relation to one creates or finds. */
async function target(
  [step, value]: readonly [string, unknown],
  place: DataPlace,
): Promise<AnyRow> {
  if (step === "create") return await create(value, place);
  if (step === "connectOrCreate") return await findOrCreate(value, place);
  const [row] = await findTargets([value], place);
  return row!;
}

async function findOrCreate(
  value: unknown,
  place: DataPlace,
  { given }: CreateOptions = {},
): Promise<AnyRow> {
  const operation = begin("target", place);
  const { unique, data } = readUnique(readConnectOrCreate(value, place), operation);
  const isNested = namesRelation(data, place.table);
  const rest = withoutGiven(data, { given, unique, place });
  return await updateOrCreate({
    unique,
    created: new Map(),
    update: () => readTarget(unique, operation, { isCurrent: true }),
    create(unless) {
      const run = () => create(rest, place, { given, unless });
      return isNested ? place.table.connection.inSavepoint(run) : run();
    },
  }, operation);
}

/** Returns data without the values of a condition that the relation sets, too. */
function withoutGiven(
  data: unknown,
  { given = {}, unique, place }: Pick<CreateOptions, "given"> & {
    readonly unique: Values;
    readonly place: DataPlace;
  },
): unknown {
  const doubles = [...unique].filter(([{ name }]) => Object.hasOwn(given, name));
  if (doubles.length === 0 || !isPlainObject(data)) return data;
  const rest = { ...data };
  for (const [column, value] of doubles) {
    const { name } = column;
    if (keyOf(column, value) !== keyOf(column, given[name])) {
      throw place.root.mistake(`${subjectOf(place)} has another ${name} than the relation`);
    }
    delete rest[name];
  }
  return rest;
}

function readConnectOrCreate(value: unknown, place: DataPlace) {
  if (isPlainObject(value) && Object.keys(value).toSorted().join() === "create,where") {
    return { where: value.where, create: value.create };
  }
  throw place.root.mistake(`${subjectOf(place)} is not a plain object of where and create`);
}

/** Writes the rows that refer to a row, or are linked to it. */
async function writeRelated(
  writes: readonly RelationWrite[],
  owner: { readonly row: AnyRow; readonly isNew: boolean },
): Promise<void> {
  const creates: RelatedCreates = {
    create: (data, place, given) => create(data, place, { given }),
    findOrCreate: (value, place, given) => findOrCreate(value, place, { given }),
  };
  for (const write of writes) {
    if (write.relation.through) await writeLinks(write, { ...owner, creates });
    else await writeChildren(write, { ...owner, creates });
  }
}

function placeOf(root: Operation): DataPlace {
  return { root, table: root.table, path: [] };
}
