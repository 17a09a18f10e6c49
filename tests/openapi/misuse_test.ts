/** Every misuse of the OpenAPI layer, and the whole of its message. */
import { type } from "arktype";
import assert from "node:assert/strict";
import * as v from "valibot";
import * as z from "zod";
import {
  type AnySchema,
  controller,
  type ControllerClass,
  dto,
  type FwApplication,
  FwFactory,
  module,
  type OpenApiOptions,
  optional,
  route,
  type RouteOpenApi,
} from "../../mod.ts";
import { OAuth2Guard, OAuth2Principal } from "../../src/oauth2/mod.ts";
import { test } from "../support/test.ts";
import { applicationOf, controllerOf, documentOf } from "./described.ts";

/** Controllers that boot, and cannot be described. */
interface BootRow {
  readonly controllers: readonly ControllerClass[];
  readonly openApi?: OpenApiOptions;
  readonly setUp?: (app: FwApplication) => unknown;
  readonly message: string;
}

class CatsController extends controller("cats") {
  list = route.get("/", () => []);
}
/** A class of the same name, as two files may have it. */
const OtherCatsController = class CatsController extends controller("other-cats") {
  list = route.get("/", () => []);
};
const one = (params: AnySchema, path = "/:id") =>
  controllerOf({ one: route.get(path, { params }, () => 1) }, { prefix: "things" });
const verifier = { verify: () => Promise.reject(new Error("not asked")) };

