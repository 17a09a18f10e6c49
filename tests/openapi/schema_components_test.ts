import assert from "node:assert/strict";
import * as v from "valibot";
import * as z from "zod";
import { type AnySchema, dto, type Route, route } from "../../mod.ts";
import type { OpenApiDocument } from "../../src/openapi/openapi_document.ts";
import { test } from "../support/test.ts";
import {
  controllerOf,
  type DescribeOptions,
  documentOf,
  OK,
  ownSchemasOf,
  problem,
} from "./described.ts";

/** Returns the schemas of bodies and responses, by `take` and `give` with the handler's name, and components. */
async function schemasOf(routes: Readonly<Record<string, Route>>, options?: DescribeOptions) {
  const document = await documentOf(controllerOf(routes), options);
  return { components: ownSchemasOf(document), uses: usesOf(document) };
}

function usesOf({ paths }: OpenApiDocument) {
  const uses = Object.values(paths).flatMap((item) => Object.values(item)).flatMap(
    ({ operationId, requestBody, responses: { 200: ok } }) => {
      const handler = operationId.split(".").at(-1);
      const taken = requestBody?.content["application/json"]?.schema;
      const given = ok && "content" in ok ? ok.content?.["application/json"]?.schema : undefined;
      return [
        ...taken ? [[`${handler} takes`, taken]] : [],
        ...given ? [[`${handler} gives`, given]] : [],
      ];
    },
  );
  return Object.fromEntries(uses);
}

const takes = (path: string, body: AnySchema): Route => route.post(path, { body }, () => 1);
/** Returns what satisfies no schema: it is described, and not called. */
const gives = (path: string, response: AnySchema): Route =>
  route.get(path, { response }, () => undefined);

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const object = (properties: object, required: readonly string[] = Object.keys(properties)) => ({
  type: "object",
  properties,
  ...required.length > 0 && { required },
});
const STRING = { type: "string" };
const NUMBER = { type: "number" };

test("OpenAPI table: named schemas are components, once, wherever they are used", async () => {
  const Cat = dto("Cat", v.object({ name: v.string() }));
  const Litter = dto("Litter", v.object({ mother: Cat, kittens: v.array(Cat) }));
  const schemas = await schemasOf({
    one: gives("/one", Cat),
    list: gives("/list", v.array(Cat)),
    create: takes("/", Cat),
    litter: gives("/litter", Litter),
    within: gives("/within", v.object({ cat: v.optional(Cat), other: v.nullable(Cat) })),
  });
  assert.deepEqual(schemas, {
    components: {
      Cat: object({ name: STRING }),
      Litter: object({ mother: ref("Cat"), kittens: { type: "array", items: ref("Cat") } }),
    },
    uses: {
      "create takes": ref("Cat"),
      "list gives": { type: "array", items: ref("Cat") },
      "litter gives": ref("Litter"),
      "one gives": ref("Cat"),
      "within gives": object({
        cat: ref("Cat"),
        other: { anyOf: [ref("Cat"), { type: "null" }] },
      }, ["other"]),
    },
  });
});

test("OpenAPI table: named schemas keep names with dots and dashes", async () => {
  const schemas = await schemasOf({ one: gives("/", dto("cats.Cat-1_a", v.string())) });
  assert.deepEqual(schemas, {
    components: { "cats.Cat-1_a": STRING },
    uses: { "one gives": ref("cats.Cat-1_a") },
  });
});

test("OpenAPI table: named schemas that no operation uses are no components", async () => {
  const Cat = dto("Cat", v.object({ name: v.string(), age: v.number() }));
  const schemas = await schemasOf({
    part: gives("/part", v.pick(Cat, ["name"])),
    changes: takes("/changes", v.partial(Cat)),
    hidden: route.get(
      "/hidden",
      { response: Cat, openapi: { hidden: true } },
      () => undefined as never,
    ),
  });
  assert.deepEqual(schemas, {
    components: {},
    uses: {
      "part gives": object({ name: STRING }),
      "changes takes": object({ name: STRING, age: NUMBER }, []),
    },
  });
});

