/**
 * Prints how large the bundles of the entry points are, for the edge: minified, and compressed by gzip.
 *
 *     deno task size
 *
 * `at start` is what importing one runs, `whole` is that with all that it loads when it is needed.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { bundle, CORE_WITH_VERIFIER, sourceOf } from "../edge/bundle.ts";
import { ROOT } from "../support/project.ts";

/** They are for a terminal, and for TCP. */
const NOT_FOR_THE_EDGE = ["@fw/fw/cli", "@fw/fw/jobs/bullmq"];

const { exports } = JSON.parse(readFileSync(join(ROOT, "deno.json"), "utf8"));
const entryPoints = Object.entries<string>(exports).map(([name, file]) =>
  [join("@fw/fw", name), sourceOf(file)] as const
);
const rows = [
  ...entryPoints.filter(([name]) => !NOT_FOR_THE_EDGE.includes(name)),
  ["core with the verifier", CORE_WITH_VERIFIER],
  ["examples/edge.ts", sourceOf("./examples/edge.ts")],
] as const;

console.log(["bundle".padEnd(24), "at start", "whole"].join("\t"));
for (const [name, source] of rows) {
  const [atStart, whole] = await Promise.all([
    bundle(source, { lazyParts: false }),
    bundle(source),
  ]);
  console.log([name.padEnd(24), kib(atStart.gzipBytes), kib(whole.gzipBytes)].join("\t"));
}
process.exit(); // which esbuild would wait for

function kib(bytes: number): string {
  return `${(bytes / 1024).toFixed(1)} KiB`;
}
