import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { MIDDLEWARE_ORDER } from "../mod.ts";
import { ROOT } from "./imports.ts";
import { test } from "./test.ts";

const readme = readFileSync(join(ROOT, "README.md"), "utf8");

function block(language: string, after: string): string {
  const start = readme.indexOf(`\`\`\`${language}\n`, readme.indexOf(after));
  return readme.slice(start + language.length + 4, readme.indexOf("\n```", start));
}

test("README lists the order of MIDDLEWARE_ORDER", () => {
  const steps = readme.matchAll(/^\d\. `?(?:use|enable)?(\w+)/gm);
  const listed = [...steps].map(([, name = ""]) => name.charAt(0).toLowerCase() + name.slice(1));
  assert.deepEqual(listed.map((name) => name === "the" ? "routes" : name), [...MIDDLEWARE_ORDER]);
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
    const code = block("ts", "## Quick start")
      .replace(
        "await app.listenGraceful(3000);",
        "console.log((await app.listenGraceful(0)).url);",
      );
    writeFileSync(join(folder, "deno.json"), JSON.stringify(config));
    writeFileSync(join(folder, "main.ts"), code);
    const child = spawn(process.execPath, ["run", "-A", "--check", "main.ts"], {
      cwd: folder,
      env: { ...process.env, NO_COLOR: "1" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const closed = once(child, "close");
    try {
      let output = "";
      const listening = new Promise<string>((resolve, reject) => {
        child.stdout.on("data", (chunk) => {
          output += chunk;
          const url = /^http:\S+/m.exec(output)?.[0];
          if (url) resolve(url);
        });
        child.stderr.on("data", (chunk) => output += chunk);
        closed.then(() => reject(new Error(output)));
      });
      const cats = `${await listening}/api/v1/cats`;
      const post = (body: string) =>
        fetch(cats, { method: "POST", body, headers: { "content-type": "application/json" } });
      const created = await post('{"name":"Tom","age":3}');
      assert.deepEqual([created.status, await created.json()], [201, { name: "Tom", age: 3 }]);
      assert.deepEqual(await (await fetch(`${cats}/Tom`)).json(), { name: "Tom", age: 3 });
      const refused = await post('{"name":"T"}');
      const problem = await refused.json();
      const shown = JSON.parse(block("json", "## Quick start"));
      assert.deepEqual({ ...problem, requestId: "" }, { ...shown, requestId: "" });
    } finally {
      child.kill("SIGKILL");
      await closed;
      rmSync(folder, { recursive: true });
    }
  });
}
