import assert from "node:assert/strict";
import {
  controller,
  type ControllerClass,
  type FwApplication,
  FwFactory,
  module,
  route,
} from "../../../mod.ts";
import { createTestApplication } from "../../../src/testing/mod.ts";
import { test, testOn } from "../../support/test.ts";

function serving(...controllers: ControllerClass[]): Promise<FwApplication> {
  return createTestApplication(module({ name: "AppModule", controllers }));
}

class ThingsController extends controller("things") {
  anything = route.all("/any", (_, c) => c.text(c.req.method));
  one = route.get("/:id", ({ params }) => params.id);
  me = route.get("/me", () => "me");
  rest = route.get("/*", () => "rest");
  list = route.get("/", () => []);
  create = route.post("/", () => "created");
  put = route.put("/:id", () => "put");
  patch = route.patch("/:id", () => "patched");
  remove = route.delete("/:id", () => "deleted");
}

const answer = async (response: Response) => [response.status, await response.text()];

for (
  const [method, path, expected] of [
    ["GET", "/things", [200, "[]"]],
    ["GET", "/things/", [200, "[]"]],
    ["GET", "/things/7", [200, '"7"']],
    ["GET", "/things/7/", [200, '"7"']],
    ["GET", "/things/me", [200, '"me"']],
    ["GET", "/things/a/b", [200, '"rest"']],
    ["GET", "/things/%C3%A9%2F", [200, '"é/"']],
    ["GET", "/things/%zz", [200, '"%zz"']],
    ["PUT", "/things/7", [200, '"put"']],
    ["PATCH", "/things/7", [200, '"patched"']],
    ["DELETE", "/things/7", [200, '"deleted"']],
    ["GET", "/things/any", [200, "GET"]],
    ["DELETE", "/things/any", [200, "DELETE"]],
    ["PROPFIND", "/things/any", [200, "PROPFIND"]],
    ["HEAD", "/things/7", [200, ""]],
  ] as const
) {
  test(`${method} ${path} reaches its route`, async () => {
    await using app = await serving(ThingsController);
    assert.deepEqual(await answer(await app.request(path, { method })), expected);
  });
}

test("an unknown path is a 404 problem", async () => {
  await using app = await serving(ThingsController);
  const response = await app.request("/nothing/here?secret=1");
  assert.equal(response.status, 404);
  assert.deepEqual(await response.json(), {
    type: "about:blank",
    title: "Not Found",
    status: 404,
    detail: "There is nothing at this path",
    instance: "/nothing/here",
  });
});

testOn(["deno", "node"], "a Request of Bun has no other method than those of HTTP")(
  "a method is never taken for a member of every object",
  async () => {
    await using app = await FwFactory.create(module({ controllers: [ThingsController] }));
    let before = 0;
    app.use("*", (_, next) => {
      before++;
      return next();
    });
    for (const method of ["valueOf", "toString", "constructor", "hasOwnProperty", "__proto__"]) {
      assert.equal((await app.request("/things", { method })).status, 405, method);
      assert.equal((await app.request("/none", { method })).status, 404, method);
      assert.equal((await app.request("/things/any", { method })).status, 200, method);
    }
    assert.equal(before, 15);
    assert.deepEqual(Object.keys(Object.prototype), []);
    assert.equal(await (await app.request("/things/7")).text(), '"7"');
  },
);

test("a wrong method is a 405 problem with Allow", async () => {
  await using app = await serving(ThingsController);
  for (const method of ["DELETE", "PROPFIND"]) {
    const response = await app.request("/things", { method });
    assert.equal(response.status, 405);
    assert.equal(response.headers.get("allow"), "GET, HEAD, POST, OPTIONS");
    assert.deepEqual(await response.json(), {
      type: "about:blank",
      title: "Method Not Allowed",
      status: 405,
      detail: "This path has the methods GET, HEAD, POST, OPTIONS",
      instance: "/things",
    });
  }
});

test("OPTIONS lists the methods of a path, and is a 404 for an unknown path", async () => {
  await using app = await serving(ThingsController);
  const response = await app.request("/things/7", { method: "OPTIONS" });
  assert.equal(response.status, 204);
  assert.equal(response.headers.get("allow"), "GET, HEAD, PUT, PATCH, DELETE, OPTIONS");
  assert.equal((await app.request("/nothing", { method: "OPTIONS" })).status, 404);
});

test("HEAD of an unknown path is a 404 without a body", async () => {
  await using app = await serving(ThingsController);
  assert.deepEqual(await answer(await app.request("/x", { method: "HEAD" })), [404, ""]);
});

class HeadController extends controller() {
  get = route.get("/both", (_, c) => c.text("get", { headers: { "x-from": "get" } }));
  head = route.head("/both", (_, c) => c.body(null, { headers: { "x-from": "head" } }));
  only = route.head("/only", (_, c) => c.body(null, 200));
  options = route.options("/both", (_, c) => c.text("own options"));
}

test("a HEAD route takes precedence over the GET route of its path", async () => {
  await using app = await serving(HeadController);
  assert.equal((await app.request("/both")).headers.get("x-from"), "get");
  assert.equal((await app.request("/both", { method: "HEAD" })).headers.get("x-from"), "head");
});

