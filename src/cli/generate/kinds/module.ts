/**
 * Modules.
 *
 * @module
 */
import type { EntityName } from "../../project/entity_name.ts";
import { type CodeAndTest, codeKind } from "../code_kind.ts";
import type { Kind } from "../kind.ts";

/** A module, imported by the one above it. */
export const MODULE: Kind = codeKind({
  name: "module",
  aliases: ["mo"],
  about: "a module, imported by the one above it",
  example: "billing",
  template,
  list: "imports",
});

/** Gives an empty module. */
function template({ pascal, snake }: EntityName): CodeAndTest {
  return {
    code: `import { module } from "@fw/fw";

export const ${pascal}Module = module({
  name: "${pascal}Module",
  imports: [],
  providers: [],
  controllers: [],
});
`,
    test: `import { createTestApplication } from "@fw/fw/testing";
import { ${pascal}Module } from "./${snake}_module.ts";

Deno.test("${pascal}Module boots", async () => {
  const app = await createTestApplication(${pascal}Module);
  await app.close();
});
`,
  };
}
