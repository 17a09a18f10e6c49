import assert from "node:assert/strict";
import { controller, type Route, route } from "../../mod.ts";
import {
  type PathTemplate,
  templateShape,
  templatesOf,
} from "../../src/openapi/operation/path_templates.ts";
import { captureLogs } from "../support/capture_logs.ts";
import { test } from "../support/test.ts";
import {
  applicationOf,
  controllerOf,
  documentOf,
  OK,
  operationOf,
  operationsOf,
  warningsAmong,
} from "./described.ts";

const TEMPLATES: Readonly<Record<string, readonly PathTemplate[]>> = {
  "/": [{ template: "/", params: [] }],
  "/users/all": [{ template: "/users/all", params: [] }],
  "/users/:id": [{ template: "/users/{id}", params: [{ name: "id", isWildcard: false }] }],
  "/:tenant/users/:id": [{
    template: "/{tenant}/users/{id}",
    params: [{ name: "tenant", isWildcard: false }, { name: "id", isWildcard: false }],
  }],
  "/users/:id{[0-9]+}": [{
    template: "/users/{id}",
    params: [{ name: "id", isWildcard: false, pattern: "^(?:[0-9]+)$" }],
  }],
  "/:year{[0-9]{4}}/:kind{cat|dog}": [{
    template: "/{year}/{kind}",
    params: [
      { name: "year", isWildcard: false, pattern: "^(?:[0-9]{4})$" },
      { name: "kind", isWildcard: false, pattern: "^(?:cat|dog)$" },
    ],
  }],
  "/users/:id{[^/]+}": [{
    template: "/users/{id}",
    params: [{ name: "id", isWildcard: false, pattern: "^(?:[^/]+)$" }],
  }],
  "/users/:id?": [
    { template: "/users", params: [], without: "id" },
    { template: "/users/{id}", params: [{ name: "id", isWildcard: false }] },
  ],
  "/:id?": [
    { template: "/", params: [], without: "id" },
    { template: "/{id}", params: [{ name: "id", isWildcard: false }] },
  ],
  "/:a/:id{[0-9]+}?": [
    { template: "/{a}", params: [{ name: "a", isWildcard: false }], without: "id" },
    {
      template: "/{a}/{id}",
      params: [
        { name: "a", isWildcard: false },
        { name: "id", isWildcard: false, pattern: "^(?:[0-9]+)$" },
      ],
    },
  ],
  "/files/*": [
    { template: "/files", params: [], without: "wildcard" },
    { template: "/files/{wildcard}", params: [{ name: "wildcard", isWildcard: true }] },
  ],
  "/*": [
    { template: "/", params: [], without: "wildcard" },
    { template: "/{wildcard}", params: [{ name: "wildcard", isWildcard: true }] },
  ],
  "/*/files": [{
    template: "/{wildcard}/files",
    params: [{ name: "wildcard", isWildcard: true }],
  }],
  "/*/files/*": [
    {
      template: "/{wildcard}/files",
      params: [{ name: "wildcard", isWildcard: true }],
      without: "wildcard2",
    },
    {
      template: "/{wildcard}/files/{wildcard2}",
      params: [{ name: "wildcard", isWildcard: true }, { name: "wildcard2", isWildcard: true }],
    },
  ],
  "/:wildcard/*": [
    {
      template: "/{wildcard}",
      params: [{ name: "wildcard", isWildcard: false }],
      without: "wildcard2",
    },
    {
      template: "/{wildcard}/{wildcard2}",
      params: [{ name: "wildcard", isWildcard: false }, { name: "wildcard2", isWildcard: true }],
    },
  ],
};

for (const [pattern, templates] of Object.entries(TEMPLATES)) {
  test(`OpenAPI table: paths are {id}: templatesOf() of ${pattern}`, () => {
    assert.deepEqual(templatesOf(pattern), templates);
  });
}

