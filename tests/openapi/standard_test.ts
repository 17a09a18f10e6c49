import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { scope, type } from "arktype";
import assert from "node:assert/strict";
import * as v from "valibot";
import * as z from "zod";
import { type AnySchema, dto, route } from "../../mod.ts";
import type { JsonSchema } from "../../src/openapi/json_schema/json_schema.ts";
import { captureLogs } from "../support/capture_logs.ts";
import { test } from "../support/test.ts";
import {
  applicationOf,
  controllerOf,
  describedBothWays,
  documentOf,
  resolved,
  warningsAmong,
  warningsOf,
  type Wordless,
} from "./described.ts";

/** The descriptions of a schema: its input, its output unless it is the same, and components. */
interface Row {
  readonly schema: AnySchema;
  readonly input: JsonSchema;
  readonly output?: JsonSchema;
  readonly components?: Readonly<Record<string, JsonSchema>>;
  readonly wordless?: Wordless;
}

const STRING = { type: "string" };
const NUMBER = { type: "number" };
const DATE_TIME = { type: "string", format: "date-time" };
const FILE = { type: "string", format: "binary", contentMediaType: "application/octet-stream" };
const object = (properties: object, required: readonly string[] = Object.keys(properties)) => ({
  type: "object",
  properties,
  ...required.length > 0 && { required },
});
const array = (items: JsonSchema) => ({ type: "array", items });
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

const ZodCat = dto("Cat", z.object({ name: z.string() }));
const ZodDog = z.object({ name: z.string() }).meta({ id: "Dog", description: "It barks" });
const ZodTree = z.object({
  get children() {
    return z.array(ZodTree);
  },
});
const NamedZodTree = z.object({
  get children() {
    return z.array(NamedZodTree);
  },
});
dto("NamedTree", NamedZodTree);

