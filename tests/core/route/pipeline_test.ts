import type { Context } from "hono";
import assert from "node:assert/strict";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import {
  type CanActivate,
  type CanActivateFn,
  ConflictException,
  controller,
  type ExceptionFilter,
  type FwApplication,
  HttpException,
  inject,
  type Interceptor,
  module,
  type NextHandler,
  NotFoundException,
  provide,
  route,
  UnauthorizedException,
} from "../../../mod.ts";
import { createTestApplication } from "../../../src/testing/mod.ts";
import { captureLogs } from "../../support/capture_logs.ts";
import { test } from "../../support/test.ts";

class Log {
  readonly lines: string[] = [];
}

class LogGuard implements CanActivate {
  readonly #log = inject(Log);
  canActivate(c: Context): boolean {
    this.#log.lines.push(`guard class ${c.req.path}`);
    return true;
  }
}

class LogInterceptor implements Interceptor {
  readonly #log = inject(Log);
  async intercept(_c: Context, next: NextHandler): Promise<unknown> {
    this.#log.lines.push("interceptor in");
    const value = await next();
    this.#log.lines.push("interceptor out");
    return value;
  }
}

class ConflictFilter implements ExceptionFilter {
  readonly #log = inject(Log);
  catch(error: unknown, c: Context): Response | undefined {
    this.#log.lines.push(`filter class ${(error as Error).message}`);
    return error instanceof ConflictException ? c.text("caught", 409) : undefined;
  }
}

test("guards, interceptors and extractors run from the global ones to the route's own", async () => {
  const lines: string[] = [];
  const guard = (name: string) => () => lines.push(`guard ${name}`) > 0;
  const interceptor = (name: string) => async (_c: Context, next: NextHandler) => {
    lines.push(`${name} in`);
    const value = await next();
    lines.push(`${name} out`);
    return value;
  };
  class OrderController extends controller("", {
    guards: [guard("controller")],
    interceptors: [interceptor("controller")],
  }) {
    one = route.get("/", {
      guards: [guard("route")],
      interceptors: [interceptor("route")],
      args: { extracted: () => lines.push("extractor") },
    }, () => void lines.push("handler"));
  }
  await using app = await createTestApplication(module({ controllers: [OrderController] }), {
    setUp: (app) =>
      app.useGlobalGuards(guard("global")).useGlobalInterceptors(interceptor("global")),
  });
  await app.request("/");
  assert.deepEqual(lines, [
    "guard global",
    "guard controller",
    "guard route",
    "global in",
    "controller in",
    "route in",
    "extractor",
    "handler",
    "route out",
    "controller out",
    "global out",
  ]);
});

test("guards, interceptors and filters that are classes are built once, with injection", async () => {
  class ClassesController extends controller() {
    one = route.get("/", {
      guards: [LogGuard],
      interceptors: [LogInterceptor],
      filters: [ConflictFilter],
    }, () => ConflictException.throw("taken"));
  }
  await using app = await createTestApplication(
    module({ providers: [Log], controllers: [ClassesController] }),
  );
  const response = await app.request("/");
  assert.deepEqual([response.status, await response.text()], [409, "caught"]);
  assert.deepEqual(app.get(Log).lines, ["guard class /", "interceptor in", "filter class taken"]);
});

