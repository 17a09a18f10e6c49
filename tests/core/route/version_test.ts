import assert from "node:assert/strict";
import {
  type Context,
  controller,
  type FwApplication,
  FwFactory,
  matchedRoute,
  module,
  NotFoundException,
  route,
} from "../../../mod.ts";
import { createTestApplication } from "../../../src/testing/mod.ts";
import { test } from "../../support/test.ts";

class CatsV1 extends controller("cats", { version: "v1" }) {
  list = route.get("/", { openapi: { deprecated: true } }, () => "v1");
  one = route.get("/:id", ({ params }) => ["v1", params.id]);
  both = route.get("/both", { version: ["v1", "v2"] }, (_, c) => c.text(seen(c)));
  add = route.post("/", () => "added");
}
class CatsV2 extends controller("cats", { version: "v2" }) {
  list = route.get("/", (_, c) => c.json("v2"));
  one = route.get("/:name", ({ params }) => ["v2", params.name]);
  lost = route.get("/lost", () => NotFoundException.throw("No such cat"));
  peek = route.head("/peek", (_, c) => c.body(null, 200, { "x-peek": "v2" }));
}
class CatsNeutral extends controller("cats") {
  list = route.get("/", () => "neutral");
}
class AboutController extends controller() {
  about = route.get("/about", () => "about");
}

const seen = (c: Context) => matchedRoute(c)?.path ?? "none";

const VERSIONED = module({ name: "Cats", controllers: [CatsV1, CatsV2, AboutController] });
const NEUTRAL = module({ name: "Cats", controllers: [CatsNeutral, CatsV2, CatsV1] });

type SetUp = (app: FwApplication) => FwApplication;

const byHeader: SetUp = (app) => app.enableHeaderVersioning();
const byMediaType: SetUp = (app) => app.enableMediaTypeVersioning();

/** Both kinds that share paths, and the headers of a request for a version. */
const NEGOTIATED = [
  ["header", byHeader, (version: string) => ({ "api-version": version }), "API-Version"],
  [
    "media type",
    byMediaType,
    (version: string) => ({ accept: `application/json;v=${version}` }),
    "Accept",
  ],
] as const;

async function detail(response: Response): Promise<unknown[]> {
  const { detail } = await response.json();
  return [response.status, response.headers.get("vary"), detail];
}

