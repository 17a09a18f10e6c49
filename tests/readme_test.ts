import assert from "node:assert/strict";
import { join } from "node:path";
import { MIDDLEWARE_ORDER } from "../src/application/middleware_order.ts";
import { fw } from "./cli/fw.ts";
import { TemporaryFolder } from "./support/temporary_folder.ts";
import { README, readmeBlock } from "./support/readme.ts";
import { test, testOn } from "./support/test.ts";

const denoTest = testOn(["deno"], "what its commands make are projects for Deno");

test("README lists the order of MIDDLEWARE_ORDER", () => {
  const steps = README.matchAll(/^\d+\. `?(?:use|enable)?(\w+)/gm);
  const listed = [...steps].map(([, name = ""]) => name === "the" ? "routes" : name.toLowerCase());
  const slots = MIDDLEWARE_ORDER.map((slot) => slot === "callerRateLimit" ? "rateLimit" : slot);
  assert.deepEqual(listed, slots.map((slot) => slot.toLowerCase()));
});

denoTest("README's session of the command line shows what its commands print", async () => {
  using folder = new TemporaryFolder();
  const shown = readmeBlock("console", "## Command line").split(/^\$ /m).slice(1);
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
