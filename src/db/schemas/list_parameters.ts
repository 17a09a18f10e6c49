/**
 * The parameters of lists: how each is described, and what it adds to the query.
 *
 * @module
 */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import * as v from "valibot";
import { checkNames, refusing } from "../../platform/option_names.ts";
import type { AnyField, AnyModel, SortOrder } from "../model/model.ts";
import { isPlainObject } from "../model/plain_object.ts";
import { MAX_CURSOR } from "../query/pages/cursor.ts";
import type { ListOptions } from "./list_input.ts";
import { queryValueOf } from "./query_value.ts";

/** A query while its parameters are read. */
export interface ListDraft {
  /** The operators on each column. */
  readonly where: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** The order. */
  readonly orderBy: readonly Readonly<Record<string, SortOrder>>[];
  /** How many rows at most. */
  readonly take: number;
  /** Whether all rows are counted. */
  readonly withTotal: boolean;
  /** Where the page begins. */
  readonly cursor?: string;
  /** How many rows to leave out first. */
  readonly skip?: number;
}

/** A parameter of a list. */
export interface ListParameter {
  /** Its JSON Schema. */
  readonly json: Readonly<Record<string, unknown>>;
  /** Adds its value to a query; returns a message if the value is invalid. */
  readonly read: (given: unknown, draft: ListDraft) => ListDraft | string;
}

/** The parameters of a list by their names, and the query without any. */
export interface ListParameters {
  readonly parameters: ReadonlyMap<string, ListParameter>;
  readonly draft: ListDraft;
}

const OPTIONS = ["filter", "sort", "defaultSort", "page", "max", "defaultLimit", "total"];
const RESERVED = ["sort", "limit", "cursor", "offset"];
/** The kinds that are compared by ranges. */
const RANGED = ["integer", "bigint", "real", "decimal", "timestamp", "date", "time"];
const RANGES = { gt: "greater", gte: "greater or equal", lt: "less", lte: "less or equal" };
/** The most values of a parameter that repeats. */
const MAX_VALUES = 100;
const WHOLE = /^\d{1,16}$/;

/** Returns the parameters of a list; see `listOf`. */
export function listParameters(
  { "~model": { table, fields, primaryKey } }: AnyModel,
  options: ListOptions<string, string>,
): ListParameters {
  const refuse = refusing(`list ${table}`);
  checkNames(options, { known: OPTIONS, refuse });
  const { filter = [], sort = [], page = "cursor", max = 100 } = options;
  const { defaultLimit = Math.min(20, max), total = page === "offset" } = options;
  const fieldOf = (name: string): AnyField => {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (!field) return refuse(`there is no column ${JSON.stringify(name)}`);
    if (!queryValueOf(field)) refuse(`${name} is of kind ${field.kind}`);
    return field;
  };
  if (page !== "cursor" && page !== "offset") refuse("page is not cursor or offset");
  if (page === "cursor" && primaryKey.length === 0) {
    refuse("the model has no key, so that its pages need an offset");
  }
  for (const [name, value] of Object.entries({ max, defaultLimit })) {
    if (!(Number.isSafeInteger(value) && value > 0)) {
      refuse(`${name} is not a whole number of 1 or more`);
    }
  }
  if (defaultLimit > max) refuse("defaultLimit is over max");
  const reserved = filter.find((name) => RESERVED.includes(name));
  if (reserved !== undefined) refuse(`${reserved} is the name of another parameter`);
  const { defaultSort } = options;
  const defaults = defaultSort === undefined ? [] : orderIn(defaultSort, Object.keys(fields));
  if (!defaults) return refuse("defaultSort is not an order of its columns");
  for (const name of [...sort, ...defaults.flatMap(Object.keys)]) fieldOf(name);
  return {
    parameters: new Map<string, ListParameter>([
      ...filter.flatMap((name) => filterParameters(name, fieldOf(name))),
      ...sort.length > 0 ? [["sort", sortParameter(sort, defaultSort)] as const] : [],
      ["limit", limitParameter({ max, defaultLimit })],
      page === "cursor" ? ["cursor", CURSOR] : ["offset", OFFSET],
    ]),
    draft: {
      where: {},
      orderBy: defaults,
      take: defaultLimit,
      withTotal: total,
      ...page === "offset" && { skip: 0 },
    },
  };
}

/** Reads the parameters of a request: a repeated one is a list. */
export function readParameters(
  given: unknown,
  { parameters, draft }: ListParameters,
): StandardSchemaV1.Result<ListDraft> {
  if (!isPlainObject(given)) return { issues: [{ message: "Invalid type: Expected Object" }] };
  let query = draft;
  const issues: StandardSchemaV1.Issue[] = [];
  for (const name of Object.keys(given)) {
    if (!parameters.has(name)) issues.push({ message: "Unknown parameter", path: [name] });
  }
  // In the order of the declaration: equal queries have equal conditions.
  for (const [name, { read }] of parameters) {
    if (!Object.hasOwn(given, name) || given[name] === undefined) continue;
    const result = read(given[name], query);
    if (typeof result !== "string") query = result;
    else issues.push({ message: result, path: [name] });
  }
  return issues.length > 0 ? { issues } : { value: query };
}

/** A value of a field, or why it cannot be read. */
type ReadValue = { readonly value: unknown } | { readonly message: string };

