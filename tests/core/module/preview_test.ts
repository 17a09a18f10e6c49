import { getConfig } from "@logtape/logtape";
import assert from "node:assert/strict";
import {
  controller,
  type FwApplication,
  FwFactory,
  inject,
  type Module,
  module,
  provide,
  type Provider,
  route,
} from "../../../mod.ts";
import { placeholder } from "../../../src/core/module/preview.ts";
import { OAuth2Client, OAuth2Guard, OAuth2Login, OAuth2Options } from "../../../src/oauth2/mod.ts";
import { createTestApplication } from "../../../src/testing/mod.ts";
import { issuer } from "../../oauth2/issuer.ts";
import { test } from "../../support/test.ts";

// deno-lint-ignore no-explicit-any -- a placeholder can be used as a value of any type
const stand = (): any => placeholder();

const preview = (root: Module, overrides: readonly Provider[] = []) =>
  FwFactory.create(root, { preview: true, overrides });

/** Returns a class that cannot be constructed. */
function unmakable(name: string) {
  return class {
    constructor() {
      throw new Error(`${name} was made`);
    }
    canActivate() {
      return true;
    }
    intercept() {}
    catch() {}
  };
}

class Leaf {
  readonly name: string = "leaf";
}
class LeafController extends controller() {
  readonly leaf = inject(Leaf);
  get = route.get("/leaf", () => this.leaf.name);
}
class TwinController extends controller() {
  twin = route.get("/leaf", () => 1);
}

for (
  const [what, use, expected] of [
    ["properties of properties", () => typeof stand().options.issuer.url, "function"],
    ["a method that is bound", () => typeof stand().find.bind(null, 1)(2).name, "function"],
    ["being called", () => typeof stand()(1)(2), "function"],
    ["being constructed", () => typeof new (stand())(1), "function"],
    ["a base class", () => typeof class extends stand() {}, "function"],
    ["destructuring of properties", () => {
      const { options: { issuer }, ...rest } = stand();
      return [typeof issuer, rest];
    }, ["function", {}]],
    ["destructuring of a list", () => {
      const [first, ...others] = stand();
      return [first, others];
    }, [undefined, []]],
    ["being spread", () => [{ ...stand() }, [...stand()]], [{}, []]],
    ["a loop over its length", () => {
      const list = stand();
      let turns = 0;
      for (let i = 0; i < list.length; i++) turns++;
      return turns;
    }, 1],
    ["a text", () => `${stand()} ${stand()}`, "https://preview.invalid https://preview.invalid"],
    ["a URL", () => new URL("/path", stand().url).href, "https://preview.invalid/path"],
    ["a number", () => [+stand(), stand() * 1000, stand() > 0], [1, 1000, true]],
    ["a condition", () => stand().isEnabled ? "yes" : "no", "yes"],
    ["assignment", () => {
      const value = stand();
      value.name = "Tom";
      Object.assign(value.options, { length: 2 });
      return typeof value.name;
    }, "function"],
    ["comparison of its kind", () => [stand() instanceof Map, 1 in stand()], [false, false]],
    ["being the kind", () => ({}) instanceof stand(), false],
    ["a list that it is added to", () => [1].concat(stand()).length, 2],
    ["JSON", () => JSON.stringify({ a: 1, b: stand(), c: [stand()] }), '{"a":1,"c":[null]}'],
    [
      "a login",
      () =>
        new OAuth2Login(stand(), { scopes: stand().options.issuer ? ["openid"] : [] }).constructor,
      OAuth2Login,
    ],
  ] as const
) {
  test(`placeholder() survives ${what}`, () => assert.deepEqual(use(), expected));
}

test("placeholder() is not treated as a promise", async () => {
  const value = stand();
  assert.equal(value.then, undefined);
  assert.equal(await value, value);
});

