import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { VERSION } from "../../src/cli/project/framework.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";
import { testOn } from "../support/test.ts";
import { JsrRegistry } from "./jsr_registry.ts";
import { ENTRY_POINTS, succeed } from "./npm_project.ts";
import { addedBy, assertQuickStart, QUICK_START } from "./quick_start.ts";

const denoTest = testOn(["deno"], "other runtimes install the package from npm");

denoTest(
  "the quick start runs with the package that deno publish sends to JSR, and its types compile",
  async () => {
    await using registry = await JsrRegistry.serve();
    using folder = new TemporaryFolder();
    const cwd = folder.path;
    const env = registry.env(cwd);
    await succeed([process.execPath, "add", ...addedBy("deno add")], { cwd, env });
    writeFileSync(join(cwd, "main.ts"), QUICK_START);
    await succeed([process.execPath, "check", "main.ts"], { cwd, env });
    await assertQuickStart({ cwd, env });
    const imports = ENTRY_POINTS.map((name, i) => `export * as m${i} from "${name}";\n`);
    writeFileSync(join(cwd, "all.ts"), imports.join(""));
    await succeed([process.execPath, "run", "--check=all", "--no-prompt", "all.ts"], { cwd, env });
  },
  { slow: true },
);

denoTest(
  "fw runs from the package that deno publish sends to JSR, and creates projects that pass their tests",
  async () => {
    await using registry = await JsrRegistry.serve();
    using folder = new TemporaryFolder();
    const cwd = folder.path;
    const env = registry.env(cwd);
    const fw = [process.execPath, "run", "-A", `jsr:@fw/fw@^${VERSION}/cli`] as const;
    assert.equal(await succeed([...fw, "--version"], { cwd, env }), VERSION);
    assert.match(
      await succeed([...fw, "new", "shop", "--no-git"], { cwd, env }),
      /^Created shop\.\n/,
    );
    const shop = join(cwd, "shop");
    await succeed([process.execPath, "test", "-A"], { cwd: shop, env });
    // its packages are downloaded when it is run
    const proof = await succeed([...fw, "prove", "--requests", "50"], { cwd: shop, env });
    assert.match(proof, /^document {2}50 requests: every answer as documented, no 5xx; /);
  },
  { slow: true },
);

denoTest("deno publish has nothing to warn of", async () => {
  await using registry = await JsrRegistry.serve();
  const { code, stdout, stderr } = registry.published;
  assert.deepEqual([code, (stdout + stderr).match(/^warning.*/gim)], [0, null]);
}, { slow: true });
