/**
 * Factories: valid data of a model, for tests.
 *
 * @module
 */
import { base64Of } from "../platform/base64.ts";
import type { FieldKind } from "../db/model/field_kind.ts";
import { testsOf } from "../db/model/field_rules.ts";
import { type AnyField, type AnyModel, isRequired } from "../db/model/model.ts";
import type { CreateInput } from "../db/model/row.ts";
import { decimalDigits, decimalText } from "../db/model/stored_value.ts";

/** Values of columns: a value, or a function of the number of the row, from 1. */
export type FactoryValues<M extends AnyModel> = {
  readonly [K in keyof CreateInput<M>]?: CreateInput<M>[K] | ((i: number) => CreateInput<M>[K]);
};

/** Makes data of a model; see {@linkcode factory}. */
export class Factory<M extends AnyModel> {
  readonly #model: M;
  readonly #values: Readonly<Record<string, unknown>>;
  #count = 0;

  /** Creates a factory; use {@linkcode factory}. */
  constructor(model: M, values: FactoryValues<M>) {
    checkColumns(model, values);
    this.#model = model;
    this.#values = values;
  }

  /**
   * Makes the data of a row, which differs from that of the rows before. Columns that are nullable,
   * have a default or are generated are not part of it unless they have a value.
   *
   * @throws {TypeError} if a column is unknown, or it is required and no valid value is known: it
   * refers to a row, has a schema, or has a `check` that the usual values do not pass
   */
  build(values: FactoryValues<M> = {}): CreateInput<M> {
    checkColumns(this.#model, values);
    this.#count += 1;
    const i = this.#count;
    const { table, fields } = this.#model["~model"];
    const given: Readonly<Record<string, unknown>> = { ...this.#values, ...values };
    const entries = Object.entries(fields).flatMap(([name, field]) => {
      const value = given[name];
      if (value !== undefined) return [[name, typeof value === "function" ? value(i) : value]];
      return isRequired(field) ? [[name, factoryValue(field, { i, name, table })]] : [];
    });
    // The required columns are there, and each value is of its field.
    return Object.fromEntries(entries) as CreateInput<M>;
  }

  /** Makes the data of several rows. */
  buildMany(count: number, values: FactoryValues<M> = {}): CreateInput<M>[] {
    return Array.from({ length: count }, () => this.build(values));
  }

  /**
   * Makes the data of a row as JSON, for a request whose body is read by `createSchemaOf`: a `Date`
   * and a `bigint` are text, bytes are base64.
   */
  json(values: FactoryValues<M> = {}): Record<string, unknown> {
    const data = Object.entries(this.build(values));
    return Object.fromEntries(data.map(([name, value]) => [name, jsonOf(value)]));
  }
}

/**
 * Returns a factory of a model, which makes valid data from its fields and their rules: texts of
 * the right length, numbers within bounds, email addresses, each time others. The values of columns
 * replace those; a function receives the number of the row, from 1.
 *
 * @example
 * ```ts
 * import { field, model } from "@fw/fw/db";
 * import { factory } from "@fw/fw/testing";
 *
 * const Post = model("posts", {
 *   id: field.integer().primaryKey(),
 *   title: field.text({ min: 2, max: 80 }),
 *   slug: field.text().unique(),
 *   draft: field.boolean().default(true),
 * });
 * const posts = factory(Post, { title: (i) => `Post ${i}` });
 *
 * console.assert(JSON.stringify(posts.build()) === '{"title":"Post 1","slug":"slug 1"}');
 * console.assert(posts.build({ draft: false }).draft === false);
 * ```
 *
 * @throws {TypeError} if a column is unknown
 */
export function factory<M extends AnyModel>(model: M, values: FactoryValues<M> = {}): Factory<M> {
  return new Factory(model, values);
}

/** The column of a row that is made. */
export interface Place {
  /** The number of the row, from 1. */
  readonly i: number;
  readonly name: string;
  readonly table: string;
}

/** The time of the first row; each later one is a second after it. */
const START = Date.UTC(2026, 0, 1);
const SECOND_MS = 1000;
const DAY_MS = 86_400_000;
const DAYS = 30_000;
const SECONDS = 86_400;
const LARGEST = { integer: BigInt(Number.MAX_SAFE_INTEGER), bigint: 2n ** 63n - 1n };
/** How many negative numbers differ. */
const CYCLE = 999n;

/** Makes the value of a row by the kind of its field. */
const VALUES: Readonly<Record<FieldKind, (field: AnyField, place: Place) => unknown>> = {
  integer: (field, { i }) => Number(within(field, BigInt(i))),
  bigint: (field, { i }) => within(field, BigInt(i)),
  text: textOf,
  enum: ({ traits: { list = "" } }, { i }) => list.split("|").at(i % list.split("|").length),
  boolean: (_, { i }) => i % 2 === 0,
  real: ({ traits: { rules: { bounds: { min, max } = {} } = {} } }, { i }) =>
    Math.max(Number(min ?? -Infinity), Math.min(Number(max ?? Infinity), i)),
  decimal: (field, { i }) => {
    const { size } = field.traits;
    return decimalText(within(field, BigInt(i) * 10n ** BigInt(size.scale)), size);
  },
  json: () => ({}),
  timestamp: (_, { i }) => new Date(START + i * SECOND_MS),
  date: (_, { i }) => new Date(START + (i % DAYS) * DAY_MS).toISOString().slice(0, 10),
  time: (_, { i }) => new Date((i % SECONDS) * SECOND_MS).toISOString().slice(11, 19),
  uuid: (_, { i }) => `00000000-0000-4000-8000-${i.toString(16).padStart(12, "0")}`,
  blob: (_, { i }) => new Uint8Array([i % 256]),
  array: ({ traits: { element } }, place) => [factoryValue(element as AnyField, place)],
};

/**
 * Returns a valid value of a field, which depends on the number of the row.
 *
 * @throws {TypeError} if no valid value is known; see {@linkcode Factory.build}
 */
export function factoryValue(field: AnyField, place: Place): unknown {
  const { reference, of } = field.traits;
  const cannot = (reason: string) =>
    new TypeError(`Cannot build ${place.table}: ${place.name} ${reason}; give it a value`);
  if (reference) {
    const { target } = reference;
    const table = target === "self" ? place.table : target["~model"].table;
    throw cannot(`refers to ${table}`);
  }
  if (of !== undefined) throw cannot("has a schema");
  const value = VALUES[field.kind](field, place);
  const broken = testsOf(field).find(({ admits }) => !admits(value));
  if (broken) throw cannot(`takes ${broken.takes}`);
  return value;
}

/** Counts from the smallest value of a field, or from 0, and again after the largest one. */
function within({ kind, traits: { size, rules } }: AnyField, value: bigint): bigint {
  const read = (bound: unknown) =>
    kind === "decimal" ? decimalDigits(String(bound), size)! : BigInt(bound as number | bigint);
  const { min, max } = rules?.bounds ?? {};
  const largest = kind === "decimal"
    ? 10n ** BigInt(size.precision) - 1n
    : LARGEST[kind === "bigint" ? kind : "integer"];
  const most = max === undefined ? largest : read(max);
  const first = most >= 0n ? 0n : most - CYCLE;
  const lowest = kind === "bigint" ? -largest - 1n : -largest;
  const least = min !== undefined ? read(min) : first < lowest ? lowest : first;
  return least + value % (most - least + 1n);
}

/** Returns a text that has the name of its column and the number of its row, if they fit. */
function textOf({ traits: { rules = {} } }: AnyField, { i, name }: Place): string {
  const { min = 0, max = Infinity } = rules.bounds ?? {};
  if (rules.format === "email") {
    const address = `${name}${i}@example.com`;
    return (address.length > Number(max) ? `${i}@a.test` : address).padStart(Number(min), "x");
  }
  const text = `${name} ${i}`.padEnd(Number(min), ".");
  if (text.length <= Number(max)) return text;
  const digits = String(i).padStart(Number(max), "0");
  return digits.slice(digits.length - Number(max));
}

function checkColumns({ "~model": { table, fields } }: AnyModel, values: object): void {
  const unknown = Object.keys(values).find((name) => !Object.hasOwn(fields, name));
  if (unknown !== undefined) {
    throw new TypeError(`Cannot build ${table}: there is no column ${unknown}`);
  }
}

/** Returns a value of a row as JSON: a `Date` and a `bigint` are text, bytes are base64. */
export function jsonOf(value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  if (Array.isArray(value)) return value.map(jsonOf);
  if (!(value instanceof Uint8Array)) return value instanceof Date ? value.toISOString() : value;
  return base64Of(value);
}