for (
  const { claim, guard, status, detail } of [
    { claim: "true", guard: () => true, status: 200, detail: undefined },
    {
      claim: "a promise of true",
      guard: () => Promise.resolve(true),
      status: 200,
      detail: undefined,
    },
    ...[
      ["false", false],
      ["undefined", undefined],
      ["null", null],
      ["1", 1],
      ["a text", "true"],
      ["an empty object", {}],
      ["a Boolean object", Object(true)],
      ["a list", [true]],
      ["a function", () => true],
      ["a response", new Response()],
    ].flatMap(([claim, result]) => [
      { claim, guard: () => result, status: 403, detail: "Forbidden" },
      {
        claim: `a promise of ${claim}`,
        guard: () => Promise.resolve(result),
        status: 403,
        detail: "Forbidden",
      },
    ]),
    {
      claim: "its own exception",
      guard: () => UnauthorizedException.throw("Log in first"),
      status: 401,
      detail: "Log in first",
    },
  ] as readonly {
    readonly claim: string;
    readonly guard: CanActivateFn; // JavaScript, and values of the type any, return other types
    readonly status: number;
    readonly detail: string | undefined;
  }[]
) {
  test(`a guard that returns ${claim} leads to ${status}, at every level`, async () => {
    let calls = 0;
    class Guard implements CanActivate {
      canActivate = guard;
    }
    class RouteController extends controller("route") {
      one = route.get("/", { guards: [guard] }, () => ({ calls: ++calls }));
      byClass = route.get("/class", { guards: [Guard] }, () => ({ calls: ++calls }));
      last = route.get("/last", { guards: [() => true, guard] }, () => ({ calls: ++calls }));
    }
    class ControllerController extends controller("controller", { guards: [guard] }) {
      one = route.get("/", () => ({ calls: ++calls }));
    }
    class OpenController extends controller("open") {
      one = route.get("/", () => ({ calls: ++calls }));
    }
    await using app = await createTestApplication(
      module({ controllers: [RouteController, ControllerController] }),
    );
    await using everywhere = await createTestApplication(
      module({ controllers: [OpenController] }),
      { setUp: (app) => app.useGlobalGuards(guard) },
    );
    const responses = [
      ...await Promise.all(
        ["/route", "/route/class", "/route/last", "/controller"].map((path) => app.request(path)),
      ),
      await everywhere.request("/open"),
    ];
    for (const response of responses) {
      assert.deepEqual([response.status, (await response.json()).detail], [status, detail]);
    }
    assert.equal(calls, status === 200 ? responses.length : 0);
  });
}

test("a guard that reads a property of an unknown user refuses the request", async () => {
  class AdminGuard implements CanActivate {
    canActivate(c: Context) {
      return c.get("user")?.admin; // any, and undefined without a user
    }
  }
  class AdminController extends controller("", { guards: [AdminGuard] }) {
    one = route.get("/", () => "in");
  }
  await using app = await createTestApplication(module({ controllers: [AdminController] }), {
    setUp: (app) =>
      app.use((c, next) => {
        const admin = c.req.query("admin");
        if (admin) c.set("user", { admin: admin === "yes" || admin });
        return next();
      }),
  });
  const status = async (query: string) => (await app.request(`/${query}`)).status;
  assert.deepEqual(
    [await status(""), await status("?admin=1"), await status("?admin=yes")],
    [403, 403, 200],
  );
});

test("an interceptor maps the result of the handler, before the response schema", async () => {
  class MappedController extends controller() {
    one = route.get("/", {
      interceptors: [async (_c, next) => ({ data: await next() })],
    }, () => [1]);
    instead = route.get("/instead", { interceptors: [() => "cached"] }, () => {
      throw new Error("not reached");
    });
  }
  await using app = await createTestApplication(module({ controllers: [MappedController] }));
  assert.deepEqual(await (await app.request("/")).json(), { data: [1] });
  assert.equal(await (await app.request("/instead")).json(), "cached");
});