const AT_BOOT: Readonly<Record<string, BootRow>> = {
  "two operations with one id, by their names": {
    controllers: [CatsController, OtherCatsController],
    message: "Cannot describe GET /other-cats: GET /cats has the operationId " +
      "AppModule.CatsController.list already; name one of their modules, or set openapi.operationId",
  },
  "two operations with one id, by their own words": {
    controllers: [controllerOf({
      a: route.get("/a", { openapi: { operationId: "same" } }, () => 1),
      b: route.post("/b", { openapi: { operationId: "same" } }, () => 1),
    })],
    message: "Cannot describe POST /b: GET /a has the operationId same already; " +
      "name one of their modules, or set openapi.operationId",
  },
  "an operation with the id that another has by its name": {
    controllers: [controllerOf({
      a: route.get("/a", () => 1),
      b: route.get(
        "/b",
        { openapi: { operationId: "AppModule.ThingsController.a" } },
        () => 1,
      ),
    })],
    message: "Cannot describe GET /b: GET /a has the operationId AppModule.ThingsController.a " +
      "already; name one of their modules, or set openapi.operationId",
  },
  "a roles_security_scheme that is not declared, with roles": {
    controllers: [controllerOf({
      open: route.get("/open", () => 1),
      admin: route.get("/admin", { roles: ["admin"] }, () => 1),
    })],
    openApi: { inferRouteSecurityFromRoles: true },
    message: "Cannot describe AppModule.ThingsController.admin (GET /admin): " +
      "components.securitySchemes does not declare bearerAuth, the rolesSecurityScheme",
  },
  "a roles_security_scheme that is not declared, with scopes": {
    controllers: [controllerOf({
      open: route.get("/open", () => 1),
      orders: route.get("/orders", { scopes: ["orders:read"] }, () => 1),
    })],
    openApi: { inferRouteSecurityFromRoles: true },
    message: "Cannot describe AppModule.ThingsController.orders (GET /orders): " +
      "components.securitySchemes does not declare bearerAuth, the rolesSecurityScheme",
  },
  "a roles_security_scheme that is not declared, with OAuth2Guard, where another is": {
    controllers: [controllerOf({ me: route.get("/me", { guards: [OAuth2Guard] }, () => 1) })],
    openApi: {
      inferRouteSecurityFromRoles: true,
      rolesSecurityScheme: "identityProvider",
      components: { securitySchemes: { bearerAuth: { type: "http", scheme: "bearer" } } },
    },
    message: "Cannot describe AppModule.ThingsController.me (GET /me): " +
      "components.securitySchemes does not declare identityProvider, the rolesSecurityScheme",
  },
  "a roles_security_scheme that is not declared, with OAuth2Principal": {
    controllers: [
      controllerOf({ me: route.get("/me", { args: { me: OAuth2Principal } }, () => 1) }),
    ],
    openApi: { inferRouteSecurityFromRoles: true },
    message: "Cannot describe AppModule.ThingsController.me (GET /me): " +
      "components.securitySchemes does not declare bearerAuth, the rolesSecurityScheme",
  },
  "a roles_security_scheme that is not declared, with useOAuth2(verifier, { require: true })": {
    controllers: [CatsController],
    openApi: { inferRouteSecurityFromRoles: true },
    setUp: (app) => app.useOAuth2(verifier, { require: true }),
    message: "Cannot describe AppModule.CatsController.list (GET /cats): " +
      "components.securitySchemes does not declare bearerAuth, the rolesSecurityScheme",
  },
  "a roles_security_scheme that is not declared, with optional(OAuth2Principal)": {
    controllers: [
      controllerOf({ me: route.get("/me", { args: { me: optional(OAuth2Principal) } }, () => 1) }),
    ],
    openApi: { inferRouteSecurityFromRoles: true },
    message: "Cannot describe AppModule.ThingsController.me (GET /me): " +
      "components.securitySchemes does not declare bearerAuth, the rolesSecurityScheme",
  },
  "a roles_security_scheme that is not declared, though nothing needs it": {
    controllers: [CatsController],
    openApi: { inferRouteSecurityFromRoles: true },
    message: "Cannot describe routes with roles or scopes: " +
      "components.securitySchemes does not declare bearerAuth, the rolesSecurityScheme",
  },
  "security of a route by a scheme that is not declared": {
    controllers: [controllerOf({
      open: route.get("/open", () => 1),
      mine: route.get("/mine/:id", { openapi: { security: [{ key: [] }] } }, () => 1),
    })],
    message: "Cannot describe AppModule.ThingsController.mine (GET /mine/:id): " +
      "components.securitySchemes does not declare key",
  },
  "security of a route by a scheme that is not declared among those that are": {
    controllers: [controllerOf({
      mine: route.post(
        "/mine",
        { openapi: { security: [{}, { bearerAuth: [] }, { bearerAuth: [], toString: [] }] } },
        () => 1,
      ),
    })],
    openApi: {
      inferRouteSecurityFromRoles: true,
      components: { securitySchemes: { bearerAuth: { type: "http", scheme: "bearer" } } },
    },
    message: "Cannot describe AppModule.ThingsController.mine (POST /mine): " +
      "components.securitySchemes does not declare toString",
  },
  "an operationId of the options that two operations have": {
    controllers: [controllerOf({ a: route.get("/a", () => 1), b: route.post("/b", () => 1) })],
    openApi: { operationId: () => "same" },
    message: "Cannot describe POST /b: GET /a has the operationId same already; " +
      "name one of their modules, or set openapi.operationId",
  },
  "an operationId of the options without a character": {
    controllers: [CatsController],
    openApi: { operationId: () => "" },
    message: "Cannot describe GET /cats: the operationId of the options returns no id",
  },
  "an invalid operationId of the options": {
    controllers: [CatsController],
    openApi: { operationId: () => undefined as never },
    message: "Cannot describe GET /cats: the operationId of the options returns no id",
  },
  "a path parameter that is missing from params": {
    controllers: [one(v.object({ name: v.string() }))],
    message: "Cannot mount AppModule.ThingsController.one: params declares name, " +
      "which is not a parameter of GET /things/:id",
  },
  "a path parameter that is missing from params of zod": {
    controllers: [one(z.object({}))],
    message:
      "Cannot describe AppModule.ThingsController.one (/things/:id): its params do not declare id",
  },
  "a path parameter that is missing from params of arktype": {
    controllers: [one(type({ name: "string" }))],
    message: "Cannot mount AppModule.ThingsController.one: params declares name, " +
      "which is not a parameter of GET /things/:id",
  },
  "a parameter of a prefix that is missing from params": {
    controllers: [one(v.object({ id: v.string() }))],
    setUp: (app) => app.setGlobalPrefix("/:tenant"),
    message:
      "Cannot describe AppModule.ThingsController.one (/:tenant/things/:id): its params do not declare tenant",
  },
  "an optional path parameter that is missing from params": {
    controllers: [one(v.object({}), "/:id?")],
    message:
      "Cannot describe AppModule.ThingsController.one (/things/:id?): its params do not declare id",
  },
  "a parameter that the path does not have": {
    controllers: [one(v.object({ id: v.string(), other: v.string() }))],
    message: "Cannot mount AppModule.ThingsController.one: params declares other, " +
      "which is not a parameter of GET /things/:id",
  },
  "params of a path that has no parameter": {
    controllers: [one(v.object({ id: v.string() }), "/")],
    message: "Cannot mount AppModule.ThingsController.one: params declares id, " +
      "which is not a parameter of GET /things",
  },
  "a header that no request has, as their names are in lower case": {
    controllers: [controllerOf({
      one: route.get("/", { headers: v.object({ "X-Api-Key": v.string() }) }, () => 1),
    })],
    message: "Cannot describe AppModule.ThingsController.one (/): " +
      "its headers declare X-Api-Key, but header names must be in lower case",
  },
  "two schemas with one name": {
    controllers: [controllerOf({
      a: route.post("/a", { body: dto("Cat", v.string()) }, () => 1),
      b: route.post("/b", { body: v.array(dto("Cat", v.number())) }, () => 1),
    })],
    message:
      "Cannot describe the body of POST /b: another schema is named Cat, in the body of POST /a",
  },
  "two schemas with one name, one of which is of a parameter": {
    controllers: [controllerOf({
      a: route.get("/a/:id", { params: v.object({ id: dto("Id", v.string()) }) }, () => 1),
      b: route.post("/b", { body: v.object({ id: dto("Id", v.number()) }) }, () => 1),
    })],
    message:
      "Cannot describe the body of POST /b: another schema is named Id, in the params of GET /a/:id",
  },
  "two schemas with one name, of two libraries": {
    controllers: [controllerOf({
      a: route.post("/a", { body: dto("Cat", v.string()) }, () => 1),
      b: route.post("/b", { body: z.object({ cat: dto("Cat", z.number()) }) }, () => 1),
    })],
    message:
      "Cannot describe the body of POST /b: another schema is named Cat, in the body of POST /a",
  },
  "a schema with the name of all problems": {
    controllers: [controllerOf({
      a: route.post("/a", { body: dto("ProblemDetails", v.string()) }, () => 1),
    })],
    message: "Cannot describe ProblemDetails: problem documents have that name",
  },
  "a schema with the name of a schema of problem documents": {
    controllers: [controllerOf({
      a: route.post("/a", { body: v.array(dto("ValidationIssue", v.string())) }, () => 1),
    })],
    message: "Cannot describe ValidationIssue: problem documents have that name",
  },
  "a route at the path of the document": {
    controllers: [controllerOf({ own: route.get("/openapi.json", () => 1) })],
    message:
      "Cannot mount AppModule.ThingsController.own: GET /openapi.json is an endpoint already",
  },
  "a route at the path of the YAML": {
    controllers: [controllerOf({ own: route.get("/openapi.yaml", () => 1) })],
    message:
      "Cannot mount AppModule.ThingsController.own: GET /openapi.yaml is an endpoint already",
  },
  "a route at the path of the page": {
    controllers: [controllerOf({ own: route.get("/docs/", () => 1) })],
    message: "Cannot mount AppModule.ThingsController.own: GET /docs is an endpoint already",
  },
  "a route at the path of the page's sign-in": {
    controllers: [controllerOf({ own: route.get("/docs/oauth2-redirect", () => 1) })],
    message: "Cannot mount AppModule.ThingsController.own: " +
      "GET /docs/oauth2-redirect is an endpoint already",
  },
  "another endpoint at the path of the document": {
    controllers: [CatsController],
    setUp: (app) => app.enableHealthCheck("/openapi.json"),
    message: "Cannot mount an endpoint: GET /openapi.json is mounted twice",
  },
  "another endpoint at the path of the page": {
    controllers: [CatsController],
    setUp: (app) => app.enableMetrics("/docs"),
    message: "Cannot mount an endpoint: GET /docs is mounted twice",
  },
  "the page at the path of the YAML": {
    controllers: [CatsController],
    openApi: { docsPath: "/openapi.yaml" },
    message: "Cannot mount an endpoint: GET /openapi.yaml is mounted twice",
  },
  "the document at the path of the page's sign-in": {
    controllers: [CatsController],
    openApi: { jsonPath: "/docs/oauth2-redirect" },
    message: "Cannot mount an endpoint: GET /docs/oauth2-redirect is mounted twice",
  },
};

