/** Every gate but the tests: formatting, lint, types, documentation, permissions, publishing. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { ROOT } from "../support/project.ts";
import { runSideBySide } from "../support/side_by_side.ts";

const { exports } = JSON.parse(readFileSync(join(ROOT, "deno.json"), "utf8"));
const entryPoints: string[] = Object.values(exports);

/** The arguments of `deno` for each gate. */
const GATES: readonly (readonly [name: string, args: readonly string[]])[] = [
  ["formatted", ["fmt", "--check"]],
  ["free of lint", ["lint"]],
  ["free of type errors", ["check", "mod.ts", "src", "tests", "examples"]],
  ["documented", ["run", "-A", "tests/gates/doc_coverage.ts", ...entryPoints]],
  ["right in every example", ["test", "-A", "--doc", "--quiet", ...entryPoints, "src"]],
  ["right in README", ["check", "--doc-only", "README.md"]],
  ...entryPoints.map((file) =>
    [`imported without permissions: ${file}`, ["run", "--no-prompt", "--quiet", file]] as const
  ),
  ["publishable", ["publish", "--dry-run", "--allow-dirty"]],
];

/** A gate that warns has failed. */
const WARNING = /^warning\[/m;

const endings = runSideBySide(GATES.map(([, args]) => ({ words: [process.execPath, ...args] })));
let failed = 0;
for (const [i, [name, args]] of GATES.entries()) {
  const { status, output } = await endings[i]!;
  const isPassed = status === 0 && !WARNING.test(output);
  console.log(`${isPassed ? "ok    " : "FAILED"} ${name}`);
  if (isPassed) continue;
  failed += 1;
  console.log(`deno ${args.join(" ")}\n${output}`);
}
process.exit(failed === 0 ? 0 : 1);