test("an interceptor that awaits next() late, or never, leaves no rejection unhandled", async () => {
  const unhandled: unknown[] = [];
  const record = (error: unknown) => void unhandled.push(error);
  process.on("unhandledRejection", record);
  using _listener = { [Symbol.dispose]: () => process.off("unhandledRejection", record) };
  const seen: unknown[] = [];
  class AuditedController extends controller() {
    late = route.get("/late", {
      interceptors: [async (_c, next) => {
        const result = next();
        await delay(5);
        return await result;
      }],
    }, () => NotFoundException.throw("gone"));
    caught = route.get("/caught", {
      interceptors: [async (_c, next) => {
        const result = next();
        await delay(5);
        return await result.catch((error) => seen.push(String(error)));
      }],
    }, () => NotFoundException.throw("gone"));
    thrown = route.get("/thrown", {
      interceptors: [(_c, next) => {
        void next();
        return ConflictException.throw("taken");
      }],
    }, () => NotFoundException.throw("gone"));
    unused = route.get("/unused", {
      interceptors: [(_c, next) => {
        void next();
        return "other";
      }],
    }, () => NotFoundException.throw("gone"));
  }
  await using app = await createTestApplication(module({ controllers: [AuditedController] }));
  const status = async (path: string) => (await app.request(path)).status;
  assert.deepEqual(
    [await status("/late"), await status("/caught"), await status("/thrown")],
    [404, 200, 409],
  );
  assert.equal(await status("/unused"), 200);
  assert.deepEqual(seen, ["NotFoundException: gone"]);
  await delay(5); // runtimes report a rejection in a later turn
  assert.deepEqual(unhandled, []);
});

for (const [result, type] of [[{ message: "no" }, "object"], ["no", "string"]] as const) {
  test(`a filter or middleware that returns a value of type ${type} leads to a logged 500`, () =>
    captureLogs(["fw"], async (records) => {
      class RefusedController extends controller() {
        filtered = route.get("/filtered", {
          guards: [() => false],
          filters: [() => result as never],
        }, () => "in");
        open = route.get("/open", () => "in");
      }
      await using app = await createTestApplication(module({ controllers: [RefusedController] }), {
        setUp: (app) =>
          app.useGlobalFilters(() => undefined)
            .use("/refused", () => Promise.resolve(result as never))
            .use("/open", async (_c, next) => {
              await next();
              return result as never; // Hono ignores it
            }),
      });
      await using server = await app.listen(0);
      for (const path of ["/filtered", "/refused"]) {
        const response = await fetch(new URL(path, server.url));
        assert.deepEqual([response.status, (await response.json()).status], [500, 500], path);
      }
      assert.equal(await (await fetch(new URL("/open", server.url))).json(), "in");
      const errors = records.filter(({ level }) => level === "error")
        .map(({ properties: { error } }) => String(error));
      assert.deepEqual(
        errors,
        ["a filter", "middleware"].map((source) =>
          `TypeError: Cannot send the response: ${source} returned ${type}, not a Response`
        ),
      );
    }));
}

test("filters see an error from the route's own to the global ones", async () => {
  const seen: string[] = [];
  const filter = (name: string) => (error: unknown) =>
    void seen.push(`${name} ${(error as Error).message}`);
  class FilteredController extends controller("", { filters: [filter("controller")] }) {
    one = route.get("/", { filters: [filter("route")] }, () => NotFoundException.throw("gone"));
    mapped = route.get("/mapped", {
      filters: [() => {
        throw new HttpException(418, "mapped");
      }],
    }, () => NotFoundException.throw("gone"));
  }
  await using app = await createTestApplication(module({ controllers: [FilteredController] }), {
    setUp: (app) => app.useGlobalFilters(filter("global")),
  });
  assert.equal((await app.request("/")).status, 404);
  assert.equal((await app.request("/mapped")).status, 418);
  assert.equal((await app.request("/unknown")).status, 404);
  assert.deepEqual(seen, [
    "route gone",
    "controller gone",
    "global gone",
    "controller mapped",
    "global mapped",
    "global There is nothing at this path",
  ]);
});

test("a global filter handles errors of middleware", async () => {
  await using app = await createTestApplication(module({}), {
    setUp: (app) =>
      app.use(() => Promise.reject(new Error("boom")))
        .useGlobalFilters((error, c) => c.text(`filtered ${error}`, 500)),
  });
  assert.equal(await (await app.request("/")).text(), "filtered Error: boom");
});

