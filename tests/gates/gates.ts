/** Every gate but the tests: formatting, lint, types, documentation, permissions, publishing. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { ROOT } from "../support/project.ts";
import { runSideBySide } from "../support/side_by_side.ts";

const { exports } = JSON.parse(readFileSync(join(ROOT, "deno.json"), "utf8"));
const entryPoints: string[] = Object.values(exports);

const pages = readdirSync(join(ROOT, "docs")).map((name) => `docs/${name}`);

/** Pages whose examples serve, or need a server: `tests/docs` and `tests/package` run the first. */
const SERVING = ["getting-started", "serving", "deploying"].map((name) => `docs/${name}.md`);

/** Checks whether the examples of a page end by themselves. */
const ends = (page: string) => !SERVING.includes(page);

/** What runs examples. */
const RUN = ["test", "-A", "--doc", "--quiet", "--preload", "tests/gates/throwing_assert.ts"];

/** The arguments of `deno` for each gate. */
const GATES: readonly (readonly [name: string, args: readonly string[]])[] = [
  ["formatted", ["fmt", "--check"]],
  ["free of lint", ["lint"]],
  ["free of type errors", ["check", "mod.ts", "src", "tests", "examples"]],
  ["documented", ["run", "-A", "tests/gates/doc_coverage.ts", ...entryPoints]],
  ["right in every example", [...RUN, ...entryPoints, "src"]],
  ["right in README and docs", ["check", "--doc-only", "README.md", ...pages]],
  ["run as documented", [...RUN, "--no-check", ...pages.filter(ends)]],
  ...entryPoints.map((file) =>
    [`imported without permissions: ${file}`, ["run", "--no-prompt", "--quiet", file]] as const
  ),
  ["within the limits of its figures", ["run", "-A", "tests/gates/figures.ts"]],
  ["publishable", ["publish", "--dry-run", "--allow-dirty"]],
];

/** A gate that warns has failed. */
const WARNING = /^warning\[/m;

/** What examples of the documentation read. */
const env = { DATABASE_URL: "sqlite::memory:" };

const endings = runSideBySide(
  GATES.map(([, args]) => ({ words: [process.execPath, ...args], env })),
);
let failed = 0;
for (const [i, [name, args]] of GATES.entries()) {
  const { status, output, seconds } = await endings[i]!;
  const isPassed = status === 0 && !WARNING.test(output);
  console.log(`${isPassed ? "ok    " : "FAILED"} ${name}, ${seconds} s`);
  if (isPassed) continue;
  failed += 1;
  console.log(`deno ${args.join(" ")}\n${output}`);
}
process.exit(failed === 0 ? 0 : 1);
