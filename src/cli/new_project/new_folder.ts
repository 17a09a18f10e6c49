/**
 * A folder that is there whole or not at all.
 *
 * @module
 */
import { randomUUID } from "node:crypto";
import { mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { CliError } from "../terminal/cli_error.ts";
import { isTaken } from "../system/files.ts";
import { interruptible } from "../terminal/interruption.ts";

/**
 * Makes a folder: it is filled under another name, and then given its own. When filling it fails or is
 * interrupted, nothing is left.
 *
 * @throws {CliError} if there is one of that name, or none can be made here
 * @throws {Interruption} if a signal came
 */
export async function makeFolder(
  { parent, name }: { readonly parent: string; readonly name: string },
  fill: (folder: string, aborted: AbortSignal) => Promise<void>,
): Promise<void> {
  checkAbsent(parent, name);
  await interruptible(async (aborted) => {
    const draft = makeDraft(parent, name);
    try {
      await fill(draft, aborted);
      aborted.throwIfAborted();
      checkAbsent(parent, name); // a rename would take the place of an empty folder
      renameSync(draft, join(parent, name));
    } finally {
      // what was killed may leave children that write for a moment
      rmSync(draft, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
    }
  });
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
  const draft = join(parent, `.${name}-${randomUUID()}`);
  try {
    mkdirSync(draft);
    return draft;
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new CliError(`Cannot make ${name}: no folder can be made here (${code})`, { cause });
  }
}
