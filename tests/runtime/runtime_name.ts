/** Which runtime runs the tests, for what the runtimes do differently. */
import { getRuntimeKey } from "hono/adapter";

/** `deno`, `bun` or `node`. */
export const RUNTIME: string = getRuntimeKey();
