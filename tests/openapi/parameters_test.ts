import { type } from "arktype";
import assert from "node:assert/strict";
import * as v from "valibot";
import * as z from "zod";
import { type AnySchema, dto, type Route, route } from "../../mod.ts";
import type { JsonSchema } from "../../src/openapi/json_schema/json_schema.ts";
import type { ParameterObject } from "../../src/openapi/openapi_document.ts";
import { textParameter } from "../../src/openapi/operation/text_parameters.ts";
import { test } from "../support/test.ts";
import { controllerOf, documentOf, operationOf, ownSchemasOf, resolved } from "./described.ts";

/** The input of a schema, its output, and the description of the parameter. */
const TEXTS: Readonly<Record<string, readonly [JsonSchema, JsonSchema | undefined, JsonSchema]>> = {
  "text that stays text": [
    { type: "string", minLength: 2 },
    { type: "string", minLength: 2 },
    { type: "string", minLength: 2 },
  ],
  "text that becomes an integer within a range": [
    { type: "string", pattern: "^\\d+$" },
    { type: "integer", minimum: 1, maximum: 100 },
    { type: "integer", minimum: 1, maximum: 100 },
  ],
  "text that becomes a number, whose pattern is that of its digits": [
    { type: "string", pattern: "^\\d+$" },
    { type: "number", pattern: "^\\d+$" },
    { type: "number" },
  ],
  "text that becomes a boolean": [{ type: "string" }, { type: "boolean" }, { type: "boolean" }],
  "a default that is text": [
    { type: "string", default: "20" },
    { type: "integer", default: "20" },
    { type: "integer", default: 20 },
  ],
  "a default that is the text of a boolean": [
    { type: "string", default: "false" },
    { type: "boolean", default: "false" },
    { type: "boolean", default: false },
  ],
  "a default that is a number": [
    { type: "string", default: 20 },
    { type: "number" },
    { type: "number", default: 20 },
  ],
  "a default that only the output has": [
    { type: "string" },
    { type: "number", default: 3 },
    { type: "number" },
  ],
  "a description before it becomes a number": [
    { type: "string", description: "How many" },
    { type: "number" },
    { type: "number", description: "How many" },
  ],
  "a description after it became a number": [
    { type: "string", description: "Text" },
    { type: "number", description: "How many" },
    { type: "number", description: "How many" },
  ],
  "text that becomes something else": [
    { type: "string", format: "date" },
    { type: "string", format: "date-time" },
    { type: "string", format: "date" },
  ],
  "text of a format, whatever it becomes": [
    { type: "string", format: "ipv4" },
    { type: "number" },
    { type: "string", format: "ipv4" },
  ],
  "text of a list, whatever it becomes": [
    { type: "string", enum: ["yes", "no"] },
    { type: "boolean" },
    { type: "string", enum: ["yes", "no"] },
  ],
  "one text, whatever it becomes": [
    { type: "string", const: "1" },
    { type: "number" },
    { type: "string", const: "1" },
  ],
  "text of which it is not known what it becomes": [{ type: "string" }, {}, { type: "string" }],
  "text that becomes nothing known": [{ type: "string" }, undefined, { type: "string" }],
  "text that becomes a list": [
    { type: "string" },
    { type: "array", items: { type: "number" } },
    { type: "string" },
  ],
  "texts that become numbers": [
    { type: "array", items: { type: "string" }, maxItems: 3 },
    { type: "array", items: { type: "integer", minimum: 1 }, maxItems: 3 },
    { type: "array", items: { type: "integer", minimum: 1 }, maxItems: 3 },
  ],
  "no text": [{ type: "integer" }, { type: "number" }, { type: "integer" }],
};

for (const [what, [input, output, described]] of Object.entries(TEXTS)) {
  test(`OpenAPI table: parameters come from the schemas: textParameter() of ${what}`, () => {
    assert.deepEqual(textParameter(input, output), described);
  });
}