const ZOD: Readonly<Record<string, Row>> = {
  "string with lengths": {
    schema: z.string().min(2).max(80),
    input: { type: "string", minLength: 2, maxLength: 80 },
  },
  "integer within a range": {
    schema: z.number().int().min(1).max(5),
    input: { type: "integer", minimum: 1, maximum: 5 },
  },
  "number": {
    schema: z.number().positive().multipleOf(2),
    input: { type: "number", exclusiveMinimum: 0, multipleOf: 2 },
  },
  "boolean and null": {
    schema: z.tuple([z.boolean(), z.null()]),
    input: {
      type: "array",
      prefixItems: [{ type: "boolean" }, { type: "null" }],
      items: false,
      minItems: 2,
      maxItems: 2,
    },
  },
  "url": { schema: z.url(), input: { type: "string", format: "uri" } },
  "uri pattern with the flag u": {
    schema: z.string().regex(/^\p{L}$/u),
    input: { type: "string", pattern: "^\\p{L}$" },
  },
  "regex with the flag i, which a pattern cannot have": {
    schema: z.string().regex(/^[a-f]+$/i),
    input: STRING,
  },
  "object": {
    schema: z.object({
      a: z.string(),
      b: z.number().optional(),
      c: z.number().default(3),
      d: z.string().nullable(),
    }),
    input: object({
      a: STRING,
      b: NUMBER,
      c: { type: "number", default: 3 },
      d: { type: ["string", "null"] },
    }, ["a", "d"]),
    output: object({
      a: STRING,
      b: NUMBER,
      c: { type: "number", default: 3 },
      d: { type: ["string", "null"] },
    }, ["a", "c", "d"]),
  },
  "strictObject": {
    schema: z.strictObject({ a: z.string() }),
    input: { ...object({ a: STRING }), additionalProperties: false },
  },
  "catchall": {
    schema: z.object({ a: z.string() }).catchall(z.number()),
    input: { ...object({ a: STRING }), additionalProperties: NUMBER },
  },
  "partial and pick": {
    schema: z.tuple([ZodCat.partial(), ZodCat.pick({ name: true })]),
    input: {
      type: "array",
      prefixItems: [object({ name: STRING }, []), object({ name: STRING })],
      items: false,
      minItems: 2,
      maxItems: 2,
    },
  },
  "record": {
    schema: z.record(z.string(), z.number()),
    input: { type: "object", propertyNames: STRING, additionalProperties: NUMBER },
  },
  "record of listed keys, all of which it needs": {
    schema: z.record(z.enum(["a", "b"]), z.number()),
    input: {
      type: "object",
      propertyNames: { type: "string", enum: ["a", "b"] },
      additionalProperties: NUMBER,
      required: ["a", "b"],
    },
  },
  "array": { schema: z.array(z.string()).min(1), input: { ...array(STRING), minItems: 1 } },
  "enum": { schema: z.enum(["a", "b"]), input: { type: "string", enum: ["a", "b"] } },
  "literal": { schema: z.literal("a"), input: { type: "string", const: "a" } },
  "union": {
    schema: z.union([z.object({ a: z.string() }), z.object({ b: z.number() })]),
    input: { anyOf: [object({ a: STRING }), object({ b: NUMBER })] },
  },
  "discriminatedUnion": {
    schema: z.discriminatedUnion("t", [
      z.object({ t: z.literal("a") }),
      z.object({ t: z.literal("b"), n: z.number() }),
    ]),
    input: {
      oneOf: [
        object({ t: { type: "string", const: "a" } }),
        object({ t: { type: "string", const: "b" }, n: NUMBER }),
      ],
    },
  },
  "brand, describe and meta": {
    schema: z.string().brand("Name").describe("Of a cat").meta({
      title: "Name",
      examples: ["Tom"],
    }),
    input: { type: "string", title: "Name", description: "Of a cat", examples: ["Tom"] },
  },
  "readonly, which concerns TypeScript, not clients": {
    schema: z.object({ tags: z.array(z.string()).readonly() }).readonly(),
    input: object({ tags: array(STRING) }),
  },
  "transform, whose output is unknown": {
    schema: z.string().transform((text) => text.length),
    input: STRING,
    output: {},
    wordless: { given: ["transform"] },
  },
  "pipe": {
    schema: z.string().transform(Number).pipe(z.number().min(1)),
    input: STRING,
    output: { type: "number", minimum: 1 },
  },
  "codec": {
    schema: z.codec(z.string(), z.number(), { decode: Number, encode: String }),
    input: STRING,
    output: NUMBER,
  },
  "coerce": { schema: z.coerce.number().min(1), input: { type: "number", minimum: 1 } },
  "stringbool": { schema: z.stringbool(), input: STRING, output: { type: "boolean" } },
  "date": { schema: z.date(), input: {}, output: DATE_TIME, wordless: { taken: ["date"] } },
  "date within, with a default": {
    schema: z.object({ at: z.date().default(new Date(0)) }),
    input: object({ at: { default: "1970-01-01T00:00:00.000Z" } }, []),
    output: object({ at: { ...DATE_TIME, default: "1970-01-01T00:00:00.000Z" } }),
    wordless: { taken: ["date"] },
  },
  ...Object.fromEntries(
    [
      z.bigint(),
      z.custom<string>((value) => typeof value === "string"),
      z.map(z.string(), z.string()),
      z.nan(),
      z.set(z.string()),
      z.symbol(),
      z.undefined(),
      z.void(),
    ].map((schema) => [
      `${schema.type}, which is any`,
      { schema, input: {}, wordless: { taken: [schema.type], given: [schema.type] } },
    ]),
  ),
  "what JSON Schema cannot represent, each kind once, wherever it is": {
    schema: z.object({
      sets: z.array(z.set(z.string())),
      maybe: z.set(z.number()).optional(),
      either: z.union([z.string(), z.map(z.string(), z.string())]),
      within: dto("Within", z.object({ big: z.bigint(), set: z.set(z.string()) })),
    }),
    input: object({
      sets: array({}),
      maybe: {},
      either: { anyOf: [STRING, {}] },
      within: ref("Within"),
    }, ["sets", "either", "within"]),
    components: { Within: object({ big: {}, set: {} }) },
    wordless: { taken: ["set", "map", "bigint"], given: ["set", "map", "bigint"] },
  },
  "what JSON Schema cannot represent, described by the application": {
    schema: z.object({
      big: z.bigint().describe("A large number"),
      at: z.date().meta({ title: "When" }),
      id: z.symbol().meta({ id: "Sign" }),
    }),
    input: object({
      big: { description: "A large number" },
      at: { title: "When" },
      id: ref("Sign"),
    }),
    output: object({
      big: { description: "A large number" },
      at: { ...DATE_TIME, title: "When" },
      id: ref("Sign"),
    }),
    components: { Sign: {} },
    wordless: { taken: ["bigint", "date", "symbol"], given: ["bigint", "symbol"] },
  },
  "file": { schema: z.object({ file: z.file() }), input: object({ file: FILE }) },
  "files, of which more is known": {
    schema: z.array(z.file().min(1).max(1024).mime("image/png")),
    input: array({ ...FILE, contentMediaType: "image/png", minLength: 1, maxLength: 1024 }),
  },
  "named by dto()": {
    schema: z.object({ best: ZodCat, all: z.array(ZodCat), maybe: ZodCat.optional() }),
    input: object({ best: ref("Cat"), all: array(ref("Cat")), maybe: ref("Cat") }, [
      "best",
      "all",
    ]),
    components: { Cat: object({ name: STRING }) },
  },
  "named by dto(), as a whole": {
    schema: ZodCat,
    input: ref("Cat"),
    components: { Cat: object({ name: STRING }) },
  },
  "named by its own id": {
    schema: z.array(ZodDog),
    input: array(ref("Dog")),
    components: { Dog: { ...object({ name: STRING }), description: "It barks" } },
  },
  "named by its own id, as a whole": {
    schema: ZodDog,
    input: ref("Dog"),
    components: { Dog: { ...object({ name: STRING }), description: "It barks" } },
  },
  "named, with different input and output": {
    schema: dto("Aged", z.object({ age: z.string().transform(Number).pipe(z.number()) })),
    input: ref("AgedInput"),
    output: ref("Aged"),
    components: { Aged: object({ age: NUMBER }), AgedInput: object({ age: STRING }) },
  },
  "named, holding itself": {
    schema: NamedZodTree,
    input: ref("NamedTree"),
    components: { NamedTree: object({ children: array(ref("NamedTree")) }) },
  },
};