test("GET of a path with only a HEAD route is a 405", async () => {
  await using app = await serving(HeadController);
  assert.equal((await app.request("/only", { method: "HEAD" })).status, 200);
  const response = await app.request("/only");
  assert.deepEqual([response.status, response.headers.get("allow")], [405, "HEAD, OPTIONS"]);
});

test("a handler, an interceptor and middleware answer 404 by c.notFound()", async () => {
  class HiddenController extends controller("hidden") {
    handler = route.get("/handler", (_, c) => c.notFound() as Promise<Response>);
    interceptor = route.put("/interceptor", { interceptors: [(c) => c.notFound()] }, () => "put");
    middleware = route.post("/middleware", () => "posted");
    all = route.all("/all", (_, c) => c.notFound() as Promise<Response>);
  }
  await using app = await FwFactory.create(module({ controllers: [HiddenController] }));
  app.use("/hidden/middleware", async (c) => await c.notFound());
  for (
    const [method, path] of [
      ["GET", "handler"],
      ["HEAD", "handler"],
      ["PUT", "interceptor"],
      ["POST", "middleware"],
      ["DELETE", "all"],
    ] as const
  ) {
    const response = await app.request(`/hidden/${path}`, { method });
    assert.equal(response.status, 404, `${method} ${path}`);
    assert.equal(response.headers.get("allow"), null);
  }
  assert.equal((await app.request("/hidden/handler", { method: "PUT" })).status, 405);
});

test("an OPTIONS route takes precedence over the answer of the router", async () => {
  await using app = await serving(HeadController);
  const response = await app.request("/both", { method: "OPTIONS" });
  assert.deepEqual(await answer(response), [200, "own options"]);
});

test("an ALL route answers the methods of its path that no other route has", async () => {
  class MixedController extends controller() {
    all = route.all("/x", () => "all");
    get = route.get("/x", () => "get");
  }
  await using app = await serving(MixedController);
  assert.deepEqual(await answer(await app.request("/x")), [200, '"get"']);
  assert.deepEqual(await answer(await app.request("/x", { method: "POST" })), [200, '"all"']);
});

test("the global prefix, the version and the controller's prefix precede the path of a route", async () => {
  class VersionedController extends controller("users", { version: "v2" }) {
    list = route.get("/", () => "v2");
  }
  class PlainController extends controller("users") {
    list = route.get("/", () => "plain");
  }
  const root = module({ controllers: [VersionedController, PlainController] });
  await using without = await createTestApplication(root, {
    setUp: (app) => app.setGlobalPrefix("/api/").enableUriVersioning(),
  });
  assert.deepEqual(without.routes().map(({ path }) => path), ["/api/users", "/api/v2/users"]);
  assert.deepEqual(await answer(await without.request("/api/v2/users/")), [200, '"v2"']);
  assert.deepEqual(await answer(await without.request("/api/users")), [200, '"plain"']);
  await using with1 = await createTestApplication(root, {
    setUp: (app) => app.setGlobalPrefix("api").enableUriVersioning({ defaultVersion: "v1" }),
  });
  assert.deepEqual(await answer(await with1.request("/api/v1/users")), [200, '"plain"']);
  assert.equal((await with1.request("/api/users")).status, 404);
});

test("FwFactory.create() refuses a route that is declared twice, and names both places", async () => {
  class TwiceController extends controller() {
    one = route.get("/:id", () => 1);
    other = route.get("/:name", () => 2);
  }
  await assert.rejects(serving(TwiceController), {
    name: "TypeError",
    message: "Cannot mount AppModule.TwiceController.other: " +
      "AppModule.TwiceController.one has GET /:id already",
  });
});

test("FwFactory.create() refuses two controllers with one path, and names both", async () => {
  class LeftController extends controller("x") {
    left = route.get("/", () => 1);
  }
  class RightController extends controller("/x/") {
    right = route.get("/", () => 2);
  }
  await assert.rejects(serving(LeftController, RightController), {
    name: "TypeError",
    message: "Cannot mount AppModule.RightController.right: " +
      "AppModule.LeftController.left has GET /x already",
  });
});

test("an application refuses routes that collide through a default version or with an endpoint", async () => {
  class VersionedController extends controller("", { version: "v1" }) {
    list = route.get("/health", () => 1);
  }
  class PlainController extends controller() {
    list = route.get("/health", () => 2);
  }
  const versions = module({
    name: "AppModule",
    controllers: [VersionedController, PlainController],
  });
  await assert.rejects(
    createTestApplication(versions, {
      setUp: (app) => app.enableUriVersioning({ defaultVersion: "v1" }),
    }),
    { name: "TypeError", message: /has GET \/v1\/health already/ },
  );
  const plain = module({ name: "AppModule", controllers: [PlainController] });
  await assert.rejects(
    createTestApplication(plain, { setUp: (app) => app.enableHealthCheck("/health") }),
    { message: "Cannot mount AppModule.PlainController.list: GET /health is an endpoint already" },
  );
  await assert.rejects(
    createTestApplication(module({}), {
      setUp: (app) => app.enableHealthCheck("/same").enableMetrics("/same"),
    }),
    { message: "Cannot mount an endpoint: GET /same is mounted twice" },
  );
});