interface ParametersRow {
  readonly path?: string;
  readonly params?: AnySchema;
  readonly query?: AnySchema;
  readonly headers?: AnySchema;
  readonly parameters: readonly ParameterObject[] | undefined;
}

const number = v.pipe(v.string(), v.toNumber());
const integer = v.pipe(v.string(), v.regex(/^\d+$/), v.toNumber(), v.integer(), v.minValue(1));

const inQuery = (name: string, schema: JsonSchema, more: object = {}): ParameterObject => ({
  name,
  in: "query",
  required: false,
  schema,
  ...more,
});
const inPath = (name: string, schema: JsonSchema, more: object = {}): ParameterObject => ({
  name,
  in: "path",
  required: true,
  schema,
  ...more,
});
const others = (schema: JsonSchema, name = "others"): ParameterObject => ({
  ...inQuery(name, { type: "object", additionalProperties: schema }),
  style: "form",
  explode: true,
});

const ROWS: Readonly<Record<string, ParametersRow>> = {
  "a route without input has none": { parameters: undefined },
  "an empty object has none": { query: v.object({}), parameters: undefined },
  "path: in the order of the path, all required, with range, pattern and description": {
    path: "/:kind/:id/:slug",
    params: v.object({
      id: v.pipe(integer, v.description("Its number")),
      kind: v.picklist(["cat", "dog"]),
      slug: v.pipe(v.string(), v.slug(), v.maxLength(20)),
    }),
    parameters: [
      inPath("kind", { type: "string", enum: ["cat", "dog"] }),
      inPath("id", { type: "integer", minimum: 1 }, { description: "Its number" }),
      inPath("slug", { type: "string", pattern: v.SLUG_REGEX.source, maxLength: 20 }),
    ],
  },
  "path: text has to satisfy schema and constraint": {
    path: "/:id{[0-9]+}/:other{[a-z]+}/:slug{.+}",
    params: v.object({
      id: number,
      other: v.pipe(v.string(), v.maxLength(5)),
      slug: v.pipe(v.string(), v.slug()),
    }),
    parameters: [
      inPath("id", { type: "number" }),
      inPath("other", { type: "string", pattern: "^(?:[a-z]+)$", maxLength: 5 }),
      inPath("slug", { type: "string", pattern: v.SLUG_REGEX.source }),
    ],
  },
  "path: a default is of no use, as it is never missing": {
    path: "/:id",
    params: v.object({ id: v.optional(number, "1") }),
    parameters: [inPath("id", { type: "number" })],
  },
  "path: a schema of any names": {
    path: "/:a/:b",
    params: v.record(v.string(), number),
    parameters: [inPath("a", { type: "string" }), inPath("b", { type: "string" })],
  },
  "path: a schema with a rest": {
    path: "/:a/:b",
    params: v.objectWithRest({ a: number }, v.pipe(v.string(), v.uuid())),
    parameters: [
      inPath("a", { type: "number" }),
      inPath("b", { type: "string", format: "uuid" }),
    ],
  },
  "path: a union of objects": {
    path: "/:id",
    params: v.union([v.object({ id: number }), v.object({ id: number, of: v.undefined() })]),
    parameters: [inPath("id", { type: "number" })],
  },
  "path: zod": {
    path: "/:id",
    params: z.object({ id: z.coerce.number().int().positive() }),
    parameters: [
      inPath("id", { type: "integer", exclusiveMinimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
    ],
  },
  "path: arktype": {
    path: "/:id",
    params: type({ id: "string.integer.parse" }),
    parameters: [inPath("id", { type: "integer" })],
  },
  "query: required or not, with formats and ranges": {
    query: v.object({
      at: v.pipe(v.string(), v.isoTimestamp()),
      on: v.optional(v.pipe(v.string(), v.isoDate())),
      word: v.exactOptional(v.pipe(v.string(), v.minLength(2), v.maxLength(8))),
      take: v.optional(v.pipe(number, v.integer(), v.minValue(1), v.maxValue(100))),
    }),
    parameters: [
      inQuery("at", { type: "string", format: "date-time" }, { required: true }),
      inQuery("on", { type: "string", format: "date" }),
      inQuery("word", { type: "string", minLength: 2, maxLength: 8 }),
      inQuery("take", { type: "integer", minimum: 1, maximum: 100 }),
    ],
  },
  "query: a parameter with a default is not required": {
    query: v.object({
      take: v.optional(integer, "20"),
      all: v.optional(v.pipe(v.picklist(["true", "false"]), v.toBoolean()), "false"),
      deep: v.optional(
        v.pipe(v.string(), v.transform((text) => text === "true"), v.boolean()),
        "false",
      ),
      word: v.optional(v.string(), "a"),
      id: v.optional(v.string(), () => crypto.randomUUID()),
      outer: v.pipe(v.optional(v.string(), "5"), v.toNumber()),
    }),
    parameters: [
      inQuery("take", { type: "integer", minimum: 1, default: 20 }),
      inQuery("all", { type: "string", enum: ["true", "false"], default: "false" }),
      inQuery("deep", { type: "boolean", default: false }),
      inQuery("word", { type: "string", default: "a" }),
      inQuery("id", { type: "string" }),
      inQuery("outer", { type: "number", default: 5 }),
    ],
  },
  "query: text that is no text of the number or boolean that it becomes stays text": {
    query: v.object({
      deep: v.optional(
        v.pipe(v.string(), v.transform((text) => text === "yes"), v.boolean()),
        "no",
      ),
      within: v.pipe(v.string(), v.regex(/^\d+s$/), v.transform(parseFloat), v.number()),
    }),
    parameters: [
      inQuery("deep", { type: "string", default: "no" }),
      inQuery("within", { type: "string", pattern: "^\\d+s$" }, { required: true }),
    ],
  },
  "query: description and deprecation are the parameter's, the rest the schema's": {
    query: v.object({
      word: v.pipe(
        v.string(),
        v.title("Word"),
        v.description("What to look for"),
        v.examples(["cat"]),
        v.metadata({ deprecated: true }),
      ),
      take: v.pipe(
        v.string(),
        v.toNumber(),
        v.description("How many"),
        v.metadata({ deprecated: true }),
      ),
    }),
    parameters: [
      inQuery("word", { type: "string", title: "Word", examples: ["cat"] }, {
        required: true,
        description: "What to look for",
        deprecated: true,
      }),
      inQuery("take", { type: "number" }, {
        required: true,
        description: "How many",
        deprecated: true,
      }),
    ],
  },
  "query: a list is a parameter that repeats": {
    query: v.object({
      tag: v.array(v.string()),
      kind: v.optional(v.pipe(v.array(v.picklist(["cat", "dog"])), v.maxLength(2))),
      either: v.optional(v.union([v.string(), v.array(v.string())])),
    }),
    parameters: [
      inQuery("tag", { type: "array", items: { type: "string" } }, { required: true }),
      inQuery("kind", {
        type: "array",
        items: { type: "string", enum: ["cat", "dog"] },
        maxItems: 2,
      }),
      inQuery("either", {
        anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }],
      }),
    ],
  },
  "query: a record is one object, whose members are parameters": {
    query: v.record(v.string(), v.pipe(v.string(), v.maxLength(5))),
    parameters: [others({ type: "string", maxLength: 5 })],
  },
  "query: the rest of an object is one more parameter, of a name that is free": {
    query: v.objectWithRest({ others: v.string() }, v.string()),
    parameters: [
      inQuery("others", { type: "string" }, { required: true }),
      others({ type: "string" }, "others_"),
    ],
  },
  "query: an object that only ignores others has no more": {
    query: v.looseObject({ a: v.string() }),
    parameters: [inQuery("a", { type: "string" }, { required: true })],
  },
  "query: a strict object has no more": {
    query: v.strictObject({ a: v.optional(v.string()) }),
    parameters: [inQuery("a", { type: "string" })],
  },
  "query: all of an intersection": {
    query: v.intersect([v.object({ a: v.string() }), v.object({ b: v.optional(number) })]),
    parameters: [
      inQuery("a", { type: "string" }, { required: true }),
      inQuery("b", { type: "number" }),
    ],
  },
  "query: any of a union; required is what all of it require": {
    query: v.union([
      v.object({ a: v.string(), b: v.string() }),
      v.object({ a: v.string(), c: v.optional(v.string()) }),
    ]),
    parameters: [
      inQuery("a", { type: "string" }, { required: true }),
      inQuery("b", { type: "string" }),
      inQuery("c", { type: "string" }),
    ],
  },
  "query: a parameter that differs among the members of a union is any of them": {
    query: v.variant("by", [
      v.object({ by: v.literal("name"), name: v.string() }),
      v.object({ by: v.literal("id"), id: number }),
    ]),
    parameters: [
      inQuery("by", { enum: ["name", "id"] }, { required: true }),
      inQuery("name", { type: "string" }),
      inQuery("id", { type: "number" }),
    ],
  },
  "query: a parameter with different schemas in a union is any of these": {
    query: v.union([
      v.object({ at: v.pipe(v.string(), v.isoDate()) }),
      v.object({ at: v.pipe(v.string(), v.maxLength(4)), b: v.optional(v.string()) }),
    ]),
    parameters: [
      inQuery("at", {
        anyOf: [{ type: "string", format: "date" }, { type: "string", maxLength: 4 }],
      }, { required: true }),
      inQuery("b", { type: "string" }),
    ],
  },
  "query: a parameter with schemas in both parts of an intersection has all of them": {
    query: v.intersect([
      v.object({ a: v.pipe(v.string(), v.minLength(2)) }),
      v.object({ a: v.optional(v.pipe(v.string(), v.maxLength(4))) }),
    ]),
    parameters: [
      inQuery("a", {
        allOf: [{ type: "string", minLength: 2 }, { type: "string", maxLength: 4 }],
      }, { required: true }),
    ],
  },
  "query: an object that is optional as a whole, or refined, is an object still": {
    query: v.pipe(v.object({ a: v.string(), b: v.string() }), v.check(({ a, b }) => a !== b)),
    parameters: [
      inQuery("a", { type: "string" }, { required: true }),
      inQuery("b", { type: "string" }, { required: true }),
    ],
  },
  "query: zod, with coercion and defaults": {
    query: z.object({
      take: z.coerce.number().int().min(1).max(100).default(20),
      all: z.stringbool().optional(),
      word: z.string().min(2).describe("What to look for"),
    }),
    parameters: [
      inQuery("take", { type: "integer", minimum: 1, maximum: 100, default: 20 }),
      inQuery("all", { type: "boolean" }),
      inQuery("word", { type: "string", minLength: 2 }, {
        required: true,
        description: "What to look for",
      }),
    ],
  },
  "query: arktype": {
    query: type({ word: "string >= 2", "take?": "string.integer.parse |> number.integer <= 100" }),
    parameters: [
      inQuery("word", { type: "string", minLength: 2 }, { required: true }),
      inQuery("take", { type: "integer", maximum: 100 }),
    ],
  },
  "header: by name, required or not": {
    headers: v.object({
      "x-api-key": v.pipe(v.string(), v.description("The caller's key")),
      "x-depth": v.optional(v.pipe(number, v.maxValue(9)), "3"),
    }),
    parameters: [
      {
        name: "x-api-key",
        in: "header",
        required: true,
        description: "The caller's key",
        schema: { type: "string" },
      },
      {
        name: "x-depth",
        in: "header",
        required: false,
        schema: { type: "number", maximum: 9, default: 3 },
      },
    ],
  },
  "header: Accept, Content-Type and Authorization are not parameters (OpenAPI 3.1.1 §4.8.12.1)": {
    headers: v.object({
      accept: v.string(),
      "content-type": v.string(),
      authorization: v.string(),
      "accept-language": v.string(),
    }),
    parameters: [
      { name: "accept-language", in: "header", required: true, schema: { type: "string" } },
    ],
  },
  "header: others may be there in any case": {
    headers: v.record(v.string(), v.string()),
    parameters: undefined,
  },
  "path, query and header, in this order": {
    path: "/:a",
    headers: v.object({ c: v.string() }),
    query: v.object({ a: v.string() }),
    params: v.object({ a: v.string() }),
    parameters: [
      inPath("a", { type: "string" }),
      inQuery("a", { type: "string" }, { required: true }),
      { name: "c", in: "header", required: true, schema: { type: "string" } },
    ],
  },
};

