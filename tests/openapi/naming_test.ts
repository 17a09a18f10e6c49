import assert from "node:assert/strict";
import {
  controller,
  type ControllerClass,
  FwFactory,
  module,
  type OpenApiOptions,
  route,
  type RouteOpenApi,
} from "../../mod.ts";
import { humanised } from "../../src/openapi/operation/operation_text.ts";
import { test } from "../support/test.ts";
import { controllerOf, type ControllerSettings, documentOf, OK, operationOf } from "./described.ts";

for (
  const [name, sentence] of [
    ["list", "List"],
    ["find_user", "Find user"],
    ["find_user_by_id", "Find user by id"],
    ["findUserById", "Find user by id"],
    ["findUserByID", "Find user by ID"],
    ["find_user_by_ID", "Find user by ID"],
    ["findHTMLPage", "Find HTML page"],
    ["HTMLPage", "HTML page"],
    ["getAUser", "Get a user"],
    ["list2Things", "List2 things"],
    ["getV2Users", "Get V2 users"],
    ["_private__name_", "Private name"],
    ["$get", "Get"],
    ["with spaces", "With spaces"],
    ["überprüfen", "Überprüfen"],
    ["a", "A"],
  ] as const
) {
  test(`OpenAPI generation: summary is the humanised handler name: ${name} is "${sentence}"`, () => {
    assert.equal(humanised(name), sentence);
  });
}

test("OpenAPI generation: operationId, summary and description are those of the handler unless the route sets others", async () => {
  const { paths } = await documentOf(controllerOf({
    find_user: route.get("/default", () => 1),
    own: route.get("/own", {
      openapi: {
        operationId: "users.find-one",
        summary: "Find a user",
        description: "By its `id`.\n\nNothing else.",
      },
    }, () => 1),
    empty: route.get("/empty", { openapi: {} }, () => 1),
  }));
  const responses = { 200: OK };
  assert.deepEqual(paths, {
    "/default": {
      get: {
        operationId: "AppModule.ThingsController.find_user",
        summary: "Find user",
        tags: ["default"],
        responses,
      },
    },
    "/empty": {
      get: {
        operationId: "AppModule.ThingsController.empty",
        summary: "Empty",
        tags: ["empty"],
        responses,
      },
    },
    "/own": {
      get: {
        operationId: "users.find-one",
        summary: "Find a user",
        description: "By its `id`.\n\nNothing else.",
        tags: ["own"],
        responses,
      },
    },
  });
});

class UsersController extends controller("users") {
  list = route.get("/", () => []);
}

for (
  const [name, id] of [
    ["UsersModule", "UsersModule.UsersController.list"],
    [undefined, "UsersControllerModule.UsersController.list"],
    ["Users & friends", "Users_friends.UsersController.list"],
    ["@acme/users", "_acme_users.UsersController.list"],
    ["Überblick", "Überblick.UsersController.list"],
  ] as const
) {
  test(`OpenAPI generation: operationId is Module.Controller.handler, fit for a URL: ${id}`, async () => {
    const app = await FwFactory.create(module({ name, controllers: [UsersController] }));
    const { paths } = await app.openApi();
    assert.equal(paths["/users"]?.get?.operationId, id);
  });
}

test("OpenAPI generation: operationId has the module that declares the controller", async () => {
  const AdminsController = class UsersController extends controller("admins") {
    list = route.get("/", () => []);
  };
  const inner = module({ name: "AdminsModule", controllers: [AdminsController] });
  const app = await FwFactory.create(
    module({ name: "AppModule", imports: [inner], controllers: [UsersController] }),
  );
  const { paths } = await app.openApi();
  assert.deepEqual(Object.entries(paths).map(([path, { get }]) => `${path}: ${get?.operationId}`), [
    "/admins: AdminsModule.UsersController.list",
    "/users: AppModule.UsersController.list",
  ]);
});