const ArkNode: AnySchema = type.module({ node: { "next?": "node" } }).node;

const ARKTYPE: Readonly<Record<string, Row>> = {
  "string with lengths": {
    schema: type("2 <= string <= 80"),
    input: { type: "string", minLength: 2, maxLength: 80 },
  },
  "integer within a range": {
    schema: type("1 <= number.integer <= 5"),
    input: { type: "integer", minimum: 1, maximum: 5 },
  },
  "range without its ends": {
    schema: type("0 < number < 5"),
    input: { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 5 },
  },
  "url": { schema: type("string.url"), input: { type: "string", format: "uri" } },
  "list of literals": { schema: type("'a' | 'b'"), input: { enum: ["a", "b"] } },
  "object": {
    schema: type({ a: "string", "b?": "number" }),
    input: object({ a: STRING, b: NUMBER }, ["a"]),
  },
  "object with a default": {
    schema: type({ a: "number = 3" }),
    input: object({ a: { type: "number", default: 3 } }, []),
    output: object({ a: { type: "number", default: 3 } }),
  },
  "object without others": {
    schema: type({ "+": "reject", a: "string" }),
    input: { ...object({ a: STRING }), additionalProperties: false },
  },
  "record": {
    schema: type("Record<string, number>"),
    input: { type: "object", additionalProperties: NUMBER },
  },
  "array": { schema: type("string[] >= 1"), input: { ...array(STRING), minItems: 1 } },
  "tuple": {
    schema: type(["string", "number"]),
    input: { type: "array", prefixItems: [STRING, NUMBER], items: false, minItems: 2 },
  },
  "union with null": {
    schema: type("string | null"),
    input: { anyOf: [STRING, { type: "null" }] },
  },
  "intersection": {
    schema: type({ a: "string" }).and({ b: "string" }),
    input: object({ a: STRING, b: STRING }),
  },
  "description": {
    schema: type("string").describe("a word"),
    input: { type: "string", description: "a word" },
  },
  "pattern": { schema: type(/^[a-z]+$/), input: { type: "string", pattern: "^[a-z]+$" } },
  "pattern with the flag i, which a pattern cannot have": {
    schema: type(/^[a-z]+$/i),
    input: STRING,
  },
  "narrow": { schema: type("string").narrow((text) => text !== "x"), input: STRING },
  "morph, whose output is unknown": {
    schema: type("string").pipe((text) => text.length),
    input: STRING,
    output: {},
    wordless: { given: ["morph"] },
  },
  "morph of the application within an object and a list": {
    schema: type({ a: type("string").pipe((text) => text.length).array(), b: "string" }),
    input: object({ a: array(STRING), b: STRING }),
    output: object({ a: array({}), b: STRING }),
    wordless: { given: ["morph"] },
  },
  "morph of anything": {
    schema: type("unknown").pipe((value) => [value]),
    input: {},
    wordless: { given: ["morph"] },
  },
  "morph to a type": {
    schema: type("string").pipe((text) => text.length).to("number.integer"),
    input: STRING,
    output: { type: "integer" },
  },
  "date": { schema: type("Date"), input: {}, output: DATE_TIME, wordless: { taken: ["date"] } },
  "text of a date": { schema: type("string.date.parse"), input: STRING, output: DATE_TIME },
  "what JSON Schema cannot represent, each kind once, wherever it is": {
    schema: type({
      big: "bigint",
      sign: "symbol",
      map: "Map",
      "sets?": "Set[]",
      either: "string | bigint",
    }),
    input: object({
      big: {},
      sign: {},
      map: {},
      sets: array({}),
      either: { anyOf: [{}, STRING] },
    }, ["big", "either", "map", "sign"]),
    wordless: { taken: ["domain", "proto"], given: ["domain", "proto"] },
  },
  "object that deletes other keys, which may be sent": {
    schema: type({ "+": "delete", a: "string" }),
    input: object({ a: STRING }),
  },
  "object that deletes other keys, deep": {
    schema: type({ a: { b: "string" }, "c?": type({ d: "string" }).array() })
      .onDeepUndeclaredKey("delete"),
    input: object({ a: object({ b: STRING }), c: array(object({ d: STRING })) }, ["a"]),
  },
  "object that ignores other keys": {
    schema: type({ "+": "ignore", a: "string" }),
    input: object({ a: STRING }),
  },
  "named by dto()": {
    schema: dto("Cat", type({ name: "string" })),
    input: ref("Cat"),
    components: { Cat: object({ name: STRING }) },
  },
};

