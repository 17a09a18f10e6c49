/**
 * Finds conditions that hold for every row: a write of many rows refuses them.
 *
 * @module
 */
import { isPlainObject } from "../model/plain_object.ts";
import type { OperationContext } from "./operation.ts";
import { constantResult } from "./operators.ts";
import type { TableRelation } from "./table.ts";

/** An operator on a relation, and its condition, or `null`. */
export type RelationMember = readonly [operator: string, where: unknown];

type Constant = boolean | undefined;

const ONE_OPERATORS: readonly string[] = ["is", "isNot"];

/** Checks whether a member of a condition joins other conditions. */
export function isLogic(name: string): name is "AND" | "OR" | "NOT" {
  return name === "AND" || name === "OR" || name === "NOT";
}

/**
 * Returns the operators of a condition on one related row. Its other members are a condition on
 * that row, as those of `is` are.
 */
export function toOneMembers(value: unknown): readonly RelationMember[] {
  if (!isPlainObject(value)) return [["is", value]];
  const { operators = [], others = [] } = Object.groupBy(
    Object.entries(value),
    ([name]) => ONE_OPERATORS.includes(name) ? "operators" : "others",
  );
  if (operators.length > 0 && others.length === 0) return operators;
  return [...operators, ["is", Object.fromEntries(others)]];
}

/** Checks whether an operator on a relation holds where a related row meets the condition. */
export function asksForRow(operator: string, where: unknown): boolean {
  return (operator === "some" || operator === "is") === (where !== null);
}

/**
 * Checks whether a `Where` names a column or a relation, or has a function, in each of its
 * alternatives: one that does not may hold for every row.
 */
export function namesColumn(where: unknown): boolean {
  if (!isPlainObject(where)) return typeof where === "function";
  return Object.entries(where).some(([name, value]) => {
    if (!isLogic(name)) return true;
    if (!Array.isArray(value)) return namesColumn(value);
    return name === "OR" ? value.length > 0 && value.every(namesColumn) : value.some(namesColumn);
  });
}

/**
 * Returns `true` if a valid `Where` holds for every row, regardless of the rows, and `false` if it
 * holds for none: because of an empty list, an empty pattern, a null test on a column that is not
 * nullable, or a test whether there is a related row that must exist.
 */
export function constantOf(where: unknown, context: OperationContext): Constant {
  if (!isPlainObject(where)) return undefined;
  const { table, action } = context;
  const constant = (part: unknown) => constantOf(part, context);
  return all(Object.entries(where), ([name, value]) => {
    if (name === "NOT") return not(constant(value));
    if (name === "OR") return not(all(value as unknown[], (part) => not(constant(part))));
    if (name === "AND") return all(value as unknown[], constant);
    const relation = table.relations.get(name);
    if (relation) {
      const members = relation.kind === "many"
        ? Object.entries(value as object)
        : toOneMembers(value);
      return all(members, (member) => relationConstant(member, relation, context));
    }
    const column = table.column(name, action);
    if (!context.seesDeleted && column === table.mark) return markConstant(value);
    if (!isPlainObject(value)) {
      return constantResult({ column, operator: "equals", operand: value });
    }
    // The value at a path depends on the row.
    if (value.path !== undefined) return undefined;
    return all(
      Object.entries(value),
      ([operator, operand]) => constantResult({ column, operator, operand }),
    );
  });
}

/** The mark of a row that is seen is `null`. */
function markConstant(value: unknown): Constant {
  const { equals = value, isNull }: { readonly equals?: unknown; readonly isNull?: unknown } =
    isPlainObject(value) ? value : {};
  return equals === null || isNull === true ? true : undefined;
}

function relationConstant(
  [operator, where]: RelationMember,
  { kind, table }: TableRelation,
  { scope, seesDeleted, action }: OperationContext,
): Constant {
  const isMet = where === null || constantOf(where, { table, scope, seesDeleted, action });
  if (operator === "every") return isMet === true ? true : undefined;
  const isSeen = ![...scope.keys()].some(({ name }) => table.has(name)) &&
    (seesDeleted || !table.mark);
  const exists = isMet === false ? false : isMet && kind === "one" && isSeen ? true : undefined;
  return asksForRow(operator, where) ? exists : not(exists);
}

function all<T>(parts: readonly T[], constant: (part: T) => Constant): Constant {
  const constants = parts.map(constant);
  return constants.includes(false) ? false : constants.includes(undefined) ? undefined : true;
}

function not(constant: Constant): Constant {
  return constant === undefined ? undefined : !constant;
}
