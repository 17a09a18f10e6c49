/**
 * Runs the tests on Deno, four isolates at a time; those of some folders with
 * `deno task test FOLDER…`, all but those of one with `--ignore=FOLDER`. An isolate runs up to 16
 * files of an area: to load what they share takes longer than most tests.
 *
 * @module
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { ROOT, sourceFiles } from "../support/project.ts";

const MAX_FILES = 16;
const ISOLATES = "4";
/** The areas of the longest tests: begun last, they would leave one isolate at the end. */
const FIRST = ["tests/testing", "tests/jobs", "tests/cli", "tests/runtime"];

const { values: { ignore = "/" }, positionals: wanted } = parseArgs({
  options: { ignore: { type: "string" } },
  allowPositionals: true,
});
const files = (wanted.length === 0 ? ["tests"] : wanted).flatMap(sourceFiles)
  .filter((file) => file.endsWith("_test.ts") && !file.startsWith(ignore));
// in the project, as what tests run is a program of it
const parent = await mkdtemp(join(ROOT, ".tests-"));
let status: number | null;
try {
  const modules: string[] = [];
  const areas = [...Map.groupBy(files.sort(), areaOf)].sort(([a], [b]) => rank(a) - rank(b));
  for (const [area, siblings] of areas) {
    for (let i = 0; i < siblings.length; i += MAX_FILES) {
      const path = join(parent, `${area.replaceAll(/\W/g, "_")}_${i / MAX_FILES}_test.ts`);
      await writeFile(path, siblings.slice(i, i + MAX_FILES).map(importOf).join(""));
      modules.push(path);
    }
  }
  const args = ["test", "-A", "--no-check", "--parallel", ...modules];
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    env: { ...process.env, DENO_JOBS: ISOLATES },
    stdio: "inherit",
  });
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => child.kill(signal));
  [status] = await once(child, "close");
} finally {
  await rm(parent, { recursive: true });
}
process.exit(status ?? 1);

/** Returns the folder of `tests` that a file is in, such as `tests/db`. */
function areaOf(file: string): string {
  return file.split("/").slice(0, 2).join("/");
}

/** Returns the place of an area in the order of the runs. */
function rank(area: string): number {
  const place = FIRST.indexOf(area);
  return place === -1 ? FIRST.length : place;
}

function importOf(file: string): string {
  return `import ${JSON.stringify(pathToFileURL(join(ROOT, file)).href)};\n`;
}
