/**
 * Pipes and DTOs: schemas, with their tests.
 *
 * @module
 */
import type { EntityName } from "../../entity_name.ts";
import type { CodeAndTest } from "./building_blocks.ts";

/** Gives a pipe: what makes a value of a text, or refuses it. */
export function pipeTemplate({ pascal, snake, camel }: EntityName): CodeAndTest {
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

/** Gives a DTO of one field. */
export function dtoTemplate({ pascal, snake }: EntityName): CodeAndTest {
  return {
    code: `import { dto } from "@fw/fw";
import * as v from "valibot";

export const ${pascal}Dto = dto(
  "${pascal}Dto",
  v.object({ name: v.pipe(v.string(), v.nonEmpty(), v.maxLength(100)) }),
);
export type ${pascal}Dto = v.InferOutput<typeof ${pascal}Dto>;
`,
    test: `import assert from "node:assert/strict";
import * as v from "valibot";
import { ${pascal}Dto } from "./${snake}_dto.ts";

Deno.test("${pascal}Dto drops what it does not declare", () => {
  const given = { name: "Ada", admin: true };
  assert.deepEqual(v.parse(${pascal}Dto, given), { name: "Ada" });
});

Deno.test("${pascal}Dto refuses an empty name", () => {
  assert.equal(v.is(${pascal}Dto, { name: "" }), false);
});
`,
  };
}
