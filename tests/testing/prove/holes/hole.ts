/** Holes that are put into applications, each as a change of one text. */
import assert from "node:assert/strict";
import type { PartName } from "../../../../src/testing/mod.ts";

/** A hole. */
export interface Hole {
  /** What is wrong then. */
  readonly name: string;
  /** The file, from the folder of the application. */
  readonly file: string;
  /** The text that is replaced, which the file has once. */
  readonly text: string;
  readonly replacement: string;
  /** The part of `fw prove` that finds it. */
  readonly part: PartName;
  /** The route and the message of the failure. */
  readonly failure: RegExp;
  /** Whether it is tried each time, not only with the others. */
  readonly isTelling?: boolean;
}

/** Returns the files of an application with a hole. */
export function patched(
  files: ReadonlyMap<string, string>,
  { name, file, text, replacement }: Hole,
): ReadonlyMap<string, string> {
  const [before, after, ...others] = files.get(file)?.split(text) ?? [];
  assert.ok(after !== undefined && others.length === 0, `${name}: ${file} has its text once`);
  return new Map([...files, [file, `${before}${replacement}${after}`]]);
}
