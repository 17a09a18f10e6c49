import assert from "node:assert/strict";
import { LogBatch } from "../../src/runtime/log/log_batch.ts";
import { Subprocess } from "../support/subprocess.ts";
import { test } from "../support/test.ts";

test("LogBatch prints at once, or together while it is held", () => {
  const printed: string[] = [];
  const batch = new LogBatch((lines) => void printed.push(lines));
  batch.add("a");
  assert.deepEqual(printed, ["a"]);
  const release = batch.hold();
  const releaseOther = batch.hold();
  batch.add("b");
  batch.add("c");
  assert.deepEqual(printed, ["a"]);
  release();
  release();
  assert.deepEqual(printed, ["a", "b\nc"]);
  batch.add("d");
  for (let i = 0; i < 255; i++) batch.add("e");
  assert.equal(printed[2], ["d", ...Array(255).fill("e")].join("\n"));
  batch.add("f");
  releaseOther();
  assert.equal(printed[3], "f");
  batch.add("g");
  assert.deepEqual(printed[4], "g");
});

test("LogBatch prints held lines within 20 ms", async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  const batch = new LogBatch(resolve);
  const release = batch.hold();
  batch.add("a");
  assert.equal(await promise, "a");
  release();
});

for (const end of ["exit", "throw", "reject", "return"]) {
  test(`a server that ends by ${end} has printed every line`, async () => {
    await using child = new Subprocess("tests/runtime/log_end_fixture.ts", { args: [end] });
    const { output } = await child.ended;
    const lines = output.match(/GET \S+|a warning/g)?.sort(); // on two streams
    assert.deepEqual(lines, ["GET /1", "GET /2", "GET /3", "a warning"], output);
  });
}

test("a server goes on without whoever reads its log", async () => {
  await using child = new Subprocess("tests/runtime/log_end_fixture.ts", { args: ["serve"] });
  const url = await child.until(/http:[^\s]+(?=\s)/);
  await child.until(/GET \/3/);
  child.closeOutput();
  for (let sent = 0; sent < 20; sent++) {
    const { status, body } = await fetch(url);
    await body?.cancel();
    assert.equal(status, 404);
    await new Promise((resolve) => setTimeout(resolve, 30)); // for lines that are printed together
  }
});