test("OpenAPI table: named schemas of listed responses are components", async () => {
  const Problem = dto("CatProblem", v.object({ why: v.string() }));
  const openapi = { responses: { 409: { description: "Taken", schema: Problem } } };
  const { paths, components } = await documentOf(
    controllerOf({ one: route.get("/", { openapi }, () => 1) }),
  );
  assert.deepEqual(paths["/"]?.get?.responses, {
    200: OK,
    409: {
      description: "Taken",
      content: { "application/json": { schema: ref("CatProblem") } },
    },
  });
  assert.deepEqual(components, { schemas: { CatProblem: object({ why: STRING }) } });
});

test("OpenAPI table: named schemas are described by their input, where only that is used", async () => {
  const Age = dto("Age", v.pipe(v.string(), v.transform(Number)));
  const schemas = await schemasOf({ set: takes("/", v.object({ age: Age })) });
  assert.deepEqual(schemas, {
    components: { Age: STRING },
    uses: { "set takes": object({ age: ref("Age") }) },
  });
});

test("OpenAPI table: named schemas whose input and output differ are two components", async () => {
  const Cat = dto("Cat", v.object({ age: v.pipe(v.string(), v.transform(Number)) }));
  const schemas = await schemasOf({ give: gives("/", Cat), take: takes("/", Cat) });
  assert.deepEqual(schemas, {
    components: { Cat: object({ age: NUMBER }), CatInput: object({ age: STRING }) },
    uses: { "give gives": ref("Cat"), "take takes": ref("CatInput") },
  });
});

test("OpenAPI table: named schemas that are two components leave the names of others to them", async () => {
  const Years = dto("Years", v.pipe(v.string(), v.transform(Number)));
  const schemas = await schemasOf({
    give: gives("/", Years),
    take: takes("/", Years),
    other: takes("/other", dto("YearsInput", v.boolean())),
    another: takes("/another", dto("YearsInput2", v.null())),
  });
  assert.deepEqual(schemas, {
    components: {
      Years: NUMBER,
      YearsInput: { type: "boolean" },
      YearsInput2: { type: "null" },
      YearsInput3: STRING,
    },
    uses: {
      "another takes": ref("YearsInput2"),
      "give gives": ref("Years"),
      "other takes": ref("YearsInput"),
      "take takes": ref("YearsInput3"),
    },
  });
});

test("OpenAPI table: named schemas with a default require less input than output", async () => {
  const Cat = dto("Cat", v.object({ lives: v.optional(v.number(), 9) }));
  const lives = { type: "number", default: 9 };
  const schemas = await schemasOf({ give: gives("/", Cat), take: takes("/", Cat) });
  assert.deepEqual(schemas.components, {
    Cat: object({ lives }),
    CatInput: object({ lives }, []),
  });
});

test("OpenAPI table: named schemas are two components where one inside them is, however deep", async () => {
  const Age = dto("Age", v.pipe(v.string(), v.transform(Number)));
  const Cat = dto("Cat", v.object({ age: Age }));
  const House = dto("House", v.object({ cats: v.array(v.object({ cat: Cat })) }));
  const Street = dto("Street", v.object({ name: v.string() }));
  const both = v.object({ house: House, street: Street });
  const cats = (cat: string) => ({ type: "array", items: object({ cat: ref(cat) }) });
  assert.deepEqual(await schemasOf({ give: gives("/", both), take: takes("/", both) }), {
    components: {
      Age: NUMBER,
      AgeInput: STRING,
      Cat: object({ age: ref("Age") }),
      CatInput: object({ age: ref("AgeInput") }),
      House: object({ cats: cats("Cat") }),
      HouseInput: object({ cats: cats("CatInput") }),
      Street: object({ name: STRING }),
    },
    uses: {
      "give gives": object({ house: ref("House"), street: ref("Street") }),
      "take takes": object({ house: ref("HouseInput"), street: ref("Street") }),
    },
  });
});

