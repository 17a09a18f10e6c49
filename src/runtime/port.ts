/**
 * The port that the environment asks for.
 *
 * @module
 */
import { readEnv } from "../platform/env.ts";

/** Reads a port from a variable: an unsigned 16-bit integer, else the fallback. */
export function portFromEnv(name = "PORT", fallback = 3000): number {
  const text = readEnv(name) ?? "";
  const port = Number(text);
  return /^\d+$/.test(text) && port <= 65_535 ? port : fallback;
}