test("OpenAPI generation: operationId of a route with several operations distinguishes them", async () => {
  const { paths } = await documentOf(controllerOf({
    any: route.all("/any", () => 1),
    one: route.get("/one/:id?", () => 1),
    own: route.all("/own/:id?", { openapi: { operationId: "own" } }, () => 1),
    rest: route.get("/rest/*", () => 1),
  }));
  const ids = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, { operationId }]) => `${method} ${path}: ${operationId}`)
  );
  assert.deepEqual(ids, [
    "get /any: AppModule.ThingsController.any.get",
    "put /any: AppModule.ThingsController.any.put",
    "post /any: AppModule.ThingsController.any.post",
    "delete /any: AppModule.ThingsController.any.delete",
    "patch /any: AppModule.ThingsController.any.patch",
    "get /one: AppModule.ThingsController.one.without_id",
    "get /one/{id}: AppModule.ThingsController.one",
    "get /own: own.get.without_id",
    "put /own: own.put.without_id",
    "post /own: own.post.without_id",
    "delete /own: own.delete.without_id",
    "patch /own: own.patch.without_id",
    "get /own/{id}: own.get",
    "put /own/{id}: own.put",
    "post /own/{id}: own.post",
    "delete /own/{id}: own.delete",
    "patch /own/{id}: own.patch",
    "get /rest: AppModule.ThingsController.rest.without_wildcard",
    "get /rest/{wildcard}: AppModule.ThingsController.rest",
  ]);
});

/** Lists the ids of the operations of an application, by their methods and paths. */
async function idsWith(
  operationId: NonNullable<OpenApiOptions["operationId"]>,
): Promise<Readonly<Record<string, string>>> {
  const { paths } = await documentOf(
    controllerOf({
      list: route.get("/", () => []),
      one: route.get("/:id?", () => 1),
      any: route.all("/any/:id", () => 1),
      own: route.post("/own", { openapi: { operationId: "own id" } }, () => 1),
      hidden: route.post("/hidden", { openapi: { hidden: true } }, () => 1),
    }, { prefix: "things", version: "v1" }),
    { openApi: { operationId }, setUp: (app) => app.setGlobalPrefix("api").enableUriVersioning() },
  );
  return Object.fromEntries(
    Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, { operationId }]) => [`${method} ${path}`, operationId])
    ),
  );
}

test("OpenApiOptions: operationId names the operations of routes that do not name theirs", async () => {
  const ids = await idsWith(({ handler }) => handler.split(".").at(-1) ?? "");
  assert.deepEqual(ids, {
    "get /api/v1/things": "list",
    "get /api/v1/things/{id}": "one",
    "get /api/v1/things/any/{id}": "any.get",
    "put /api/v1/things/any/{id}": "any.put",
    "post /api/v1/things/any/{id}": "any.post",
    "delete /api/v1/things/any/{id}": "any.delete",
    "patch /api/v1/things/any/{id}": "any.patch",
    "post /api/v1/things/own": "own id",
  });
});

test("OpenApiOptions: operationId is given the method, the path as it is written, and Module.Controller.handler", async () => {
  const given = new Set<string>();
  await idsWith((route) => {
    given.add(JSON.stringify(route));
    return route.handler;
  });
  const handler = (name: string) => `AppModule.ThingsController.${name}`;
  assert.deepEqual([...given].map((text) => JSON.parse(text)).toSorted(byPath), [
    { method: "GET", path: "/api/v1/things", handler: handler("list") },
    { method: "GET", path: "/api/v1/things/:id?", handler: handler("one") },
    { method: "ALL", path: "/api/v1/things/any/:id", handler: handler("any") },
  ]);
});

function byPath(a: { readonly path: string }, b: { readonly path: string }): number {
  return a.path < b.path ? -1 : 1;
}

