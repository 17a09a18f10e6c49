/** The program of README: whether it does what README says of it. */
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { fw } from "../cli/fw.ts";
import { README } from "../support/docs.ts";
import { ROOT } from "../support/project.ts";
import { Subprocess } from "../support/subprocess.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";
import { testOn } from "../support/test.ts";

const denoTest = testOn(["deno"], "the package is linked by Deno's configuration");

const PROGRAM = README.block("ts", "## A program");
const HEADING = "## One declaration, four results";

/** Returns the line of a block that shows one, without the space around it. */
function lineOf(text: string): string {
  return text.split("\n").find((line) => line.includes("add = "))?.trim() ?? assert.fail("no line");
}

/** Makes a project of the program, in a folder. */
function writeProject(root: string): void {
  const links = [ROOT];
  const imports = { "@fw/fw": "jsr:@fw/fw@^0.1.0", valibot: "npm:valibot@^1.5.0" };
  writeFileSync(join(root, "deno.json"), JSON.stringify({ imports, links }));
  writeFileSync(join(root, "main.ts"), PROGRAM.replace("(3000)", "(0)"));
  mkdirSync(join(root, "src"));
  const [declared = ""] = PROGRAM.split("\nconst app = ");
  const [created] = /module\(\{.*\}\)(?=\);)/.exec(PROGRAM) ?? assert.fail("no module");
  const exported =
    `export const AppModule = ${created};\nexport const setUp = (app: unknown) => app;`;
  writeFileSync(join(root, "src/app.ts"), `${declared}\n${exported}\n`);
}

denoTest("README's program answers, strips, documents and lists as README shows", async () => {
  using folder = new TemporaryFolder();
  writeProject(folder.path);
  assert.equal(lineOf(README.block("ts ignore", HEADING)), lineOf(PROGRAM));

  await using app = new Subprocess("main.ts", { cwd: folder.path });
  const port = await app.until(/(?<=Listening on http:\/\/localhost:)\d+/);
  const origin = `http://127.0.0.1:${port}`;
  const post = (body: string) =>
    fetch(`${origin}/cats`, {
      method: "POST",
      body,
      headers: { "content-type": "application/json" },
    });

  const [problem = "", cat = ""] = README.from(HEADING).matchAll(/^```json\n([^]*?)\n```$/gm)
    .map(([, code = ""]) => code);
  const [refused = "", sent = ""] = README.from(HEADING).matchAll(/--json '([^']+)'/g)
    .map(([, json = ""]) => json);
  const bad = await post(refused);
  assert.deepEqual([bad.status, await bad.json()], [422, JSON.parse(problem)]);
  const good = await post(sent);
  assert.deepEqual([good.status, await good.json()], [201, JSON.parse(cat)]);

  const { paths } = parse(await (await fetch(`${origin}/openapi.yaml`)).text());
  assert.deepEqual({ post: paths["/cats"].post }, parse(README.block("yaml", HEADING)));

  const { code, stdout, stderr } = await fw("routes", { cwd: folder.path });
  assert.deepEqual([code, stderr], [0, ""]);
  assert.equal(stdout.trim(), README.block("text", HEADING));
});
