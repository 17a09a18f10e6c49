/** Things in memory, as plain as can be. */
import assert from "node:assert/strict";
import { compare, holds, inMode } from "./memory_condition.ts";
import { aggregatesOf, groupsOf, TooLarge } from "./memory_groups.ts";
import {
  type Change,
  type Column,
  COLUMNS,
  type Creation,
  type Find,
  type Operation,
  type Scope,
  type Target,
  type Thing,
} from "../support/thing.ts";

/** Why an operation is refused, and the columns that may be at fault. */
export class Refusal extends Error {
  readonly code: "RowNotFound" | "Conflict" | "UniqueViolation" | "CheckViolation";
  readonly fields: readonly string[];
  constructor(code: Refusal["code"], fields: readonly string[] = []) {
    super(code);
    this.code = code;
    this.fields = fields;
  }
}

/** The keys that the database generated, by the codes of their rows. */
export type Keys = ReadonlyMap<string, number>;

/** How many keys in a row databases may leave out: those of rows that were refused or rolled back. */
const MAX_GAP = 500;

/** A list of rows that does as a repository. */
export class MemoryRepository {
  #rows: readonly Thing[] = [];
  readonly #now: () => number;
  /** The largest key so far. */
  #lastKey: number;
  /** The same, with those of rows that were refused or rolled back. */
  #lastTriedKey: number;

  /** Creates a list without rows, whose generated keys come after the last one so far. */
  constructor(lastKey: number, now: () => number) {
    this.#now = now;
    this.#lastKey = lastKey;
    this.#lastTriedKey = lastKey;
  }

  /** Returns the rows in the order of their keys. */
  toRows(): readonly Thing[] {
    return this.#rows.toSorted((a, b) => a.id - b.id);
  }

  /** Returns a function that restores the present rows. */
  save(): () => void {
    const rows = this.#rows;
    const lastKey = this.#lastKey;
    return () => {
      this.#rows = rows;
      this.#lastKey = lastKey;
    };
  }

