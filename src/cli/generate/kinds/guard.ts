/**
 * Guards.
 *
 * @module
 */
import type { EntityName } from "../../project/entity_name.ts";
import { type CodeAndTest, codeKind } from "../code_kind.ts";
import type { Kind } from "../kind.ts";

/** A guard: lets a request in or refuses it. */
export const GUARD: Kind = codeKind({
  name: "guard",
  aliases: ["gu"],
  about: "a guard: lets a request in or refuses it",
  example: "admin",
  template,
  use: ({ pascal }) =>
    `static readonly guards = [${pascal}Guard] of a controller, or guards: [${pascal}Guard] of a route`,
});

/** Gives a guard that lets nobody in. */
function template({ pascal, snake }: EntityName): CodeAndTest {
  return {
    code: `import type { CanActivate, Context } from "@fw/fw";

/** Lets a request in, or refuses it with 403. */
export class ${pascal}Guard implements CanActivate {
  /** A new guard lets nobody in: say here whom it should. */
  canActivate(_c: Context): boolean {
    return false;
  }
}
`,
    test: `import { module, route } from "@fw/fw";
import { createTestApplication } from "@fw/fw/testing";
import assert from "node:assert/strict";
import { ${pascal}Guard } from "./${snake}_guard.ts";

class GuardedController {
  static readonly guards = [${pascal}Guard];
  show = route.get("/", () => ({ secret: 42 }));
}

Deno.test("${pascal}Guard refuses a request with 403", async () => {
  const TestModule = module({ controllers: [GuardedController] });
  await using app = await createTestApplication(TestModule);
  assert.equal((await app.request("/")).status, 403);
});
`,
  };
}
