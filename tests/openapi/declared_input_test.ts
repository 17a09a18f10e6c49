/** What extractors take is documented as what options take. */
import assert from "node:assert/strict";
import * as v from "valibot";
import {
  controller,
  dto,
  FwFactory,
  module,
  route,
  type RouteOpenApi,
  validatedBody,
  validatedPath,
  validatedQuery,
} from "../../mod.ts";
import type { OperationObject } from "../../src/openapi/mod.ts";
import { test } from "../support/test.ts";

const Id = v.object({ id: v.pipe(v.string(), v.toNumber(), v.integer()) });
const Page = v.object({ take: v.optional(v.pipe(v.string(), v.toNumber()), "20") });
const Cat = dto("Cat", v.object({ name: v.string() }));

class CatsController extends controller() {
  options = route.put(
    "/options/:id",
    { params: Id, query: Page, body: Cat, consumes: ["json", "form"] },
    ({ body }) => body,
  );
  extractors = route.put("/extractors/:id", {
    args: {
      id: validatedPath(Id),
      page: validatedQuery(Page),
      cat: validatedBody(Cat, { consumes: ["json", "form"] }),
    },
  }, ({ cat }) => cat);
  both = route.put("/both/:id", {
    body: Cat,
    args: { other: validatedBody(v.string(), { consumes: ["form"] }) },
  }, ({ body }) => body);
}

test("OpenAPI table: what validatedBody(), validatedQuery() and validatedPath() take is in the document", async () => {
  const app = await FwFactory.create(module({ controllers: [CatsController] }));
  const { paths } = await app.openApi();
  const takes = (path: string) => {
    const { parameters, requestBody, responses = {} }: Partial<OperationObject> =
      paths[path]?.put ?? {};
    return { parameters, requestBody, responses };
  };
  const [byOptions, byExtractors] = [takes("/options/{id}"), takes("/extractors/{id}")];
  assert.deepEqual(byExtractors, byOptions);
  assert.deepEqual(Object.keys(byOptions.responses), [
    "200",
    "400",
    "404",
    "413",
    "415",
    "422",
  ]);
  assert.deepEqual(byOptions.parameters?.map(({ name, schema }) => [name, schema]), [
    ["id", { type: "integer" }],
    ["take", { type: "number", default: 20 }],
  ]);
  assert.deepEqual(Object.keys(byOptions.requestBody?.content ?? {}), [
    "application/json",
    "application/x-www-form-urlencoded",
  ]);
});

test("OpenAPI table: the body of the options goes before that of an extractor", async () => {
  const app = await FwFactory.create(module({ controllers: [CatsController] }));
  const { paths } = await app.openApi();
  assert.deepEqual(paths["/both/{id}"]?.put?.requestBody, {
    required: true,
    content: { "application/json": { schema: { $ref: "#/components/schemas/Cat" } } },
  });
});

test("OpenAPI table: a listed response may be of another type than JSON", async () => {
  class TextsController extends controller() {
    one = route.get("/", {
      openapi: {
        responses: {
          200: { description: "A text", contentType: "text/plain" },
          202: { description: "A table", contentType: "text/csv", schema: v.array(v.string()) },
        },
      },
    }, () => new Response());
  }
  const app = await FwFactory.create(module({ controllers: [TextsController] }));
  const { paths } = await app.openApi();
  assert.deepEqual(paths["/"]?.get?.responses, {
    200: { description: "A text", content: { "text/plain": { schema: { type: "string" } } } },
    202: {
      description: "A table",
      content: { "text/csv": { schema: { type: "array", items: { type: "string" } } } },
    },
  });
});

const WRONG: Readonly<Record<string, RouteOpenApi>> = {
  "openapi: 204 has no body": { responses: { 204: { description: "", schema: v.string() } } },
  "openapi: 304 has no body": { responses: { 304: { description: "", contentType: "text/css" } } },
  "openapi: summary is empty": { summary: "" },
};
for (const [why, openapi] of Object.entries(WRONG)) {
  test(`route.get() refuses at declaration: ${why}`, () => {
    assert.throws(() => route.get("/x", { openapi }, () => 1), {
      name: "TypeError",
      message: `Cannot declare GET /x: ${why}`,
    });
  });
}

test("Misuse at boot: ready() refuses headers with names that no request can have", async () => {
  class HeadersController extends controller() {
    one = route.get("/", { headers: v.object({ "X-Tenant": v.string() }) }, () => 1);
  }
  const app = await FwFactory.create(module({ name: "App", controllers: [HeadersController] }));
  await assert.rejects(app.enableOpenApi().ready(), {
    name: "TypeError",
    message:
      "Cannot describe App.HeadersController.one (/): its headers declare X-Tenant, but header names must be in lower case",
  });
});
