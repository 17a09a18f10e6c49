import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { importsOf, ROOT, sourceFiles } from "../support/project.ts";
import { test } from "../support/test.ts";

/** Where modules are loaded that a transaction may need. */
const USED_IN_TRANSACTIONS = /^src\/db\/(?:repository\.ts|(?:model|query|write|transaction)\/)/;

test("lazy_parts.ts imports all that repositories load at their first use", () => {
  const loaded = sourceFiles("src/db").filter((file) => USED_IN_TRANSACTIONS.test(file))
    .flatMap(importsOf)
    .filter(({ kind, target }) => kind === "dynamic" && target.endsWith(".ts"))
    .map(({ target }) => relative("src/db", target));
  const text = readFileSync(join(ROOT, "src/db/lazy_parts.ts"), "utf8");
  const imported = [...text.matchAll(/^import "\.\/(.*)";$/gm)].map(([, file]) => file);
  assert.deepEqual(imported, [...new Set(loaded)].sort());
});
