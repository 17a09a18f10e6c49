/**
 * Paths that lead out of a folder.
 *
 * @module
 */
import { realpathSync } from "node:fs";
import { dirname, isAbsolute, relative, resolve, sep } from "node:path";
import { isTaken } from "./files.ts";

/** Tells whether a path, or a link on it, leads out of a folder. */
export function isOutside(root: string, path: string): boolean {
  const target = resolve(root, path);
  let existing = target;
  while (!isTaken(existing)) existing = dirname(existing);
  return leadsOut(root, target) || leadsOut(realpathSync(root), realPathOf(existing));
}

function leadsOut(from: string, to: string): boolean {
  const way = relative(from, to);
  return way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way);
}

/** Follows links; one that leads nowhere might lead anywhere. */
function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return sep;
  }
}
