import assert from "node:assert/strict";
import { test } from "../support/test.ts";
import { Subprocess, type SubprocessOptions } from "../support/subprocess.ts";

test("logToConsole() prints only the logs of the framework, one line each", async () => {
  const output = await outputOf({ env: { FW_ENV: "" } });
  assert.match(output, /^\S+ \S+ \S+ \[INF\] fw·http: GET \/a\\nb\n$/);
});

test("logToConsole() lets no message of an error look like another line", async () => {
  const output = await outputOf({ env: { FW_ENV: "" }, args: ["failing"] });
  const [first, second, ...rest] = output.trimEnd().split("\n");
  assert.match(`${first}\n${second}`, /\[INF\] [^]*\n.* \[ERR\] fw·http: failed: Error: no$/);
  assert.ok(rest.length > 2 && rest.every((line) => line.startsWith("  ")), output);
  assert.match(output, /^ {4}2026-01-01 FAKE\\u001b\[31m$/m);
});

test("logToConsole() prints JSON lines when FW_ENV is production", async () => {
  const output = await outputOf({ env: { FW_ENV: "production" } });
  const { "@timestamp": timestamp, ...record } = JSON.parse(output);
  assert.ok(!Number.isNaN(Date.parse(timestamp)));
  assert.deepEqual(record, {
    level: "INFO",
    message: "{method} {path}",
    logger: "fw.http",
    properties: { method: "GET", path: "/a\nb" },
  });
});

for (const FW_ENV of ["development", "production"]) {
  test(`logToConsole() prints errors that cannot be shown completely (${FW_ENV})`, async () => {
    const output = await outputOf({ env: { FW_ENV }, args: ["odd"] });
    const stacks = ["getter", "converted", "deep"].map((it) => `Error: ${it}[^]{1,6}at `);
    assert.match(output, new RegExp(stacks.join("[^]*")));
    const records = output.match(FW_ENV === "production" ? /"level":"ERROR"/g : /\[ERR\]/g);
    assert.equal(records?.length, 5, output);
  });
}

test("logToConsole() does nothing if the application has configured LogTape", async () => {
  assert.equal(await outputOf({ args: ["configured"] }), "own fw.http\nown fw.http\n");
});

test("logToConsole() works without permission to read FW_ENV", async () => {
  const output = await outputOf({ permissions: [], env: { FW_ENV: "" } });
  assert.match(output, /\[INF\] fw·http: GET/);
});

async function outputOf(options: SubprocessOptions): Promise<string> {
  await using child = new Subprocess("tests/runtime/log_fixture.ts", options);
  const { code, output } = await child.ended;
  assert.equal(code, 0, output);
  return output;
}
