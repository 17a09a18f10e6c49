import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { ROOT } from "../support/project.ts";
import { testOn } from "../support/test.ts";

/**
 * Stricter compiler options than those of this project, which cannot set all of them: `deno test --doc`
 * imports unused names into every example.
 */
const STRICTER = {
  noUnusedLocals: true,
  noUnusedParameters: true,
  allowUnreachableCode: false,
  allowUnusedLabels: false,
};

const test = testOn(["deno"], "only Deno checks the sources of packages");

test("the sources of a linked checkout pass the type check of a stricter project", () => {
  const { version, exports, compilerOptions } = JSON.parse(
    readFileSync(join(ROOT, "deno.json"), "utf8"),
  );
  const config = {
    imports: { "@fw/fw": `jsr:@fw/fw@^${version}` },
    links: [ROOT],
    compilerOptions: { ...compilerOptions, ...STRICTER },
  };
  const imports = Object.keys(exports).map((name) => `import "${join("@fw/fw", name)}";\n`);
  const folder = mkdtempSync(join(tmpdir(), "fw-linked-"));
  writeFileSync(join(folder, "deno.json"), JSON.stringify(config));
  writeFileSync(join(folder, "main.ts"), imports.join(""));
  try {
    const { status, stderr } = spawnSync(process.execPath, ["check", "--quiet", "main.ts"], {
      cwd: folder,
      encoding: "utf8",
      env: { ...process.env, NO_COLOR: "1" },
    });
    assert.deepEqual({ status, stderr }, { status: 0, stderr: "" });
  } finally {
    rmSync(folder, { recursive: true });
  }
}, { slow: true });