for (const [kind, setUp, of, vary] of NEGOTIATED) {
  test(`${kind} versioning selects among the versions of a path`, async () => {
    await using app = await createTestApplication(VERSIONED, { setUp });
    for (const version of ["v1", "v2"]) {
      const response = await app.request("/cats", { headers: of(version) });
      assert.deepEqual([response.status, await response.json()], [200, version]);
      assert.equal(response.headers.get("vary"), vary);
      const one = await app.request("/cats/tom", { headers: of(version) });
      assert.deepEqual(await one.json(), [version, "tom"]);
    }
  });

  test(`${kind} versioning applies the headers of a route to its own version alone`, async () => {
    await using app = await createTestApplication(VERSIONED, { setUp });
    const deprecation = async (version: string) =>
      (await app.request("/cats", { headers: of(version) })).headers.get("deprecation");
    assert.deepEqual([await deprecation("v1"), await deprecation("v2")], ["@0", null]);
  });

  test(`${kind} versioning answers both versions of a route that declares two`, async () => {
    await using app = await createTestApplication(VERSIONED, { setUp });
    for (const version of ["v1", "v2"]) {
      const response = await app.request("/cats/both", { headers: of(version) });
      assert.deepEqual([response.status, await response.text()], [200, "/cats/both"]);
    }
  });

  test(`${kind} versioning answers 404 for an unknown version, naming the known ones`, async () => {
    await using app = await createTestApplication(VERSIONED, { setUp });
    const unknown = await app.request("/cats", { headers: of("v9") });
    const message = "This path has no such version; its versions are v1, v2";
    assert.deepEqual(await detail(unknown), [404, vary, message]);
    const post = await app.request("/cats", { method: "POST", headers: of("v9") });
    assert.deepEqual(await detail(post), [
      404,
      vary,
      "This path has no such version; its versions are v1",
    ]);
    const lost = await app.request("/cats/lost", { headers: of("v2") });
    assert.deepEqual(await detail(lost), [404, vary, "No such cat"]);
  });

  test(`${kind} versioning answers 400 without a version, and the default version if there is one`, async () => {
    await using app = await createTestApplication(VERSIONED, { setUp });
    const [status, field, message] = await detail(await app.request("/cats"));
    assert.deepEqual([status, field], [400, vary]);
    assert.match(
      String(message),
      /^This path needs a version, one of v1, v2, in the .*(Version|Accept)$/,
    );
    await using standard = await createTestApplication(VERSIONED, {
      setUp: (app) =>
        kind === "header"
          ? app.enableHeaderVersioning({ defaultVersion: "v2" })
          : app.enableMediaTypeVersioning({ defaultVersion: "v2" }),
    });
    assert.equal(await (await standard.request("/cats")).json(), "v2");
    assert.equal(await (await standard.request("/cats", { headers: of("v1") })).json(), "v1");
  });

  test(`${kind} versioning lets a route without a version answer every version`, async () => {
    await using app = await createTestApplication(VERSIONED, { setUp });
    for (const headers of [{}, of("v1"), of("v9")]) {
      const response = await app.request("/about", { headers });
      assert.deepEqual([await response.json(), response.headers.get("vary")], ["about", null]);
    }
    await using beside = await createTestApplication(NEUTRAL, { setUp });
    for (const [headers, answer] of [[{}, "neutral"], [of("v9"), "neutral"], [of("v1"), "v1"]]) {
      const response = await beside.request("/cats", { headers: headers as HeadersInit });
      assert.deepEqual([await response.json(), response.headers.get("vary")], [answer, vary]);
    }
  });

  test(`${kind} versioning sets Vary where a request passes a versioned route`, async () => {
    class MixedController extends controller("cats") {
      stats = route.get("/stats", { version: "v1" }, () => "stats");
      one = route.get("/:name", ({ params }) => params.name);
      other = route.all("/stats", () => "other");
    }
    await using app = await createTestApplication(module({ controllers: [MixedController] }), {
      setUp,
    });
    for (const [headers, expected] of [[of("v1"), "stats"], [{}, "other"], [of("v9"), "other"]]) {
      const response = await app.request("/cats/stats", { headers: headers as HeadersInit });
      assert.deepEqual([await response.json(), response.headers.get("vary")], [expected, vary]);
    }
    const type = (await app.request("/cats/stats", { headers: of("v9") })).headers;
    assert.equal(type.get("content-type"), "application/json");
    assert.equal((await app.request("/cats/tom")).headers.get("vary"), null);
  });

  test(`${kind} versioning sets Vary where a less specific route answers`, async () => {
    class MixedController extends controller("cats") {
      stats = route.get("/stats", { version: "v1" }, () => "stats");
      one = route.get("/:name", ({ params }) => params.name);
    }
    await using app = await createTestApplication(module({ controllers: [MixedController] }), {
      setUp,
    });
    const response = await app.request("/cats/stats");
    assert.deepEqual([await response.json(), response.headers.get("vary")], ["stats", vary]);
  });

  test(`${kind} versioning answers 405 and OPTIONS with the methods of the version`, async () => {
    await using app = await createTestApplication(VERSIONED, { setUp });
    const allow = async (method: string, version: string) => {
      const { status, headers } = await app.request("/cats", { method, headers: of(version) });
      return [status, headers.get("allow"), headers.get("vary")];
    };
    assert.deepEqual(await allow("PUT", "v1"), [405, "GET, HEAD, POST, OPTIONS", vary]);
    assert.deepEqual(await allow("PUT", "v2"), [405, "GET, HEAD, OPTIONS", vary]);
    assert.deepEqual(await allow("POST", "v2"), [405, "GET, HEAD, OPTIONS", vary]);
    assert.deepEqual(await allow("OPTIONS", "v2"), [204, "GET, HEAD, OPTIONS", vary]);
    const head = await app.request("/cats/peek", { method: "HEAD", headers: of("v2") });
    assert.deepEqual([head.status, head.headers.get("x-peek")], [200, "v2"]);
  });

  test(`${kind} versioning answers OPTIONS without a version where a route has all methods`, async () => {
    class AllController extends controller("all", { version: "v1" }) {
      all = route.all("/", () => "all");
    }
    await using app = await createTestApplication(module({ controllers: [AllController] }), {
      setUp,
    });
    const { status, headers } = await app.request("/all", { method: "OPTIONS" });
    const allow = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";
    assert.deepEqual([status, headers.get("allow"), headers.get("vary")], [204, allow, vary]);
    const put = await app.request("/all", { method: "PUT" });
    assert.equal(put.status, 400);
  });

  test(`${kind} versioning does not concern endpoints`, async () => {
    await using app = await createTestApplication(VERSIONED, {
      setUp: (app) => setUp(app).enableHealthCheck().enableMetrics().enableOpenApi(),
    });
    for (const path of ["/health", "/metrics", "/openapi.json", "/docs"]) {
      assert.equal((await app.request(path, { headers: of("v9") })).status, 200, path);
    }
  });

  test(`${kind} versioning is listed by app.routes()`, async () => {
    const app = setUp(await FwFactory.create(VERSIONED, { preview: true }));
    const listed = app.routes().filter(({ method }) => method === "GET");
    assert.deepEqual(listed.map(({ path, versions }) => [path, versions]), [
      ["/about", []],
      ["/cats", ["v1"]],
      ["/cats", ["v2"]],
      ["/cats/both", ["v1", "v2"]],
      ["/cats/lost", ["v2"]],
      ["/cats/:id", ["v1"]],
      ["/cats/:name", ["v2"]],
    ]);
  });

  test(`${kind} versioning refuses two routes of one path and version`, async () => {
    class CatsV2Again extends controller("cats", { version: ["v2", "v3"] }) {
      again = route.get("/:id", () => 1);
    }
    const root = module({ name: "Cats", controllers: [CatsV2, CatsV2Again] });
    await assert.rejects(createTestApplication(root, { setUp }), {
      name: "TypeError",
      message: "Cannot mount Cats.CatsV2Again.again: Cats.CatsV2.one has GET /cats/:name already",
    });
  });
}

