/** Things in memory, as plain as can be. */
import assert from "node:assert/strict";
import { type Column, COLUMNS, type Keys, type Thing } from "../support/thing.ts";
import type {
  Change,
  Creation,
  Find,
  Operation,
  Scope,
  Target,
} from "../support/thing_operations.ts";
import { compare, flat, holds, inMode, textOf } from "./memory_condition.ts";
import { aggregatesOf, groupsOf, TooLarge } from "./memory_groups.ts";

/** Why an operation is refused, and the keys or columns of which one is at fault. */
export class Refusal extends Error {
  readonly code: "RowNotFound" | "Conflict" | "UniqueViolation" | "CheckViolation";
  readonly faults: readonly (readonly string[])[];
  constructor(code: Refusal["code"], faults: readonly (readonly string[])[] = [[]]) {
    super(code);
    this.code = code;
    this.faults = faults;
  }
}

/** The keys that the database generated, by the codes of their rows. */
export type GeneratedKeys = ReadonlyMap<string, number>;

/** How many keys in a row databases may leave out: those of rows that were refused or rolled back. */
const MAX_GAP = 500;

/** A list of rows that does as a repository. */
export class MemoryRepository {
  #rows: readonly Thing[] = [];
  readonly #keys: Keys;
  readonly #now: () => number;
  /** The largest key so far. */
  #lastKey: number;
  /** The same, with those of rows that were refused or rolled back. */
  #lastTriedKey: number;

  /** Creates a list without rows, whose generated keys come after the last one so far. */
  constructor(
    lastKey: number,
    { keys, now }: { readonly keys: Keys; readonly now: () => number },
  ) {
    this.#keys = keys;
    this.#now = now;
    this.#lastKey = lastKey;
    this.#lastTriedKey = lastKey;
  }

  /** Returns the rows in the order of their keys. */
  toRows(): readonly Thing[] {
    return this.#find({ take: Infinity }, { withDeleted: true }).flat() as Thing[];
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
  run(operation: Operation, scope: Scope, keys: GeneratedKeys): unknown {
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
        return where(flat(operation.where))[0] ?? null;
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
        const [row] = where(flat(operation.where));
        if (row) return this.#update([row], operation.update)[0];
        return this.#create({ ...operation.create, ...flat(operation.where) }, scope, keys);
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
    return this.#rows.filter((row) => sees(scope, row) && holds(condition, row) === true);
  }

  #target({ version, ...unique }: Target, scope: Scope): Thing {
    const [row] = this.#where(flat(unique), scope);
    if (!row) throw new Refusal("RowNotFound");
    if (version !== undefined && row.version !== version) throw new Refusal("Conflict");
    return row;
  }

  #createMany(
    rows: readonly Creation[],
    scope: Scope,
    { keys, skips }: { readonly keys: GeneratedKeys; readonly skips: boolean },
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
    keys: GeneratedKeys,
  ): number {
    const restore = this.save();
    const key = this.#keys.all[by]!;
    const rows = create.map((data) => this.#whole(data, scope));
    const isTwice = rows.length > new Set(rows.map((row) => valuesIn(row, key))).size;
    // Databases do not agree on which row is at fault first.
    const faults: (readonly string[])[] = isTwice ? [key] : [];
    for (const [index, whole] of rows.entries()) {
      try {
        const row = this.#rows.find((row) => valuesIn(row, key) === valuesIn(whole, key));
        if (row && !sees(scope, row)) this.#checkUnique(whole, []);
        const change = Object.fromEntries(update.map((name) => [name, whole[name]]));
        if (row) this.#update([row], change);
        else this.#create(create[index]!, scope, keys);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        faults.push(...error.faults);
      }
    }
    if (faults.length === 0) return create.length;
    restore();
    for (const { id = 0 } of create) this.#try(id);
    throw new Refusal("UniqueViolation", faults);
  }

  #create(data: Creation, scope: Scope, keys: GeneratedKeys): Thing {
    this.#try(data.id ?? 0);
    const whole = this.#whole(data, scope);
    this.#checkUnique(whole, []);
    const row = { ...whole, id: whole.id ?? this.#generated(data.code, keys) };
    this.#rows = [...this.#rows, row];
    this.#lastKey = Math.max(this.#lastKey, row.id);
    this.#try(row.id);
    return row;
  }

  /** Returns a new row; its `id` is missing if the database generates it. */
  #whole(
    data: Creation,
    { withDeleted: _, ...scope }: Scope,
  ): Omit<Thing, "id"> & Partial<Pick<Thing, "id">> {
    const now = new Date(this.#now());
    const defaults = {
      ...!this.#keys.areGenerated && { id: 1 },
      name: null,
      rank: null,
      flag: true,
      mood: null,
      day: null,
      hour: null,
      big: null,
      price: null,
      tags: null,
      data: null,
      note: "new",
      made: now,
      touched: now,
      gone: null,
      version: 1,
    };
    // By type, lists are read-only.
    const whole = { ...defaults, ...data as Pick<Thing, "code">, ...scope };
    return Object.assign(Object.fromEntries(COLUMNS.map((name) => [name, undefined])), whole);
  }

  #try(key: number): void {
    if (key > this.#lastTriedKey) this.#lastTriedKey = key;
  }

  /** Returns a key that the database generated; keys of failed inserts are unknown. */
  #generated(code: string, keys: GeneratedKeys): number {
    const key = keys.get(code) ?? NaN;
    const isNext = this.#lastKey < key && key <= this.#lastTriedKey + MAX_GAP;
    assert.ok(isNext || Number.isNaN(key), `the key ${key} comes after ${this.#lastKey}`);
    return key;
  }

  #update(rows: readonly Thing[], data: Change): readonly Thing[] {
    if (Object.keys(data).length === 0) return rows;
    const touched = new Date(this.#now());
    const updated = rows.map((row) => ({
      ...row,
      touched,
      version: row.version + 1,
      ...data,
    }));
    for (const row of updated) {
      this.#checkUnique(row, rows);
      this.#checkUnique(row, [], updated);
    }
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

  /** Checks that no row but some has the values of a key; `null` is not compared. */
  #checkUnique(row: Partial<Thing>, some: readonly Thing[], among = this.#rows): void {
    const others = among.filter((it) => it !== row && !some.includes(it));
    const faults = Object.values(this.#keys.all).filter((key) =>
      key.every((name) => isKnown(row[name])) &&
      others.some((it) => valuesIn(it, key) === valuesIn(row, key))
    );
    if (faults.length > 0) throw new Refusal("UniqueViolation", faults);
  }

  #find(options: Find, scope: Scope): readonly (readonly unknown[])[] {
    const { where = {}, orderBy = [], take, skip = 0, distinct = [], select } = options;
    const order = (Array.isArray(orderBy) ? orderBy : [orderBy]).flatMap(Object.entries);
    const isTotal = take !== undefined || options.skip !== undefined || distinct.length > 0;
    if (isTotal) order.push(...this.#keys.primary.map((name) => [name, "asc"] as [string, string]));
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

function valuesIn(row: Partial<Thing>, columns: readonly Column[]): string {
  return textOf(columns.map((name) => row[name]));
}

function isKnown(value: unknown): boolean {
  return value !== null && value !== undefined && !Number.isNaN(value);
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
    throw error instanceof TooLarge ? new Refusal("CheckViolation", [[error.label]]) : error;
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
    const key = valuesIn(row, columns);
    return seen.size < seen.add(key).size;
  });
}
