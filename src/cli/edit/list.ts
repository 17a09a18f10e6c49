/**
 * Adding to a list in a text, written as the list is.
 *
 * @module
 */
import type { Insertion, List } from "./syntax.ts";

/** Gives what appends an item to a list, on a line of its own where the others are. */
export function appending(source: string, list: List, item: string): readonly Insertion[] {
  const close = list.end - 1;
  const last = list.items.at(-1);
  const tail = source.slice(last?.end ?? list.start + 1, close);
  const hasComma = withoutComments(tail).includes(",");
  if (tail.includes("\n")) {
    const lineStart = source.lastIndexOf("\n", close) + 1;
    const newline = source.slice(0, lineStart).endsWith("\r\n") ? "\r\n" : "\n";
    const indent = indentOf(source, last?.start ?? close) + (last ? "" : "  ");
    const line = `${indent}${item}${hasComma || !last ? "," : ""}${newline}`;
    return [...last && !hasComma ? [{ at: last.end, text: "," }] : [], {
      at: lineStart,
      text: line,
    }];
  }
  if (!last) {
    return [{ at: close, text: tail === "" && source[close] === "}" ? ` ${item} ` : item }];
  }
  return hasComma
    ? [{ at: last.end + tail.indexOf(",") + 1, text: ` ${item}` }]
    : [{ at: last.end, text: `, ${item}` }];
}

/** Gives the space before the line that a place is on. */
function indentOf(source: string, place: number): string {
  const [indent = ""] = /^[ \t]*/.exec(source.slice(source.lastIndexOf("\n", place - 1) + 1)) ?? [];
  return indent;
}

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[^]*?\*\/|\/\/.*/g, "");
}
