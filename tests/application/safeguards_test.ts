import assert from "node:assert/strict";
import { basicAuth } from "hono/basic-auth";
import { except } from "hono/combine";
import { cors } from "hono/cors";
import { secureHeaders } from "hono/secure-headers";
import { timeout } from "hono/timeout";
import {
  clientIp,
  controller,
  type FwApplication,
  FwFactory,
  inject,
  matchedRoute,
  module,
  provide,
  rateLimit,
  route,
  type RouteSafeguards,
} from "../../mod.ts";
import { JwtKey, JwtService, Principal } from "../../src/authn/mod.ts";
import { test } from "../support/test.ts";

const ALL = ["strict-transport-security", "x-content-type-options", "x-frame-options"];
const NOTHING = {
  missingHeaders: ALL,
  hasTimeLimit: false,
  hasRateLimit: false,
  allowsAnyOrigin: false,
};

/** Providers that a preview replaces by placeholders. */
const Database = provide("database", (): Promise<Map<string, string>> => {
  throw new Error("There is no database");
});

class CatsController extends controller("cats") {
  readonly #cats = inject(Database);
  one = route.get("/:id{[0-9]+}", () => this.#cats.get("1"));
  add = route.post("/", { bodyLimit: 10_000_000 }, () => this.#cats.get("1"));
}

const AppModule = module({ providers: [Database], controllers: [CatsController] });

class CallerController extends controller("caller", { version: ["v1", "v2"] }) {
  me = route.get("/", { args: { caller: Principal } }, ({ caller }) => caller.subject);
}

async function preview(): Promise<FwApplication> {
  return await FwFactory.create(AppModule, { preview: true });
}

async function observed(
  app: FwApplication,
): Promise<Readonly<Record<string, RouteSafeguards["observed"]>>> {
  const { routes } = await app.safeguards({ waitMs: 300 });
  return Object.fromEntries(routes.map((each) => [`${each.method} ${each.path}`, each.observed]));
}

test("FwApplication.safeguards() reports that an application configures nothing", async () => {
  const app = await preview();
  assert.deepEqual(await app.safeguards({ waitMs: 20 }), {
    authenticates: false,
    requiresIdentity: false,
    concealsErrors: false,
    bodyLimit: 1024 * 1024,
    trustedHops: 0,
    rateLimits: [],
    openEndpoints: [],
    routes: [
      {
        method: "POST",
        path: "/cats",
        bodyLimit: 10_000_000,
        isUpload: true,
        observed: NOTHING,
      },
      {
        method: "GET",
        path: "/cats/:id{[0-9]+}",
        bodyLimit: undefined,
        isUpload: false,
        observed: NOTHING,
      },
    ],
  });
});

test("FwApplication.safeguards() reports what the builder methods configure", async () => {
  const key = await JwtKey.generate();
  const app = await preview();
  app.useAuthn(new JwtService({ issuer: "a", audience: "a", key }), { require: true })
    .enableProductionErrors()
    .useBodyLimit(5)
    .useTrustedProxy({ hops: 2 })
    .useRateLimit()
    .useRateLimit({ name: "address", key: clientIp })
    .useRateLimit({ name: "user", key: () => "x", afterAuthentication: true });
  const { routes: _, ...facts } = await app.safeguards({ waitMs: 20 });
  assert.deepEqual(facts, {
    authenticates: true,
    requiresIdentity: true,
    concealsErrors: true,
    bodyLimit: 5,
    trustedHops: 2,
    rateLimits: [
      { name: "default", isByAddress: true },
      { name: "address", isByAddress: true },
      { name: "user", isByAddress: false },
    ],
    openEndpoints: [],
  });
});

test("FwApplication.safeguards() observes what middleware does for each route", async () => {
  const app = await preview();
  const isUpload = (c: Parameters<typeof matchedRoute>[0]) =>
    (matchedRoute(c)?.bodyLimit ?? 0) > 1024 * 1024;
  app
    .use("/cats/*", async (c, next) => {
      await next();
      if (c.req.method === "POST") c.res.headers.delete("x-content-type-options");
    })
    .use(secureHeaders(), except(isUpload, timeout(20)))
    .use("/cats/:id", rateLimit());
  assert.deepEqual(await observed(app), {
    "POST /cats": { ...NOTHING, missingHeaders: ["x-content-type-options"] },
    "GET /cats/:id{[0-9]+}": {
      ...NOTHING,
      missingHeaders: [],
      hasTimeLimit: true,
      hasRateLimit: true,
    },
  });
});

test("FwApplication.safeguards() takes a time limit over waitMs for none", async () => {
  const app = await preview();
  app.use(timeout(60_000));
  assert.deepEqual(Object.values(await observed(app)), [NOTHING, NOTHING]);
});

test("FwApplication.safeguards() accepts a policy in place of X-Frame-Options", async () => {
  const contentSecurityPolicy = { frameAncestors: ["'none'"] };
  const app = await preview();
  app.use(secureHeaders({ xFrameOptions: false, contentSecurityPolicy }));
  const [first] = Object.values(await observed(app));
  assert.deepEqual(first?.missingHeaders, []);
});

test("FwApplication.safeguards() knows nothing of a route that middleware refuses", async () => {
  const app = await preview();
  app.use(secureHeaders())
    .use("/cats/:id", basicAuth({ username: "ada", password: "x" }));
  const routes = await observed(app);
  assert.deepEqual(routes["GET /cats/:id{[0-9]+}"], undefined);
  assert.deepEqual(routes["POST /cats"]?.missingHeaders, []);
});

test("FwApplication.safeguards() observes middleware after authentication, unless it refuses", async () => {
  const app = await preview();
  app.use(secureHeaders()).use(timeout(20), { afterAuthentication: true });
  assert.deepEqual(
    Object.values(await observed(app)).map((it) => it?.hasTimeLimit),
    [true, true],
  );
  app.use((c) => Promise.resolve(c.text("Staff only", 403)), { afterAuthentication: true });
  const [refused] = Object.values(await observed(app));
  assert.deepEqual(refused, { ...NOTHING, missingHeaders: [] });
});

test("FwApplication.safeguards() lists the endpoints that everybody can read", async () => {
  const app = await preview();
  app.enableHealthCheck("/health")
    .enableMetrics("/internal/metrics")
    .enableOpenApi({ jsonPath: "/api.json", docsPath: "/ui" });
  const open = async () => (await app.safeguards({ waitMs: 20 })).openEndpoints;
  assert.deepEqual(await open(), [
    "/internal/metrics",
    "/api.json",
    "/api.yaml",
    "/ui",
    "/ui/oauth2-redirect",
  ]);
  app.use("/ui/*", basicAuth({ username: "ada", password: "x" }))
    .use("/*", secureHeaders())
    .use(
      "/internal/*",
      (c, next) => c.req.header("x-key") ? next() : Promise.resolve(c.body("", 401)),
    );
  assert.deepEqual(await open(), ["/api.json", "/api.yaml"]);
});

test("FwApplication.safeguards() throws what ready() throws, of a preview too", async () => {
  const Caller = module({ name: "Caller", controllers: [CallerController] });
  const create = async () => await FwFactory.create(Caller, { preview: true });
  for (const options of [{}, { observe: false }]) {
    await assert.rejects((await create()).enableUriVersioning().safeguards(options), {
      name: "TypeError",
      message: "Cannot mount Caller.CallerController.me: caller requires an identity, but " +
        "no authentication is installed; call app.useOAuth2() or app.useAuthn()",
    });
  }
  class HealthController extends controller() {
    health = route.get("/metrics", () => 1);
  }
  const Health = module({ name: "Health", controllers: [HealthController] });
  const collision = await FwFactory.create(Health, { preview: true });
  await assert.rejects(collision.enableMetrics().safeguards({ observe: false }), {
    name: "TypeError",
    message: "Cannot mount Health.HealthController.health: GET /metrics is an endpoint already",
  });
});

test("FwApplication.safeguards() runs no middleware with observe: false", async () => {
  class CatsGuard {
    readonly #database = inject(Database);
    canActivate = () => this.#database.size > 0;
  }
  const key = await JwtKey.generate();
  const app = await FwFactory.create(module({ controllers: [CallerController] }), {
    preview: true,
  });
  app.useAuthn(new JwtService({ issuer: "a", audience: "a", key }))
    .enableUriVersioning()
    .useGlobalGuards(CatsGuard)
    .use(() => assert.fail());
  const { authenticates, routes } = await app.safeguards({ observe: false });
  assert.deepEqual([authenticates, routes.map(({ path, observed }) => [path, observed])], [
    true,
    [["/v1/caller", undefined], ["/v2/caller", undefined]],
  ]);
});

test("FwApplication.safeguards() leaves the application as it is", async () => {
  class PingController extends controller() {
    ping = route.get("/ping", () => "pong");
  }
  const app = await FwFactory.create(module({ controllers: [PingController] }));
  app.use(timeout(10)).useRateLimit({ max: 1 });
  await app.safeguards({ waitMs: 50 });
  app.use(secureHeaders()); // it is not assembled
  const response = await app.request("/ping");
  assert.deepEqual([response.status, await response.json()], [200, "pong"]);
});

test("FwApplication.safeguards() reports CORS that reflects any origin with credentials", async () => {
  const found = async (options: Parameters<typeof cors>[0]) => {
    const app = await preview();
    const { "POST /cats": add } = await observed(app.use("/cats", cors(options)));
    return add?.allowsAnyOrigin;
  };
  assert.equal(await found({ origin: (origin) => origin, credentials: true }), true);
  assert.equal(await found({ origin: (origin) => origin }), false);
  assert.equal(await found({ origin: "*" }), false);
  assert.equal(await found({ origin: "https://shop.example.com", credentials: true }), false);
});