for (const [what, { controllers, openApi, setUp, message }] of Object.entries(AT_BOOT)) {
  const create = () =>
    applicationOf(controllers, { ...openApi && { openApi }, ...setUp && { setUp } });

  test(`Misuse at boot: ready() refuses ${what}`, async () => {
    const app = await create();
    await assert.rejects(app.ready(), { name: "TypeError", message });
  });

  if (/^Cannot describe|: params declares /.test(message)) {
    test(`Misuse at boot: openApi() refuses ${what}`, async () => {
      const app = await create();
      await assert.rejects(app.openApi(), { name: "TypeError", message });
    });
  }
}

test("Misuse at boot: listen() and the first request refuse what ready() refuses", async () => {
  const create = () => applicationOf(one(v.object({})));
  const message =
    "Cannot describe AppModule.ThingsController.one (/things/:id): its params do not declare id";
  await assert.rejects((await create()).listen(0, { hostname: "127.0.0.1" }), { message });
  await assert.rejects((await create()).request("/things/1"), { message });
});

test("Misuse at boot: an application that cannot be described boots without enableOpenApi()", async () => {
  const app = await FwFactory.create(module({ controllers: [one(v.object({}))] }));
  assert.equal((await (await app.ready()).request("/things/1")).status, 200);
});

test("Misuse at boot: the mistake can be corrected, and the application serves then", async () => {
  const controller = controllerOf({ admin: route.get("/admin", { roles: ["admin"] }, () => 1) });
  const openApi = { inferRouteSecurityFromRoles: true };
  const app = await applicationOf(controller, { openApi });
  await assert.rejects(app.ready(), { name: "TypeError" });
  const components = {
    securitySchemes: { bearerAuth: { type: "http", scheme: "bearer" } },
  } as const;
  await app.enableOpenApi({ ...openApi, components }).ready();
  const document = await (await app.request("/openapi.json")).json();
  assert.deepEqual(document.paths["/admin"].get.security, [{ bearerAuth: [] }]);
});

