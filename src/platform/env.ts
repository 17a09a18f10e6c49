/**
 * Reads variables of the process environment.
 *
 * @module
 */

/**
 * Reads a variable of the process environment: `undefined` if it is not set, or if the runtime has
 * no process environment. On Deno it needs `--allow-env` for the name.
 */
export function readEnv(name: string): string | undefined {
  return globalThis.process?.env?.[name];
}

/** Checks whether `FW_ENV` is `production`. Throws if the process has no permission to read it. */
export function isProduction(): boolean {
  return readEnv("FW_ENV") === "production";
}

/** Checks whether logs are JSON lines: `FW_ENV` is `production`, and the process may read it. */
export function logsJson(): boolean {
  try {
    return isProduction();
  } catch {
    return false;
  }
}

/** Checks whether `FW_ENV` is `development`; it is not if the process may not read that. */
export function isDevelopment(): boolean {
  try {
    return readEnv("FW_ENV") === "development";
  } catch {
    return false;
  }
}

/** Returns the port in a variable if it is an unsigned 16-bit integer, otherwise the fallback. */
export function portFromEnv(name = "PORT", fallback = 3000): number {
  const text = readEnv(name) ?? "";
  const port = Number(text);
  return /^\d+$/.test(text) && port <= 65_535 ? port : fallback;
}
