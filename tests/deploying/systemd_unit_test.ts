import assert from "node:assert/strict";
import { join } from "node:path";
import { ROOT } from "../support/project.ts";
import { page } from "../support/docs.ts";
import { Subprocess } from "../support/subprocess.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";
import { test, testOn } from "../support/test.ts";

const denoTest = testOn(["deno"], "the command is Deno's");

/** Returns the value of a key of the documented unit. */
function unitValue(key: string): string {
  const unit = page("deploying").block("ini", "## systemd").replaceAll("\\\n", "");
  return new RegExp(`^${key}=(.+)$`, "m").exec(unit)?.[1] ?? assert.fail(`no ${key}`);
}

test("the documented unit allows more time to stop than the defaults need", () => {
  const [, lameDuckMs, drainMs] =
    /`lameDuckMs`, (\d+), then up to `drainMs`, ([\d ]+)\)/.exec(page("serving").text) ?? [];
  const takesMs = Number(lameDuckMs) + Number(drainMs?.replace(" ", ""));
  assert.equal(takesMs, 30_500);
  assert.ok(Number(unitValue("TimeoutStopSec")) * 1000 > takesMs);
});

denoTest(
  "the documented unit runs an application that keeps its state in one folder",
  async () => {
    using folder = new TemporaryFolder();
    const state = folder.path;
    const words = unitValue("ExecStart").split(/\s+/).slice(2, -1);
    const permissions = words.map((word) =>
      word.replaceAll("/opt/shop", ROOT).replaceAll("/var/lib/shop", state)
    );
    await using app = new Subprocess("examples/users.ts", {
      permissions,
      env: {
        PORT: "0",
        HOST: "127.0.0.1",
        FW_ENV: "production",
        DATABASE_URL: `sqlite:${join(state, "data.sqlite")}`,
      },
    });
    await app.until(/\/metrics$/m);
    const health = await fetch(`${await app.until(/http:\/\/127\.0\.0\.1:\d+/)}/health`);
    assert.deepEqual(await health.json(), { status: "ok", checks: { db: { status: "up" } } });
    app.kill("SIGTERM");
    const { code, output } = await app.ended;
    assert.equal(code, 0, output);
  },
);
