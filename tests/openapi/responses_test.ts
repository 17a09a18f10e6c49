import assert from "node:assert/strict";
import * as v from "valibot";
import { type FwApplication, type Route, route, type SuccessStatus } from "../../mod.ts";
import type { OperationObject } from "../../src/openapi/openapi_document.ts";
import { test } from "../support/test.ts";
import { ANY_BODY, controllerOf, documentOf, OK, operationOf, problem } from "./described.ts";

const Cat = v.object({ name: v.string() });
const CAT = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
const cats = { "application/json": { schema: CAT } };
const shared = (name: string) => ({ $ref: `#/components/responses/${name}` });

const OF_BODIES = {
  400: shared("BadRequest"),
  413: shared("ContentTooLarge"),
  415: shared("UnsupportedMediaType"),
  422: shared("UnprocessableContent"),
};

const RETRY_AFTER = {
  "Retry-After": {
    description: "The time after which to try again, in seconds",
    required: true,
    schema: { type: "integer", minimum: 0 },
  },
};

type Responses = OperationObject["responses"];

const Rows = { "~version": "version" } as const;
const versioned = () => ({ name: "Tom", version: 1 });
const ETAG = {
  ETag: {
    description: "The version of the resource and a digest of the body",
    schema: { type: "string" },
  },
};
const NOT_MODIFIED = { description: "The client has the current version", headers: ETAG };
const OF_MATCHES = { 412: shared("PreconditionFailed"), 428: shared("PreconditionRequired") };

