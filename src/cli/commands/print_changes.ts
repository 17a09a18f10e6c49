/**
 * Telling what is written.
 *
 * @module
 */
import type { Change } from "../system/file_plan.ts";
import { paint, print } from "../terminal/terminal.ts";

const STYLES = { create: "green", overwrite: "red", update: "cyan" } as const;

/** Prints the files that are written, and what the user is to know of them. */
export function printChanges(
  changes: readonly Pick<Change, "verb" | "path">[],
  notes: readonly string[] = [],
): void {
  for (const { verb, path } of changes) print(`${paint(STYLES[verb], verb)} ${path}`);
  for (const note of notes) print(`${paint("yellow", "note")} ${note}`);
}
