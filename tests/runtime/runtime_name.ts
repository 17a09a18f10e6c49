/** The runtime of the tests, for assertions that differ between runtimes. */
import { getRuntimeKey } from "hono/adapter";

/** `deno`, `bun` or `node`. */
export const RUNTIME: string = getRuntimeKey();
