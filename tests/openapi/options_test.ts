import { type } from "arktype";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import * as z from "zod";
import {
  type AnySchema,
  controller,
  dto,
  type FwApplication,
  FwFactory,
  module,
  type OpenApiOptions,
  optional,
  route,
} from "../../mod.ts";
import { OAuth2Guard, OAuth2Principal } from "../../src/oauth2/mod.ts";
import type { OpenApiProblem } from "../../src/openapi/mod.ts";
import { resolveOptions } from "../../src/openapi/options.ts";
import { ROOT } from "../support/project.ts";
import { test } from "../support/test.ts";
import { applicationOf, controllerOf, documentOf, OK } from "./described.ts";

/** The project that runs, while these tests do. */
const PROJECT = JSON.parse(readFileSync(join(ROOT, "deno.json"), "utf8"));

const things = controllerOf({ list: route.get("/things", () => []) });
const PATHS = {
  "/things": {
    get: {
      operationId: "AppModule.ThingsController.list",
      summary: "List",
      tags: ["things"],
      responses: { 200: OK },
    },
  },
};

test("OpenApiOptions: each has its default", () => {
  assert.deepEqual(resolveOptions(), {
    title: "fw API",
    jsonPath: "/openapi.json",
    docsPath: "/docs",
    docsUi: "swagger-ui",
    inferRouteSecurityFromRoles: false,
    rolesSecurityScheme: "bearerAuth",
  });
});

test("OpenApiOptions: given options are kept; paths are composed as those of routes are", () => {
  const given: OpenApiOptions = {
    title: "Things",
    version: "1.2.3",
    info: { description: "Of all kinds" },
    jsonPath: "things.json/",
    docsPath: "//docs/things/",
    apiPrefix: "api",
    operationId: ({ handler }) => handler,
    servers: [],
    documentTags: [],
    components: {},
    security: [],
    inferRouteSecurityFromRoles: true,
    rolesSecurityScheme: "other",
    docsUi: "scalar",
    assets: "/assets",
    docsSignIn: { clientId: "docs" },
    problem: { schema: "Failure" },
  };
  assert.deepEqual(resolveOptions(given), {
    ...given,
    jsonPath: "/things.json",
    docsPath: "/docs/things",
  });
});

test("OpenApiOptions: without any, the whole document (OpenAPI 3.1.1)", async () => {
  assert.deepEqual(await documentOf(things), {
    openapi: "3.1.1",
    info: { title: "fw API", version: PROJECT.version },
    servers: [{ url: "/" }], // what they are by default (§4.8.1.1)
    paths: PATHS,
    security: [],
  });
});

test("OpenApiOptions: title, version, info, servers, documentTags, components and security are in the document", async () => {
  const servers = [
    { url: "https://{tenant}.example.com", variables: { tenant: { default: "demo" } } },
    { url: "http://localhost:3000", description: "Here" },
  ];
  const documentTags = [
    { name: "things", description: "Of all kinds" },
    { name: "animals", externalDocs: { url: "https://example.com/animals" } },
  ];
  const components = {
    securitySchemes: { bearerAuth: { type: "http", scheme: "bearer" } },
    schemas: { Thing: { type: "object" } },
  } as const;
  const info = {
    summary: "Things",
    description: "Of **all** kinds",
    termsOfService: "https://example.com/terms",
    contact: { name: "Tom", url: "https://example.com", email: "tom@example.com" },
    license: { name: "MIT", identifier: "MIT" },
  };
  const security = [{ bearerAuth: [] }];
  const document = await documentOf(things, {
    openApi: {
      title: "Things API",
      version: "2",
      info,
      servers,
      documentTags,
      components,
      security,
    },
  });
  assert.deepEqual(document, {
    openapi: "3.1.1",
    info: { title: "Things API", version: "2", ...info },
    servers,
    paths: PATHS,
    components,
    security,
    tags: documentTags,
  });
});

test("Versioning: info.version is OpenApiOptions.version, whatever the versions of controllers", async () => {
  const { info, paths } = await documentOf(
    controllerOf({ list: route.get("/", () => 1) }, { prefix: "things", version: "v7" }),
    { openApi: { version: "2026.1" }, setUp: (app) => app.enableUriVersioning() },
  );
  assert.equal(info.version, "2026.1");
  assert.deepEqual(Object.keys(paths), ["/v7/things"]);
});

test("Versioning: a version is between the global prefix and the controller's prefix", async () => {
  const { paths } = await documentOf([
    controllerOf({ list: route.get("/", () => 1) }, { prefix: "things" }),
    class OtherController extends controller("others", { version: "v2" }) {
      list = route.get("/", () => 1);
    },
  ], {
    setUp: (app) => app.setGlobalPrefix("api").enableUriVersioning({ defaultVersion: "v1" }),
  });
  assert.deepEqual(Object.keys(paths).sort(), ["/api/v1/things", "/api/v2/others"]);
});

