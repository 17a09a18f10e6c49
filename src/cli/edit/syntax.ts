/**
 * The syntax tree of TypeScript.
 *
 * @module
 */
import type { CallExpression, Node, ObjectExpression, Program } from "@babel/types";

/** The position of a node in the text. */
export interface Span {
  /** The index of the first character. */
  readonly start: number;
  /** The index after the last character. */
  readonly end: number;
}

/** A text to insert. */
export interface Insertion {
  /** The index to insert it at. */
  readonly at: number;
  /** The text. */
  readonly text: string;
}

/** A text in place of another. */
export interface Replacement extends Span {
  /** The text. */
  readonly text: string;
}

/** Parses a module; returns `undefined` if it is invalid. The first call loads the parser. */
export async function parseModule(source: string): Promise<Program | undefined> {
  const { parse } = await import("@babel/parser");
  try {
    return parse(source, { sourceType: "module", plugins: ["typescript"] }).program;
  } catch {
    return undefined;
  }
}

/** Returns the calls of a function or method: `module`, `DbService.with`. */
export function callsOf(program: Program, name: string): readonly CallExpression[] {
  return [...partsOf(program)]
    .filter((node) => node.type === "CallExpression")
    .filter(({ callee }) => nameOf(callee) === name);
}

/** Returns the value of a property of an object literal. */
export function propertyOf({ properties }: ObjectExpression, name: string): Node | undefined {
  return properties
    .filter((property) => property.type === "ObjectProperty")
    .find(({ key }) => nameOf(key) === name)?.value;
}

/** Returns the name of an identifier, a quoted key, a private name or a member expression. */
export function nameOf(node: Node): string | undefined {
  switch (node.type) {
    case "Identifier":
      return node.name;
    case "StringLiteral":
      return node.value;
    case "PrivateName":
      return `#${node.id.name}`;
    case "MemberExpression":
      return `${nameOf(node.object)}.${nameOf(node.property)}`;
    default:
      return undefined;
  }
}

/** Returns the position of a parsed node. */
export function spanOf({ start, end }: Node): Span {
  return { start: start ?? 0, end: end ?? 0 };
}

/** Applies insertions to a text. */
export function insertAll(source: string, insertions: readonly Insertion[]): string {
  return replaceAll(source, insertions.map(({ at, text }) => ({ start: at, end: at, text })));
}

/** Applies replacements, which do not overlap, to a text. */
export function replaceAll(source: string, replacements: readonly Replacement[]): string {
  return replacements.toSorted((a, b) => b.start - a.start).reduce(
    (text, { start, end, text: added }) => text.slice(0, start) + added + text.slice(end),
    source,
  );
}

/** Returns a node and its descendants, in the order of the text. */
export function* partsOf(node: Node): Generator<Node> {
  yield node;
  for (const value of Object.values(node)) {
    for (const part of Array.isArray(value) ? value : [value]) {
      if (isNode(part)) yield* partsOf(part);
    }
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && "start" in value &&
    typeof value.type === "string" && typeof value.start === "number";
}