const RESPONSES: Readonly<Record<string, readonly [Route, Responses]>> = {
  "the ETag of a route that has one, and 304": [
    route.get("/", { etag: Rows, response: Cat }, versioned),
    { 200: { ...OK, headers: ETAG, content: cats }, 304: NOT_MODIFIED },
  ],
  "the ETag of a HEAD route": [
    route.head("/", { etag: Rows }, versioned),
    { 200: { description: "OK", headers: ETAG }, 304: NOT_MODIFIED },
  ],
  "the ETag beside the headers of a listed response": [
    route.post("/", {
      etag: Rows,
      response: Cat,
      status: 201,
      openapi: { responses: { 201: { description: "New", headers: { Location: "Its path" } } } },
    }, versioned),
    {
      201: {
        description: "New",
        headers: { ...ETAG, Location: { description: "Its path", schema: { type: "string" } } },
        content: cats,
      },
    },
  ],
  "400, 412 and 428 of a change that demands If-Match": [
    route.patch("/", { etag: Rows, body: Cat, response: Cat }, versioned),
    { 200: { ...OK, headers: ETAG, content: cats }, ...OF_BODIES, ...OF_MATCHES },
  ],
  "no ETag of a DELETE, nor of a 204": [
    route.delete("/", { etag: Rows, status: 204 }, () => undefined),
    { 204: { description: "No Content" }, 400: shared("BadRequest"), ...OF_MATCHES },
  ],
  "400, 409 and 422 of a route that is idempotent": [
    route.post("/", { idempotent: true, response: Cat }, () => ({ name: "Tom" })),
    {
      200: { ...OK, content: cats },
      400: shared("BadRequest"),
      409: {
        ...problem(409, "A request with the same Idempotency-Key runs, or the state conflicts"),
        headers: {
          "Retry-After": {
            description: "The time after which to try again, in seconds",
            required: false,
            schema: { type: "integer", minimum: 0 },
          },
        },
      },
      422: shared("UnprocessableContent"),
    },
  ],
  "200 only by default": [route.get("/", () => 1), { 200: OK }],
  "200 with the schema of the response": [
    route.get("/", { response: Cat }, () => ({ name: "Tom" })),
    { 200: { ...OK, content: cats } },
  ],
  "the declared status, without a schema": [
    route.post("/", { status: 202 }, () => 1),
    { 202: { description: "Accepted", ...ANY_BODY } },
  ],
  "the declared status, with the schema of the response": [
    route.post("/", { status: 201, response: Cat }, () => ({ name: "Tom" })),
    { 201: { description: "Created", content: cats } },
  ],
  "204 without a body": [
    route.delete("/", { status: 204 }, () => undefined),
    { 204: { description: "No Content" } },
  ],
  "the output of the response's schema, not its input": [
    route.get("/", { response: v.pipe(v.string(), v.transform(Number)) }, () => "1"),
    { 200: { ...OK, content: { "application/json": { schema: { type: "number" } } } } },
  ],
  "no body of a HEAD route": [
    route.head("/", { response: Cat }, () => ({ name: "Tom" })),
    { 200: { description: "OK" } },
  ],
  "no body of a HEAD route, not even one of which nothing is known": [
    route.head(
      "/:id",
      { openapi: { responses: { 203: "Another", 404: "None", 409: "Taken" } } },
      () => 1,
    ),
    {
      203: { description: "Another" },
      404: { description: "None" },
      409: { description: "Taken" },
    },
  ],
  "the listed pairs alone, where one is of success": [
    route.get(
      "/",
      { openapi: { responses: { 302: "To the provider", 400: "No state" } } },
      () => 1,
    ),
    { 302: { description: "To the provider" }, 400: problem(400, "No state") },
  ],
  "the listed pairs alone, instead of the declared status": [
    route.post(
      "/",
      { status: 201, openapi: { responses: { 200: "It was there", 202: "Later" } } },
      () => 1,
    ),
    {
      200: { description: "It was there", ...ANY_BODY },
      202: { description: "Later", ...ANY_BODY },
    },
  ],
  "any body with a listed status of success that has a description, and headers, alone": [
    route.get("/", {
      openapi: {
        responses: {
          200: "Something",
          206: { description: "A part", headers: { "content-range": "Which" } },
          299: "Own",
        },
      },
    }, () => 1),
    {
      200: { description: "Something", ...ANY_BODY },
      206: {
        description: "A part",
        headers: { "content-range": { description: "Which", schema: { type: "string" } } },
        ...ANY_BODY,
      },
      299: { description: "Own", ...ANY_BODY },
    },
  ],
  "any body with a listed status of success that is not the response's": [
    route.get("/", { response: Cat, openapi: { responses: { 202: "Later" } } }, () => ({
      name: "Tom",
    })),
    { 200: { ...OK, content: cats }, 202: { description: "Later", ...ANY_BODY } },
  ],
  "no body of 101, 204, 205 and redirections (RFC 9110 §15)": [
    route.get("/", {
      openapi: {
        responses: {
          101: "A WebSocket",
          204: "Nothing",
          205: "Begin again",
          300: "Choose",
          304: "As before",
          307: "Elsewhere",
        },
      },
    }, () => 1),
    {
      101: { description: "A WebSocket" },
      204: { description: "Nothing" },
      205: { description: "Begin again" },
      300: { description: "Choose" },
      304: { description: "As before" },
      307: { description: "Elsewhere" },
    },
  ],
  "the declared status beside listed problems": [
    route.get("/", { openapi: { responses: { 409: "Taken" } } }, () => 1),
    { 200: OK, 409: problem(409, "Taken") },
  ],
  "the response's schema beside listed responses": [
    route.get("/", { response: Cat, openapi: { responses: { 304: "As before" } } }, () => ({
      name: "Tom",
    })),
    { 200: { ...OK, content: cats }, 304: { description: "As before" } },
  ],
  "the declared status beside a listed 304, which is not a success": [
    route.get("/", { openapi: { responses: { 304: "As before" } } }, () => 1),
    { 200: OK, 304: { description: "As before" } },
  ],
  "what a listed status means, with the response's schema": [
    route.post(
      "/",
      { status: 201, response: Cat, openapi: { responses: { 201: "Born" } } },
      () => ({
        name: "Tom",
      }),
    ),
    { 201: { description: "Born", content: cats } },
  ],
  "a listed status of success with a schema": [
    route.get("/", {
      openapi: { responses: { 200: "Nothing", 203: { description: "A cat", schema: Cat } } },
    }, () => 1),
    { 200: { description: "Nothing", ...ANY_BODY }, 203: { description: "A cat", content: cats } },
  ],
  "a listed schema goes before the response's": [
    route.get("/", {
      response: v.string(),
      openapi: { responses: { 200: { description: "A cat", schema: Cat } } },
    }, () => "Tom"),
    { 200: { description: "A cat", content: cats } },
  ],
  "a listed problem with its own schema is JSON": [
    route.get("/", {
      openapi: {
        responses: {
          409: { description: "Another cat", schema: Cat },
          410: { description: "It is gone" },
        },
      },
    }, () => 1),
    {
      200: OK,
      409: { description: "Another cat", content: cats },
      410: problem(410, "It is gone"),
    },
  ],
  "a listed problem goes before the one in common": [
    route.get("/:id", { openapi: { responses: { 404: "No such cat" } } }, () => 1),
    { 200: OK, 404: problem(404, "No such cat") },
  ],
  "a listed 422 has an example of an issue": [
    route.get("/", { openapi: { responses: { 422: "Not so" } } }, () => 1),
    { 200: OK, 422: problem(422, "Not so") },
  ],
  "a listed 429 has Retry-After": [
    route.get("/", { openapi: { responses: { 429: "Too often" } } }, () => 1),
    {
      200: OK,
      429: {
        ...problem(429, "Too often"),
        headers: RETRY_AFTER,
      },
    },
  ],
  "a listed 429 has Retry-After, beside its own headers": [
    route.get("/", {
      openapi: {
        responses: { 429: { description: "Too often", headers: { "x-left": "Nothing" } } },
      },
    }, () => 1),
    {
      200: OK,
      429: {
        ...problem(429, "Too often"),
        headers: {
          ...RETRY_AFTER,
          "x-left": { description: "Nothing", schema: { type: "string" } },
        },
      },
    },
  ],
  "listed headers, by their meanings": [
    route.post("/", {
      status: 201,
      response: Cat,
      openapi: {
        responses: {
          201: { description: "Born", headers: { location: "Where the cat is" } },
          303: { description: "It was there", headers: { location: "Where it is" } },
        },
      },
    }, () => ({ name: "Tom" })),
    {
      201: {
        description: "Born",
        headers: { location: { description: "Where the cat is", schema: { type: "string" } } },
        content: cats,
      },
      303: {
        description: "It was there",
        headers: { location: { description: "Where it is", schema: { type: "string" } } },
      },
    },
  ],
  "a listed body that is not JSON is text": [
    route.get("/", {
      openapi: { responses: { 200: { description: "A page", contentType: "text/html" } } },
    }, () => new Response("")),
    {
      200: { description: "A page", content: { "text/html": { schema: { type: "string" } } } },
    },
  ],
  "a listed body that is not JSON, with a schema": [
    route.get("/", {
      openapi: {
        responses: {
          200: { description: "Cats", contentType: "application/jsonl", schema: Cat },
          410: { description: "Gone", contentType: "text/plain" },
        },
      },
    }, () => new Response("")),
    {
      200: { description: "Cats", content: { "application/jsonl": { schema: CAT } } },
      410: { description: "Gone", content: { "text/plain": { schema: { type: "string" } } } },
    },
  ],
  "a listed 101 alone": [
    route.get("/", { openapi: { responses: { 101: "A WebSocket" } } }, () => 1),
    { 101: { description: "A WebSocket" } },
  ],
  "no problem where nothing can go wrong": [
    route.post("/things", () => 1),
    { 200: OK },
  ],
  "404 with a path parameter": [route.get("/:id", () => 1), { 200: OK, 404: shared("NotFound") }],
  "404 with a path parameter that has a constraint": [
    route.get("/:id{[0-9]+}", () => 1),
    { 200: OK, 404: shared("NotFound") },
  ],
  "404 with a wildcard": [
    route.get("/*/about", () => 1),
    { 200: OK, 404: shared("NotFound") },
  ],
  "422 and 404 with a schema of path parameters": [
    route.get("/:id", { params: v.object({ id: v.string() }) }, () => 1),
    { 200: OK, 404: shared("NotFound"), 422: shared("UnprocessableContent") },
  ],
  "422 with a schema of the query": [
    route.get("/", { query: v.object({}) }, () => 1),
    { 200: OK, 422: shared("UnprocessableContent") },
  ],
  "422 with a schema of headers": [
    route.get("/", { headers: v.object({}) }, () => 1),
    { 200: OK, 422: shared("UnprocessableContent") },
  ],
  "400, 413, 415 and 422 with a body": [
    route.post("/", { body: Cat }, () => 1),
    { 200: OK, ...OF_BODIES },
  ],
};

