/**
 * Reads conditions on the value at a path in JSON, and builds their SQL.
 *
 * @module
 */
import { type Expression, sql, type SqlBool } from "kysely";
import type { JsonKind, JsonParts, TextMatch } from "../connection/grammar.ts";
import { type DbError, dbError } from "../errors.ts";
import { membersOf } from "../model/plain_object.ts";
import { isStorableText } from "../model/stored_value.ts";
import { every } from "./filters.ts";
import type { Operation } from "./operation.ts";
import { type Comparison, COMPARISONS, type Filter } from "./operators.ts";
import type { TableColumn } from "./table_column.ts";

/** A condition on a value of JSON; `undefined` stands for one that holds for every value. */
type Test = ((value: JsonParts) => Expression<SqlBool>) | undefined;

/** The values of a kind that meet a condition. */
interface Match {
  readonly kind: JsonKind;
  readonly test: Test;
}

const TEXT_MATCHES = {
  string_contains: "contains",
  string_starts_with: "startsWith",
  string_ends_with: "endsWith",
} as const satisfies Readonly<Record<string, TextMatch>>;
const SCALAR = "a string, a number, a boolean or null";
/** JSON has no more levels. */
const MAX_STEPS = 31;
/** PostgreSQL's. */
const MAX_INDEX = 2 ** 31 - 1;

/**
 * Reads the condition `{ path: ["tags", 0], equals: "a" }`.
 *
 * @throws {TypeError} if the path is not one, or an operator is unknown
 * @throws {DbError} `CheckViolation` if an operand is of another type
 */
export function jsonFilter(
  { column, condition }: {
    readonly column: TableColumn;
    readonly condition: Readonly<Record<string, unknown>>;
  },
  operation: Operation,
): Filter {
  const { path, ...others } = condition;
  const { name, label, grammar } = column;
  operation.add(`${name} at `);
  const locate = grammar.json.locate(
    readPath(path, column, operation),
    (step) => operation.bind(typeof step === "number" ? "[]" : ".", step),
  );
  // An unqualified name could be that of a column of a function of SQLite.
  const ref = sql.ref(`${operation.rows}.${column.column}`);
  const operators = membersOf(others, label, operation);
  if (operators.length === 0) throw operation.mistake(`${label} has no operator`);
  return every(operators.map(([operator, operand]) => {
    operation.add(`${operator} `);
    const build = readOperator({ column, operator, operand }, operation);
    operation.add(",");
    return () => build((test) => locate(ref, test));
  }));
}

/** Builds a condition of one on the value at the path, which is `null` if there is no value. */
type Build = (at: (test: NonNullable<Test>) => Expression<SqlBool>) => Expression<SqlBool>;

function readOperator(comparison: Comparison<string>, operation: Operation): Build {
  const { column, operator, operand } = comparison;
  switch (operator) {
    case "equals":
      return matching(equalTo(operand, comparison, operation), column);
    case "not": {
      const equals = matching(equalTo(operand, comparison, operation), column);
      return (at) => sql<SqlBool>`not (${equals(at)})`;
    }
    case "lt":
    case "lte":
    case "gt":
    case "gte":
      return matching(comparedTo({ ...comparison, operator }, operation), column);
    case "string_contains":
    case "string_starts_with":
    case "string_ends_with":
      return matching(textLike({ ...comparison, operator }, operation), column);
    case "array_contains":
      return matching(arrayWith(comparison, operation), column);
    case "isSet": {
      if (typeof operand !== "boolean") throw refusal("a boolean", comparison, operation);
      operation.add(`${operand}`);
      return (at) => {
        const isSet = sql<SqlBool>`coalesce(${at(({ type }) => sql`${type} <> ''`)}, 1 = 0)`;
        return operand ? isSet : sql`not (${isSet})`;
      };
    }
  }
  throw operation.mistake(`${column.label} with a path takes no ${JSON.stringify(operator)}`);
}

/** Builds the condition that a value is of a kind and meets a test. */
function matching({ kind, test }: Match, { grammar: { json } }: TableColumn): Build {
  const types = json.kinds[kind].map((name) => sql.lit(name));
  // Without a value, the type is null, and so is the result.
  return (at) =>
    at((value) =>
      sql<SqlBool>`case when ${value.type} in (${sql.join(types)}) then ${
        test?.(value) ?? sql`1 = 1`
      }
        else ${value.type} = '' end`
    );
}

