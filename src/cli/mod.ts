/**
 * The command line tool `fw`: `deno run -A jsr:@fw/fw/cli`, or installed by
 * `deno install -gA -n fw jsr:@fw/fw/cli`.
 *
 * @example
 * ```ts
 * import { main } from "@fw/fw/cli";
 *
 * const exitCode = await main(["--version"]);
 * console.assert(exitCode === 0);
 * ```
 *
 * @module
 */
import process from "node:process";
import { endWithReaders, main } from "./main.ts";

export { main } from "./main.ts";

if (import.meta.main) {
  endWithReaders();
  process.exitCode = await main(process.argv.slice(2));
}
