/** Other ways to run the command line than from its sources; Deno builds what they need. */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { VERSION } from "../../src/cli/project/framework.ts";
import { run } from "../../src/cli/system/programs.ts";
import { buildNpmPackage } from "../package/npm_package.ts";
import { ROOT } from "../support/project.ts";
import { OLDEST_NODE } from "../support/runtimes.ts";
import { testOn } from "../support/test.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";

const test = testOn(["deno"], "it builds what is installed");

test("fw runs after deno install, and creates projects that use its checkout", async () => {
  using folder = new TemporaryFolder();
  const cwd = folder.path;
  const source = ["--config", join(ROOT, "deno.json"), join(ROOT, "src/cli/mod.ts")];
  const install = ["install", "-gA", "--root", cwd, "-n", "fw", ...source];
  assert.equal((await run([process.execPath, ...install], { cwd })).code, 0);
  const program = join(cwd, "bin/fw");
  assert.equal((await run([program, "--version"], { cwd })).stdout, `${VERSION}\n`);
  const made = await run([program, "new", "shop", "--no-git"], { cwd });
  assert.deepEqual([made.code, made.stderr], [0, ""]);
  const { links } = JSON.parse(readFileSync(join(cwd, "shop/deno.json"), "utf8"));
  assert.deepEqual(links, [ROOT]);
  const task = ["task", "--quiet", "fw", "generate", "service", "mail"];
  const generated = await run([process.execPath, ...task], { cwd: join(cwd, "shop") });
  assert.match(generated.stdout, /^create src\/mail\/mail_service\.ts\n/);
}, { slow: true });

test("fw runs by npx from the npm package, and creates projects that use its release", async () => {
  using folder = new TemporaryFolder();
  const cwd = folder.path;
  await buildNpmPackage(join(cwd, "fw.tgz"));
  const npx = (...args: string[]) =>
    run(["npx", "-y", "-p", OLDEST_NODE, "-p", join(cwd, "fw.tgz"), "fw", ...args], { cwd });
  assert.equal((await npx("--version")).stdout, `${VERSION}\n`);
  const made = await npx("new", "shop", "--no-git", "--db", "sqlite");
  assert.match(made.stdout, /^Created shop\.\n/);
  const file = join(cwd, "shop/deno.json");
  const config = JSON.parse(readFileSync(file, "utf8"));
  assert.equal(config.imports["@fw/fw"], `jsr:@fw/fw@^${VERSION}`);
  assert.equal(config.tasks.fw.command, `deno run -A jsr:@fw/fw@^${VERSION}/cli`);
  assert.equal("links" in config, false);
  // the release is not published, so this checkout replaces it
  writeFileSync(file, JSON.stringify({ ...config, links: [ROOT] }));
  const env = { ...process.env, DATABASE_URL: "sqlite::memory:" };
  const tested = await run([process.execPath, "test", "-A"], { cwd: join(cwd, "shop"), env });
  assert.equal(tested.code, 0, tested.stdout + tested.stderr);
}, { slow: true });