test("OpenAPI table: paths are {id}: templatesOf() names no two parameters alike", () => {
  for (const { template, params } of templatesOf("/:wildcard/*/:wildcard2/*")) {
    assert.equal(new Set(params.map(({ name }) => name)).size, params.length, template);
  }
});

test("templateShape() is the same for templates that OpenAPI takes for one path", () => {
  assert.equal(templateShape("/users/{id}/posts/{post}"), "/users/{}/posts/{}");
  assert.equal(templateShape("/users/{name}/posts/{id}"), "/users/{}/posts/{}");
  assert.equal(templateShape("/users/all"), "/users/all");
});

test("OpenAPI table: paths are {id}: a path that has no schema of its parameters describes them", async () => {
  const { paths } = await documentOf(
    controllerOf({ thing: route.get("/users/:id/:kind{cat|dog}/*", () => 1) }),
  );
  const own = [
    { name: "id", in: "path", required: true, schema: { type: "string" } },
    {
      name: "kind",
      in: "path",
      required: true,
      schema: { type: "string", pattern: "^(?:cat|dog)$" },
    },
  ];
  assert.deepEqual(
    Object.entries(paths).map(([path, { get }]) => [path, get?.parameters]),
    [
      ["/users/{id}/{kind}", own],
      ["/users/{id}/{kind}/{wildcard}", [...own, {
        name: "wildcard",
        in: "path",
        required: true,
        description: "The rest of the path",
        schema: { type: "string" },
      }]],
    ],
  );
});

test("OpenAPI table: paths are {id}: a constraint that is no pattern of Unicode is left out", async () => {
  const { parameters } = await operationOf(route.get(String.raw`/:name{[\w-.]+}`, () => 1));
  assert.deepEqual(parameters, [
    { name: "name", in: "path", required: true, schema: { type: "string" } },
  ]);
});

test("OpenAPI table: paths have the global prefix, the version and the controller's prefix", async () => {
  const thing = route.get("/:id", () => 1);
  const { paths } = await documentOf(
    controllerOf({ thing }, { prefix: ":tenant/things", version: "v1" }),
    { setUp: (app) => app.setGlobalPrefix("/api/").enableUriVersioning() },
  );
  assert.deepEqual(Object.keys(paths), ["/api/v1/{tenant}/things/{id}"]);
  const parameters = Object.values(paths)[0]?.get?.parameters;
  assert.deepEqual(parameters?.map(({ name }) => name), ["tenant", "id"]);
});

test("OpenAPI table: an optional parameter is two paths, one without it", async () => {
  const document = await documentOf(controllerOf({ one: route.get("/things/:id?", () => 1) }));
  assert.deepEqual(document.paths, {
    "/things": {
      get: {
        operationId: "AppModule.ThingsController.one.without_id",
        summary: "One",
        tags: ["things"],
        responses: { 200: OK },
      },
    },
    "/things/{id}": {
      get: {
        operationId: "AppModule.ThingsController.one",
        summary: "One",
        tags: ["things"],
        parameters: [{ name: "id", in: "path", required: true, schema: { type: "string" } }],
        responses: {
          200: OK,
          404: { $ref: "#/components/responses/NotFound" },
        },
      },
    },
  });
});

test("OpenAPI table: an optional parameter leaves the path without it to the route that has it", async () => {
  const app = await applicationOf(controllerOf({
    one: route.get("/things/:id?", ({ params }) => `one ${params.id}`),
    list: route.get("/things", () => "list"),
  }));
  const { paths } = await app.openApi();
  assert.deepEqual(Object.keys(paths).toSorted(), ["/things", "/things/{id}"]);
  assert.equal(paths["/things"]?.get?.operationId, "AppModule.ThingsController.list");
  assert.equal(await (await app.request("/things")).json(), "list");
});