function filterParameters(
  name: string,
  field: AnyField,
): readonly (readonly [string, ListParameter])[] {
  const { json, schema } = queryValueOf(field)!;
  const readValue = (given: unknown): ReadValue => {
    const text = textOf(given);
    if (text === undefined) return { message: "Expected one value" };
    const { success, output, issues } = v.safeParse(schema, text);
    return success ? { value: output } : { message: issues[0].message };
  };
  const withOperator = (draft: ListDraft, operator: string, operand: unknown): ListDraft => ({
    ...draft,
    where: { ...draft.where, [name]: { ...draft.where[name], [operator]: operand } },
  });
  const equals: ListParameter = {
    json: {
      type: "array",
      items: json,
      maxItems: MAX_VALUES,
      description: "Is the value, or one of several",
    },
    read(given, draft) {
      const list = [given].flat();
      if (list.length === 0 || list.length > MAX_VALUES) {
        return `Expected 1 to ${MAX_VALUES} values`;
      }
      const values: unknown[] = [];
      // The same values in another order are the same query.
      for (const text of [...new Set(list.map(textOf))].sort()) {
        const read = readValue(text);
        if ("message" in read) return read.message;
        values.push(read.value);
      }
      return values.length === 1
        ? withOperator(draft, "equals", values[0])
        : withOperator(draft, "in", values);
    },
  };
  const range = ([operator, comparison]: readonly [string, string]) => {
    const parameter: ListParameter = {
      json: { ...json, description: `Is ${comparison}` },
      read(given, draft) {
        const read = readValue(given);
        return "message" in read ? read.message : withOperator(draft, operator, read.value);
      },
    };
    return [`${name}[${operator}]`, parameter] as const;
  };
  const isNull: ListParameter = {
    json: { type: "boolean", description: "Whether it is null" },
    read(given, draft) {
      const text = textOf(given);
      return text === "true" || text === "false"
        ? withOperator(draft, "isNull", text === "true")
        : "Expected true or false";
    },
  };
  return [
    [name, equals],
    ...isRanged(field) ? Object.entries(RANGES).map(range) : [],
    ...field.flags.has("nullable") ? [[`${name}[isNull]`, isNull] as const] : [],
  ];
}

/** Checks whether ranges of values have a meaning: those of references do not. */
function isRanged({ kind, traits: { reference } }: AnyField): boolean {
  return RANGED.includes(kind) && reference === undefined;
}

function sortParameter(columns: readonly string[], defaultSort: string | undefined): ListParameter {
  const term = `-?(?:${columns.join("|")})`;
  return {
    json: {
      type: "string",
      pattern: `^${term}(?:,${term})*$`,
      not: { pattern: "(?:^|,)-?([^,-][^,]*),(?:.*,)?-?\\1(?:,|$)" }, // a column twice
      ...defaultSort !== undefined && { default: defaultSort },
      description: "The order: columns, each once, with `-` before it if it is descending",
    },
    read(given, draft) {
      const orderBy = orderIn(textOf(given) ?? "", columns);
      return orderBy
        ? { ...draft, orderBy }
        : `Expected ${columns.join(", ")}, each once, "-" before it if it is descending`;
    },
  };
}

function limitParameter(
  { max, defaultLimit }: { readonly max: number; readonly defaultLimit: number },
): ListParameter {
  return {
    json: {
      type: "integer",
      minimum: 1,
      maximum: max,
      default: defaultLimit,
      description: "How many rows at most",
    },
    read(given, draft) {
      const take = wholeOf(given);
      return take !== undefined && take > 0 && take <= max
        ? { ...draft, take }
        : `Expected a whole number from 1 to ${max}`;
    },
  };
}

const CURSOR: ListParameter = {
  json: {
    type: "string",
    maxLength: MAX_CURSOR,
    description: "Where the page begins: `next` of the page before it",
  },
  // It is checked with the query that it belongs to.
  read: (given, draft) => {
    const cursor = textOf(given);
    return cursor === undefined ? "Expected one cursor" : { ...draft, cursor };
  },
};

const OFFSET: ListParameter = {
  json: {
    type: "integer",
    minimum: 0,
    default: 0,
    description: "How many rows to leave out first",
  },
  read: (given, draft) => {
    const skip = wholeOf(given);
    return skip === undefined ? "Expected a whole number of 0 or more" : { ...draft, skip };
  },
};

/** Returns the order in a text; `undefined` if it has another column, or one twice. */
function orderIn(text: string, columns: readonly string[]): ListDraft["orderBy"] | undefined {
  const names = new Set<string>();
  const order = text.split(",").map((term) => {
    const name = term.replace(/^-/, "");
    names.add(name);
    return { [name]: name === term ? "asc" as const : "desc" as const };
  });
  const isKnown = [...names].every((name) => columns.includes(name));
  return isKnown && names.size === order.length ? order : undefined;
}

/** Returns the text of a parameter that occurs once. */
function textOf(given: unknown): string | undefined {
  return ["string", "number", "bigint", "boolean"].includes(typeof given)
    ? String(given)
    : undefined;
}

function wholeOf(given: unknown): number | undefined {
  const text = textOf(given) ?? "";
  return WHOLE.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : undefined;
}
