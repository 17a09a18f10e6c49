import assert from "node:assert/strict";
import process from "node:process";
import { test } from "./test.ts";
import { runSideBySide } from "./side_by_side.ts";

const run = (...code: string[]) => code.map((text) => ({ words: ["sh", "-c", text] }));

test("commands run side by side, and their output is kept", async () => {
  const [first, second] = await Promise.all(runSideBySide(run("echo a; exit 3", "echo b >&2")));
  assert.deepEqual([first?.status, first?.output], [3, "a\n"]);
  assert.deepEqual([second?.status, second?.output], [0, "b\n"]);
});

test("a command that does not end is ended, with what it has printed", async () => {
  const commands = run("echo $$; exec sleep 1000");
  const [ending] = await Promise.all(runSideBySide(commands, { maxMinutes: 2 / 60 }));
  assert.equal(ending?.status, null);
  const [pid, ...rest] = ending.output.split("\n");
  assert.match(rest.join("\n"), /It was ended after/);
  const isRunning = () => {
    try {
      return process.kill(Number(pid), 0);
    } catch {
      return false;
    }
  };
  while (isRunning()) await new Promise((resolve) => setTimeout(resolve, 20));
});