test("header versioning reads the configured header", async () => {
  await using app = await createTestApplication(VERSIONED, {
    setUp: (app) => app.enableHeaderVersioning({ header: "X-Version" }),
  });
  const response = await app.request("/cats", { headers: { "x-version": " v2 " } });
  assert.deepEqual([await response.json(), response.headers.get("vary")], ["v2", "X-Version"]);
});

test("media type versioning reads Accept by its preferences", async () => {
  await using app = await createTestApplication(VERSIONED, { setUp: byMediaType });
  for (
    const [accept, expected] of [
      ['text/html, application/json;V="v2"', "v2"],
      ["application/json;v=v1;q=0.5, application/json;v=v2", "v2"],
      ["application/json;v=v9, application/json;v=v1;q=0.5", "v1"],
      ["application/json;v=v1;q=0, application/json;v=v2;q=0.1", "v2"],
      ["*/*;v=v1", "v1"],
    ] as const
  ) {
    const response = await app.request("/cats", { headers: { accept } });
    assert.equal(await response.json(), expected, accept);
    assert.equal(response.headers.get("content-type"), `application/json;v=${expected}`);
  }
  const text = await app.request("/cats/both", { headers: { accept: "text/plain;v=v2" } });
  assert.equal(text.headers.get("content-type")?.toLowerCase(), "text/plain; charset=utf-8;v=v2");
  const about = await app.request("/about", { headers: { accept: "application/json;v=v2" } });
  assert.equal(about.headers.get("content-type"), "application/json");
  const lost = await app.request("/cats/lost", { headers: { accept: "application/json;v=v2" } });
  assert.equal(lost.headers.get("content-type"), "application/problem+json");
});

test("media type versioning reads Accept once for each request, however many versions a path has", async () => {
  await using app = await createTestApplication(VERSIONED, { setUp: byMediaType });
  for (const [version, status] of [["v2", 200], ["v9", 404]] as const) {
    const headers = { accept: `application/json;v=${version}` };
    const request = new Request("http://localhost/cats", { headers });
    const get = request.headers.get.bind(request.headers);
    let count = 0;
    request.headers.get = (name) => {
      if (name.toLowerCase() === "accept") count++;
      return get(name);
    };
    assert.deepEqual([(await app.fetch(request)).status, count], [status, 1]);
  }
});

test("a response that varies already keeps the fields of its own", async () => {
  class VaryingController extends controller("", { version: "v1" }) {
    own = route.get("/own", (_, c) => c.text("own", 200, { vary: "Origin" }));
    same = route.get("/same", (_, c) => c.text("same", 200, { vary: "Origin, api-version" }));
  }
  await using app = await createTestApplication(module({ controllers: [VaryingController] }), {
    setUp: byHeader,
  });
  const headers = { "api-version": "v1" };
  const vary = async (path: string) => (await app.request(path, { headers })).headers.get("vary");
  assert.equal(await vary("/own"), "Origin, API-Version");
  assert.equal(await vary("/same"), "Origin, api-version");
});