for (const [what, { path = "/", parameters, ...schemas }] of Object.entries(ROWS)) {
  test(`OpenAPI table: parameters come from the schemas: ${what}`, async () => {
    const operation = await operationOf(route.get(path, schemas, () => 1));
    assert.deepEqual(operation.parameters, parameters);
  });
}

test("OpenAPI table: parameters come from the schemas: a named schema of parameters is no component", async () => {
  const params = dto("UserIdParam", v.object({ id: number }));
  const query = dto("Page", v.object({ skip: v.optional(number) }));
  const document = await documentOf(
    controllerOf({ one: route.get("/:id", { params, query }, () => 1) }),
  );
  assert.deepEqual(document.paths["/{id}"]?.get?.parameters, [
    inPath("id", { type: "number" }),
    inQuery("skip", { type: "number" }),
  ]);
  assert.deepEqual(ownSchemasOf(document), {});
});

test("OpenAPI table: parameters come from the schemas: a parameter with a named schema", async () => {
  const Slug = dto("Slug", v.pipe(v.string(), v.maxLength(20)));
  const document = await documentOf(
    controllerOf({ one: route.get("/:id", { params: v.object({ id: Slug }) }, () => 1) }),
  );
  const [parameter] = document.paths["/{id}"]?.get?.parameters ?? [];
  assert.deepEqual(resolved(parameter?.schema, document), { type: "string", maxLength: 20 });
});

