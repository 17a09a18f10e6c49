/**
 * Exception filters.
 *
 * @module
 */
import type { EntityName } from "../../project/entity_name.ts";
import { type CodeAndTest, codeKind } from "../code_kind.ts";
import type { Kind } from "../kind.ts";

/** A filter: answers for errors of its choice. */
export const FILTER: Kind = codeKind({
  name: "filter",
  aliases: ["f"],
  about: "a filter: answers for errors of its choice",
  example: "payment",
  template,
  use: ({ pascal }) =>
    `static readonly filters = [${pascal}Filter] of a controller, or filters of a route`,
});

/** Gives an exception filter for one kind of error. */
function template({ pascal, snake }: EntityName): CodeAndTest {
  return {
    code: `import { BadRequestException, type ExceptionFilter } from "@fw/fw";

/** Sees what was thrown: here, a RangeError becomes a 400, and all else is left. */
export class ${pascal}Filter implements ExceptionFilter {
  catch(error: unknown): void {
    if (error instanceof RangeError) {
      throw new BadRequestException(error.message);
    }
  }
}
`,
    test: `import { module, route } from "@fw/fw";
import { createTestApplication } from "@fw/fw/testing";
import assert from "node:assert/strict";
import { ${pascal}Filter } from "./${snake}_filter.ts";

class FailingController {
  static readonly filters = [${pascal}Filter];
  show = route.get("/", () => {
    throw new RangeError("It is too much");
  });
}

Deno.test("${pascal}Filter answers a RangeError with 400", async () => {
  const TestModule = module({ controllers: [FailingController] });
  await using app = await createTestApplication(TestModule);
  const response = await app.request("/");
  assert.equal(response.status, 400);
  assert.equal((await response.json()).detail, "It is too much");
});
`,
  };
}