test("URI versioning places a route in each of its versions, a route's own before its controller's", async () => {
  class PhotosController extends controller("photos", { version: "v1" }) {
    list = route.get("/", () => "v1");
    one = route.get("/:id", { version: ["v2", "v3"] }, ({ params }) => params.id);
    health = route.get("/health", { version: "" }, () => "neutral");
  }
  await using app = await createTestApplication(module({ controllers: [PhotosController] }), {
    setUp: (app) => app.setGlobalPrefix("api").enableUriVersioning({ defaultVersion: "v0" }),
  });
  assert.deepEqual(app.routes().map(({ path, versions }) => [path, versions]), [
    ["/api/photos/health", []],
    ["/api/v1/photos", ["v1"]],
    ["/api/v2/photos/:id", ["v2"]],
    ["/api/v3/photos/:id", ["v3"]],
  ]);
  assert.equal(await (await app.request("/api/v3/photos/7")).json(), "7");
  const unknown = await app.request("/api/v9/photos/7");
  assert.deepEqual(await detail(unknown), [
    404,
    null,
    "This path has no such version; its versions are v2, v3",
  ]);
  const long = `/api/v9/photos/${"7".repeat(2048)}`; // is not looked up in other versions
  for (const path of ["/api/v9/cats", "/api/other/photos/7", "/api/v2/v2/photos/7", "/api", long]) {
    const response = await app.request(path);
    assert.deepEqual(await detail(response), [404, null, "There is nothing at this path"], path);
  }
});

test("URI versioning refuses a route whose path is that of another one with its version", async () => {
  class V1Controller extends controller("v1/cats") {
    names = route.get("/", () => ["Tom"]);
  }
  const root = module({ name: "Cats", controllers: [CatsV1, V1Controller] });
  await assert.rejects(
    createTestApplication(root, { setUp: (app) => app.enableUriVersioning() }),
    {
      name: "TypeError",
      message: "Cannot mount Cats.V1Controller.names: Cats.CatsV1.list has GET /v1/cats already",
    },
  );
});

test("an application that declares versions refuses to serve until a kind of versioning is enabled", async () => {
  const app = await FwFactory.create(VERSIONED);
  const refusal = {
    name: "TypeError",
    message: "Cannot mount Cats.CatsV1.list: it declares version v1; call " +
      "app.enableUriVersioning(), enableHeaderVersioning() or enableMediaTypeVersioning()",
  };
  await assert.rejects(app.ready(), refusal);
  await assert.rejects(app.listen(0), refusal);
  await assert.rejects(app.request("/cats"), refusal);
  await assert.rejects(async () => await app.fetch(new Request("http://localhost/cats")), refusal);
  assert.throws(() => app.routes(), refusal);
  await app.enableUriVersioning().ready();
  assert.equal(await (await app.request("/v2/cats")).json(), "v2");
  await app.close();
});

test("an application has one kind of versioning", async () => {
  const app = await FwFactory.create(VERSIONED, { preview: true });
  app.enableHeaderVersioning({ defaultVersion: "v1" });
  app.enableHeaderVersioning({ header: "X-Version" });
  for (
    const [enable, message] of [
      [
        () => app.enableUriVersioning(),
        "Cannot enable URI versioning: header versioning is enabled",
      ],
      [
        () => app.enableMediaTypeVersioning(),
        "Cannot enable media type versioning: header versioning is enabled",
      ],
      [
        () => app.enableHeaderVersioning({ header: "a b" }),
        'Cannot enable header versioning: the name "a b" is invalid',
      ],
      [
        () => app.enableMediaTypeVersioning({ parameter: "q" }),
        'Cannot enable media type versioning: the name "q" is invalid',
      ],
      [
        () => app.enableHeaderVersioning({ defaultVersion: "v 1" }),
        'Cannot enable header versioning: the default version "v 1" is invalid',
      ],
    ] as const
  ) {
    assert.throws(enable, { name: "TypeError", message });
  }
});

test("a default version that no route has is refused", async () => {
  await assert.rejects(
    createTestApplication(VERSIONED, {
      setUp: (app) => app.enableHeaderVersioning({ defaultVersion: "v3" }),
    }),
    {
      name: "TypeError",
      message: "Cannot use header versioning: no route has the default version v3",
    },
  );
});

for (
  const [version, why] of [
    ["a b", 'version "a b" has other characters than A-Z a-z 0-9 . _ -'],
    ["v1/beta", 'version "v1/beta" has other characters than A-Z a-z 0-9 . _ -'],
    [["v1", ""], 'version "" has other characters than A-Z a-z 0-9 . _ -'],
    [[], "version is empty"],
    [["v1", "v1"], "version v1 is repeated"],
  ] as const
) {
  test(`a controller and a route refuse the version ${JSON.stringify(version)}`, () => {
    assert.throws(() => controller("cats", { version }), {
      name: "TypeError",
      message: `Cannot declare controller("cats"): ${why}`,
    });
    assert.throws(() => route.get("/", { version }, () => 1), {
      name: "TypeError",
      message: `Cannot declare GET /: version: ${why}`,
    });
  });
}
