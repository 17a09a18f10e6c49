/**
 * What is written where nobody reads it any more: `fw routes | head -1`.
 *
 * @module
 */
import process from "node:process";

/** Ends the process, without a word, once nobody reads what it writes. */
export function endWithReaders(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on(
      "error",
      (error: NodeJS.ErrnoException) => process.exit(isEndOfReader(error) ? 0 : 1),
    );
  }
  process.on("uncaughtException", (error: NodeJS.ErrnoException) => {
    if (isEndOfReader(error)) process.exit(0);
    throw error;
  });
}

function isEndOfReader({ code }: NodeJS.ErrnoException): boolean {
  return code === "EPIPE";
}