/** A schema of another library. */
function homeMade(jsonSchema?: unknown): AnySchema {
  return {
    "~standard": {
      version: 1,
      vendor: "home",
      validate: (value) => ({ value }),
      ...jsonSchema !== undefined && { jsonSchema },
    },
  };
}

const OTHERS: Readonly<Record<string, Row>> = {
  "of another library": {
    schema: homeMade({ input: () => STRING, output: () => NUMBER }),
    input: STRING,
    output: NUMBER,
  },
  "of another library, with a document's keywords and definitions": {
    schema: homeMade({
      input: () => ({
        $schema: "https://json-schema.org/draft/2020-12/schema",
        $id: "https://example.com/a",
        ...object({ "a/b": { $ref: "#/$defs/a~1b" }, c: { $ref: "#/$defs/c~0" } }),
        $defs: { "a/b": STRING, "c~": NUMBER },
      }),
      output: () => ({ $ref: "#/$defs/it", $defs: { it: object({ me: { $ref: "#" } }) } }),
    }),
    input: object({ "a/b": STRING, c: NUMBER }),
    output: ref("Schema1"),
    components: { Schema1: object({ me: ref("Schema1") }) },
  },
  "of another library, named by dto()": {
    schema: dto("Word", homeMade({ input: () => STRING, output: () => STRING })),
    input: ref("Word"),
    components: { Word: STRING },
  },
  "of valibot, by toStandardJsonSchema()": {
    schema: toStandardJsonSchema(v.object({ age: v.pipe(v.string(), v.digits()) })),
    input: object({ age: { type: "string", pattern: v.DIGITS_REGEX.source } }),
  },
};

function describes(library: string, rows: Readonly<Record<string, Row>>): void {
  for (const [what, row] of Object.entries(rows)) {
    const { schema, input, output = input, components = {}, wordless = {} } = row;
    test(`OpenAPI table: Standard JSON Schema: ${library}: ${what}`, async () => {
      const { document: _whole, ...described } = await describedBothWays(schema);
      const warnings = warningsOf(schema, wordless);
      assert.deepEqual(described, { input, output, components, warnings });
    });
  }
}
describes("zod", ZOD);
describes("arktype", ARKTYPE);
describes("a schema", OTHERS);

