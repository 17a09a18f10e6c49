import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { untilListening } from "../examples/uses.ts";
import { freePort } from "../support/free_port.ts";
import { ROOT } from "../support/project.ts";
import { page } from "../support/docs.ts";
import { Subprocess } from "../support/subprocess.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";
import { testOn } from "../support/test.ts";

const denoTest = testOn(["deno"], "deno serve is Deno's");

denoTest(
  "the documented entry point for Deno Deploy responds under deno serve --parallel",
  () => serves([]),
);

denoTest(
  "the documented entry point for Deno Deploy compiles",
  () => serves(["--check"]),
  { slow: true },
);

/** Serves the entry point with more flags. */
async function serves(flags: readonly string[]): Promise<void> {
  using folder = new TemporaryFolder();
  const { version } = JSON.parse(readFileSync(join(ROOT, "deno.json"), "utf8"));
  const imports = { "@fw/fw": `jsr:@fw/fw@^${version}`, valibot: "npm:valibot@^1.5.0" };
  await writeFile(join(folder.path, "deno.json"), JSON.stringify({ imports, links: [ROOT] }));
  await writeFile(
    join(folder.path, "main.ts"),
    page("edge").block("ts ignore", "## Deno Deploy"),
  );
  const port = await freePort();
  await using _server = new Subprocess("main.ts", {
    command: "serve",
    cwd: folder.path,
    permissions: [...flags, "--allow-env=GREETING", "--parallel", `--port=${port}`],
    env: { GREETING: "Moin", DENO_JOBS: "2" },
  });
  const origin = `http://127.0.0.1:${port}`;
  await untilListening(origin);
  assert.deepEqual(await (await fetch(origin)).json(), { greeting: "Moin" });
  assert.deepEqual(await (await fetch(`${origin}/health`)).json(), { status: "ok" });
}