test("OpenApiOptions: api_prefix is set from global prefix and default version", async () => {
  const { paths } = await documentOf(
    controllerOf({ list: route.get("/", () => 1) }, { prefix: "things" }),
    { setUp: (app) => app.setGlobalPrefix("api").enableUriVersioning({ defaultVersion: "beta" }) },
  );
  assert.deepEqual(paths["/api/beta/things"]?.get?.tags, ["things"]);
});

test("openApi() describes an application that does not serve its document", async () => {
  const app = await FwFactory.create(module({ name: "AppModule", controllers: [things] }));
  const document = await app.openApi();
  assert.deepEqual(document.paths, PATHS);
  assert.deepEqual(document.info, { title: "fw API", version: PROJECT.version });
  await app.ready();
  for (const path of ["/openapi.json", "/openapi.yaml", "/docs", "/docs/oauth2-redirect"]) {
    assert.equal((await app.request(path)).status, 404, path);
  }
});

test("openApi() describes the application as it is configured so far, and after it serves", async () => {
  const app = await applicationOf(things);
  assert.deepEqual(Object.keys((await app.openApi()).paths), ["/things"]);
  app.setGlobalPrefix("api");
  assert.deepEqual(Object.keys((await app.openApi()).paths), ["/api/things"]);
  await app.ready();
  assert.deepEqual(Object.keys((await app.openApi()).paths), ["/api/things"]);
});

test("enableOpenApi() a second time replaces the first", async () => {
  const app = await applicationOf(things, {
    openApi: { title: "One", jsonPath: "/one.json", docsPath: "/one" },
  });
  app.enableOpenApi({ title: "Two", docsPath: false });
  const statusOf = async (path: string) => (await app.request(path)).status;
  assert.equal((await app.openApi()).info.title, "Two");
  assert.deepEqual(
    await Promise.all(["/one.json", "/one.yaml", "/one", "/one/oauth2-redirect"].map(statusOf)),
    [404, 404, 404, 404],
  );
  assert.deepEqual(await Promise.all(["/openapi.json", "/docs"].map(statusOf)), [200, 404]);
});

test("openApi() is a pure function of the routes and the options", async () => {
  const Thing = dto("Thing", v.object({ id: v.pipe(v.string(), v.toNumber()), at: v.date() }));
  const rich = controllerOf({
    one: route.get("/:id", { response: Thing, roles: ["admin"] }, () => undefined as never),
    create: route.post("/", { body: Thing, args: { me: optional(OAuth2Principal) } }, () => 1),
  });
  const options: OpenApiOptions = frozen({
    servers: [{ url: "https://example.com" }],
    documentTags: [{ name: "things" }],
    inferRouteSecurityFromRoles: true,
    components: {
      schemas: { Thing: { type: "object" } },
      securitySchemes: { bearerAuth: { type: "http", scheme: "bearer" } },
    },
    security: [{ bearerAuth: [] }],
  });
  const app = await applicationOf(rich, { openApi: options });
  const first = await app.openApi();
  assert.deepEqual(await app.openApi(), first);
  assert.deepEqual(await documentOf(rich, { openApi: options }), first);
});

test("openApi() returns a new document: changes affect no other", async () => {
  const Thing = v.object({
    at: v.date(),
    file: v.file(),
    tags: v.optional(v.array(v.string()), []),
  });
  const rich = () =>
    controllerOf({
      one: route.get("/:id", { response: Thing, guards: [OAuth2Guard] }, () => undefined as never),
      create: route.post("/", {
        body: dto("Thing", v.object({ ...Thing.entries })),
        openapi: { responses: { 409: "Taken", 429: "Too many" } },
      }, () => 1),
    });
  const setUp = (app: FwApplication) => app.useRateLimit();
  const app = await applicationOf(rich(), { setUp });
  const before = JSON.stringify(await app.openApi());
  await app.ready();
  spoil(await app.openApi());
  assert.equal(JSON.stringify(await app.openApi()), before);
  assert.equal(JSON.stringify(await documentOf(rich(), { setUp })), before);
  assert.equal(await (await app.request("/openapi.json")).text(), before);
});

/** Changes every object in another. */
function spoil(object: object): void {
  for (const each of Object.values(object)) if (typeof each === "object" && each) spoil(each);
  Object.assign(object, { spoiled: true });
}

test("openApi() returns only what JSON can represent", async () => {
  const rich = controllerOf({
    one: route.get("/:id?", {
      query: v.object({ at: v.optional(v.string(), "now") }),
      response: v.object({
        at: v.optional(v.date(), new Date(0)),
        n: v.nullish(v.number(), NaN),
        when: v.pipe(v.date(), v.examples([new Date(0)])),
      }),
      openapi: { deprecated: { since: new Date(0) }, responses: { 409: "Taken" } },
    }, () => undefined as never),
  });
  const document = await documentOf(rich);
  assert.deepEqual(document, JSON.parse(JSON.stringify(document)));
});

function frozen<T extends object>(object: T): T {
  for (const each of Object.values(object)) if (typeof each === "object" && each) frozen(each);
  return Object.freeze(object);
}

