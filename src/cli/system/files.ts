/**
 * Reading files that may be missing.
 *
 * @module
 */
import { existsSync, lstatSync, readdirSync, readFileSync, statSync } from "node:fs";

/** Reads a file; gives nothing where there is none. */
export function readText(file: string): string | undefined {
  return existsSync(file) && statSync(file).isFile() ? readFileSync(file, "utf8") : undefined;
}

/** Tells whether something has a path, a link that leads nowhere included. */
export function isTaken(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false; // below a file there is nothing
  }
}

/** Checks whether a path is that of a folder. */
export function isFolder(path: string): boolean {
  return existsSync(path) && statSync(path).isDirectory();
}

/** Lists what is in a folder; nothing where there is none. */
export function listFolder(path: string): readonly string[] {
  return isFolder(path) ? readdirSync(path) : [];
}

/** Text in quotes, which is kept, or a comment. */
const TEXT_OR_COMMENT = /("(?:\\.|[^"\\\n])*")|\/\/.*|\/\*[^]*?\*\//g;

/** Takes the comments out of TypeScript, or of JSON that has some. */
export function withoutComments(text: string): string {
  return text.replaceAll(TEXT_OR_COMMENT, "$1");
}