test("app.routes() reports how each route is protected", async () => {
  class ProtectedController extends controller("x") {
    open = route.get("/", () => 1);
    guarded = route.post("/", { guards: [() => true] }, () => 1);
    roles = route.delete("/", { roles: ["admin"] }, () => 1);
    scopes = route.put("/", { scopes: ["x:read", "x:write"] }, () => 1);
    both = route.patch("/", { roles: ["admin"], scopes: ["x:write"] }, () => 1);
  }
  await using app = await createTestApplication(
    module({ name: "AppModule", controllers: [ProtectedController] }),
  );
  assert.deepEqual(app.routes(), [
    {
      method: "GET",
      path: "/x",
      versions: [],
      handler: "AppModule.ProtectedController.open",
      protection: "open",
      roles: [],
      scopes: [],
    },
    {
      method: "POST",
      path: "/x",
      versions: [],
      handler: "AppModule.ProtectedController.guarded",
      protection: "guarded",
      roles: [],
      scopes: [],
    },
    {
      method: "DELETE",
      path: "/x",
      versions: [],
      handler: "AppModule.ProtectedController.roles",
      protection: "roles",
      roles: ["admin"],
      scopes: [],
    },
    {
      method: "PUT",
      path: "/x",
      versions: [],
      handler: "AppModule.ProtectedController.scopes",
      protection: "scopes",
      roles: [],
      scopes: ["x:read", "x:write"],
    },
    {
      method: "PATCH",
      path: "/x",
      versions: [],
      handler: "AppModule.ProtectedController.both",
      protection: "roles",
      roles: ["admin"],
      scopes: ["x:write"],
    },
  ]);
});

test("a class whose method is a field is a guard too, and boot fails for a class without it", async () => {
  class FieldGuard {
    canActivate = () => false;
  }
  class NoGuard {}
  const guarded = (guard: typeof FieldGuard) =>
    class GuardedController extends controller() {
      one = route.get("/", { guards: [guard] }, () => 1);
    };
  await using app = await createTestApplication(module({ controllers: [guarded(FieldGuard)] }));
  assert.equal((await app.request("/")).status, 403);
  await assert.rejects(
    createTestApplication(module({ controllers: [guarded(NoGuard as typeof FieldGuard)] })),
    { name: "TypeError", message: "Cannot use NoGuard: it has no canActivate()" },
  );
});

test("a global guard is treated like a provider: its hooks run, and it can be overridden", async () => {
  const lines: string[] = [];
  class GlobalGuard implements CanActivate {
    onModuleInit = () => void lines.push("init");
    onModuleDestroy = () => void lines.push("destroy");
    canActivate = () => false;
  }
  class OpenController extends controller() {
    one = route.get("/", () => 1);
  }
  const root = module({ controllers: [OpenController] });
  const setUp = (app: FwApplication) => app.useGlobalGuards(GlobalGuard);
  const app = await createTestApplication(root, { setUp });
  assert.equal((await app.request("/")).status, 403);
  await app.close();
  assert.deepEqual(lines, ["init", "destroy"]);
  await using open = await createTestApplication(root, {
    setUp,
    overrides: [
      provide(GlobalGuard, () => ({
        ...new GlobalGuard(),
        canActivate: () => true,
      } as unknown as GlobalGuard)),
    ],
  });
  assert.equal((await open.request("/")).status, 200);
});

test("FwFactory.create() refuses what looks like protection and has no effect", async () => {
  class InstanceController extends controller() {
    guards = [() => false];
    one = route.get("/", () => 1);
  }
  // @ts-expect-error: the types refuse it too
  class SingularController extends controller() {
    static readonly guard = [() => false];
    one = route.get("/", () => 1);
  }
  class OddController extends controller() {
    one = route.get("/", { guards: [7 as never] }, () => 1);
  }
  for (
    const [controller, message] of [
      [
        InstanceController,
        "Cannot boot InstanceController: its field guards has no effect; " +
        'write class InstanceController extends controller("...", { guards })',
      ],
      [
        SingularController as never,
        "Cannot boot SingularController: its static guard has no effect; " +
        'write class SingularController extends controller("...", { guards })',
      ],
      [OddController, "Cannot use number: it is neither a function nor a class with canActivate()"],
    ] as const
  ) {
    await assert.rejects(createTestApplication(module({ controllers: [controller] })), {
      name: "TypeError",
      message,
    });
  }
});