test("OpenAPI table: named schemas are one component where input and output are equal, with all inside them", async () => {
  const Cat = dto("Cat", v.object({ name: v.string() }));
  const House = dto("House", v.object({ cats: v.array(Cat), pets: v.record(v.string(), Cat) }));
  const schemas = await schemasOf({
    other: gives("/other", v.string()),
    give: gives("/", House),
    take: takes("/", v.object({ house: House })),
    add: takes("/cats", Cat),
  });
  assert.deepEqual(schemas, {
    components: {
      Cat: object({ name: STRING }),
      House: object({
        cats: { type: "array", items: ref("Cat") },
        pets: { type: "object", propertyNames: STRING, additionalProperties: ref("Cat") },
      }),
    },
    uses: {
      "add takes": ref("Cat"),
      "give gives": ref("House"),
      "other gives": STRING,
      "take takes": object({ house: ref("House") }),
    },
  });
});

test("OpenAPI table: equal schemas with the same name are one component", async () => {
  const cat = () => dto("Cat", v.object({ name: v.string() }));
  const schemas = await schemasOf({ give: gives("/", cat()), take: takes("/", cat()) });
  assert.deepEqual(schemas.components, { Cat: object({ name: STRING }) });
});

interface Tree {
  readonly children: readonly Tree[];
}

test("OpenAPI table: named schemas can contain themselves", async () => {
  const Tree: v.GenericSchema<Tree> = dto(
    "Tree",
    v.object({ children: v.array(v.lazy(() => Tree)) }),
  );
  const schemas = await schemasOf({ give: gives("/", Tree), take: takes("/", v.array(Tree)) });
  assert.deepEqual(schemas, {
    components: { Tree: object({ children: { type: "array", items: ref("Tree") } }) },
    uses: { "give gives": ref("Tree"), "take takes": { type: "array", items: ref("Tree") } },
  });
});

interface Link {
  readonly at: number;
  readonly next?: Link | undefined;
}
interface LinkText {
  readonly at: string;
  readonly next?: LinkText | undefined;
}

test("OpenAPI table: named schemas can contain themselves, with different input and output", async () => {
  const Link: v.GenericSchema<LinkText, Link> = dto(
    "Link",
    v.object({ at: v.pipe(v.string(), v.transform(Number)), next: v.optional(v.lazy(() => Link)) }),
  );
  assert.deepEqual(await schemasOf({ give: gives("/", Link), take: takes("/", Link) }), {
    components: {
      Link: object({ at: NUMBER, next: ref("Link") }, ["at"]),
      LinkInput: object({ at: STRING, next: ref("LinkInput") }, ["at"]),
    },
    uses: { "give gives": ref("Link"), "take takes": ref("LinkInput") },
  });
});

interface Person {
  readonly pets: readonly Pet[];
}
interface Pet {
  readonly owner: Person;
}

test("OpenAPI table: named schemas can contain each other", async () => {
  const Person: v.GenericSchema<Person> = dto(
    "Person",
    v.object({ pets: v.array(v.lazy(() => Pet)) }),
  );
  const Pet: v.GenericSchema<Pet> = dto("Pet", v.object({ owner: v.lazy(() => Person) }));
  assert.deepEqual(await schemasOf({ give: gives("/", Pet) }), {
    components: {
      Person: object({ pets: { type: "array", items: ref("Pet") } }),
      Pet: object({ owner: ref("Person") }),
    },
    uses: { "give gives": ref("Pet") },
  });
});

test("OpenAPI table: a schema without a name that contains itself gets an unused one", async () => {
  const Tree: v.GenericSchema<Tree> = v.object({ children: v.array(v.lazy(() => Tree)) });
  const Schema1 = dto("Schema1", v.object({ tree: Tree }));
  const children = { type: "array", items: ref("Schema2") };
  assert.deepEqual(await schemasOf({ give: gives("/", Schema1) }), {
    components: {
      Schema1: object({ tree: object({ children }) }),
      Schema2: object({ children }),
    },
    uses: { "give gives": ref("Schema1") },
  });
});

test("OpenAPI table: a schema without a name that contains itself gets no name of another", async () => {
  const Tree: v.GenericSchema<Tree> = v.object({ children: v.array(v.lazy(() => Tree)) });
  const Schema1 = dto("Schema1", v.object({ name: v.string() }));
  const schemas = await schemasOf({ a: gives("/a", Tree), b: gives("/b", Schema1) });
  assert.deepEqual(schemas, {
    components: {
      Schema1: object({ name: STRING }),
      Schema2: object({ children: { type: "array", items: ref("Schema2") } }),
    },
    uses: { "a gives": ref("Schema2"), "b gives": ref("Schema1") },
  });
});