for (const [what, [thing, responses]] of Object.entries(RESPONSES)) {
  test(`OpenAPI generation: responses: ${what}`, async () => {
    assert.deepEqual((await operationOf(thing)).responses, responses);
  });
}

const STATUSES: Readonly<Record<SuccessStatus | 204, string>> = {
  200: "OK",
  201: "Created",
  202: "Accepted",
  203: "Non-Authoritative Information",
  204: "No Content",
  206: "Partial Content",
  207: "Multi-Status",
  208: "Already Reported",
  226: "IM Used",
};

test("OpenAPI generation: responses: every status has its reason phrase", async () => {
  for (const [status, description] of Object.entries(STATUSES)) {
    const options = { status: Number(status) as SuccessStatus };
    const { responses } = await operationOf(route.get("/", options, () => 1));
    const body = Number(status) === 204 ? {} : ANY_BODY;
    assert.deepEqual(responses, { [status]: { description, ...body } });
  }
});

for (
  const [what, setUp] of Object.entries<(app: FwApplication) => unknown>({
    "before authentication": (app) => app.useRateLimit(),
    "after authentication": (app) => app.useRateLimit({ afterAuthentication: true }),
  })
) {
  test(`OpenAPI table: every operation lists the problems it can have: 429 under a limit ${what}`, async () => {
    const { paths, components } = await documentOf(
      controllerOf({ list: route.get("/", () => 1), create: route.post("/", () => 1) }),
      { setUp },
    );
    const responses = { 200: OK, 429: shared("TooManyRequests") };
    assert.deepEqual(paths["/"]?.get?.responses, responses);
    assert.deepEqual(paths["/"]?.post?.responses, responses);
    assert.deepEqual(components?.responses, {
      TooManyRequests: {
        ...problem(429, "There are too many requests"),
        headers: RETRY_AFTER,
      },
    });
  });
}

