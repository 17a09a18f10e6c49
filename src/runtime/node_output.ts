/**
 * The output of a process of Node.
 *
 * @module
 */
import { getRuntimeKey } from "hono/adapter";

/**
 * Waits on Node until a slow reader of a pipe has what was written: the exit would lose it. The
 * other runtimes write it at once.
 */
export async function outputWritten(): Promise<void> {
  if (getRuntimeKey() !== "node") return;
  const { stdout, stderr } = globalThis.process;
  await Promise.all(
    [stdout, stderr].map((output) =>
      new Promise<void>((resolve) => void output.write("", () => resolve()))
    ),
  );
}

/**
 * Drops output that cannot be written, because its reader has closed it or the disk is full, as
 * the other runtimes do: the failure of a write would end the process. Listeners of the application
 * for these failures replace that.
 */
export function ignoreOutputErrors(): void {
  const { stdout, stderr } = globalThis.process;
  for (const output of [stdout, stderr]) {
    if (output.listenerCount("error") === 0) output.on("error", () => {});
  }
}
