/**
 * Adding to a list in a text, written as the list is.
 *
 * @module
 */
import type { ArrayExpression, ObjectExpression } from "@babel/types";
import { type Insertion, type Span, spanOf } from "./syntax.ts";

/** Gives what appends an item to a list, on a line of its own where the others are. */
export function appendItem(
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

/** Before the line of the closing bracket, so that comments stay with what they stand by. */
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

/** Gives the space before the line that a place is on. */
function indentOf(source: string, place: number): string {
  const [indent = ""] = /^[ \t]*/.exec(source.slice(source.lastIndexOf("\n", place - 1) + 1)) ?? [];
  return indent;
}

/** Finds a comma that is not in a comment; -1 where there is none. */
function indexOfComma(text: string): number {
  return text.replaceAll(/\/\*[^]*?\*\/|\/\/.*/g, (comment) => " ".repeat(comment.length))
    .indexOf(",");
}