const DESCRIPTIONS: Readonly<Record<string, readonly [RouteOpenApi, string | undefined]>> = {
  "none by default": [{}, undefined],
  "none of a deprecation without dates": [{ deprecated: true }, undefined],
  "none of an empty deprecation": [{ deprecated: {} }, undefined],
  "since when it is deprecated": [
    { deprecated: { since: "2026-01-01" } },
    "Deprecated since 2026-01-01.",
  ],
  "when it is gone": [{ deprecated: { sunset: "2027-01-01" } }, "Removed on 2027-01-01."],
  "where to read on": [
    { deprecated: { link: "https://example.com/moved?a=b#c" } },
    "See <https://example.com/moved?a=b#c>.",
  ],
  "all of it, in this order": [
    {
      deprecated: {
        link: "https://example.com/moved",
        sunset: "2027-01-01",
        since: "2026-01-01",
      },
    },
    "Deprecated since 2026-01-01. Removed on 2027-01-01. See <https://example.com/moved>.",
  ],
  "the days of Dates and of times, in UTC": [
    {
      deprecated: {
        since: new Date("2026-01-01T23:59:59Z"),
        sunset: "2027-01-01T00:30:00+01:00",
      },
    },
    "Deprecated since 2026-01-01. Removed on 2026-12-31.",
  ],
  "below the route's own, as a paragraph": [
    { description: "By its `id`.\n\nNothing else.", deprecated: { since: "2026-01-01" } },
    "By its `id`.\n\nNothing else.\n\nDeprecated since 2026-01-01.",
  ],
  "the route's own alone": [{ description: "Old", deprecated: true }, "Old"],
};

for (const [what, [openapi, description]] of Object.entries(DESCRIPTIONS)) {
  test(`OpenAPI route annotation: the description of a deprecated operation has ${what}`, async () => {
    const operation = await operationOf(route.get("/", { openapi }, () => 1));
    assert.equal(operation.description, description);
    assert.equal("description" in operation, description !== undefined);
    assert.equal(operation.deprecated, openapi.deprecated ? true : undefined);
  });
}

/** A path, and its tag. */
interface TagRow {
  readonly what: string;
  readonly globalPrefix?: string;
  readonly defaultVersion?: string;
  readonly apiPrefix?: string;
  readonly settings?: ControllerSettings;
  readonly path?: string;
  readonly tag: string | undefined;
}

const TAGS: readonly TagRow[] = [
  { what: "the first segment", path: "/ping/now", tag: "ping" },
  { what: "the controller's prefix", settings: { prefix: "users" }, tag: "users" },
  {
    what: "the segment after the global prefix",
    globalPrefix: "api",
    settings: { prefix: "users" },
    tag: "users",
  },
  {
    what: "the segment after a global prefix of several segments",
    globalPrefix: "/api/public/",
    settings: { prefix: "users" },
    tag: "users",
  },
  {
    what: "the controller's, though it is the global prefix too",
    globalPrefix: "users",
    settings: { prefix: "users" },
    tag: "users",
  },
  {
    what: "the segment after the controller's version",
    globalPrefix: "api",
    settings: { prefix: "users", version: "v1" },
    tag: "users",
  },
  {
    what: "the segment after a version of another kind",
    settings: { prefix: "users", version: "2026-01" },
    tag: "users",
  },
  {
    what: "the segment after the default version",
    globalPrefix: "api",
    defaultVersion: "v1",
    settings: { prefix: "users" },
    tag: "users",
  },
  {
    what: "the segment after a version that is not the default one",
    globalPrefix: "api",
    defaultVersion: "v1",
    settings: { prefix: "users", version: "v2" },
    tag: "users",
  },
  {
    what: "the segment after a version of the controller where the default has another form",
    globalPrefix: "api",
    defaultVersion: "2025-01",
    settings: { prefix: "users", version: "2026-01" },
    tag: "users",
  },
  { what: "the segment after a version in the path", path: "/v1/users", tag: "users" },
  { what: "the segment after a minor version in the path", path: "/v1.2/users", tag: "users" },
  { what: "a segment that begins as a version does", path: "/vehicles", tag: "vehicles" },
  { what: "no parameter", settings: { prefix: ":tenant/users" }, path: "/:id", tag: "users" },
  { what: "no parameter with a constraint", path: "/:id{[0-9]+}/posts", tag: "posts" },
  { what: "no wildcard", path: "/*", tag: undefined },
  { what: "the segment before a wildcard", path: "/files/*", tag: "files" },
  { what: "none where there is no segment", path: "/", tag: undefined },
  { what: "none where there is a version alone", path: "/v1", tag: undefined },
  { what: "none where there are parameters alone", path: "/:id", tag: undefined },
  {
    what: "the segment after apiPrefix",
    apiPrefix: "internal/tools",
    path: "/internal/tools/users",
    tag: "users",
  },
  {
    what: "by apiPrefix rather than by the global prefix",
    globalPrefix: "api",
    apiPrefix: "",
    settings: { prefix: "users" },
    tag: "api",
  },
  {
    what: "the first segment where apiPrefix is not there",
    apiPrefix: "api",
    path: "/users",
    tag: "users",
  },
  { what: "the controller's tag", settings: { prefix: "users", tag: "People" }, tag: "People" },
];

