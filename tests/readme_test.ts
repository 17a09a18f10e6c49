import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MIDDLEWARE_ORDER } from "../src/middleware_order.ts";
import { fw, TemporaryFolder } from "./cli/fw.ts";
import { ROOT } from "./project.ts";
import { Subprocess } from "./subprocess.ts";
import { test } from "./test.ts";

const readme = readFileSync(join(ROOT, "README.md"), "utf8");

function block(language: string, after: string): string {
  const start = readme.indexOf(`\`\`\`${language}\n`, readme.indexOf(after));
  return readme.slice(start + language.length + 4, readme.indexOf("\n```", start));
}

test("README lists the order of MIDDLEWARE_ORDER", () => {
  const steps = readme.matchAll(/^\d+\. `?(?:use|enable)?(\w+)/gm);
  const listed = [...steps].map(([, name = ""]) => name === "the" ? "routes" : name.toLowerCase());
  const slots = MIDDLEWARE_ORDER.map((slot) => slot === "callerRateLimit" ? "rateLimit" : slot);
  assert.deepEqual(listed, slots.map((slot) => slot.toLowerCase()));
});

// the quick start is for Deno: the other runtimes get it from npm
if ("Deno" in globalThis) {
  test("README's quick start, pasted into an empty folder, runs and answers as README says", async () => {
    const folder = mkdtempSync(join(tmpdir(), "fw-quick-start-"));
    const { version } = JSON.parse(readFileSync(join(ROOT, "deno.json"), "utf8"));
    // the release that `deno add` would find, taken from this checkout
    const config = {
      imports: { "@fw/fw": `jsr:@fw/fw@^${version}`, valibot: "npm:valibot@^1.5.0" },
      links: [ROOT],
    };
    const code = block("ts", "## Quick start").replace("listenGraceful(3000)", "listenGraceful(0)");
    writeFileSync(join(folder, "deno.json"), JSON.stringify(config));
    writeFileSync(join(folder, "main.ts"), code);
    try {
      await using app = new Subprocess("main.ts", { cwd: folder, permissions: ["-A", "--check"] });
      const port = await app.until(/(?<=Listening on http:\/\/localhost:)\d+/);
      const cats = `http://127.0.0.1:${port}/api/v1/cats`;
      const post = (body: string) =>
        fetch(cats, { method: "POST", body, headers: { "content-type": "application/json" } });
      const created = await post('{"name":"Tom","age":3}');
      assert.deepEqual([created.status, await created.json()], [201, { name: "Tom", age: 3 }]);
      assert.deepEqual(await (await fetch(`${cats}/Tom`)).json(), { name: "Tom", age: 3 });
      const document = await (await fetch(`http://127.0.0.1:${port}/openapi.json`)).json();
      assert.deepEqual([document.info.title, Object.keys(document.paths)], [
        "Cats",
        ["/api/v1/cats", "/api/v1/cats/{name}"],
      ]);
      assert.match(await (await fetch(`http://127.0.0.1:${port}/docs`)).text(), /swagger-ui/);
      const refused = await post('{"name":"T"}');
      const problem = await refused.json();
      const shown = JSON.parse(block("json", "## Quick start"));
      assert.deepEqual({ ...problem, requestId: "" }, { ...shown, requestId: "" });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("README's session of the command line shows what its commands print", async () => {
    using folder = new TemporaryFolder();
    const shown = block("console", "## Command line").split(/^\$ /m).slice(1);
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
}