test("OpenAPI table: parameters come from the schemas: one name for a text input and a number output", async () => {
  const UserId = dto("UserId", v.pipe(v.string(), v.transform(Number)));
  const User = v.object({ id: UserId });
  const document = await documentOf(controllerOf({
    one: route.get(
      "/:id",
      { params: v.object({ id: UserId }), response: User },
      () => ({ id: "1" }),
    ),
  }));
  const { parameters, responses } = document.paths["/{id}"]?.get ?? {};
  const ok = responses?.[200];
  assert.ok(ok && "content" in ok);
  const response = resolved(ok.content?.["application/json"]?.schema, document);
  const { id } = response?.properties as Record<string, JsonSchema>;
  assert.deepEqual(resolved(id, document), { type: "number" }, "what is given");
  assert.deepEqual(
    resolved(parameters?.[0]?.schema, document),
    { type: "number" },
    "what is taken",
  );
});

test("OpenAPI table: parameters come from the schemas: an optional last parameter is required where it is", async () => {
  for (const params of [v.object({ id: v.optional(number) }), v.object({ id: number })]) {
    const { paths } = await documentOf(
      controllerOf({ one: route.get("/things/:id?", { params }, () => 1) }),
    );
    assert.deepEqual(paths["/things"]?.get?.parameters, undefined);
    assert.deepEqual(paths["/things/{id}"]?.get?.parameters, [inPath("id", { type: "number" })]);
  }
});

