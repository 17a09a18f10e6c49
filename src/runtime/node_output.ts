/**
 * The output of a process of Node.
 *
 * @module
 */

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
