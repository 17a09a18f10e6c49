/** Checks of `fw doctor` that need no process. */
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { checkProduction } from "../../src/cli/doctor/application.ts";
import { checkSecrets } from "../../src/cli/doctor/environment.ts";
import type { Project } from "../../src/cli/project/project.ts";
import { test } from "../support/test.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";

const SAFE = "app.useRateLimit().enableProductionErrorsFromEnv()";

/** Sources of an application, and the endpoints that are reported as public. */
const ENDPOINTS: readonly (readonly [sources: string, open: string | undefined])[] = [
  ["", undefined],
  [".enableMetrics()", "/metrics"],
  ['.enableMetrics("/internal/metrics")', "/internal/metrics"],
  [".enableOpenApi()", "/docs, /openapi.json, /openapi.yaml"],
  [".enableOpenApi({ docsPath: false })", "/openapi.json, /openapi.yaml"],
  ['.enableOpenApi({ docsPath: "/ui", jsonPath: "/api.json" })', "/ui, /api.json, /api.yaml"],
  ['.enableMetrics("/metrics").use("/metrics", basicAuth(users))', undefined],
  ['.enableMetrics("/in/metrics").use("/in/*", basicAuth(users))', undefined],
  ['.enableMetrics("/metrics").use("/*", cors())', "/metrics"],
  ['.enableMetrics("/metrics") // .use("/metrics", basicAuth(users))', "/metrics"],
  ['.enableOpenApi().use("/docs/*", basicAuth(users))', "/openapi.json, /openapi.yaml"],
];

for (const [sources, open] of ENDPOINTS) {
  test(`checkProduction() warns about public endpoints: ${sources}`, () => {
    using folder = new TemporaryFolder();
    mkdirSync(join(folder.path, "src"));
    writeFileSync(join(folder.path, "src/app.ts"), `${SAFE}${sources}`);
    const findings = checkProduction(projectIn(folder), { FW_ENV: "production" });
    const text = `everybody can read ${open}: protect them in the proxy, or by app.use(path)`;
    assert.deepEqual(findings, [
      open === undefined
        ? { level: "ok", subject: "production", text: "nothing unsafe was found" }
        : { level: "warning", subject: "production", text },
    ]);
  });
}

test("checkProduction() refuses FW_ENV=development", () => {
  using folder = new TemporaryFolder();
  mkdirSync(join(folder.path, "src"));
  writeFileSync(join(folder.path, "src/app.ts"), SAFE);
  assert.deepEqual(checkProduction(projectIn(folder), { FW_ENV: "development" }), [{
    level: "problem",
    subject: "production",
    text: "FW_ENV is development: 5xx responses reveal errors",
  }]);
});

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
