/**
 * Controllers, and what runs around their routes: guards, interceptors, filters.
 *
 * @module
 */
import type { EntityName } from "../../project/entity_name.ts";
import { type CodeAndTest, codeKind, type Kind } from "../kind.ts";
import type { Target } from "../target.ts";

/** A controller with a route, listed in the nearest module. */
export const CONTROLLER: Kind = codeKind({
  name: "controller",
  aliases: ["co"],
  about: "a controller with a route, listed in the nearest module",
  example: "invoices",
  template: controllerTemplate,
  list: "controllers",
});

/** Returns a controller with one route. */
function controllerTemplate(
  { pascal, snake, kebab, prose }: EntityName,
  { folders }: Target,
): CodeAndTest {
  const prefix = [...folders, kebab].join("/");
  return {
    code: `import { controller, route } from "@fw/fw";
import * as v from "valibot";

export class ${pascal}Controller extends controller("${prefix}", { version: "v1" }) {
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
  await using app = await createTestApplication(TestModule, {
    setUp: (app) => app.enableUriVersioning(),
  });
  const response = await app.request("/v1/${prefix}");
  assert.equal(response.status, 200);
  assert.deepEqual(await response.json(), { message: "${prose}" });
});
`,
  };
}

/** A guard: admits a request or refuses it. */
export const GUARD: Kind = codeKind({
  name: "guard",
  aliases: ["gu"],
  about: "a guard: admits a request or refuses it",
  example: "admin",
  template: guardTemplate,
  use: ({ pascal }) => `guards: [${pascal}Guard] to the options of a controller or a route`,
});

/** Returns a guard that refuses every request. */
function guardTemplate({ pascal, snake }: EntityName): CodeAndTest {
  return {
    code: `import type { CanActivate, Context } from "@fw/fw";

/** Admits a request, or refuses it with 403. */
export class ${pascal}Guard implements CanActivate {
  /** Refuses every request until you return true for some. */
  canActivate(_c: Context): boolean {
    return false;
  }
}
`,
    test: `import { controller, module, route } from "@fw/fw";
import { createTestApplication } from "@fw/fw/testing";
import assert from "node:assert/strict";
import { ${pascal}Guard } from "./${snake}_guard.ts";

class GuardedController extends controller("", { guards: [${pascal}Guard] }) {
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

/** An interceptor: runs around a handler. */
export const INTERCEPTOR: Kind = codeKind({
  name: "interceptor",
  aliases: ["itc"],
  about: "an interceptor: runs around a handler",
  example: "timing",
  template: interceptorTemplate,
  use: ({ pascal }) =>
    `interceptors: [${pascal}Interceptor] to the options of a controller or a route`,
});

/** Returns an interceptor that measures handlers. */
function interceptorTemplate({ pascal, snake }: EntityName): CodeAndTest {
  return {
    code: `import type { Context, Interceptor, NextHandler } from "@fw/fw";

/** Runs around a handler. This one measures its duration. */
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
    test: `import { controller, module, route } from "@fw/fw";
import { createTestApplication } from "@fw/fw/testing";
import assert from "node:assert/strict";
import { ${pascal}Interceptor } from "./${snake}_interceptor.ts";

class InterceptedController extends controller("", { interceptors: [${pascal}Interceptor] }) {
  show = route.get("/", () => ({ answer: 42 }));
}

Deno.test("${pascal}Interceptor reports the duration of the handler", async () => {
  const TestModule = module({ controllers: [InterceptedController] });
  await using app = await createTestApplication(TestModule);
  const response = await app.request("/");
  assert.deepEqual(await response.json(), { answer: 42 });
  assert.match(response.headers.get("server-timing") ?? "", /^handler;dur=\\d/);
});
`,
  };
}

/** A filter: handles chosen errors. */
export const FILTER: Kind = codeKind({
  name: "filter",
  aliases: ["f"],
  about: "a filter: handles chosen errors",
  example: "payment",
  template: filterTemplate,
  imports: "ExceptionFilter",
  use: ({ pascal }) => `filters: [${pascal}Filter] to the options of a controller or a route`,
});

/** Returns an exception filter for one kind of error. */
function filterTemplate({ pascal, snake }: EntityName): CodeAndTest {
  return {
    code: `import { BadRequestException, type ExceptionFilter } from "@fw/fw";

/** Handles a RangeError as a 400, and leaves other errors to the framework. */
export class ${pascal}Filter implements ExceptionFilter {
  catch(error: unknown): void {
    if (error instanceof RangeError) {
      throw new BadRequestException(error.message);
    }
  }
}
`,
    test: `import { controller, module, route } from "@fw/fw";
import { createTestApplication } from "@fw/fw/testing";
import assert from "node:assert/strict";
import { ${pascal}Filter } from "./${snake}_filter.ts";

class FailingController extends controller("", { filters: [${pascal}Filter] }) {
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
