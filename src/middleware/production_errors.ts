/**
 * Tells whether the process runs in production, where the detail of an error is not for clients.
 *
 * @module
 */

/**
 * Tells whether the environment variable `FW_ENV` is `production`. On a runtime without process
 * environment it is not. On Deno, reading it needs `--allow-env=FW_ENV`.
 */
export function isProduction(): boolean {
  return globalThis.process?.env?.FW_ENV === "production";
}
