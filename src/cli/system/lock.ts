/**
 * A lock between processes.
 *
 * @module
 */
import { closeSync, lstatSync, openSync, rmSync } from "node:fs";
import { basename } from "node:path";
import { CliError } from "../terminal/cli_error.ts";

/** After how many milliseconds a lock counts as left by a process that was killed. */
const STALE_MS = 10_000;

/** How long to wait before the next attempt, in milliseconds. */
const RETRY_MS = 20;

/**
 * Runs work while a file exists that no other process has created. It waits for the others, whose
 * work takes milliseconds. Only Deno has locks that end with their process, so a lock that is 10 s
 * old is removed.
 *
 * @throws {CliError} if the file cannot be created, or something else has its name
 */
export function withLock(file: string, work: () => void): void {
  while (!create(file)) {
    if (isStale(file)) remove(file);
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
  }
  try {
    work();
  } finally {
    rmSync(file, { force: true });
  }
}

/** Creates a file; returns whether it was missing. */
function create(file: string): boolean {
  try {
    closeSync(openSync(file, "wx"));
    return true;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw failure(file, cause);
  }
}

/** Removes the lock of another process. */
function remove(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch (cause) {
    throw failure(file, cause);
  }
}

/** Checks whether a lock is old, also on a file system whose clock is ahead. */
function isStale(file: string): boolean {
  const lock = lstatSync(file, { throwIfNoEntry: false });
  if (!lock) return false;
  if (!lock.isFile()) {
    throw new CliError(`Cannot write ${basename(file)}: it exists, and is not a file; remove it`);
  }
  return Math.abs(Date.now() - lock.mtimeMs) > STALE_MS;
}

function failure(file: string, cause: unknown): CliError {
  const { code = "an error" } = cause as NodeJS.ErrnoException;
  return new CliError(`Cannot write ${basename(file)}: ${code}`, { cause });
}