test("OpenAPI table: a wildcard at the end is two paths, one without it, and both answer", async () => {
  const app = await applicationOf(
    controllerOf({ file: route.get("/files/*", (_, c) => c.req.path) }),
  );
  const about = { summary: "File", tags: ["files"] };
  assert.deepEqual((await app.openApi()).paths, {
    "/files": {
      get: {
        operationId: "AppModule.ThingsController.file.without_wildcard",
        ...about,
        responses: { 200: OK },
      },
    },
    "/files/{wildcard}": {
      get: {
        operationId: "AppModule.ThingsController.file",
        ...about,
        parameters: [{
          name: "wildcard",
          in: "path",
          required: true,
          description: "The rest of the path",
          schema: { type: "string" },
        }],
        responses: { 200: OK, 404: { $ref: "#/components/responses/NotFound" } },
      },
    },
  });
  for (const path of ["/files", "/files/a", "/files/a/b.txt"]) {
    assert.equal(await (await app.request(path)).json(), path);
  }
});

/** Routes beside one with a wildcard: the operations there are, and what answers at `/files`. */
const BESIDE_WILDCARDS: Readonly<
  Record<string, readonly [Readonly<Record<string, Route>>, Readonly<Record<string, string>>]>
> = {
  "a route of the same method": [
    { list: route.get("/files", () => "list"), file: route.get("/files/*", () => "file") },
    { "get /files": "list", "get /files/{wildcard}": "file" },
  ],
  "a route of the same method, whose last parameter is optional": [
    { one: route.get("/:name?", () => "one"), file: route.get("/files/*", () => "file") },
    {
      "get /files": "file.without_wildcard",
      "get /files/{wildcard}": "file",
      "get /": "one.without_name",
      "get /{name}": "one",
    },
  ],
  "a route of all methods": [
    { list: route.all("/files", () => "list"), file: route.get("/files/*", () => "file") },
    {
      "get /files": "list.get",
      "put /files": "list.put",
      "post /files": "list.post",
      "delete /files": "list.delete",
      "patch /files": "list.patch",
      "get /files/{wildcard}": "file",
    },
  ],
  "a route of another method": [
    { add: route.post("/files", () => "add"), file: route.get("/files/*", () => "file") },
    {
      "post /files": "add",
      "get /files": "file.without_wildcard",
      "get /files/{wildcard}": "file",
    },
  ],
};

for (const [what, [routes, operations]] of Object.entries(BESIDE_WILDCARDS)) {
  test(`OpenAPI table: a wildcard leaves the path without it to ${what}, if that answers there, without a warning`, async () => {
    await captureLogs(["fw"], async (records) => {
      const app = await (await applicationOf(controllerOf(routes))).ready();
      const { paths } = await app.openApi();
      const described = Object.entries(paths).flatMap(([path, item]) =>
        Object.entries(item).map(([method, { operationId }]) => [
          `${method} ${path}`,
          operationId.replace("AppModule.ThingsController.", ""),
        ])
      );
      assert.deepEqual(Object.fromEntries(described), operations);
      const answer = await (await app.request("/files")).json();
      assert.equal(operations["get /files"]?.split(".")[0], answer);
      assert.deepEqual(warningsAmong(records), []);
    });
  });
}

test("OpenAPI table: the path without a wildcard, or an optional parameter, is not described where a hidden route answers", async () => {
  const app = await applicationOf(controllerOf({
    file: route.get("/files/*", () => "file"),
    secret: route.get("/files", { openapi: { hidden: true } }, () => "secret"),
    one: route.get("/things/:id?", () => "one"),
    things: route.get("/things", { openapi: { hidden: true } }, () => "secret"),
  }));
  for (const path of ["/files", "/things"]) {
    assert.equal(await (await app.request(path)).json(), "secret");
  }
  assert.deepEqual(operationsOf(await app.openApi()), [
    "get /files/{wildcard}",
    "get /things/{id}",
  ]);
});