test("OpenAPI table: a plugin in the slot of rate limits adds no 429", async () => {
  const { paths } = await documentOf(controllerOf({ list: route.get("/", () => 1) }), {
    setUp: (app) =>
      app.useRateLimit() // which the first plugin replaces, as it has the same key
        .plug({ slot: "rateLimit", key: "default", install: () => {} })
        .plug({ slot: "callerRateLimit", install: () => {} }),
  });
  assert.deepEqual(paths["/"]?.get?.responses, { 200: OK });
});

test("OpenAPI table: problems are shared components, of those that occur alone, with one schema", async () => {
  const { components } = await documentOf(controllerOf({
    change: route.patch("/:id", { body: Cat }, () => 1),
  }));
  assert.deepEqual(components, {
    responses: {
      BadRequest: problem(400, "The request cannot be read"),
      NotFound: problem(404, "The resource does not exist"),
      ContentTooLarge: problem(413, "The body is too large"),
      UnsupportedMediaType: problem(415, "The media type of the body is not supported"),
      UnprocessableContent: problem(422, "The input is invalid"),
    },
    schemas: {
      ProblemDetails: {
        type: "object",
        description: "An error (RFC 9457)",
        properties: {
          type: { type: "string", format: "uri-reference", description: "The kind of problem" },
          title: { type: "string", description: "The name of the status" },
          status: { type: "integer", minimum: 400, maximum: 599 },
          detail: { type: "string", description: "The error of this request" },
          instance: {
            type: "string",
            format: "uri-reference",
            description: "The path of the request",
          },
          requestId: { type: "string", description: "The id of the request in logs" },
          errors: {
            type: "array",
            description: "The error of each invalid value",
            items: { $ref: "#/components/schemas/ValidationIssue" },
          },
        },
        required: ["type", "title", "status", "instance"],
      },
      ValidationIssue: {
        type: "object",
        description: "The error of an invalid value",
        properties: {
          in: { type: "string", enum: ["body", "query", "path", "header"] },
          field: { type: "string", description: "Its path, such as `a.b.0`" },
          message: { type: "string" },
        },
        required: ["in", "field", "message"],
      },
    },
  });
});

