/**
 * Pipes: schemas of single values.
 *
 * @module
 */
import type { EntityName } from "../../project/entity_name.ts";
import { type CodeAndTest, codeKind } from "../code_kind.ts";
import type { Kind } from "../kind.ts";

/** A pipe: makes a value of what was sent, or refuses it. */
export const PIPE: Kind = codeKind({
  name: "pipe",
  aliases: ["pi"],
  about: "a pipe: makes a value of what was sent, or refuses it",
  example: "slug",
  template,
});

/** Gives a pipe: what makes a value of a text, or refuses it. */
function template({ pascal, snake, camel }: EntityName): CodeAndTest {
  return {
    code: `import * as v from "valibot";

/**
 * Makes a value of what a path, a query or a body holds, or refuses it:
 * \`params: v.object({ ${camel}: ${pascal}Pipe })\`.
 */
export const ${pascal}Pipe = v.pipe(
  v.string(),
  v.trim(),
  v.nonEmpty("It is empty"),
);
`,
    test: `import assert from "node:assert/strict";
import * as v from "valibot";
import { ${pascal}Pipe } from "./${snake}_pipe.ts";

Deno.test("${pascal}Pipe drops the space around a text", () => {
  assert.equal(v.parse(${pascal}Pipe, "  text "), "text");
});

Deno.test("${pascal}Pipe refuses a text of nothing but space", () => {
  assert.equal(v.is(${pascal}Pipe, "  "), false);
});
`,
  };
}
