/** The order of plugins, and middleware after authentication. */
import type { MiddlewareHandler } from "hono";
import assert from "node:assert/strict";
import {
  type Context,
  controller,
  ForbiddenException,
  type FwApplication,
  module,
  type Plugin,
  type PluginSlot,
  route,
  ServiceUnavailableException,
} from "../../mod.ts";
import { AuthnModule, JwtKey, JwtService, Principal } from "../../src/authn/mod.ts";
import { inOrder, MIDDLEWARE_ORDER } from "../../src/core/module/plugin.ts";
import { oauth2Identity } from "../../src/oauth2/mod.ts";
import { createTestApplication } from "../../src/testing/mod.ts";
import { captureLogs } from "../support/capture_logs.ts";
import { test } from "../support/test.ts";
import { issuer } from "../oauth2/issuer.ts";

class PingController extends controller() {
  ping = route.get("/ping", () => "pong");
  admin = route.get("/admin/users", { public: true }, () => "users");
}

const AppModule = module({ name: "AppModule", controllers: [PingController] });

const create = (setUp: (app: FwApplication) => unknown) =>
  createTestApplication(AppModule, { setUp });

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

/** Creates a plugin whose middleware records that a request passes. */
function noting(seen: string[], slot: PluginSlot, key?: string): Plugin {
  const note: MiddlewareHandler = async (_, next) => {
    seen.push(key ?? slot);
    await next();
  };
  return { slot, key, install: (router) => void router.use(note) };
}

const SLOTS = MIDDLEWARE_ORDER.slice(0, -1) as readonly PluginSlot[];

test("plug() installs plugins in the order of their slots, not of the calls", async () => {
  const seen: string[] = [];
  await using app = await create((app) => {
    for (const slot of SLOTS.toReversed()) app.plug(noting(seen, slot));
  });
  assert.equal((await app.request("/ping")).status, 200);
  assert.deepEqual(seen, SLOTS);
});

test("plug() replaces a plugin with the same slot and key in its place, and adds others", async () => {
  const seen: string[] = [];
  const replaced: string[] = [];
  await using app = await create((app) =>
    app
      .plug(noting(replaced, "use", "one"), noting(seen, "use", "two"))
      .plug(noting(seen, "use", "one"), noting(seen, "rateLimit", "one"))
      .plug(noting(seen, "use"), noting(seen, "use"))
  );
  await app.request("/ping");
  assert.deepEqual(seen, ["one", "two", "use", "use", "one"]);
  assert.deepEqual(replaced, []);
});

test("plug() replaces the plugin of a builder method with the same key", async () => {
  const seen: string[] = [];
  await using app = await create((app) =>
    app.useRequestId().plug(noting(seen, "requestId", "requestId"))
  );
  assert.equal((await app.request("/ping")).headers.get("x-request-id"), null);
  assert.deepEqual(seen, ["requestId"]);
});

test("plug() refuses an unknown slot, and an install that is not a function", async () => {
  await using app = await createTestApplication(AppModule, { setUp: () => {} });
  const install = () => {};
  const plug = (plugin: unknown) => () => app.plug(plugin as Plugin);
  const slots = SLOTS.join(", ");
  for (const slot of ["routes", "beforeUse", "toString", undefined]) {
    assert.throws(plug({ slot, install }), {
      name: "TypeError",
      message: `Cannot plug in: slot ${JSON.stringify(slot)} is unknown; the slots are ${slots}`,
    });
  }
  assert.throws(plug({ slot: "use", install: "x" }), {
    name: "TypeError",
    message: "Cannot plug in: install is string, not a function",
  });
  assert.throws(plug({ slot: "use", install }), {
    name: "TypeError",
    message: "Cannot change the application: it is already serving; " +
      "call builder methods before the first request or listen()",
  });
});

test("a plugin for maintenance answers 503 with an id and CORS; health and metrics still answer", async () => {
  const maintenance: Plugin = {
    slot: "rateLimit",
    key: "maintenance",
    install: (router) => {
      router.use(() => {
        throw new ServiceUnavailableException("Back in a minute", {
          headers: { "retry-after": "60" },
        });
      });
    },
  };
  await using app = await create((app) =>
    app.plug(maintenance).useRequestId().enableHealthCheck("/health").enableMetrics("/metrics")
  );
  const response = await app.request("/ping", { headers: { "x-request-id": "id-1" } });
  assert.deepEqual(
    [
      response.status,
      response.headers.get("x-request-id"),
      response.headers.get("retry-after"),
      (await response.json()).detail,
    ],
    [503, "id-1", "60", "Back in a minute"],
  );
  assert.equal((await app.request("/health")).status, 200);
  const metrics = await (await app.request("/metrics")).text();
  assert.match(metrics, /http_requests_total\{method="GET",route="\/ping",status="503"\} 1/);
});

