import assert from "node:assert/strict";
import { controller, type FwApplication, FwFactory, module, route } from "../../mod.ts";
import type { OpenApiDocument, OperationObject } from "../../src/openapi/openapi_document.ts";
import * as v from "valibot";
import { test } from "../support/test.ts";
import { operationsOf } from "./described.ts";
import { EmbeddedSchemas } from "./embedded_schemas.ts";

const One = v.object({ name: v.string() });
const Two = v.object({ name: v.string(), age: v.number() });

class CatsV1 extends controller("cats", { version: "v1" }) {
  list = route.get("/", { response: v.array(One) }, () => []);
  old = route.get("/old", () => 1);
}
class CatsV2 extends controller("cats", { version: ["v2", "v10"] }) {
  list = route.get("/", {
    response: v.array(Two),
    headers: v.object({ "api-version": v.string(), "x-page": v.string() }),
  }, () => []);
}
class AboutController extends controller("about") {
  about = route.get("/", { response: v.string() }, () => "about");
}

async function described(
  setUp: (app: FwApplication) => FwApplication,
): Promise<(version?: string) => Promise<OpenApiDocument>> {
  const root = module({ name: "App", controllers: [CatsV1, CatsV2, AboutController] });
  const app = setUp(await FwFactory.create(root, { preview: true }));
  return (version) => app.openApi(version === undefined ? {} : { version });
}

const versionOf = (operation: OperationObject | undefined) =>
  operation?.parameters?.find(({ name }) => name === "API-Version");
const idOf = (document: OpenApiDocument, path: string) => document.paths[path]?.get?.operationId;

test("URI versioning is in the paths, and in the ids of a route with several versions", async () => {
  const documentOf = await described((app) => app.enableUriVersioning());
  const document = await documentOf();
  assert.deepEqual(
    Object.entries(document.paths).map(([path, { get }]) => [path, get?.operationId, get?.tags]),
    [
      ["/about", "App.AboutController.about", ["about"]],
      ["/v1/cats", "App.CatsV1.list", ["cats"]],
      ["/v1/cats/old", "App.CatsV1.old", ["cats"]],
      ["/v10/cats", "App.CatsV2.list.v10", ["cats"]],
      ["/v2/cats", "App.CatsV2.list.v2", ["cats"]],
    ],
  );
  assert.deepEqual(operationsOf(await documentOf("v1")), [
    "get /about",
    "get /v1/cats",
    "get /v1/cats/old",
  ]);
});

test("header versioning is a header parameter with the versions of the operation", async () => {
  const documentOf = await described((app) => app.enableHeaderVersioning());
  const document = await documentOf();
  assert.deepEqual(operationsOf(document), ["get /about", "get /cats", "get /cats/old"]);
  assert.equal(versionOf(document.paths["/about"]?.get), undefined);
  assert.deepEqual(versionOf(document.paths["/cats/old"]?.get), {
    name: "API-Version",
    in: "header",
    required: true,
    description: "The version of the operation",
    schema: { type: "string", enum: ["v1"] },
  });
  const parameters = document.paths["/cats"]?.get?.parameters?.map(({ name }) => name);
  assert.deepEqual(parameters, ["x-page", "API-Version"]);
  assert.ok("404" in (document.paths["/cats/old"]?.get?.responses ?? {}));
});

test("several versions of one operation have a document each; the default version, or the newest, is in the common one", async () => {
  const documentOf = await described((app) => app.enableHeaderVersioning());
  assert.equal(idOf(await documentOf(), "/cats"), "App.CatsV2.list");
  const v1 = await documentOf("v1");
  assert.equal(idOf(v1, "/cats"), "App.CatsV1.list");
  assert.deepEqual(operationsOf(v1), ["get /about", "get /cats", "get /cats/old"]);
  const v2 = await documentOf("v2");
  assert.deepEqual(operationsOf(v2), ["get /about", "get /cats"]);
  assert.deepEqual(versionOf(v2.paths["/cats"]?.get)?.schema, { type: "string", enum: ["v2"] });
  await assert.rejects(documentOf("v3"), {
    name: "TypeError",
    message: "Cannot describe version v3: the versions are v1, v2, v10",
  });
  const standard = await described((app) => app.enableHeaderVersioning({ defaultVersion: "v1" }));
  const document = await standard();
  assert.equal(idOf(document, "/cats"), "App.CatsV1.list");
  const { required, schema } = versionOf(document.paths["/cats"]?.get) ?? {};
  assert.deepEqual([required, schema], [
    false,
    { type: "string", enum: ["v1"], default: "v1" },
  ]);
});

test("media type versioning is in the media types of responses", async () => {
  const documentOf = await described((app) => app.enableMediaTypeVersioning());
  const typesOf = (document: OpenApiDocument, path: string) => {
    const ok = document.paths[path]?.get?.responses["200"] ?? {};
    return "content" in ok ? Object.keys(ok.content ?? {}) : undefined;
  };
  const document = await documentOf();
  assert.deepEqual(typesOf(document, "/cats"), ["application/json;v=v2", "application/json;v=v10"]);
  assert.deepEqual(typesOf(document, "/cats/old"), ["*/*;v=v1"]);
  assert.deepEqual(typesOf(document, "/about"), ["application/json"]);
  assert.deepEqual(typesOf(await documentOf("v1"), "/cats"), ["application/json;v=v1"]);
  assert.deepEqual(typesOf(await documentOf("v10"), "/cats"), ["application/json;v=v10"]);
});

test("the documents of every kind of versioning are valid", async () => {
  for (
    const setUp of [
      (app: FwApplication) => app.enableUriVersioning(),
      (app: FwApplication) => app.enableHeaderVersioning({ defaultVersion: "v1" }),
      (app: FwApplication) => app.enableMediaTypeVersioning(),
    ]
  ) {
    const documentOf = await described(setUp);
    for (const version of [undefined, "v1", "v2"]) {
      using schemas = new EmbeddedSchemas(await documentOf(version));
      assert.deepEqual(await schemas.complaints(), []);
    }
  }
});

test("the document of a version is served with ?version=, as JSON, as YAML and on the page", async () => {
  const root = module({ name: "App", controllers: [CatsV1, CatsV2, AboutController] });
  const app = (await FwFactory.create(root)).enableHeaderVersioning().enableOpenApi();
  const whole = await app.request("/openapi.json");
  assert.deepEqual(await whole.json(), await app.openApi());
  const v1 = await app.request("/openapi.json?version=v1");
  assert.deepEqual(await v1.json(), await app.openApi({ version: "v1" }));
  const tag = v1.headers.get("etag") ?? "";
  assert.notEqual(tag, whole.headers.get("etag"));
  const known = await app.request("/openapi.json?version=v1", {
    headers: { "if-none-match": tag },
  });
  assert.equal(known.status, 304);
  const yaml = await (await app.request("/openapi.yaml?version=v1")).text();
  assert.match(yaml, /App\.CatsV1\.list/);
  assert.doesNotMatch(yaml, /App\.CatsV2\.list/);
  assert.match(await (await app.request("/docs?version=v1")).text(), /openapi\.json\?version=v1/);
  const unknown = await app.request("/openapi.json?version=v9");
  assert.deepEqual([unknown.status, (await unknown.json()).detail], [
    404,
    "There is no such version; the versions are v1, v2, v10",
  ]);
  await app.close();
});
