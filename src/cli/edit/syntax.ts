/**
 * TypeScript as a tree, with the places of its parts in the text.
 *
 * @module
 */
import type { CallExpression, Node, ObjectExpression, Program } from "@babel/types";

/** Where a part is in the text. */
export interface Span {
  /** Where it begins. */
  readonly start: number;
  /** Where it ends: behind its last character. */
  readonly end: number;
}

/** A text that is to be inserted in another. */
export interface Insertion {
  /** Where it goes. */
  readonly at: number;
  /** The text. */
  readonly text: string;
}

/** Parses a module; gives nothing if it is none. The parser is loaded by the first call. */
export async function parseModule(source: string): Promise<Program | undefined> {
  const { parse } = await import("@babel/parser");
  try {
    return parse(source, { sourceType: "module", plugins: ["typescript"] }).program;
  } catch {
    return undefined;
  }
}

/** Gives the calls of a function, or of the method of an object: `module`, `DbService.with`. */
export function callsOf(program: Program, name: string): readonly CallExpression[] {
  return [...partsOf(program)]
    .filter((node) => node.type === "CallExpression")
    .filter(({ callee }) => nameOf(callee) === name);
}

/** Gives the value of a property of an object literal. */
export function propertyOf({ properties }: ObjectExpression, name: string): Node | undefined {
  return properties
    .filter((property) => property.type === "ObjectProperty")
    .find(({ key }) => nameOf(key) === name)?.value;
}

/** Gives the name that an identifier, a quoted key or a member of an object is written as. */
export function nameOf(node: Node): string | undefined {
  switch (node.type) {
    case "Identifier":
      return node.name;
    case "StringLiteral":
      return node.value;
    case "MemberExpression":
      return `${nameOf(node.object)}.${nameOf(node.property)}`;
    default:
      return undefined;
  }
}

/** Gives the place of a part, which everything that was parsed has. */
export function spanOf({ start, end }: Node): Span {
  return { start: start ?? 0, end: end ?? 0 };
}

/** Makes all insertions in a text. */
export function insertAll(source: string, insertions: readonly Insertion[]): string {
  return insertions.toSorted((a, b) => b.at - a.at).reduce(
    (text, { at, text: added }) => text.slice(0, at) + added + text.slice(at),
    source,
  );
}

/** Gives a part and all parts of it, in the order of the text. */
function* partsOf(node: Node): Generator<Node> {
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