test("Misuse at boot: security of a hidden route need not be declared", async () => {
  const openapi = { hidden: true, security: [{ key: [] }] };
  const controller = controllerOf({ hidden: route.get("/hidden", { openapi }, () => 1) });
  assert.deepEqual((await (await applicationOf(controller)).openApi()).paths, {});
});

test("Misuse at boot: two routes with one method and path are refused, both named", async () => {
  class DogsController extends controller("cats") {
    all = route.get("/", () => []);
  }
  const AppModule = module({ name: "AppModule", controllers: [CatsController, DogsController] });
  await assert.rejects(FwFactory.create(AppModule), {
    name: "TypeError",
    message: "Cannot mount AppModule.DogsController.all: " +
      "AppModule.CatsController.list has GET /cats already",
  });
});

test("Misuse at boot: two routes that a default version makes one are refused, both named", async () => {
  class V1CatsController extends controller("cats", { version: "v1" }) {
    all = route.get("/", () => []);
  }
  const app = await applicationOf([CatsController, V1CatsController], {
    setUp: (app) => app.enableUriVersioning({ defaultVersion: "v1" }),
  });
  const message = "Cannot mount AppModule.V1CatsController.all: " +
    "AppModule.CatsController.list has GET /v1/cats already";
  await assert.rejects(app.openApi(), { name: "TypeError", message });
  await assert.rejects(app.ready(), { name: "TypeError", message });
});

const OPTIONS: Readonly<Record<string, readonly [OpenApiOptions, RegExp | string]>> = {
  "jsonPath and docsPath that are one": [
    { jsonPath: "/api", docsPath: "/api/" },
    "Cannot enable OpenAPI: jsonPath and docsPath are both /api/",
  ],
  "a docsPath with a parameter": [
    { docsPath: "/docs/:version" },
    "Cannot enable OpenAPI: the path /docs/:version has parameters",
  ],
  "a jsonPath with a wildcard": [
    { jsonPath: "/*" },
    "Cannot enable OpenAPI: the path /* has parameters",
  ],
  "a jsonPath with white space": [
    { jsonPath: "/open api.json" },
    'Cannot compose "/open api.json": it is not a path',
  ],
  "a docsPath with a query": [
    { docsPath: "/docs?a" },
    'Cannot compose "/docs?a": it is not a path',
  ],
  "a user interface that is not known": [
    { docsUi: "redoc" as "scalar" },
    "Cannot enable OpenAPI: docsUi redoc is unknown",
  ],
  "a sign-in without a client": [
    { docsSignIn: { clientId: "" } },
    "Cannot enable OpenAPI: docsSignIn has no clientId",
  ],
  "security by a scheme that is not declared": [
    { security: [{}, { bearerAuth: [] }] },
    "Cannot enable OpenAPI: security needs bearerAuth, " +
    "which components.securitySchemes does not declare",
  ],
  "security by a scheme that is not declared among those that are": [
    {
      security: [{ key: [], other: [] }],
      components: { securitySchemes: { key: { type: "apiKey", in: "header", name: "x-key" } } },
    },
    "Cannot enable OpenAPI: security needs other, " +
    "which components.securitySchemes does not declare",
  ],
};

