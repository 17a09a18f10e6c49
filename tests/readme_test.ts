import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MIDDLEWARE_ORDER } from "../src/middleware_order.ts";
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
}
