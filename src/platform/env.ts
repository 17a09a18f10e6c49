/**
 * Reading single variables of the process environment.
 *
 * @module
 */

/**
 * Reads a variable of the process environment: `undefined` if it is not set, or on a runtime without
 * process environment. On Deno it needs `--allow-env` for that name.
 */
export function readEnv(name: string): string | undefined {
  return globalThis.process?.env?.[name];
}

/** Tells whether `FW_ENV` is `production`. It throws where the process may not read that. */
export function isProduction(): boolean {
  return readEnv("FW_ENV") === "production";
}
