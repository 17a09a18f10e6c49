/**
 * Lines of `prove.json`, which a run compares with what it finds: `GET /users/:id  ann  allowed`.
 *
 * @module
 */

/** What lines are about, and their last words; sorted as they are to be written. */
export type Lines = ReadonlyMap<string, string>;

/** A line that differs from the recorded one. */
export interface ChangedLine {
  /** The subject of the line. */
  readonly key: string;
  /** The last word of the recorded line; `undefined` for a new line. */
  readonly was: string | undefined;
  /** The last word of the line; `undefined` if it is missing. */
  readonly is: string | undefined;
}

/** Writes lines. */
export function writeLines(lines: Lines): readonly string[] {
  return [...lines].map(([key, word]) => `${key}  ${word}`);
}

/** Returns the lines that differ from those recorded; none if nothing is recorded. */
export function changedLines(lines: Lines, recorded: unknown): readonly ChangedLine[] {
  if (!Array.isArray(recorded)) return [];
  const before: Lines = new Map(recorded.map((line) => {
    const [, key = "", word = ""] = /^(.*) {2}(\S+)$/s.exec(String(line)) ?? [];
    return [key, word];
  }));
  const keys = [...new Set([...before.keys(), ...lines.keys()])];
  return keys.map((key) => ({ key, was: before.get(key), is: lines.get(key) }))
    .filter(({ was, is }) => was !== is);
}
