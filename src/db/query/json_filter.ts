/**
 * Reads conditions on the value at a path in JSON, and builds their SQL.
 *
 * @module
 */
import { type Expression, sql, type SqlBool } from "kysely";
import type { JsonKind, JsonParts, TextMatch } from "../connection/grammar.ts";
import { dbError } from "../errors.ts";
import { membersOf } from "../model/plain_object.ts";
import { isStorableText } from "../model/stored_value.ts";
import { every } from "./filters.ts";
import type { Operation } from "./operation.ts";
import type { Filter } from "./operators.ts";
import type { TableColumn } from "./table.ts";

/** A condition on a value of JSON; `undefined` stands for one that holds for every value. */
type Test = ((value: JsonParts) => Expression<SqlBool>) | undefined;

/** The values of a kind that meet a condition. */
interface Match {
  readonly kind: JsonKind;
  readonly test: Test;
}

const COMPARISONS = { lt: "<", lte: "<=", gt: ">", gte: ">=" } as const;
const TEXT_MATCHES: Readonly<Record<string, TextMatch>> = {
  string_contains: "contains",
  string_starts_with: "startsWith",
  string_ends_with: "endsWith",
};
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

function readOperator(
  { column, operator, operand }: {
    readonly column: TableColumn;
    readonly operator: string;
    readonly operand: unknown;
  },
  operation: Operation,
): Build {
  const { grammar, label } = column;
  const refuse = (type: string) =>
    dbError(operation.action, {
      code: "CheckViolation",
      fields: [column.name],
      reason: `${label} ${operator} takes ${type}, not ${
        operand === null ? "null" : typeof operand
      }`,
    });
  const kindIs = ({ type }: JsonParts, kind: JsonKind) =>
    sql<SqlBool>`${type} in (${sql.join(grammar.json.kinds[kind].map((name) => sql.lit(name)))})`;
  // Without a value, the type is null, and so is the result.
  const matches = ({ kind, test }: Match): Build => (at) =>
    at((value) =>
      sql<SqlBool>`case when ${kindIs(value, kind)} then ${test?.(value) ?? sql`1 = 1`}
        else ${value.type} = '' end`
    );
  const equalTo = (scalar: unknown): Match | undefined => {
    const kind = scalar === null ? "null" : typeof scalar;
    switch (kind) {
      case "null":
        operation.add("null");
        return { kind, test: undefined };
      case "boolean":
        operation.add(`${scalar}`);
        return {
          kind,
          test: ({ isTrue }) => scalar ? isTrue : sql<SqlBool>`not (${isTrue})`,
        };
      case "number": {
        if (!Number.isFinite(scalar)) return undefined;
        const slot = operation.bind("number", Number(scalar) + 0);
        return { kind, test: ({ number }) => sql`${number} = ${grammar.json.number(slot)}` };
      }
      case "string": {
        if (!isStorableText(scalar)) return undefined;
        const slot = operation.bind("string", scalar);
        return { kind, test: ({ text }) => sql`${text} = ${grammar.json.text(slot)}` };
      }
    }
    return undefined;
  };
  const SCALAR = "a string, a number, a boolean or null";
  switch (operator) {
    case "equals":
    case "not": {
      const match = equalTo(operand);
      if (!match) throw refuse(SCALAR);
      const equals = matches(match);
      return operator === "equals" ? equals : (at) => sql<SqlBool>`not (${equals(at)})`;
    }
    case "lt":
    case "lte":
    case "gt":
    case "gte": {
      if (typeof operand !== "number" || !Number.isFinite(operand)) throw refuse("a number");
      const slot = operation.bind("?", operand + 0);
      const test: Test = ({ number }) =>
        sql`${number} ${sql.raw(COMPARISONS[operator])} ${grammar.json.number(slot)}`;
      return matches({ kind: "number", test });
    }
    case "string_contains":
    case "string_starts_with":
    case "string_ends_with": {
      if (typeof operand !== "string" || !isStorableText(operand)) throw refuse("a string");
      const match = TEXT_MATCHES[operator]!;
      const slot = operation.bind("?", grammar.pattern(match, operand));
      return matches({ kind: "string", test: ({ text }) => grammar.matches(match, text, slot) });
    }
    case "array_contains": {
      const scalars = Array.isArray(operand) ? Array.from(operand) : [operand];
      const all = scalars.map((scalar) => {
        const match = equalTo(scalar);
        if (!match) throw refuse(`a list of ${SCALAR}`);
        operation.add(";");
        return matches(match);
      });
      const test: Test = ({ has }) =>
        all.length === 0
          ? sql`1 = 1`
          : sql.join(all.map((element) => element(has)), sql.raw(" and ")) as Expression<SqlBool>;
      return matches({ kind: "array", test });
    }
    case "isSet": {
      if (typeof operand !== "boolean") throw refuse("a boolean");
      operation.add(`${operand}`);
      return (at) => {
        const isSet = sql<SqlBool>`coalesce(${at(({ type }) => sql`${type} <> ''`)}, 1 = 0)`;
        return operand ? isSet : sql`not (${isSet})`;
      };
    }
  }
  throw operation.mistake(
    `${label} with a path takes no ${JSON.stringify(operator)}`,
  );
}

function readPath(
  path: unknown,
  { label }: TableColumn,
  operation: Operation,
): readonly (string | number)[] {
  const steps: readonly unknown[] = Array.isArray(path) ? Array.from(path) : [undefined];
  const isPath = steps.every((step) =>
    typeof step === "number"
      ? Number.isInteger(step) && step >= 0 && step <= MAX_INDEX
      : isStorableText(step)
  );
  if (!isPath || steps.length > MAX_STEPS) {
    throw operation.mistake(
      `the path of ${label} is not a list of at most ${MAX_STEPS} names and indexes`,
    );
  }
  return steps as (string | number)[];
}
