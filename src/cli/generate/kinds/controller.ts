/**
 * Controllers.
 *
 * @module
 */
import type { EntityName } from "../../project/entity_name.ts";
import { type CodeAndTest, codeKind } from "../code_kind.ts";
import type { Kind } from "../kind.ts";
import type { Target } from "../target.ts";

/** A controller with a route, listed in the nearest module. */
export const CONTROLLER: Kind = codeKind({
  name: "controller",
  aliases: ["co"],
  about: "a controller with a route, listed in the nearest module",
  example: "invoices",
  template,
  list: "controllers",
});

/** Gives a controller with one route. */
function template(
  { pascal, snake, kebab, prose }: EntityName,
  { folders }: Target,
): CodeAndTest {
  const prefix = [...folders, kebab].join("/");
  return {
    code: `import { route } from "@fw/fw";
import * as v from "valibot";

export class ${pascal}Controller {
  static readonly prefix = "${prefix}";
  static readonly version = "v1";

  show = route.get("/", {
    response: v.object({ message: v.string() }),
    openapi: { summary: "Show ${prose}" },
  }, () => ({ message: "${prose}" }));
}
`,
    test: `import { module } from "@fw/fw";
import { createTestApplication } from "@fw/fw/testing";
import assert from "node:assert/strict";
import { ${pascal}Controller } from "./${snake}_controller.ts";

Deno.test("GET /v1/${prefix} answers", async () => {
  const TestModule = module({
    providers: [], // what the controller injects
    controllers: [${pascal}Controller],
  });
  await using app = await createTestApplication(TestModule);
  const response = await app.request("/v1/${prefix}");
  assert.equal(response.status, 200);
  assert.deepEqual(await response.json(), { message: "${prose}" });
});
`,
  };
}
