/**
 * Modules, controllers and services, with their tests.
 *
 * @module
 */
import type { EntityName } from "../../entity_name.ts";

/** Two files: code, and its test. */
export interface CodeAndTest {
  readonly code: string;
  readonly test: string;
}

/** Gives an empty module. */
export function moduleTemplate({ pascal, snake }: EntityName): CodeAndTest {
  return {
    code: `import { type Module, module } from "@fw/fw";

export const ${pascal}Module: Module = module({
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

/** Gives a controller with one route. */
export function controllerTemplate({ pascal, snake, kebab, prose }: EntityName): CodeAndTest {
  return {
    code: `import { route } from "@fw/fw";
import * as v from "valibot";

export class ${pascal}Controller {
  static readonly prefix = "${kebab}";
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

Deno.test("GET /v1/${kebab} answers", async () => {
  const TestModule = module({ controllers: [${pascal}Controller] });
  await using app = await createTestApplication(TestModule);
  const response = await app.request("/v1/${kebab}");
  assert.equal(response.status, 200);
  assert.deepEqual(await response.json(), { message: "${prose}" });
});
`,
  };
}

/** Gives a service with one method. */
export function serviceTemplate({ pascal, snake, prose }: EntityName): CodeAndTest {
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