const Envelope = dto("Envelope", v.object({ error: v.object({ message: v.string() }) }));
const DELETE = controllerOf({
  remove: route.delete("/things/:id", {
    status: 204,
    openapi: { responses: { 409: "It is in use" } },
  }, () => undefined),
});
const ENVELOPE = {
  type: "object",
  properties: {
    error: {
      type: "object",
      properties: { message: { type: "string" } },
      required: ["message"],
    },
  },
  required: ["error"],
};

/** What `problem` can be, with the media type and the schemas that follow from it. */
const PROBLEMS: Readonly<
  Record<string, readonly [options: OpenApiOptions, type: string, schema: object, named: object]>
> = {
  "a dto of valibot": [
    { problem: { schema: Envelope } },
    "application/json",
    { $ref: "#/components/schemas/Envelope" },
    { Envelope: ENVELOPE },
  ],
  "a schema without a name, and a media type": [
    {
      problem: { schema: v.object({ code: v.number() }), contentType: "application/x.error+json" },
    },
    "application/x.error+json",
    { type: "object", properties: { code: { type: "number" } }, required: ["code"] },
    {},
  ],
  "a schema of zod": [
    { problem: { schema: z.object({ code: z.number() }) } },
    "application/json",
    { type: "object", properties: { code: { type: "number" } }, required: ["code"] },
    {},
  ],
  "a type of arktype": [
    { problem: { schema: type({ code: "number" }) } },
    "application/json",
    { type: "object", properties: { code: { type: "number" } }, required: ["code"] },
    {},
  ],
  "the name of a component by hand": [
    {
      problem: { schema: "Failure", contentType: "application/json; charset=utf-8" },
      components: { schemas: { Failure: { type: "object" } } },
    },
    "application/json; charset=utf-8",
    { $ref: "#/components/schemas/Failure" },
    { Failure: { type: "object" } },
  ],
};
for (const [what, [openApi, type, schema, named]] of Object.entries(PROBLEMS)) {
  test(`OpenApiOptions: problem describes every error response: ${what}`, async () => {
    const { paths, components } = await documentOf(DELETE, { openApi });
    const content = { [type]: { schema } };
    assert.deepEqual(paths["/things/{id}"]?.delete?.responses, {
      204: { description: "No Content" },
      404: { $ref: "#/components/responses/NotFound" },
      409: { description: "It is in use", content },
    });
    assert.deepEqual(components?.responses, {
      NotFound: { description: "The resource does not exist", content },
    });
    assert.deepEqual(components?.schemas ?? {}, named);
  });
}

test("OpenApiOptions: problem can be the name of a dto that a route uses", async () => {
  const routes = controllerOf({
    take: route.post("/errors", { body: Envelope, status: 204 }, () => undefined),
  });
  const { components } = await documentOf(routes, { openApi: { problem: { schema: "Envelope" } } });
  const content = { "application/json": { schema: { $ref: "#/components/schemas/Envelope" } } };
  for (const name of ["BadRequest", "ContentTooLarge", "UnprocessableContent"]) {
    assert.deepEqual(components?.responses?.[name]?.content, content, name);
  }
  assert.deepEqual(components?.schemas, { Envelope: ENVELOPE });
});

test("OpenApiOptions: a 429 has its Retry-After whatever its body is", async () => {
  const app = await applicationOf(things);
  app.useRateLimit().enableOpenApi({ problem: { schema: Envelope } });
  const { components } = await app.openApi();
  assert.deepEqual(components?.responses?.TooManyRequests?.headers, {
    "Retry-After": {
      description: "The time after which to try again, in seconds",
      required: true,
      schema: { type: "integer", minimum: 0 },
    },
  });
});

test("OpenApiOptions: without an error response, the schema of problem is no component", async () => {
  const document = await documentOf(things, { openApi: { problem: { schema: Envelope } } });
  assert.equal(document.components, undefined);
});

test("OpenApiOptions: problem is validated by the call", async () => {
  const app = await applicationOf(things);
  const text = v.string();
  const undocumented: AnySchema = { "~standard": { ...text["~standard"], vendor: "home-made" } };
  for (
    const [problem, message] of [
      [{ schema: undocumented }, "problem.schema is of home-made, which offers no JSON Schema"],
      [{ schema: {} }, "problem.schema is neither a schema nor the name of one"],
      [{}, "problem.schema is neither a schema nor the name of one"],
      [{ schema: text, contentType: "json" }, 'problem.contentType "json" is not a media type'],
      [
        { schema: text, contentType: "a/b\r\nc" },
        String.raw`problem.contentType "a/b\r\nc" is not a media type`,
      ],
    ] as const
  ) {
    assert.throws(
      () => app.enableOpenApi({ problem: problem as OpenApiProblem }),
      { name: "TypeError", message: `Cannot enable OpenAPI: ${message}` },
    );
  }
});

test("OpenApiOptions: a missing schema of problem fails when the document is created", async () => {
  const openApi = { problem: { schema: "Missing" } };
  await assert.rejects(documentOf(things, { openApi }), {
    name: "TypeError",
    message: "Cannot describe the problem responses: no route uses a schema named Missing, and " +
      "components.schemas does not have it",
  });
});
