/**
 * Guards, interceptors and filters, with their tests.
 *
 * @module
 */
import type { EntityName } from "../../entity_name.ts";
import type { CodeAndTest } from "./building_blocks.ts";

/** Gives a guard that lets nobody in. */
export function guardTemplate({ pascal, snake }: EntityName): CodeAndTest {
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

/** Gives an interceptor that times handlers. */
export function interceptorTemplate({ pascal, snake }: EntityName): CodeAndTest {
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

/** Gives an exception filter for one kind of error. */
export function filterTemplate({ pascal, snake }: EntityName): CodeAndTest {
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
