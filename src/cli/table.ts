/**
 * Rows with their columns in line.
 *
 * @module
 */
import { stripVTControlCharacters } from "node:util";
import { paint } from "./terminal.ts";

/** Writes rows below a heading; the columns are as wide as what is in them. */
export function table(heading: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [heading.map((title) => paint("bold", title)), ...rows];
  const widths = heading.map((_, column) =>
    Math.max(...all.map((row) => widthOf(row[column] ?? "")))
  );
  return all.map((row) =>
    row.map((cell, column) => padded(cell, widths[column] ?? 0)).join("  ").trimEnd()
  )
    .join("\n");
}

function padded(cell: string, width: number): string {
  return cell + " ".repeat(width - widthOf(cell));
}

/** Colours take no room. */
function widthOf(cell: string): number {
  return stripVTControlCharacters(cell).length;
}