const Numeric = v.pipe(v.string(), v.toNumber());
const READ: Readonly<Record<string, readonly [AnySchema, readonly unknown[]]>> = {
  "a check of the whole": [
    v.pipe(
      v.object({ from: Numeric, to: Numeric }),
      v.check(({ from, to }) => from <= to),
    ),
    [{ type: "number" }, { type: "number" }],
  ],
  "a range without whole numbers": [
    v.object({ n: v.pipe(v.string(), v.toNumber(), v.gtValue(0), v.ltValue(1)) }),
    [{ type: "number", exclusiveMinimum: 0, exclusiveMaximum: 1 }],
  ],
  "numbers of four digits": [
    v.object({ n: v.pipe(v.string(), v.regex(/^\d{4}$/), v.toNumber(), v.integer()) }),
    [{ type: "integer" }],
  ],
  "numbers that are clamped": [
    v.object({ n: v.pipe(v.string(), v.toNumber(), v.toMinValue(1), v.toMaxValue(100)) }),
    [{ type: "number" }],
  ],
  "a text that is not a number, though it becomes one": [
    v.object({ n: v.pipe(v.string(), v.regex(/^\d+s$/), v.transform(parseInt), v.number()) }),
    [{ type: "string", pattern: "^\\d+s$" }],
  ],
  "a length": [
    v.object({ n: v.pipe(v.string(), v.transform((text) => text.length), v.number()) }),
    [{ type: "string" }],
  ],
  "yes and no": [
    v.object({ n: v.pipe(v.string(), v.transform((text) => text === "yes"), v.boolean()) }),
    [{ type: "string" }],
  ],
};
for (const [what, [query, schemas]] of Object.entries(READ)) {
  test(`OpenAPI table: parameters come from the schemas: text is a number where it is read as one: ${what}`, async () => {
    const { parameters } = await operationOf(route.get("/", { query }, () => 1));
    assert.deepEqual(parameters?.map(({ schema }) => schema), schemas);
  });
}

