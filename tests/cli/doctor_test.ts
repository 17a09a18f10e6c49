/** Checks of `fw doctor` that need no process. */
import assert from "node:assert/strict";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { checkSecrets } from "../../src/cli/doctor/environment.ts";
import type { Project } from "../../src/cli/project/project.ts";
import { test } from "../support/test.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";

test("checkSecrets() warns about a .env that other users can read", async () => {
  using folder = new TemporaryFolder();
  const levelWith = async (mode: number) => {
    writeFileSync(join(folder.path, ".env"), "", { mode: 0o600 });
    chmodSync(join(folder.path, ".env"), mode);
    return await checkSecrets(projectIn(folder));
  };
  const warning = {
    level: "warning",
    subject: "secrets",
    text: ".env can be read by other users: chmod 600 .env",
  };
  assert.deepEqual(await levelWith(0o640), warning);
  assert.deepEqual(await levelWith(0o604), warning);
  assert.notDeepEqual(await levelWith(0o600), warning);
}, { skip: process.platform === "win32" ? "it has no modes" : undefined });

function projectIn({ path }: TemporaryFolder): Project {
  return { root: path, configFile: "deno.json", framework: "" };
}
