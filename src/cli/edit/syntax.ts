/**
 * TypeScript as a tree, with the places of its parts in the text.
 *
 * @module
 */

/** A part of the text. */
export interface Node {
  /** What it is, as Babel names it: `CallExpression`. */
  readonly type: string;
  /** Where it begins in the text. */
  readonly start: number;
  /** Where it ends: behind its last character. */
  readonly end: number;
}

/** A call of a function. */
export interface Call extends Node {
  readonly callee: Node;
  readonly arguments: readonly Node[];
}

/** A list between brackets or braces. */
export interface List extends Node {
  /** What is in it; holes are `null`. */
  readonly items: readonly (Node | null)[];
}

/** One text that is to be inserted in another. */
export interface Insertion {
  readonly at: number;
  readonly text: string;
}

/** Parses a module; gives nothing if it is none. The parser is loaded by the first call. */
export async function parseModule(source: string): Promise<Node | undefined> {
  const { parse } = await import("@babel/parser");
  try {
    const { program } = parse(source, { sourceType: "module", plugins: ["typescript"] });
    return isNode(program) ? program : undefined;
  } catch {
    return undefined;
  }
}

/** Gives a part and all parts of it, in the order of the text. */
export function* partsOf(node: Node): Generator<Node> {
  yield node;
  for (const value of Object.values(node)) {
    for (const part of Array.isArray(value) ? value : [value]) {
      if (isNode(part)) yield* partsOf(part);
    }
  }
}

/** Gives the calls of a function, or of the method of an object: `module`, `DbService.with`. */
export function callsOf(program: Node, name: string): readonly Call[] {
  return [...partsOf(program)].filter((node): node is Call =>
    node.type === "CallExpression" && nameOf((node as Call).callee) === name
  );
}

/** Gives a list literal, of values or of properties, as a list; of anything else, nothing. */
export function asList(node: Node | null | undefined): List | undefined {
  if (!node) return undefined;
  const { elements, properties } = node as { elements?: Node[]; properties?: Node[] };
  if (node.type === "ArrayExpression") return { ...node, items: elements ?? [] };
  return node.type === "ObjectExpression" ? { ...node, items: properties ?? [] } : undefined;
}

/** Gives the value of a property of an object literal. */
export function propertyOf(object: List, name: string): Node | undefined {
  const properties = object.items as readonly ({ key?: Node; value?: Node } | null)[];
  return properties.find((property) => property?.key && nameOf(property.key) === name)?.value;
}

/** Gives the name that an identifier, a quoted key or a member of an object is written as. */
export function nameOf(node: Node): string | undefined {
  const { name, value, object, property } = node as Node & {
    name?: string;
    value?: string;
    object?: Node;
    property?: Node;
  };
  if (node.type === "Identifier") return name;
  if (node.type === "StringLiteral") return value;
  if (node.type !== "MemberExpression" || !object || !property) return undefined;
  return `${nameOf(object)}.${nameOf(property)}`;
}

/** Makes all insertions in a text. */
export function inserted(source: string, insertions: readonly Insertion[]): string {
  return insertions.toSorted((a, b) => b.at - a.at).reduce(
    (text, { at, text: added }) => text.slice(0, at) + added + text.slice(at),
    source,
  );
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && "start" in value &&
    typeof value.type === "string" && typeof value.start === "number";
}