  /**
   * Runs an operation on the rows of a scope. Operations that return many rows return
   * groups, each in any order.
   *
   * @throws {Refusal} if it cannot be done; nothing is then
   */
  run(operation: Operation, scope: Scope, keys: Keys): unknown {
    const where = (condition: object) => this.#where(condition, scope);
    switch (operation.do) {
      case "create":
        return this.#create(operation.data, scope, keys);
      case "createMany":
        return this.#createMany(operation.data, scope, {
          keys,
          skips: operation.skipDuplicates === true,
        }).length;
      case "createManyAndReturn":
        return this.#createMany(operation.data, scope, { keys, skips: false });
      case "findUnique":
        return where(operation.where)[0] ?? null;
      case "findMany":
        return this.#find(operation.options, scope);
      case "stream": {
        const { distinct: _, skip = 0, ...options } = operation.options;
        return this.#find({ ...options, skip }, scope).flat();
      }
      case "findFirst":
        return this.#find({ ...operation.options, take: 1 }, scope)[0]?.[0] ?? null;
      case "update":
        return this.#update([this.#target(operation.where, scope)], operation.data)[0];
      case "updateMany":
        return this.#update(where(operation.where), operation.data).length;
      case "updateManyAndReturn":
        return [this.#update(where(operation.where), operation.data)];
      case "upsert": {
        const [row] = where(operation.where);
        if (row) return this.#update([row], operation.update)[0];
        return this.#create(operation.create, scope, keys);
      }
      case "upsertMany":
        return this.#upsertMany(operation, scope, keys);
      case "delete":
        return this.#mark([this.#target(operation.where, { ...scope, withDeleted: false })])[0];
      case "deleteMany":
        return this.#mark(where(operation.where).filter(isLive)).length;
      case "purge":
        return this.#delete([this.#target(operation.where, scope)])[0];
      case "purgeMany":
        return this.#delete(where(operation.where)).length;
      case "exists":
        return where(operation.where).length > 0;
      case "count":
        return distinctBy(where(operation.where), operation.distinct).length;
      case "aggregate":
      case "groupBy": {
        const { do: verb, options } = operation;
        const rows = where(options.where ?? {});
        const read = () =>
          verb === "groupBy" ? groupsOf(rows, options) : aggregatesOf(rows, options);
        return refusing(read);
      }
    }
  }

  #where(condition: object, scope: Scope): readonly Thing[] {
    return this.#rows.filter((row) => sees(scope, row) && holds(condition, row));
  }

  #target({ version, ...unique }: Target, scope: Scope): Thing {
    const [row] = this.#where(unique, scope);
    if (!row) throw new Refusal("RowNotFound");
    if (version !== undefined && row.version !== version) throw new Refusal("Conflict");
    return row;
  }

  #createMany(
    rows: readonly Creation[],
    scope: Scope,
    { keys, skips }: { readonly keys: Keys; readonly skips: boolean },
  ): readonly Thing[] {
    const restore = this.save();
    try {
      return rows.flatMap((data) => {
        try {
          return this.#create(data, scope, keys);
        } catch (error) {
          if (skips && error instanceof Refusal) return [];
          throw error;
        }
      });
    } catch (error) {
      restore();
      for (const { id = 0 } of rows) this.#try(id);
      throw error;
    }
  }

  #upsertMany(
    { by, create, update }: Extract<Operation, { do: "upsertMany" }>,
    scope: Scope,
    keys: Keys,
  ): number {
    const restore = this.save();
    // Databases do not agree on which row is at fault first.
    const faults: string[] = [];
    for (const data of create) {
      try {
        const row = this.#rows.find((row) => row[by] === data[by]);
        if (row && !sees(scope, row)) throw new Refusal("UniqueViolation", [by]);
        const touched = new Date(this.#now());
        const whole = {
          name: null,
          rank: null,
          mood: null,
          day: null,
          hour: null,
          flag: true,
          note: "new",
          touched,
          ...data,
        };
        const change = Object.fromEntries(update.map((name) => [name, whole[name]]));
        if (row) this.#update([row], change);
        else this.#create(data, scope, keys);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        faults.push(...error.fields);
      }
    }
    if (faults.length === 0) return create.length;
    restore();
    for (const { id = 0 } of create) this.#try(id);
    throw new Refusal("UniqueViolation", faults);
  }

  #create(data: Creation, { withDeleted: _, ...scope }: Scope, keys: Keys): Thing {
    this.#try(data.id ?? 0);
    this.#checkUnique(data, []);
    const row = {
      id: data.id ?? this.#generated(data.code, keys),
      code: data.code,
      name: data.name ?? null,
      rank: data.rank ?? null,
      flag: data.flag ?? true,
      mood: data.mood ?? null,
      day: data.day ?? null,
      hour: data.hour ?? null,
      note: data.note === undefined ? "new" : data.note,
      made: data.made ?? new Date(this.#now()),
      touched: data.touched ?? new Date(this.#now()),
      gone: null,
      version: 1,
      ...scope,
    };
    this.#checkUnique(row, []);
    this.#rows = [...this.#rows, row];
    this.#lastKey = Math.max(this.#lastKey, row.id);
    this.#try(row.id);
    return row;
  }

  #try(key: number): void {
    if (key > this.#lastTriedKey) this.#lastTriedKey = key;
  }

  /** Returns a key that the database generated; keys of failed inserts are unknown. */
  #generated(code: string, keys: Keys): number {
    const key = keys.get(code) ?? NaN;
    const isNext = this.#lastKey < key && key <= this.#lastTriedKey + MAX_GAP;
    assert.ok(isNext || Number.isNaN(key), `the key ${key} comes after ${this.#lastKey}`);
    return key;
  }

  #update(rows: readonly Thing[], data: Change): readonly Thing[] {
    for (const row of rows) this.#checkUnique(data, [row]);
    if (rows.length > 1 && data.code !== undefined) throw new Refusal("UniqueViolation", ["code"]);
    if (Object.keys(data).length === 0) return rows;
    const updated = rows.map((row) => ({
      ...row,
      touched: new Date(this.#now()),
      version: row.version + 1,
      ...data,
    }));
    this.#rows = [...this.#rows.filter((it) => !rows.includes(it)), ...updated];
    return updated;
  }

  #mark(rows: readonly Thing[]): readonly Thing[] {
    const now = new Date(this.#now());
    const marked = rows.map((row) => ({
      ...row,
      touched: now,
      gone: now,
      version: row.version + 1,
    }));
    this.#rows = [...this.#rows.filter((it) => !rows.includes(it)), ...marked];
    return marked;
  }

  #delete(rows: readonly Thing[]): readonly Thing[] {
    this.#rows = this.#rows.filter((it) => !rows.includes(it));
    return rows;
  }

  #checkUnique(
    { id, code }: { id?: number | undefined; code?: string | undefined },
    own: readonly Thing[],
  ) {
    const others = this.#rows.filter((row) => !own.includes(row));
    const fields = [
      ...(others.some((row) => row.id === id) ? ["id"] : []),
      ...(others.some((row) => row.code === code) ? ["code"] : []),
    ];
    if (fields.length > 0) throw new Refusal("UniqueViolation", fields);
  }

  #find(options: Find, scope: Scope): readonly (readonly unknown[])[] {
    const { where = {}, orderBy = [], take, skip = 0, distinct = [], select } = options;
    const order = (Array.isArray(orderBy) ? orderBy : [orderBy]).flatMap(Object.entries);
    const isTotal = take !== undefined || options.skip !== undefined || distinct.length > 0;
    if (isTotal) order.push(["id", "asc"]);
    const sorted = this.#where(where, scope).toSorted((a, b) => compareBy(order, a, b));
    const page = distinctBy(sorted, distinct).slice(skip, skip + (take ?? Infinity));
    const groups: Thing[][] = [];
    for (const row of page) {
      const last = groups.at(-1)?.[0];
      if (last && compareBy(order, last, row) === 0) groups.at(-1)!.push(row);
      else groups.push([row]);
    }
    const names = select === undefined ? COLUMNS : COLUMNS.filter((name) => select[name]);
    const selected = (row: Thing) => Object.fromEntries(names.map((name) => [name, row[name]]));
    return groups.map((rows) => rows.map(selected));
  }
}

function isLive({ gone }: Thing): boolean {
  return gone === null;
}

function sees({ withDeleted, ...scope }: Scope, row: Thing): boolean {
  return (withDeleted === true || isLive(row)) && holds(scope, row) === true;
}

function refusing<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof TooLarge ? new Refusal("CheckViolation", [error.label]) : error;
  }
}

function compareBy(order: readonly unknown[][], a: Thing, b: Thing): number {
  // Object.entries() forgets which names there are.
  for (const [name, by] of order as [Column, string | { sort: string; mode: string }][]) {
    const { sort, mode } = typeof by === "string" ? { sort: by, mode: "default" } : by;
    const compared = compare(inMode(mode, a[name]), inMode(mode, b[name]));
    if (compared !== 0) return sort === "asc" ? compared : -compared;
  }
  return 0;
}

function distinctBy(rows: readonly Thing[], columns: readonly Column[]): readonly Thing[] {
  if (columns.length === 0) return rows;
  const seen = new Set<string>();
  return rows.filter((row) => {
    const key = JSON.stringify(columns.map((name) => row[name]));
    return seen.size < seen.add(key).size;
  });
}
