/**
 * Rows with their columns in line.
 *
 * @module
 */
import { stripVTControlCharacters } from "node:util";
import { paint } from "./terminal.ts";

/** Writes rows, below a heading if there is one; the columns are as wide as what is in them. */
export function table(
  rows: readonly (readonly string[])[],
  { heading }: { readonly heading?: readonly string[] } = {},
): string {
  const all = heading ? [heading.map((title) => paint("bold", title)), ...rows] : rows;
  const widths = (all[0] ?? []).map((_, column) =>
    Math.max(...all.map((row) => widthOf(row[column] ?? "")))
  );
  const lines = all.map((row) =>
    row.map((cell, column) => pad(cell, widths[column] ?? 0)).join("  ")
  );
  return lines.map((line) => line.trimEnd()).join("\n");
}

function pad(cell: string, width: number): string {
  return cell + " ".repeat(width - widthOf(cell));
}

/** Colours take no room. */
function widthOf(cell: string): number {
  return stripVTControlCharacters(cell).length;
}