test("OpenAPI table: a route with etag has the header of its precondition, unless it declares it", async () => {
  const etag = { "~version": "version" } as const;
  const row = () => ({ version: 1 });
  const parametersOf = async (thing: Route) => (await operationOf(thing)).parameters;
  const noneMatch = {
    name: "if-none-match",
    in: "header",
    required: false,
    description: "The `ETag` of a response that the client has",
    schema: { type: "string" },
  };
  const match = {
    name: "if-match",
    in: "header",
    required: true,
    description: "The `ETag` of the version to change, or `*` for any",
    schema: { type: "string" },
  };
  assert.deepEqual(await parametersOf(route.get("/", { etag }, row)), [noneMatch]);
  assert.deepEqual(await parametersOf(route.head("/", { etag }, row)), [noneMatch]);
  for (const declare of [route.put, route.patch, route.delete] as const) {
    assert.deepEqual(await parametersOf((declare as typeof route.put)("/", { etag }, row)), [
      match,
    ]);
  }
  assert.equal(await parametersOf(route.post("/", { etag }, row)), undefined);
  const headers = v.object({ "if-match": v.pipe(v.string(), v.minLength(3)) });
  assert.deepEqual(await parametersOf(route.put("/", { etag, headers }, row)), [
    { name: "if-match", in: "header", required: true, schema: { type: "string", minLength: 3 } },
  ]);
});

test("OpenAPI table: a route that is idempotent has the header of its key, unless it declares it", async () => {
  const parametersOf = async (thing: Route) => (await operationOf(thing)).parameters;
  const [key, ...others] = await parametersOf(route.post("/", { idempotent: true }, () => 1)) ?? [];
  assert.deepEqual(others, []);
  const { schema, description, ...rest } = key ?? {};
  assert.deepEqual(rest, { name: "idempotency-key", in: "header", required: true });
  assert.match(description ?? "", /^A UUID/);
  const pattern = new RegExp(String((schema as { readonly pattern?: string }).pattern), "u");
  for (const valid of ["a", '"a"', crypto.randomUUID(), "x".repeat(255)]) {
    assert.match(valid, pattern);
  }
  for (const invalid of ["", '""', '"a', "a b", "a,b", "a;b", "a\\b", "x".repeat(256), "\u00e9"]) {
    assert.doesNotMatch(invalid, pattern);
  }
  const headers = v.object({ "idempotency-key": v.pipe(v.string(), v.uuid()) });
  const own = await parametersOf(route.post("/", { idempotent: true, headers }, () => 1)) ?? [];
  assert.deepEqual(own.map(({ name, schema }) => [name, schema]), [
    ["idempotency-key", { type: "string", format: "uuid" }],
  ]);
});