test("a plugin is installed once, and can read whether the application is closing", async () => {
  const states: boolean[] = [];
  const app = await create((app) =>
    app.plug({
      slot: "use",
      install: async (router, application) => {
        states.push(application.isDraining);
        await Promise.resolve();
        router.get("/state", (c) => c.json(application.isDraining));
      },
    })
  );
  assert.equal(await (await app.request("/state")).json(), false);
  await app.close();
  assert.equal(await (await app.request("/state")).json(), true);
  assert.deepEqual(states, [false]);
});

test("an application whose plugin cannot be installed fails at ready()", async () => {
  const broken: Plugin = { slot: "use", install: () => Promise.reject(new Error("no such file")) };
  await assert.rejects(create((app) => app.plug(broken).ready()), { message: "no such file" });
});

test("inOrder() keeps the order of the calls within a slot", () => {
  const plugins = (["oauth2", "use", "requestId", "use"] as const).map((slot, i) => ({
    slot,
    key: String(i),
    install: () => {},
  }));
  assert.deepEqual(inOrder(plugins).map(({ key }) => key), ["2", "1", "3", "0"]);
});

/** Records the caller of each request and the status of its response. */
function audit(seen: string[]): MiddlewareHandler {
  return async (c, next) => {
    const subject = oauth2Identity(c)?.subject ?? "anonymous";
    await next();
    seen.push(`${subject} ${c.req.method} ${c.req.path} ${c.res.status}`);
  };
}

test("use() with afterAuthentication: audit middleware sees the caller of a real token", async () => {
  const { verifier, sign } = await issuer();
  const seen: string[] = [];
  const before: string[] = [];
  await using app = await create((app) =>
    app
      .use(audit(seen), { afterAuthentication: true })
      .use(audit(before))
      .enableHealthCheck("/health")
      .useOAuth2(verifier)
  );
  const token = await sign({ sub: "tom" });
  for (const path of ["/ping", "/none", "/health"]) await app.request(path, bearer(token));
  await captureLogs(["fw", "oauth2"], async () => {
    await app.request("/ping", bearer("not.a.token"));
  });
  await app.request("/ping");
  assert.deepEqual(seen, [
    "tom GET /ping 200",
    "tom GET /none 404",
    "anonymous GET /ping 200",
    "anonymous GET /ping 200",
  ]);
  assert.equal(before[2], "anonymous GET /health 200"); // with `use` alone, middleware sees endpoints as well
});

test("use() with a path and afterAuthentication: policy middleware refuses by identity", async () => {
  const { verifier, sign } = await issuer();
  const seen: string[] = [];
  const staffOnly: MiddlewareHandler = async (c, next) => {
    if (oauth2Identity(c)?.claims["staff"] !== true) throw new ForbiddenException("Staff only");
    await next();
  };
  await using app = await create((app) =>
    app
      .use("/admin/*", staffOnly, { afterAuthentication: true })
      .use(audit(seen), { afterAuthentication: true })
      .useRequestId()
      .useOAuth2(verifier, { require: true })
  );
  const statuses = async (headers: Record<string, string>) =>
    await Promise.all(
      ["/ping", "/admin/users"].map(async (path) => (await app.request(path, { headers })).status),
    );
  const authorization = async (staff: boolean) => ({
    authorization: `Bearer ${await sign({ staff })}`,
  });
  assert.deepEqual(await statuses({}), [401, 403]); // the route is public, the policy is not
  assert.deepEqual(await statuses(await authorization(false)), [200, 403]);
  assert.deepEqual(await statuses(await authorization(true)), [200, 200]);
  const refused = await app.request("/admin/users", { headers: { "x-request-id": "id-1" } });
  const { detail, requestId } = await refused.json();
  assert.deepEqual([detail, requestId], ["Staff only", "id-1"]);
  assert.ok(seen.every((line) => !line.endsWith("/admin/users 403"))); // later middleware does not run
});

test("use() with afterAuthentication: a 401 has the challenge of useOAuth2()", async () => {
  const { verifier } = await issuer();
  await using app = await create((app) =>
    app.useOAuth2(verifier).use((c) => Promise.resolve(c.text("Who are you?", 401)), {
      afterAuthentication: true,
    })
  );
  const response = await app.request("/ping");
  assert.deepEqual([response.status, response.headers.get("www-authenticate")], [401, "Bearer"]);
});

test("use() with afterAuthentication sees the caller of a token that the application has issued", async () => {
  const key = await JwtKey.generate();
  const Authn = AuthnModule.forRoot({ issuer: "https://app.example", audience: "app", key });
  const seen: unknown[] = [];
  const note = async (c: Context, next: () => Promise<void>) => {
    const { subject, source } = await Principal(c);
    seen.push([subject, source]);
    await next();
  };
  await using app = await createTestApplication(
    module({ imports: [Authn], controllers: [PingController] }),
    { setUp: (app) => app.useAuthn(app.get(JwtService)).use(note, { afterAuthentication: true }) },
  );
  const token = await app.get(JwtService).sign({ subject: "ann" });
  assert.equal((await app.request("/ping", bearer(token))).status, 200);
  assert.equal((await app.request("/ping")).status, 401);
  assert.deepEqual(seen, [["ann", "authn"]]);
});

