/**
 * Everything that a request may bring: parameters of all places, and bodies of all formats.
 *
 * @module
 */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import * as v from "valibot";
import { type Context, controller, dto, type Module, module, route } from "../../../mod.ts";

const WholeNumber = v.pipe(v.string(), v.regex(/^-?\d+$/), v.transform(Number), v.integer());
const YesOrNo = v.pipe(v.picklist(["true", "false"]), v.transform((text) => text === "true"));
/** A key of a query that occurs once is a string. */
const OneOrMore = v.union([
  v.pipe(v.string(), v.transform((one) => [one])),
  v.array(v.string()),
]);

const PathParams = dto(
  "PathParams",
  v.object({
    number: v.pipe(WholeNumber, v.minValue(-5), v.maxValue(5)),
    code: v.pipe(v.string(), v.length(2)),
    day: v.pipe(v.string(), v.isoDate(), v.description("Of this day")),
  }),
);

const Query = dto(
  "Query",
  v.object({
    text: v.optional(v.pipe(v.string(), v.maxLength(20)), "none"),
    order: v.optional(v.picklist(["asc", "desc"])),
    max: v.optional(v.pipe(WholeNumber, v.minValue(1), v.maxValue(100)), "20"),
    ratio: v.optional(v.pipe(v.string(), v.toNumber(), v.minValue(0), v.maxValue(9.5))),
    only_new: v.optional(YesOrNo, "false"),
    tags: v.optional(OneOrMore, []),
    at: v.optional(v.pipe(v.string(), v.isoTimestamp(), v.toDate())),
    kind: v.optional(v.literal("thing")),
    id: v.pipe(v.string(), v.uuid(), v.description("Whose"), v.metadata({ deprecated: true })),
  }),
);

const Headers = v.object({
  "x-trace": v.pipe(v.string(), v.hexadecimal()),
  "x-retries": v.optional(v.pipe(WholeNumber, v.minValue(0), v.maxValue(3)), "0"),
  "if-match": v.optional(v.string()),
  "content-type": v.optional(v.string()), // no parameter to OpenAPI, as the next
  accept: v.optional(v.string()),
});

const Paged = v.object({
  page: v.optional(v.pipe(WholeNumber, v.minValue(1), v.maxValue(99)), "1"),
});
const Sorted = v.object({ sort: v.optional(v.string()) });
const ByName = v.object({ by: v.literal("name"), name: v.string() });
const ByAge = v.object({
  by: v.literal("age"),
  age: v.pipe(WholeNumber, v.minValue(0), v.maxValue(150)),
});

/** Parameters. */
class ParametersController extends controller("inputs/:owner/parameters") {
  everyPlace = route.get(
    "/every/:number/:code{[a-z]{2}}/:day",
    {
      params: v.object({ ...PathParams.entries, owner: v.string() }),
      query: Query,
      headers: Headers,
      openapi: { responses: { 200: { description: "What came", schema: v.unknown() } } },
    },
    ({ params, query, headers }) => ({ params, query, trace: headers["x-trace"] }),
  );

  without_schema = route.get("/plain/:word/:digits{[0-9]+}", ({ params }) => params);

  optionalLast = route.get("/page/:number?", ({ params }) => params);

  optionalWithSchema = route.get(
    "/leaf/:number?",
    {
      params: v.object({
        owner: v.string(),
        number: v.optional(v.pipe(WholeNumber, v.minValue(0), v.maxValue(9)), "7"),
      }),
      response: v.object({ number: v.pipe(v.number(), v.integer()) }),
    },
    ({ params }) => ({ number: params.number }),
  );

  wildcard = route.get("/files/*", ({ params }, c) => ({ ...params, path: c.req.path }));

  anyOthers = route.get(
    "/others",
    { query: v.objectWithRest({ page: v.optional(v.string(), "1") }, OneOrMore) },
    ({ query }) => query,
  );

  bothParts = route.get("/both", { query: v.intersect([Paged, Sorted]) }, ({ query }) => query);

  oneOfTwo = route.get(
    "/either",
    { query: v.variant("by", [ByName, ByAge]) },
    ({ query }) => query,
  );
}

const Form = v.object({
  name: v.pipe(v.string(), v.minLength(1)),
  amount: v.pipe(v.string(), v.regex(/^[1-9]\d?$/), v.toNumber()),
  tags: v.optional(OneOrMore, []),
});
const Upload = dto(
  "Upload",
  v.object({ title: v.pipe(v.string(), v.minLength(1)), file: v.file() }),
);
const Stored = dto(
  "Stored",
  v.object({ title: v.string(), size: v.pipe(v.number(), v.integer()), type: v.string() }),
);
const Note = dto("Note", v.object({ text: v.pipe(v.string(), v.minLength(1), v.maxLength(99)) }));

/** A schema of an unknown library, which accepts anything and offers no JSON Schema. */
const Undocumented: StandardSchemaV1<unknown, { readonly was: unknown }> = {
  "~standard": {
    version: 1,
    vendor: "home-made",
    validate: (was) => ({ value: { was: was ?? null } }),
  },
};

/** Answers in place of the handler, without a body if the client accepts that. */
async function preferences(c: Context, next: () => Promise<unknown>): Promise<unknown> {
  const output = await next();
  c.header("preference-applied", "return=representation");
  return output;
}

/** Bodies. */
class BodiesController extends controller("inputs/bodies", { interceptors: [preferences] }) {
  form = route.post(
    "/form",
    {
      body: Form,
      consumes: ["form"],
      response: v.object({ name: v.string(), amount: v.number(), tags: v.array(v.string()) }),
    },
    ({ body }) => body,
  );

  upload = route.post(
    "/upload",
    { body: Upload, consumes: ["multipart"], bodyLimit: 10_000, response: Stored, status: 201 },
    ({ body: { title, file } }) => ({ title, size: file.size, type: file.type }),
  );

  anyFormat = route.put(
    "/any-format",
    { body: Note, consumes: ["json", "form", "multipart"], response: Note },
    ({ body }) => body,
  );

  maybe = route.patch(
    "/maybe",
    { body: v.optional(Note), response: v.nullable(Note) },
    ({ body }) => body ?? null,
  );

  several = route.delete(
    "/several",
    { body: v.pipe(v.array(v.number()), v.minLength(1), v.maxLength(9)), status: 204 },
    () => undefined,
  );

  undocumented = route.post(
    "/undocumented",
    { body: Undocumented, response: v.object({ was: v.unknown() }) },
    ({ body }) => body,
  );
}

export const InputsModule: Module = module({
  name: "InputsModule",
  controllers: [ParametersController, BodiesController],
});