test("a preview creates no provider, guard, interceptor or filter, and runs no hook", async () => {
  const log: string[] = [];
  const Failing = provide("failing", () => Promise.reject(new Error("failing was made")));
  const Service = unmakable("the service");
  const pipeline = {
    guards: [unmakable("the guard")],
    interceptors: [unmakable("the interceptor")],
    filters: [unmakable("the filter")],
  };
  class Controller extends controller("", pipeline) {
    readonly #service = inject(Service);
    readonly #failing = inject(Failing);
    readonly #bound = inject(Service).canActivate.bind(this);
    one = route.get("/one", pipeline, () => [this.#service, this.#failing, this.#bound]);
    onModuleInit = () => log.push("init");
    onApplicationBootstrap = () => log.push("bootstrap");
    onApplicationShutdown = () => log.push("shutdown");
    onModuleDestroy = () => log.push("destroy");
    [Symbol.asyncDispose] = () => Promise.resolve(log.push("dispose"));
  }
  const app = await preview(
    module({ name: "App", providers: [Failing, Service], controllers: [Controller] }),
  );
  app.useGlobalGuards(unmakable("the global guard"));
  assert.deepEqual(app.routes(), [
    {
      method: "GET",
      path: "/one",
      versions: [],
      handler: "App.Controller.one",
      protection: "guarded",
      roles: [],
      scopes: [],
    },
  ]);
  assert.deepEqual(Object.keys((await app.openApi()).paths), ["/one"]);
  await app.close();
  assert.deepEqual(log, []);
});

test("a preview that fails runs no hook of the instances it has constructed", async () => {
  const log: string[] = [];
  class Good extends controller() {
    one = route.get("/one", () => 1);
    onApplicationShutdown = () => log.push("shutdown");
  }
  class Empty extends controller() {}
  await assert.rejects(preview(module({ controllers: [Good, Empty] })), {
    message: "Cannot boot Empty: none of its fields is a route",
  });
  assert.deepEqual(log, []);
});

for (
  const [what, root, message] of [
    [
      "a missing provider",
      () => module({ name: "App", controllers: [LeafController] }),
      "Cannot inject Leaf in App: LeafController -> Leaf: no module provides it; " +
      "list it in the providers of App",
    ],
    [
      "a missing export",
      () => {
        const leaves = module({ name: "Leaves", providers: [Leaf] });
        return module({ name: "App", imports: [leaves], controllers: [LeafController] });
      },
      "Cannot inject Leaf in App: LeafController -> Leaf: no provider; " +
      "Leaves has it but does not export it",
    ],
    [
      "an export of what a module does not have",
      () => module({ name: "App", exports: [Leaf] }),
      "Cannot boot App: it exports Leaf but does not provide or import it",
    ],
    [
      "a provider that is there twice",
      () => module({ name: "App", providers: [Leaf, provide(Leaf, () => new Leaf())] }),
      "Cannot boot App: it provides Leaf twice",
    ],
    [
      "modules that import each other",
      () => {
        let settle = (_: Module) => {};
        const promise = new Promise<Module>((resolve) => settle = resolve);
        const inner = module({ name: "Inner", imports: [promise] });
        settle(module({ name: "Outer", imports: [inner] }));
        return inner;
      },
      "Cannot import Inner: Inner -> Outer -> Inner is a cycle",
    ],
    [
      "two routes that are one",
      () =>
        module({ name: "App", providers: [Leaf], controllers: [LeafController, TwinController] }),
      "Cannot mount App.TwinController.twin: App.LeafController.get has GET /leaf already",
    ],
    [
      "a guard of the wrong type",
      () => {
        class Unguarded extends controller("", { guards: ["admin" as never] }) {
          one = route.get("/", () => 1);
        }
        return module({ controllers: [Unguarded] });
      },
      "Cannot use string: it is neither a function nor a class with canActivate()",
    ],
  ] as const
) {
  test(`a preview refuses ${what}, as the application does`, async () => {
    await assert.rejects(preview(root()), { name: "TypeError", message });
    await assert.rejects(FwFactory.create(root()), { name: "TypeError", message });
  });
}

test("inject() with optional returns undefined in a preview too", async () => {
  const given: unknown[] = [];
  class Controller extends controller() {
    readonly #leaf = given.push(inject(Leaf, { optional: true }));
    one = route.get("/", () => this.#leaf);
  }
  await preview(module({ controllers: [Controller] }));
  assert.deepEqual(given, [undefined]);
  await preview(module({ providers: [Leaf], controllers: [Controller] }));
  assert.equal(typeof given[1], "function");
});

test("a preview awaits async modules, and fails as they do", async () => {
  const leaves = Promise.resolve(module({ providers: [Leaf], exports: [Leaf] }));
  const app = await preview(module({ imports: [leaves], controllers: [LeafController] }));
  assert.deepEqual(app.routes().map(({ path }) => path), ["/leaf"]);
  const failing = Promise.reject(new Error("no such module"));
  await assert.rejects(preview(module({ imports: [failing] })), { message: "no such module" });
});

test("a preview constructs a controller by its class, whatever provides it", async () => {
  const never = provide(LeafController, () => {
    throw new Error("the factory was called");
  });
  const paths = async (root: Module, overrides?: readonly Provider[]) =>
    (await preview(root, overrides)).routes().map(({ path }) => path);
  const providers = [Leaf, never];
  const controllers = [LeafController];
  assert.deepEqual(await paths(module({ providers, controllers })), ["/leaf"]);
  assert.deepEqual(await paths(module({ providers: [Leaf], controllers }), [never]), ["/leaf"]);
  const whole = module({ providers, controllers });
  assert.deepEqual(await paths(module({ imports: [whole] })), ["/leaf"]);
  const inner = module({ providers: [Leaf, LeafController], exports: [LeafController] });
  assert.deepEqual(await paths(module({ imports: [inner], controllers })), ["/leaf"]);
});

for (
  const [name, serve] of [
    ["listen", (app) => app.listen(0)],
    ["listenGraceful", (app) => app.listenGraceful(0)],
    ["fetch", (app) => app.fetch(new Request("http://localhost/"))],
    ["request", (app) => app.request("/")],
    ["ready", (app) => app.ready()],
  ] as const satisfies readonly [string, (app: FwApplication) => unknown][]
) {
  test(`FwApplication.${name}() rejects in a preview, and after its close`, async () => {
    const app = await preview(module({ providers: [Leaf], controllers: [LeafController] }));
    const refusal = { name: "TypeError", message: "Cannot serve: the application is a preview" };
    const serving: unknown = serve(app);
    assert.ok(serving instanceof Promise);
    await assert.rejects(serving, refusal);
    app.setGlobalPrefix("api"); // it is not fixed by that
    await app.close();
    await assert.rejects(async () => await serve(app), refusal);
    assert.equal(getConfig(), null); // nor does it begin to log
  });
}

test("FwApplication.get() returns a placeholder in a preview, if the key is provided", async () => {
  const app = await preview(module({ providers: [Leaf], controllers: [LeafController] }));
  assert.equal(`${app.get(Leaf).name}`, "https://preview.invalid");
  assert.throws(
    () => app.get(provide("unknown", () => 1)),
    /^TypeError: Cannot inject unknown in /,
  );
});

test("a configured preview has the routes and the document of the application", async () => {
  class LoginController extends controller("auth") {
    readonly #client = inject(OAuth2Client);
    readonly #login = new OAuth2Login(this.#client, {
      scopes: this.#client.options.issuer ? ["openid"] : [],
    });
    login = route.get("/login", { public: true }, (_, c) => this.#login.begin(c));
    admin = route.get("/admin", { roles: ["admin"] }, () => 1);
    me = route.get("/me", { guards: [OAuth2Guard] }, () => 1);
  }
  class GlobalGuard {
    readonly leaf = inject(Leaf);
    canActivate() {
      return true;
    }
  }
  const client = new OAuth2Client(
    OAuth2Options.publicClient({
      clientId: "shop",
      authorizeUrl: "https://id.example.com/authorize",
      tokenUrl: "https://id.example.com/token",
      redirectUri: "https://shop.example.com/auth/callback",
      issuer: "https://id.example.com",
      jwksUrl: "https://id.example.com/jwks",
    }),
  );
  const { verifier } = await issuer();
  const root = module({
    name: "App",
    providers: [Leaf, provide(OAuth2Client, () => client)],
    controllers: [LoginController, LeafController],
  });
  const setUp = (app: FwApplication) =>
    app
      .setGlobalPrefix("api")
      .enableUriVersioning({ defaultVersion: "v1" })
      .use((_, next) => next())
      .useGlobalGuards(GlobalGuard)
      .useGlobalInterceptors((_, next) => next())
      .useGlobalFilters(() => {})
      .useRequestId()
      .useRequestTracing()
      .useTrustedProxy({ hops: 1 })
      .useRateLimit({ max: 10 })
      .useAuthn(verifier)
      .useOAuth2(verifier, { require: true })
      .useRoles(() => [])
      .useBodyLimit(10)
      .enableMetrics()
      .enableHealthCheck("/health", { indicators: { leaf: () => app.get(Leaf).name !== "" } })
      .enableOpenApi({
        title: "Shop",
        components: { securitySchemes: { bearerAuth: { type: "http", scheme: "bearer" } } },
        inferRouteSecurityFromRoles: true,
      })
      .enableProductionErrors();
  await using app = await createTestApplication(root, { setUp });
  await using previewed = setUp(await preview(root));
  assert.deepEqual(previewed.routes(), app.routes());
  assert.deepEqual(app.routes().map(({ path, protection }) => [path, protection]), [
    ["/api/v1/auth/admin", "roles"],
    ["/api/v1/auth/login", "guarded"],
    ["/api/v1/auth/me", "identity"],
    ["/api/v1/leaf", "identity"],
  ]);
  assert.deepEqual(await previewed.openApi(), await app.openApi());
});