test("OpenAPI table: a hidden route leaves another of its shape in the document, which answers for other values", async () => {
  const app = await applicationOf(controllerOf({
    secret: route.get("/users/:id{[0-9]+}", { openapi: { hidden: true } }, () => "secret"),
    byName: route.get("/users/:name", () => "by name"),
  }));
  assert.equal(await (await app.request("/users/7")).json(), "secret");
  assert.equal(await (await app.request("/users/tom")).json(), "by name");
  assert.deepEqual(operationsOf(await app.openApi()), ["get /users/{name}"]);
});

test("OpenAPI table: operations of one path share its item, whatever they call its parameters", async () => {
  const { paths } = await documentOf(controllerOf({
    one: route.get("/users/:id/posts/:post", () => 1),
    change: route.patch("/users/:name/posts/:id", () => 1),
    remove: route.delete("/users/:id/posts/:post{[0-9]+}", () => 1),
  }));
  const parametersOf = (method: "get" | "patch" | "delete") =>
    Object.values(paths)[0]?.[method]?.parameters;
  const [template = ""] = Object.keys(paths);
  assert.deepEqual(Object.keys(paths), [template]);
  const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  assert.equal(names.length, 2);
  for (const method of ["get", "patch", "delete"] as const) {
    assert.deepEqual(parametersOf(method)?.map(({ name }) => name), names, method);
  }
  assert.deepEqual(parametersOf("delete")?.[1]?.schema, {
    type: "string",
    pattern: "^(?:[0-9]+)$",
  });
});

test("OpenAPI table: a method that a path has twice in OpenAPI is described once, with a warning", async () => {
  const controller = controllerOf({
    byName: route.get("/users/:name", () => 1),
    byId: route.get("/users/:id{[0-9]+}", () => 1),
  });
  await captureLogs(["fw", "openapi"], async (records) => {
    const app = await (await applicationOf(controller)).ready();
    assert.deepEqual(operationsOf(await app.openApi()), ["get /users/{id}"]);
    assert.deepEqual(warningsAmong(records), [
      "AppModule.ThingsController.byName (GET /users/:name) is left out: " +
      "in OpenAPI, its path equals /users/{id}",
    ]);
    for (const path of ["/users/1", "/users/tom"]) {
      assert.equal((await app.request(path)).status, 200, path);
    }
  });
});

test("OpenAPI table: operations are those of the methods declared; ALL is those that are left", async () => {
  const document = await documentOf(controllerOf({
    list: route.get("/a", () => 1),
    create: route.post("/a", () => 1),
    put: route.put("/a", () => 1),
    patch: route.patch("/a", () => 1),
    remove: route.delete("/a", () => 1),
    tell: route.options("/a", () => 1),
    peek: route.head("/a", () => 1),
    own: route.get("/b", { openapi: { summary: "Its own" } }, () => 1),
    rest: route.all("/b", () => 1),
  }));
  assert.deepEqual(operationsOf(document).toSorted(), [
    "delete /a",
    "delete /b",
    "get /a",
    "get /b",
    "head /a",
    "options /a",
    "patch /a",
    "patch /b",
    "post /a",
    "post /b",
    "put /a",
    "put /b",
  ]);
  assert.equal(document.paths["/b"]?.get?.summary, "Its own");
  assert.equal(document.paths["/b"]?.put?.summary, "Rest");
});

test("OpenAPI table: a hidden route hides nothing that it does not answer", async () => {
  class HiddenController extends controller() {
    number = route.get("/c/:id{[0-9]+}", { openapi: { hidden: true } }, () => 1);
    anyText = route.all("/c/:slug", () => 1);
    one = route.get("/w/:a", { openapi: { hidden: true } }, () => 1);
    anyPath = route.all("/w/*", () => 1);
  }
  const { paths } = await documentOf(HiddenController);
  assert.ok(paths["/c/{slug}"]?.get);
  assert.ok(paths["/w/{wildcard}"]?.get);
});