test("OpenAPI table: a document without a problem or a named schema has no components", async () => {
  const document = await documentOf(controllerOf({
    list: route.get("/", { response: Cat }, () => ({
      name: "Tom",
    })),
  }));
  assert.equal("components" in document, false);
});

test("OpenAPI table: a problem listed by a route alone brings the schema of all problems", async () => {
  const { components } = await documentOf(controllerOf({
    list: route.get("/", { openapi: { responses: { 409: "Taken" } } }, () => 1),
  }));
  assert.deepEqual(Object.keys(components ?? {}), ["schemas"]);
  assert.deepEqual(Object.keys(components?.schemas ?? {}), ["ProblemDetails", "ValidationIssue"]);
});

const BODIES: Readonly<Record<string, readonly [Route, OperationObject["requestBody"]]>> = {
  "none where the route has none": [route.post("/", () => 1), undefined],
  "JSON by default": [
    route.post("/", { body: Cat }, () => 1),
    { required: true, content: { "application/json": { schema: CAT } } },
  ],
  "the input of the schema, not its output": [
    route.post("/", { body: v.pipe(v.string(), v.transform(Number)) }, () => 1),
    { required: true, content: { "application/json": { schema: { type: "string" } } } },
  ],
  "not required where the schema takes nothing": [
    route.post("/", { body: v.optional(Cat) }, () => 1),
    { required: false, content: { "application/json": { schema: CAT } } },
  ],
  "not required where the schema has a default": [
    route.post("/", { body: v.optional(v.number(), 3) }, () => 1),
    {
      required: false,
      content: { "application/json": { schema: { type: "number", default: 3 } } },
    },
  ],
  "not required where the schema takes anything": [
    route.post("/", { body: v.unknown() }, () => 1),
    { required: false, content: { "application/json": { schema: {} } } },
  ],
  "required where null is something": [
    route.post("/", { body: v.nullable(Cat) }, () => 1),
    {
      required: true,
      content: { "application/json": { schema: { anyOf: [CAT, { type: "null" }] } } },
    },
  ],
  "an asynchronous schema": [
    route.post("/", {
      body: v.objectAsync({
        name: v.pipeAsync(
          v.string(),
          v.checkAsync(() => Promise.resolve(true)),
        ),
      }),
    }, () => 1),
    { required: true, content: { "application/json": { schema: CAT } } },
  ],
  "a schema whose check throws without a value": [
    route.post(
      "/",
      { body: v.pipe(v.unknown(), v.check((input) => (input as string).length > 2)) },
      () => 1,
    ),
    { required: true, content: { "application/json": { schema: {} } } },
  ],
  "a form of fields": [
    route.post("/", { body: Cat, consumes: ["form"] }, () => 1),
    { required: true, content: { "application/x-www-form-urlencoded": { schema: CAT } } },
  ],
  "each of the formats, in the order of the route": [
    route.put("/", { body: Cat, consumes: ["multipart", "json", "form"] }, () => 1),
    {
      required: true,
      content: {
        "multipart/form-data": { schema: CAT },
        "application/json": { schema: CAT },
        "application/x-www-form-urlencoded": { schema: CAT },
      },
    },
  ],
  "of a DELETE route": [
    route.delete("/", { body: Cat }, () => 1),
    { required: true, content: { "application/json": { schema: CAT } } },
  ],
};

for (const [what, [thing, requestBody]] of Object.entries(BODIES)) {
  test(`OpenAPI table: request bodies come from the schemas: ${what}`, async () => {
    assert.deepEqual((await operationOf(thing)).requestBody, requestBody);
  });
}

test("OpenAPI table: request bodies come from the schemas: a route of all methods has one where methods have", async () => {
  const { paths } = await documentOf(
    controllerOf({ any: route.all("/", { body: v.optional(Cat) }, () => 1) }),
  );
  const withBody = Object.entries(paths["/"] ?? {}).filter(([, { requestBody }]) => requestBody);
  assert.deepEqual(withBody.map(([method]) => method), ["put", "post", "delete", "patch"]);
});