function equalTo(
  scalar: unknown,
  comparison: Comparison<string>,
  operation: Operation,
): Match {
  const { json } = comparison.column.grammar;
  if (scalar === null) {
    operation.add("null");
    return { kind: "null", test: undefined };
  }
  if (typeof scalar === "boolean") {
    operation.add(`${scalar}`);
    return { kind: "boolean", test: ({ isTrue }) => scalar ? isTrue : sql`not (${isTrue})` };
  }
  if (typeof scalar === "number" && Number.isFinite(scalar)) {
    const slot = operation.bind("number", scalar + 0); // -0 is stored as 0
    return { kind: "number", test: ({ number }) => sql`${number} = ${json.number(slot)}` };
  }
  if (typeof scalar === "string" && isStorableText(scalar)) {
    const slot = operation.bind("string", scalar);
    return { kind: "string", test: ({ text }) => sql`${text} = ${json.text(slot)}` };
  }
  const isList = comparison.operator === "array_contains";
  throw refusal(isList ? `a list of ${SCALAR}` : SCALAR, comparison, operation);
}

function comparedTo(
  comparison: Comparison<keyof typeof COMPARISONS>,
  operation: Operation,
): Match {
  const { column: { grammar: { json } }, operator, operand } = comparison;
  if (typeof operand !== "number" || !Number.isFinite(operand)) {
    throw refusal("a number", comparison, operation);
  }
  const slot = operation.bind("?", operand + 0); // -0 is stored as 0
  const symbol = sql.raw(COMPARISONS[operator]);
  return {
    kind: "number",
    test: ({ number }) => sql`${number} ${symbol} ${json.number(slot)}`,
  };
}

function textLike(
  comparison: Comparison<keyof typeof TEXT_MATCHES>,
  operation: Operation,
): Match {
  const { column: { grammar }, operator, operand } = comparison;
  if (typeof operand !== "string" || !isStorableText(operand)) {
    throw refusal("a string", comparison, operation);
  }
  const match = TEXT_MATCHES[operator];
  const matches = grammar.matching(match, operand, (bound) => operation.bind("?", bound));
  return { kind: "string", test: ({ text }) => matches(text) };
}

function arrayWith(comparison: Comparison<string>, operation: Operation): Match {
  const { column, operand } = comparison;
  const scalars: readonly unknown[] = Array.isArray(operand) ? Array.from(operand) : [operand];
  const elements = scalars.map((scalar) => {
    const match = equalTo(scalar, comparison, operation);
    operation.add(";");
    return matching(match, column);
  });
  if (elements.length === 0) return { kind: "array", test: undefined };
  return {
    kind: "array",
    test: ({ has }) => sql<SqlBool>`${sql.join(elements.map((it) => it(has)), sql.raw(" and "))}`,
  };
}

function refusal(
  type: string,
  { column: { name, label }, operator, operand }: Comparison<string>,
  { action }: Operation,
): DbError {
  const given = operand === null ? "null" : typeof operand;
  return dbError(action, {
    code: "CheckViolation",
    fields: [name],
    reason: `${label} ${operator} takes ${type}, not ${given}`,
  });
}

function readPath(
  path: unknown,
  { label, name }: TableColumn,
  operation: Operation,
): readonly (string | number)[] {
  const steps: readonly unknown[] = Array.isArray(path) ? Array.from(path) : [undefined];
  const isPath = steps.every((step) =>
    typeof step === "number"
      ? Number.isInteger(step) && step >= 0 && step <= MAX_INDEX
      : typeof step === "string"
  );
  if (!isPath || steps.length > MAX_STEPS) {
    throw operation.mistake(
      `the path of ${label} is not a list of at most ${MAX_STEPS} names and indexes`,
    );
  }
  if (!steps.every((step) => typeof step === "number" || isStorableText(step))) {
    throw dbError(operation.action, {
      code: "CheckViolation",
      fields: [name],
      reason: `the path of ${label} has U+0000 or a lone surrogate`,
    });
  }
  return steps as (string | number)[];
}