for (const { what, globalPrefix, defaultVersion, apiPrefix, settings, path = "/", tag } of TAGS) {
  test(`OpenAPI generation: tags: the tag is ${what}`, async () => {
    const thing = route.get(path, () => 1);
    const { paths } = await documentOf(controllerOf({ thing }, settings), {
      openApi: apiPrefix === undefined ? {} : { apiPrefix },
      setUp: (app) => {
        if (globalPrefix !== undefined) app.setGlobalPrefix(globalPrefix);
        app.enableUriVersioning({ defaultVersion });
      },
    });
    const operations = Object.values(paths).map(({ get }) => get);
    assert.ok(operations.length > 0);
    for (const operation of operations) {
      assert.deepEqual(operation?.tags, tag === undefined ? undefined : [tag]);
    }
  });
}

test("OpenAPI route annotation: tag goes before the controller's and the path's", async () => {
  const thing = route.get("/", { openapi: { tag: "Own" } }, () => 1);
  const tagged = await operationOf(thing, { settings: { prefix: "users", tag: "People" } });
  assert.deepEqual(tagged.tags, ["Own"]);
  const untagged = await operationOf(thing, { settings: { prefix: "users" } });
  assert.deepEqual(untagged.tags, ["Own"]);
});

test("OpenAPI route annotation: summary, tag and responses together", async () => {
  const openapi = { summary: "Say it", tag: "Words", responses: { 200: "It is said" } };
  assert.deepEqual(await operationOf(route.get("/", { openapi }, () => 1)), {
    operationId: "AppModule.ThingsController.thing",
    summary: "Say it",
    tags: ["Words"],
    responses: { 200: { ...OK, description: "It is said" } },
  });
});

test("OpenAPI route annotation: hidden leaves a route out, and what only it refers to", async () => {
  const controllers: ControllerClass = controllerOf({
    shown: route.get("/shown", () => 1),
    hidden: route.get("/things/:id", { openapi: { hidden: true } }, () => 1),
  });
  const document = await documentOf(controllers);
  assert.deepEqual(Object.keys(document.paths), ["/shown"]);
  assert.equal(document.components, undefined);
});

test("OpenAPI generation: a route with several versions in its paths has an operation for each", async () => {
  class CatsController extends controller("cats", { version: ["v1", "v2"] }) {
    list = route.get("/", () => []);
    named = route.get("/named", { openapi: { operationId: "named" } }, () => []);
    old = route.get("/old", { version: "v1" }, () => []);
  }
  const AppModule = module({ name: "AppModule", controllers: [CatsController] });
  const app = (await FwFactory.create(AppModule)).enableUriVersioning();
  const { paths = {} } = await app.openApi();
  const ids = Object.entries(paths).map(([path, item]) => [path, item.get?.operationId]);
  assert.deepEqual(ids, [
    ["/v1/cats", "AppModule.CatsController.list.v1"],
    ["/v1/cats/named", "named.v1"],
    ["/v1/cats/old", "AppModule.CatsController.old"],
    ["/v2/cats", "AppModule.CatsController.list.v2"],
    ["/v2/cats/named", "named.v2"],
  ]);
});
