/**
 * Reading files that may be missing.
 *
 * @module
 */
import { existsSync, lstatSync, readdirSync, readFileSync, statSync } from "node:fs";

/** Reads a file; returns `undefined` if it is missing. */
export function readText(file: string): string | undefined {
  return existsSync(file) && statSync(file).isFile() ? readFileSync(file, "utf8") : undefined;
}

/** Checks whether a path exists, as a broken link too. */
export function isTaken(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false; // the parent is a file
  }
}

/** Checks whether a path is a folder. */
export function isFolder(path: string): boolean {
  return existsSync(path) && statSync(path).isDirectory();
}

/** Lists the contents of a folder, which may be missing. */
export function listFolder(path: string): readonly string[] {
  return isFolder(path) ? readdirSync(path) : [];
}

/** A quoted text, or a comment. */
const TEXT_OR_COMMENT = /("(?:\\.|[^"\\\n])*")|\/\/.*|\/\*[^]*?\*\//g;

/** Removes the comments of TypeScript or JSON with comments. */
export function withoutComments(text: string): string {
  return text.replaceAll(TEXT_OR_COMMENT, "$1");
}
