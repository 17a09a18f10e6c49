/** The commands of README and the pages: what they print, and where they are run. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { JwtKey } from "../../src/authn/mod.ts";
import { findOnPath, run } from "../../src/cli/system/programs.ts";
import { fw } from "../cli/fw.ts";
import { Page, page, PAGES, README } from "../support/docs.ts";
import { ROOT } from "../support/project.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";
import { test, testOn } from "../support/test.ts";

const denoTest = testOn(["deno"], "what its commands make are projects for Deno");

/** Every command that is shown: the test that runs it, and words of that test. */
const RUN_BY: readonly (readonly [command: RegExp, file: string, words: string])[] = [
  [/deno run -A examples\/users\.ts$/, "tests/examples/users_process_test.ts", "examples/users.ts"],
  [/deno task test$/, ".ci/run", "test:all"],
  [/^(deno run -A main\.ts|curl)/, "tests/package/quick_start.ts", "main.ts"],
  [/^deno install -gA -n fw/, "tests/cli/installed_test.ts", '"-gA"'],
  [/^fw openapi --out/, "tests/cli/project_commands_test.ts", "openapi --out"],
  [/^npx openapi-typescript/, "tests/openapi/typed_client/workspace.ts", "openapi-typescript"],
  [/^fw db diff/, "tests/cli/db_diff_test.ts", "db diff"],
  [/^fw db new/, "tests/cli/project_commands_test.ts", "db new"],
  [/^fw db status/, "tests/cli/project_commands_test.ts", "db status"],
  [/^fw db migrate/, "tests/cli/project_commands_test.ts", "db migrate"],
  [/^fw db rollback/, "tests/cli/project_commands_test.ts", "db rollback"],
  [/^fw jobs (list|show|retry|cancel|purge)/, "tests/cli/jobs_test.ts", "jobs ${command}"],
  [/^fw generate (resource|field)/, "tests/cli/resource_fields_test.ts", "published=draft"],
  [/^fw generate job/, "tests/cli/job_test.ts", "generate job send-receipt"],
  [/^openssl genpkey/, "tests/docs/commands_test.ts", "genpkey"],
  // these need Java and Python; validators check the document that they read
  [/^openapi-(generator-cli|python-client)/, "tests/openapi/validators_test.ts", "validator"],
  // these need an account of Cloudflare; workerd runs the same application
  [/^(npm (install|pkg)|npx wrangler)/, "tests/edge/example_test.ts", "edge"],
];

test("every command that README and the pages show is run by a test", () => {
  const shells = [README, ...PAGES].flatMap(({ blocks }) => blocks)
    .filter(({ language }) => language === "sh");
  const commands = shells.flatMap(({ code }) => code.split("\n"));
  const used = new Set<unknown>();
  for (const command of commands) {
    const entry = RUN_BY.find(([pattern]) => pattern.test(command));
    assert.ok(entry, `nothing runs ${command}`);
    const [, file, words] = entry;
    assert.ok(readFileSync(join(ROOT, file), "utf8").includes(words), `${file}: ${command}`);
    used.add(entry);
  }
  assert.equal(used.size, RUN_BY.length, "a command is no longer shown");
});

test("CONTRIBUTING lists every task, and no page names another", () => {
  const { tasks } = JSON.parse(readFileSync(join(ROOT, "deno.json"), "utf8"));
  const contributing = new Page("CONTRIBUTING.md");
  const listed = [...contributing.from("## Running it").matchAll(/^\| `deno task ([\w:]+)/gm)];
  assert.deepEqual(listed.map(([, name]) => name).toSorted(), Object.keys(tasks).toSorted());
  // those of a project that `fw new` makes, too
  const known = [...Object.keys(tasks), "dev", "start", "ok", "fw", "idp"];
  const named = [README, contributing, ...PAGES].flatMap(({ text }) =>
    [...text.matchAll(/deno task ([\w:]+)/g)].map(([, name = ""]) => name)
  );
  assert.deepEqual(named.filter((name) => !known.includes(name)), []);
});

denoTest("the session of the command line shows what its commands print", async () => {
  using folder = new TemporaryFolder();
  const shown = page("cli").block("console", "# The command line").split(/^\$ /m).slice(1);
  const commands = shown.map((text) => [text.slice(0, text.indexOf("\n")), text] as const);
  const printed = new Map(commands);
  let cwd = folder.path;
  for (const [command, text] of printed) {
    if (command.startsWith("cd ")) cwd = join(cwd, command.slice(3));
    if (!command.startsWith("fw ")) continue;
    const { code, stdout } = await fw(command.slice(3), { cwd });
    assert.deepEqual([code, stdout.trim()], [0, text.slice(command.length).trim()]);
  }
  assert.deepEqual([...printed.keys()].map((command) => command.split(" ")[0]), [
    "fw",
    "cd",
    "fw",
    "deno",
    "curl",
    "fw",
  ]);
});

test(
  "the command that makes a key makes one that JwtKey reads, with and without line breaks",
  async () => {
    using folder = new TemporaryFolder();
    const [program = "", ...args] = page("configuration").block(
      "sh",
      "## Keys from the environment",
    )
      .split(" ");
    const { code } = await run([findOnPath(program) ?? program, ...args], { cwd: folder.path });
    assert.equal(code, 0);
    const pem = readFileSync(join(folder.path, "key.pem"), "utf8");
    const key = await JwtKey.fromPem(pem);
    assert.equal(key.algorithm, "EdDSA");
    assert.equal((await JwtKey.fromPem(pem.replaceAll("\n", "\\n"))).kid, key.kid);
  },
  { skip: findOnPath("openssl") ? undefined : "needs openssl: it makes the key" },
);