test("a rate limit comes after the middleware of use() on the same side of authentication", async () => {
  const { verifier, sign } = await issuer();
  const seen: string[] = [];
  const note = (name: string): MiddlewareHandler => async (c, next) => {
    await next();
    seen.push(`${name}: ${c.res.status}`);
  };
  await using app = await create((app) =>
    app
      .useRateLimit({
        name: "caller",
        max: 1,
        key: (c) => oauth2Identity(c)?.subject,
        afterAuthentication: true,
      })
      .useRateLimit({ name: "client", max: 2 })
      .use(note("after"), { afterAuthentication: true })
      .use(note("before"))
      .useOAuth2(verifier)
  );
  const token = await sign();
  for (let i = 0; i < 3; i++) await app.request("/ping", bearer(token));
  assert.deepEqual(seen, [
    ...["after: 200", "before: 200"],
    ...["after: 429", "before: 429"], // the caller's limit
    "before: 429", // the client's limit, before any token is verified
  ]);
});

test("use() refuses options that are not at the end", async () => {
  const app = await create(() => {});
  const use = app.use.bind(app) as (...args: unknown[]) => unknown;
  const next: MiddlewareHandler = (_, next) => next();
  for (const args of [[{ afterAuthentication: true }, next], ["/x", {}, next], [next, null]]) {
    assert.throws(() => use(...args), {
      name: "TypeError",
      message: "Cannot use object: it is not middleware",
    });
  }
  await app.close();
});

test("use() refuses an unknown option, and a call without middleware", async () => {
  const app = await create(() => {});
  const use = app.use.bind(app) as (...args: unknown[]) => unknown;
  const next: MiddlewareHandler = (_, next) => next();
  for (
    const [args, why] of [
      [[next, { afterAuthentification: true }], "afterAuthentification is not an option"],
      [["/x", next, { before: true }], "before is not an option"],
      [[], "it is missing"],
      [["/x"], "it is missing"],
      [["/x", { afterAuthentication: true }], "it is missing"],
    ] as const
  ) {
    assert.throws(() => use(...args), {
      name: "TypeError",
      message: `Cannot use middleware: ${why}`,
    });
  }
  await app.close();
});

test("a misspelled option of use() and an unknown slot do not compile", () => {
  const next: MiddlewareHandler = (_, next) => next();
  const uncalled = (app: FwApplication) => {
    // @ts-expect-error: the option is afterAuthentication
    app.use("/x", next, { afterAuthentification: true });
    // @ts-expect-error: options come last
    app.use({ afterAuthentication: true }, next);
    // @ts-expect-error: routes take no plugin
    app.plug({ slot: "routes", install: () => {} });
    app.use(...[next, next]).use("/x", ...[next], { afterAuthentication: true });
  };
  assert.equal(typeof uncalled, "function");
});

for (
  const { claim, setUp, path, fullPath } of [
    {
      claim: "the global prefix",
      setUp: (app) => app.setGlobalPrefix("api"),
      path: "/admin/*",
      fullPath: "/api/admin/*",
    },
    {
      claim: "the version",
      setUp: (app) => app.enableUriVersioning({ defaultVersion: "v1" }),
      path: "/admin/users",
      fullPath: "/v1/admin/users",
    },
    {
      claim: "both",
      setUp: (app) => app.setGlobalPrefix("api").enableUriVersioning({ defaultVersion: "v1" }),
      path: "/admin/:page",
      fullPath: "/api/v1/admin/:page",
    },
    {
      claim: "the prefix, but not the version",
      setUp: (app) => app.setGlobalPrefix("api").enableUriVersioning({ defaultVersion: "v1" }),
      path: "/v1/*",
      fullPath: "/api/v1/*",
    },
  ] satisfies readonly {
    readonly claim: string;
    readonly setUp: (app: FwApplication) => unknown;
    readonly path: string;
    readonly fullPath: string;
  }[]
) {
  test(`use() with a path without ${claim} logs the path to use`, () =>
    captureLogs(["fw"], async (records) => {
      const pass: MiddlewareHandler = (_, next) => next();
      await using app = await create((app) => {
        setUp(app);
        app.enableHealthCheck("/health").enableOpenApi().use(path, pass).use(fullPath, pass);
        for (const other of ["*", "/:any/*", "/health", "/static/*", "/docs"]) app.use(other, pass);
      });
      await app.ready();
      const warnings = records.filter(({ level }) => level === "warning");
      const { path: routePath } = app.routes().find(({ handler }) => handler.endsWith("admin"))!;
      assert.deepEqual(
        warnings.map(({ category, properties }) => [category, properties.warning]),
        [[
          ["fw", "routing"],
          `The middleware at ${path} runs for no route: AppModule.PingController.admin is at ` +
          `${routePath}; use app.use("${fullPath}", ...)`,
        ]],
      );
    }));
}
