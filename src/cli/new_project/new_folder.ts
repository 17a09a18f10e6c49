/**
 * A folder that is there whole or not at all.
 *
 * @module
 */
import { randomUUID } from "node:crypto";
import { mkdirSync, renameSync, rmSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { CliError } from "../cli_error.ts";
import { isTaken } from "../read_text.ts";
import { SIGNALS } from "../signals.ts";

/**
 * Makes a folder: it is filled under another name, and then given its own. When filling it fails or is
 * interrupted, nothing is left.
 *
 * @throws {CliError} if there is one of that name, or none can be made here
 */
export async function makeFolder(
  { parent, name }: { readonly parent: string; readonly name: string },
  fill: (folder: string) => Promise<void>,
): Promise<void> {
  checkAbsent(parent, name);
  const draft = makeDraft(parent, name);
  const remove = () => rmSync(draft, { recursive: true, force: true });
  const interrupted = (signal: NodeJS.Signals) => {
    remove();
    process.exit(128 + constants.signals[signal]);
  };
  for (const signal of SIGNALS) process.on(signal, interrupted);
  try {
    await fill(draft);
    checkAbsent(parent, name); // a rename would take the place of an empty folder
    renameSync(draft, join(parent, name));
  } finally {
    for (const signal of SIGNALS) process.off(signal, interrupted);
    remove();
  }
}

/**
 * Checks that nothing has a name yet, a broken link included.
 *
 * @throws {CliError} if something has it
 */
export function checkAbsent(parent: string, name: string): void {
  if (isTaken(join(parent, name))) throw new CliError(`Cannot make ${name}: it exists`);
}

function makeDraft(parent: string, name: string): string {
  try {
    const draft = join(parent, `.${name}-${randomUUID()}`);
    mkdirSync(draft);
    return draft;
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new CliError(`Cannot make ${name}: no folder can be made here (${code})`, { cause });
  }
}