for (
  const [library, property, schema] of [
    ["zod", "children", ZodTree],
    ["arktype", "next", ArkNode],
  ] as const
) {
  test(`OpenAPI table: Standard JSON Schema: ${library}: holding itself without a name`, async () => {
    const { document, input, output } = await describedBothWays(schema);
    for (const use of [input, output]) {
      const properties = resolved(use, document)?.properties as Record<string, JsonSchema>;
      const itself = library === "zod" ? array(use ?? {}) : use;
      assert.match(String(use?.$ref), /^#\/components\/schemas\/Schema\d$/);
      assert.deepEqual(properties, { [property]: itself });
    }
  });
}

test("OpenAPI table: Standard JSON Schema: arktype: an object that deletes other keys takes them within one that refuses them", async () => {
  const schema = type({ "+": "reject", a: type({ "+": "delete", b: "string" }) });
  const { input } = await describedBothWays(schema);
  assert.deepEqual(input, { ...object({ a: object({ b: STRING }) }), additionalProperties: false });
});

test("OpenAPI table: Standard JSON Schema: arktype: holding itself, and deleting other keys, which may be sent", async () => {
  const { Comment } = scope({
    Comment: { "+": "delete", text: "string", "replies?": "Comment[]" },
  }).export();
  const { document, input, output } = await describedBothWays(Comment);
  for (const use of [input, output]) {
    const comment = resolved(use, document);
    const { replies } = comment?.properties as Record<string, JsonSchema>;
    const within = resolved(resolved(replies, document)?.items as JsonSchema, document);
    assert.deepEqual(
      [comment?.additionalProperties, within?.additionalProperties],
      [undefined, undefined],
    );
  }
});

const WITHOUT: Readonly<Record<string, AnySchema>> = {
  "offers no JSON Schema": homeMade(),
  "throws when it is asked for one": homeMade({
    input: () => {
      throw new Error("not this one");
    },
    output: () => {
      throw new Error("nor that one");
    },
  }),
  "gives nothing when it is asked for one": homeMade({
    input: () => null,
    output: () => undefined,
  }),
  "has something else in that place": homeMade({}),
};

for (const [what, schema] of Object.entries(WITHOUT)) {
  const controller = controllerOf({
    one: route.post(
      "/:id",
      {
        params: schema,
        query: schema,
        headers: schema,
        body: schema,
        response: schema,
        openapi: { responses: { 409: { description: "Taken", schema } } },
      },
      () => ({ any: "thing" }),
    ),
    plain: route.post("/plain", { body: v.string() }, () => 1),
  });

  test(`OpenAPI table: a schema that ${what} is described as any`, async () => {
    const { paths } = await documentOf(controller);
    const { post } = paths["/{id}"] ?? {};
    const any = { content: { "application/json": { schema: {} } } };
    assert.deepEqual(post?.parameters?.filter((parameter) => parameter.in !== "query"), [
      { name: "id", in: "path", required: true, schema: {} },
    ]);
    assert.deepEqual(post?.requestBody, { required: false, ...any });
    assert.deepEqual(post?.responses[200], { description: "OK", ...any });
    assert.deepEqual(post?.responses[409], { description: "Taken", ...any });
  });

  test(`OpenAPI table: a schema that ${what} is warned of at boot, once a use, and works`, async () => {
    await captureLogs(["fw", "openapi"], async (records) => {
      const app = await applicationOf(controller);
      await app.openApi();
      assert.deepEqual(warningsAmong(records), [], "openApi() only gives the document");
      await app.ready();
      await app.ready();
      assert.equal((await app.request("/openapi.json")).status, 200);
      const as = 'of POST /:id: home offers no JSON Schema of it, so it is described as "any"';
      assert.deepEqual(warningsAmong(records).toSorted(), [
        `The body ${as}`,
        `The headers ${as}`,
        `The params ${as}`,
        `The query ${as}`,
        `The response 409 ${as}`,
        `The response ${as}`,
      ]);
      const response = await app.request("/7", { json: { a: 1 } });
      assert.deepEqual([response.status, await response.json()], [200, { any: "thing" }]);
    });
  });
}

test("OpenAPI table: a warning names a path as it is written, constraints included", async () => {
  const controller = controllerOf({
    one: route.post("/:id{[0-9]+}", { body: homeMade() }, () => 1),
  });
  await captureLogs(["fw", "openapi"], async (records) => {
    await (await applicationOf(controller)).ready();
    assert.deepEqual(warningsAmong(records), [
      "The body of POST /:id{[0-9]+}: home offers no JSON Schema of it, " +
      'so it is described as "any"',
    ]);
  });
});

test("OpenAPI table: Standard JSON Schema: arktype: holding itself, a pattern with the flag i is left out", async () => {
  const { Word } = scope({ Word: { text: /^[a-f]+$/i, "next?": "Word" } }).export();
  const { document } = await describedBothWays(Word);
  assert.doesNotMatch(JSON.stringify(document), /"pattern"/);
});

test("OpenAPI table: a schema is converted without a schema of valibot beside it", async () => {
  const document = await documentOf(
    controllerOf({ one: route.post("/", { body: z.string() }, () => 1) }),
  );
  assert.deepEqual(document.paths["/"]?.post?.requestBody, {
    required: true,
    content: { "application/json": { schema: STRING } },
  });
});
