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

/** Reads a port from a variable: an unsigned 16-bit integer, else the fallback. */
export function portFromEnv(name = "PORT", fallback = 3000): number {
  const text = readEnv(name) ?? "";
  const port = Number(text);
  return /^\d+$/.test(text) && port <= 65_535 ? port : fallback;
}
