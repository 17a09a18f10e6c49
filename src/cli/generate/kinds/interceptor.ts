/**
 * Interceptors.
 *
 * @module
 */
import type { EntityName } from "../../project/entity_name.ts";
import { type CodeAndTest, codeKind } from "../code_kind.ts";
import type { Kind } from "../kind.ts";

/** An interceptor: runs around a handler. */
export const INTERCEPTOR: Kind = codeKind({
  name: "interceptor",
  aliases: ["itc"],
  about: "an interceptor: runs around a handler",
  example: "timing",
  template,
  use: ({ pascal }) =>
    `static readonly interceptors = [${pascal}Interceptor] of a controller, or interceptors of a route`,
});

/** Gives an interceptor that times handlers. */
function template({ pascal, snake }: EntityName): CodeAndTest {
  return {
    code: `import type { Context, Interceptor, NextHandler } from "@fw/fw";

/** Runs around a handler: here, it tells how long the handler took. */
export class ${pascal}Interceptor implements Interceptor {
  async intercept(c: Context, next: NextHandler): Promise<unknown> {
    const startedAt = performance.now();
    const result = await next();
    const durationMs = performance.now() - startedAt;
    c.header("server-timing", \`handler;dur=\${durationMs.toFixed(1)}\`);
    return result;
  }
}
`,
    test: `import { module, route } from "@fw/fw";
import { createTestApplication } from "@fw/fw/testing";
import assert from "node:assert/strict";
import { ${pascal}Interceptor } from "./${snake}_interceptor.ts";

class InterceptedController {
  static readonly interceptors = [${pascal}Interceptor];
  show = route.get("/", () => ({ answer: 42 }));
}

Deno.test("${pascal}Interceptor tells how long the handler took", async () => {
  const TestModule = module({ controllers: [InterceptedController] });
  await using app = await createTestApplication(TestModule);
  const response = await app.request("/");
  assert.deepEqual(await response.json(), { answer: 42 });
  assert.match(response.headers.get("server-timing") ?? "", /^handler;dur=\\d/);
});
`,
  };
}
