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

/** What the lines of the failures of the fixture have in common on each runtime. */
const FAILURES = [/ failed with /, /A WebSocket handler failed/, /Stopping after/];

for (const FW_ENV of ["development", "production"]) {
  test(`logToConsole() bounds what it prints of an error, before it is formatted (${FW_ENV})`, async () => {
    const output = await outputOf({ env: { FW_ENV }, args: ["large"] });
    const records = recordsOf(output);
    assert.equal(records.length, 7, output.slice(0, 10_000));
    for (const record of records) assert.ok(record.length < 100_000, record.slice(0, 10_000));
    for (const shown of ["first.0", "wide", "more characters", "more)", "[more errors]"]) {
      assert.ok(output.includes(shown), shown);
    }
    assert.doesNotMatch(output, /hunter2/);
  });

  test(`failures with a large input are logged in short lines, without it (${FW_ENV})`, async () => {
    await using child = new Subprocess("tests/runtime/large_errors_fixture.ts", {
      env: { FW_ENV },
    });
    const { code, output } = await child.ended;
    assert.equal(code, 1, output.slice(0, 10_000));
    const records = recordsOf(output).filter((record) =>
      /error|fatal|\[(?:ERR|FTL)\]/i.test(record)
    );
    assert.deepEqual(records.map((record) => FAILURES.findIndex((it) => it.test(record))), [
      0,
      1,
      2,
    ]);
    for (const record of records) assert.ok(record.length < 100_000, record.slice(0, 10_000));
    const [, ms] = /^Both failed in (\d+) ms$/m.exec(output) ?? [];
    assert.ok(Number(ms) < 10_000, `${ms} ms`);
    assert.doesNotMatch(output, /hunter2/);
  });
}

test("logToConsole() does nothing if the application has configured LogTape", async () => {
  assert.equal(await outputOf({ args: ["configured"] }), "own fw.http\nown fw.http\n");
});

test("logToConsole() works without permission to read FW_ENV", async () => {
  const output = await outputOf({ permissions: [], env: { FW_ENV: "" } });
  assert.match(output, /\[INF\] fw·http: GET/);
});

/** Splits what was printed into records: the other lines of one are indented. */
function recordsOf(output: string): readonly string[] {
  return output.trimEnd().split(/\n(?! )/);
}

async function outputOf(options: SubprocessOptions): Promise<string> {
  await using child = new Subprocess("tests/runtime/log_fixture.ts", options);
  const { code, output } = await child.ended;
  assert.equal(code, 0, output);
  return output;
}
