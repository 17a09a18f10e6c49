/**
 * Additions to a source file of a project: an import, and an item of a list. Unsafe
 * ones are not made.
 *
 * @module
 */
import type {
  ArrayExpression,
  CallExpression,
  Node,
  ObjectExpression,
  Program,
} from "@babel/types";
import { importName, specifierOfName } from "./imports.ts";
import {
  callsOf,
  insertAll,
  type Insertion,
  nameOf,
  parseModule,
  propertyOf,
  type Span,
  spanOf,
} from "./syntax.ts";

/** An addition to a file. */
export interface Addition {
  /** The name to import and to list. */
  readonly name: string;
  /** Where it is imported from: `./cats/cats_module.ts`. */
  readonly from: string;
}

/** The lists of a module. */
export type ModuleList = "imports" | "providers" | "controllers";

/** A list in code. */
export type List = ArrayExpression | ObjectExpression;

/** Where an item is added. */
export interface Place {
  /** Finds its list, before and after. */
  readonly find: (program: Program) => List | undefined;
  /** The text of the item. */
  readonly item: string;
}

/**
 * Lists something in the only `module({ … })` of a file. Returns the new text, the same if it is
 * listed already, or `undefined` if the file is not understood or has something else of that name.
 */
export async function addToModule(
  source: string,
  { name, from, list }: Addition & { readonly list: ModuleList },
): Promise<string | undefined> {
  const program = await parseModule(source);
  const options = program && onlyObject(program, "module");
  if (!program || !options) return undefined;
  const value = propertyOf(options, list);
  if (value === undefined && !isPlain(options)) return undefined;
  if (value !== undefined && value.type !== "ArrayExpression") return undefined;
  if (value?.elements.some((element) => element && nameOf(element) === name)) {
    return specifierOfName(program, name) === from ? source : undefined;
  }
  const place: Place = value === undefined
    ? { find: (program) => onlyObject(program, "module"), item: `${list}: [${name}]` }
    : { find: (program) => listIn(program, list), item: name };
  return await appendTo(source, { ...place, imported: { name, from } });
}

/**
 * Lists a model in the only `DbService.with({ … })` of a file, or spreads models into it if they
 * have no accessor; returns the same as `addToModule`.
 */
export async function addToDatabase(
  source: string,
  { name, from, accessor }: Addition & { readonly accessor?: string },
): Promise<string | undefined> {
  const program = await parseModule(source);
  const models = program && onlyObject(program, "DbService.with");
  if (!program || !models) return undefined;
  const item = accessor === undefined ? `...${name}` : `${accessor}: ${name}`;
  const isListed = accessor === undefined
    ? textsOf(models, source).includes(item)
    : propertyOf(models, accessor) !== undefined;
  if (isListed) return specifierOfName(program, name) === from ? source : undefined;
  return await appendTo(source, {
    find: (program) => onlyObject(program, "DbService.with"),
    item,
    imported: { name, from },
  });
}

/**
 * Appends an item to a list, with an import, and checks the result. Returns the new text, or
 * `undefined` if that is not safe.
 */
export async function appendTo(
  source: string,
  { find, item, imported }: Place & { readonly imported?: Addition | undefined },
): Promise<string | undefined> {
  const program = await parseModule(source);
  const list = program && find(program);
  const imports = program && imported ? importName(source, { program, ...imported }) : [];
  if (list === undefined || imports === undefined) return undefined;
  const text = insertAll(source, [...imports, ...appendItem(list, { source, item })]);
  const edited = await parseModule(text);
  const after = edited && find(edited);
  const expected = [...textsOf(list, source), item];
  const isAsExpected = after !== undefined &&
    JSON.stringify(textsOf(after, text)) === JSON.stringify(expected);
  return isAsExpected ? text : undefined;
}

/** Returns the object argument of the only call of a function. */
function onlyObject(program: Program, name: string): ObjectExpression | undefined {
  const [call, ...others]: readonly CallExpression[] = callsOf(program, name);
  const options = call?.arguments[0];
  return others.length === 0 && options?.type === "ObjectExpression" ? options : undefined;
}

function listIn(program: Program, list: ModuleList): ArrayExpression | undefined {
  const options = onlyObject(program, "module");
  const value = options && propertyOf(options, list);
  return value?.type === "ArrayExpression" ? value : undefined;
}

/** Without spreads, which may contain the list. */
function isPlain({ properties }: ObjectExpression): boolean {
  return properties.every(({ type }) => type === "ObjectProperty");
}

function textsOf(list: List, source: string): readonly string[] {
  const items: readonly (Node | null)[] = list.type === "ArrayExpression"
    ? list.elements
    : list.properties;
  return items.map((item) => {
    if (item === null) return "";
    const { start, end } = spanOf(item);
    return source.slice(start, end);
  });
}

/** Returns the insertions that append an item to a list, on its own line if the others are. */
function appendItem(
  list: ArrayExpression | ObjectExpression,
  { source, item }: { readonly source: string; readonly item: string },
): readonly Insertion[] {
  const { start, end } = spanOf(list);
  const close = end - 1;
  const items = list.type === "ArrayExpression" ? list.elements : list.properties;
  const lastItem = items.at(-1);
  const last = lastItem ? spanOf(lastItem) : undefined;
  const tail = source.slice(last?.end ?? start + 1, close);
  const comma = indexOfComma(tail);
  if (tail.includes("\n")) return ownLine(source, { close, last, hasComma: comma !== -1, item });
  if (last === undefined) {
    const isEmptyObject = tail === "" && source[close] === "}";
    return [{ at: close, text: isEmptyObject ? ` ${item} ` : item }];
  }
  if (comma === -1) return [{ at: last.end, text: `, ${item}` }];
  return [{ at: last.end + comma + 1, text: ` ${item}` }];
}

/** Inserts before the line of the closing bracket, so that comments keep their place. */
function ownLine(
  source: string,
  { close, last, hasComma, item }: {
    readonly close: number;
    readonly last: Span | undefined;
    readonly hasComma: boolean;
    readonly item: string;
  },
): readonly Insertion[] {
  const lineStart = source.lastIndexOf("\n", close) + 1;
  const newline = source.slice(0, lineStart).endsWith("\r\n") ? "\r\n" : "\n";
  const indent = last ? indentOf(source, last.start) : `${indentOf(source, close)}  `;
  const line = `${indent}${item}${hasComma || !last ? "," : ""}${newline}`;
  const separator = last && !hasComma ? [{ at: last.end, text: "," }] : [];
  return [...separator, { at: lineStart, text: line }];
}

/** Returns the indentation of the line of a position. */
function indentOf(source: string, place: number): string {
  const [indent = ""] = /^[ \t]*/.exec(source.slice(source.lastIndexOf("\n", place - 1) + 1)) ?? [];
  return indent;
}

/** Returns the index of a comma outside of comments, or -1. */
function indexOfComma(text: string): number {
  return text.replaceAll(/\/\*[^]*?\*\/|\/\/.*/g, (comment) => " ".repeat(comment.length))
    .indexOf(",");
}
