/** What the pages promise: whether each promise names tests that exist. */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Page, page } from "../support/docs.ts";
import { ROOT } from "../support/project.ts";
import { testOn } from "../support/test.ts";

const PROMISING = [page("guarantees"), page("security"), new Page("SECURITY.md")];

/** A call that declares a test, by one of the helpers of `tests/support/test.ts`. */
const TEST = /^\s*(?:await )?\w*(?:[tT]est)\w*\(\s*(?:$|["'`(\w])/m;

const denoTest = testOn(["deno"], "it reads pages and files");

denoTest("every test that a page of promises names exists and declares tests", () => {
  const named = PROMISING.flatMap(({ file, text }) =>
    [...text.matchAll(/tests\/[\w./-]*\w/g)].map(([path]) => [file, path] as const)
  );
  assert.ok(named.length > 40);
  const wrong = named.filter(([, path]) => !declaresTests(path));
  assert.deepEqual(wrong, []);
});

denoTest("a file without tests, and a helper with the word in its name, declare none", () => {
  assert.equal(declaresTests("tests/docs/guarantees_test.ts"), true);
  assert.equal(declaresTests("tests/support/test.ts"), false);
  assert.equal(declaresTests("tests/db/support/servers.ts"), false);
  assert.equal(declaresTests("tests/missing_test.ts"), false);
});

denoTest(
  "every run of deno task faults that a page of promises names selects scenarios",
  async () => {
    // what scenarios need takes seconds to load
    const { scenariosOf } = await import("../faults/areas.ts");
    const runs = PROMISING.flatMap(({ text }) =>
      [...text.matchAll(/`deno task faults ([^`]+)`/g)].map(([, words = ""]) => words)
    );
    assert.ok(runs.length > 5);
    assert.deepEqual(runs.filter((words) => scenariosOf(wordsOf(words)).length === 0), []);
    assert.deepEqual(scenariosOf(["no such fault"]), []);
  },
  { slow: true },
);

denoTest("every line of the tables of guarantees names a test", () => {
  const { text } = page("guarantees");
  const rows = text.split("\n").filter((line) => /^\| (?!-)/.test(line));
  const promises = rows.filter((row) => !/\| (shown by|turned on by) +\|$/.test(row));
  assert.ok(promises.length > 40);
  const bare = promises.filter((row) => !/tests\/|deno task faults/.test(row));
  assert.deepEqual(bare, []);
});

/** Checks whether a file exists, is a test, and declares one. */
function declaresTests(path: string): boolean {
  const file = join(ROOT, path);
  return path.endsWith("_test.ts") && existsSync(file) && TEST.test(readFileSync(file, "utf8"));
}

/** Splits the words of a command, of which those in quotes are one. */
function wordsOf(command: string): readonly string[] {
  return [...command.matchAll(/"([^"]+)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? "");
}