for (const [what, [openApi, message]] of Object.entries(OPTIONS)) {
  test(`Misuse of options: enableOpenApi() refuses ${what}`, async () => {
    const app = await FwFactory.create(module({ controllers: [CatsController] }));
    assert.throws(() => app.enableOpenApi(openApi), { name: "TypeError", message });
    const document = await app.enableOpenApi().openApi();
    assert.deepEqual(Object.keys(document.paths), ["/cats"], "the application is as before");
  });
}

test("Misuse of options: enableOpenApi() refuses an application that serves already", async () => {
  const app = await FwFactory.create(module({ controllers: [CatsController] }));
  await app.ready();
  assert.throws(() => app.enableOpenApi(), {
    name: "TypeError",
    message: "Cannot change the application: it is already serving; " +
      "call builder methods before the first request or listen()",
  });
});

const ANNOTATIONS: Readonly<Record<string, readonly [RouteOpenApi, string]>> = {
  "an invalid status": [{ responses: { 99: "Low" } }, "99 is not a status"],
  "a status of six hundred": [{ responses: { 600: "High" } }, "600 is not a status"],
  "a status that is text": [
    { responses: { ["default" as never]: "Any" } },
    "default is not a status",
  ],
  "a response without a description": [
    { responses: { 404: {} as { description: string } } },
    "404 has no description",
  ],
  "a missing response": [{ responses: { 404: undefined as never } }, "404 has no description"],
  "a body of a response without a body": [
    { responses: { 204: { description: "Gone", schema: v.string() } } },
    "204 has no body",
  ],
  "a content type of a response that has no body": [
    { responses: { 304: { description: "As before", contentType: "text/plain" } } },
    "304 has no body",
  ],
  "a schema of a missing response": [
    { responses: { 200: { description: "It", schema: {} as never } } },
    "the schema of 200 is not a Standard Schema",
  ],
  "a schema of messages that is none": [
    { responses: { 101: { description: "It", receives: v.string(), sends: {} as never } } },
    "the schema of 101 is not a Standard Schema",
  ],
  "messages of a response that is no WebSocket": [
    { responses: { 200: { description: "It", receives: v.string(), sends: v.string() } } },
    "200 has no messages",
  ],
  "a content type without a character": [
    { responses: { 200: { description: "It", contentType: "" } } },
    "the contentType of 200 is empty",
  ],
  "security that is no list": [
    { security: { key: [] } as never },
    "security is not a list of schemes with their scopes",
  ],
  "a summary without a character": [{ summary: "" }, "summary is empty"],
  "an operationId without a character": [{ operationId: "" }, "operationId is empty"],
};

for (const [what, [openapi, why]] of Object.entries(ANNOTATIONS)) {
  test(`Misuse of a route's annotation: route.get() refuses ${what}, naming the route`, () => {
    assert.throws(() => route.get("/old/:id", { openapi }, () => 1), {
      name: "TypeError",
      message: `Cannot declare GET /old/:id: openapi: ${why}`,
    });
  });
}

test("Misuse at boot: two schemas with one name are found inside two equal ones", async () => {
  const user = (address: v.GenericSchema) => dto("User", v.object({ address }));
  const documented = documentOf(controllerOf({
    a: route.get("/a", {
      response: user(dto("Address", v.object({ street: v.string() }))),
    }, () => ({ address: { street: "" } })),
    b: route.get("/b", {
      response: user(dto("Address", v.object({ city: v.number() }))),
    }, () => ({ address: { city: 1 } })),
  }));
  await assert.rejects(documented, {
    name: "TypeError",
    message:
      "Cannot describe the response of GET /b: another schema is named Address, in the response of GET /a",
  });
});