test("a controller with an empty version has no default version", async () => {
  class NeutralController extends controller("users", { version: "" }) {
    list = route.get("/", () => "neutral");
  }
  class DefaultController extends controller("users") {
    list = route.get("/", () => "default");
  }
  await using app = await createTestApplication(
    module({ controllers: [NeutralController, DefaultController] }),
    { setUp: (app) => app.enableUriVersioning({ defaultVersion: "v1" }) },
  );
  assert.deepEqual(await answer(await app.request("/users")), [200, '"neutral"']);
  assert.deepEqual(await answer(await app.request("/v1/users")), [200, '"default"']);
});

test("a constraint with alternatives matches whole segments", async () => {
  class PetsController extends controller() {
    pets = route.get("/pets/:kind{cat|dog}", ({ params }) => params.kind);
    years = route.get("/years/:year{[0-9]{4}}", ({ params }) => params.year);
    files = route.get("/files/:path{.+\\.png}", ({ params }) => params.path);
  }
  await using app = await serving(PetsController);
  const status = async (path: string) => (await app.request(path)).status;
  for (const path of ["/pets/cat", "/pets/dog", "/years/2026", "/files/a/b.png"]) {
    assert.equal(await status(path), 200, path);
  }
  for (const path of ["/pets/catastrophe", "/pets/hotdog", "/years/20261", "/files/a/b.jpg"]) {
    assert.equal(await status(path), 404, path);
  }
});

test("a path that looks like a pattern is taken literally", async () => {
  let passed = 0;
  class NumbersController extends controller() {
    number = route.get("/n/:id{[0-9]+}", ({ params }) => params.id);
    text = route.get("/t/:text", ({ params }) => params.text);
  }
  await using app = await createTestApplication(module({ controllers: [NumbersController] }), {
    setUp: (app) =>
      app.use((_, next) => {
        passed++;
        return next();
      }),
  });
  for (const path of ["/n/:id{[0-9]+}", "/n/:id%7B[0-9]+%7D", "/*"]) {
    passed = 0;
    assert.deepEqual([(await app.request(path)).status, passed], [404, 1], path);
  }
  assert.deepEqual(await answer(await app.request("/t/:text")), [200, '":text"']);
  assert.deepEqual(await answer(await app.request("/t/*{}")), [200, '"*{}"']);
});

test("characters of patterns in a path select no other route", async () => {
  const seen: string[] = [];
  class TenantsController extends controller() {
    batch = route.get("/things:batch/:id", ({ params }) => `batch ${params.id}`);
    doc = route.get("/:tenant/:doc", ({ params }) => `${params.tenant} ${params.doc}`);
    constrained = route.get("/c/:v{[a-z*:{}]+}/x", ({ params }) => params.v);
  }
  await using app = await createTestApplication(module({ controllers: [TenantsController] }), {
    setUp: (app) =>
      app.use("/acme:eu/*", async (c, next) => {
        seen.push(c.req.path);
        await next();
      }),
  });
  for (
    const [path, expected] of [
      ["/things:batch/1", "batch 1"],
      ["/things:batch/1*", "batch 1*"],
      ["/things:batch/%7B1", "batch {1"],
      ["/acme:eu/x", "acme:eu x"],
      ["/acme:eu/x*", "acme:eu x*"],
      ["/acme:eu/:x", "acme:eu :x"],
      ["/acme:eu/*", "acme:eu *"],
      ["/c/a*b:{}/x", "a*b:{}"],
    ]
  ) {
    assert.deepEqual(await answer(await app.request(path as string)), [
      200,
      JSON.stringify(expected),
    ]);
  }
  assert.equal(seen.length, 4);
});

test("a constraint in use() matches whole segments too", async () => {
  let runs = 0;
  class EditsController extends controller() {
    any = route.get("/:k/:v", () => 1);
  }
  await using app = await createTestApplication(module({ controllers: [EditsController] }), {
    setUp: (app) =>
      app.use("/:k{cat|dog}/edit", async (_, next) => {
        runs++;
        await next();
      }),
  });
  for (const path of ["/cat/edit", "/catx/edit", "/xdog/edit"]) await app.request(path);
  assert.equal(runs, 1);
});

test("an optional parameter can be omitted", async () => {
  class PostsController extends controller() {
    posts = route.get("/posts/:id?", ({ params }) => params.id ?? "all");
  }
  await using app = await serving(PostsController);
  assert.deepEqual(await answer(await app.request("/posts")), [200, '"all"']);
  assert.deepEqual(await answer(await app.request("/posts/7")), [200, '"7"']);
});

test("FwFactory.create() refuses a prefix that is not a path", async () => {
  class SpacedController extends controller("a b") {
    list = route.get("/", () => 1);
  }
  await assert.rejects(serving(SpacedController), {
    name: "TypeError",
    message: 'Cannot compose "/a b": it is not a path',
  });
});
