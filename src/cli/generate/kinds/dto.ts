/**
 * DTOs: schemas of what is sent.
 *
 * @module
 */
import type { EntityName } from "../../project/entity_name.ts";
import { type CodeAndTest, codeKind } from "../code_kind.ts";
import type { Kind } from "../kind.ts";

/** A DTO: the shape of what is sent. */
export const DTO: Kind = codeKind({
  name: "dto",
  aliases: [],
  about: "a DTO: the shape of what is sent",
  example: "create-order",
  template,
});

/** Gives a DTO of one field. */
function template({ pascal, snake }: EntityName): CodeAndTest {
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
