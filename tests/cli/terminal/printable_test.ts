import assert from "node:assert/strict";
import { lineOf } from "../../../src/cli/terminal/cli_error.ts";
import { printable } from "../../../src/cli/terminal/printable.ts";
import { test } from "../../support/test.ts";

test("printable() escapes the controls of a terminal, and keeps tabs and lines", () => {
  const texts = [
    ["\x1b]0;title\x07", "\\u001b]0;title\\u0007"],
    ["\x9b2J\x7f\0", "\\u009b2J\\u007f\\u0000"],
    ["a\rb", "a\\u000db"],
    ["\u202eabc\u2066", "\\u202eabc\\u2066"],
    ["a\tb\nc é 💥 \\u001b", "a\tb\nc é 💥 \\u001b"],
  ];
  for (const [given = "", wanted] of texts) assert.equal(printable(given), wanted);
  assert.equal(lineOf(new Error(" a\r\nb\x1b[31m ")), "a; b\\u001b[31m");
});