test("OpenAPI table: a schema without a name that contains itself, as the whole of a body", async () => {
  const Tree: v.GenericSchema<Tree> = v.object({ children: v.array(v.lazy(() => Tree)) });
  assert.deepEqual(await schemasOf({ take: takes("/", Tree) }), {
    components: { Schema1: object({ children: { type: "array", items: ref("Schema1") } }) },
    uses: { "take takes": ref("Schema1") },
  });
});

test("OpenAPI table: a schema without a name is written where it is used, lazy or not", async () => {
  const Inner = v.object({ name: v.string() });
  const Outer = v.object({ a: v.lazy(() => Inner), b: v.lazy(() => Inner), c: Inner });
  const inner = object({ name: STRING });
  assert.deepEqual(await schemasOf({ give: gives("/", Outer) }), {
    components: {},
    uses: { "give gives": object({ a: inner, b: inner, c: inner }) },
  });
});

test("OpenAPI table: a name that a component by hand has is not free", async () => {
  const Tree: v.GenericSchema<Tree> = v.object({ children: v.array(v.lazy(() => Tree)) });
  const { components, uses } = await schemasOf({ give: gives("/", Tree) }, {
    openApi: { components: { schemas: { Schema1: { type: "boolean" } } } },
  });
  const [name = ""] = Object.keys(components).filter((each) => each !== "Schema1");
  assert.deepEqual({ components, uses }, {
    components: {
      Schema1: { type: "boolean" },
      [name]: object({ children: { type: "array", items: ref(name) } }),
    },
    uses: { "give gives": ref(name) },
  });
});

test("OpenAPI table: named schemas of two libraries are side by side", async () => {
  const Cat = dto("Cat", v.object({ name: v.string() }));
  const Dog = dto("Dog", z.object({ name: z.string() }));
  const schemas = await schemasOf({ cat: gives("/cat", Cat), dog: gives("/dog", Dog) });
  assert.deepEqual(schemas, {
    components: { Cat: object({ name: STRING }), Dog: object({ name: STRING }) },
    uses: { "cat gives": ref("Cat"), "dog gives": ref("Dog") },
  });
});

test("OpenApiOptions: components by hand go before generated ones of their names", async () => {
  const Cat = dto("Cat", v.object({ name: v.string() }));
  const byHand = {
    schemas: {
      Cat: { type: "object", description: "By hand" },
      Error: { type: "string" },
    },
    responses: { NotFound: { description: "Nobody is there" } },
    parameters: {
      Depth: { name: "depth", in: "query", required: false, schema: { type: "integer" } },
    },
    examples: { tom: { value: { name: "Tom" } } },
  };
  const document = await documentOf(
    controllerOf({
      one: route.get(
        "/:id",
        { response: Cat, openapi: { responses: { 409: "Taken" } } },
        () => undefined as never,
      ),
      change: route.post("/:id", { query: v.object({}) }, () => 1),
    }),
    { openApi: { components: byHand } },
  );
  assert.equal(document.components?.schemas?.ProblemDetails?.type, "object");
  assert.deepEqual({ ...document.components, schemas: ownSchemasOf(document) }, {
    ...byHand,
    responses: {
      NotFound: { description: "Nobody is there" },
      UnprocessableContent: problem(422, "The input is invalid"),
    },
  });
});

test("OpenApiOptions: components by hand can describe problems", async () => {
  const ProblemDetails = { type: "object", description: "Our own" };
  const { components } = await documentOf(controllerOf({ one: route.get("/:id", () => 1) }), {
    openApi: { components: { schemas: { ProblemDetails } } },
  });
  assert.deepEqual(components?.schemas?.ProblemDetails, ProblemDetails);
});

test("OpenApiOptions: empty components are not in the document", async () => {
  const controller = controllerOf({ one: route.get("/", () => 1) });
  for (const components of [undefined, {}, { schemas: {}, securitySchemes: {} }]) {
    const openApi = components ? { components } : {};
    assert.equal("components" in await documentOf(controller, { openApi }), false);
  }
});
