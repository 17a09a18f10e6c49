/**
 * Services.
 *
 * @module
 */
import type { EntityName } from "../../project/entity_name.ts";
import { type CodeAndTest, codeKind } from "../code_kind.ts";
import type { Kind } from "../kind.ts";

/** A service, listed in the nearest module. */
export const SERVICE: Kind = codeKind({
  name: "service",
  aliases: ["s"],
  about: "a service, listed in the nearest module",
  example: "mail",
  template,
  list: "providers",
});

/** Gives a service with one method. */
function template({ pascal, snake, prose }: EntityName): CodeAndTest {
  return {
    code: `export class ${pascal}Service {
  describe(): string {
    return "${prose}";
  }
}
`,
    test: `import { module } from "@fw/fw";
import { createTestApplication } from "@fw/fw/testing";
import assert from "node:assert/strict";
import { ${pascal}Service } from "./${snake}_service.ts";

Deno.test("${pascal}Service.describe() tells what it is for", async () => {
  const TestModule = module({ providers: [${pascal}Service] });
  await using app = await createTestApplication(TestModule);
  assert.equal(app.get(${pascal}Service).describe(), "${prose}");
});
`,
  };
}
