/**
 * Every kind of schema of zod: each route returns its body.
 *
 * @module
 */
import { z } from "zod";
import { controller, dto, type Module, module, route } from "../../../mod.ts";

/** Named by its library. */
const Address = z.object({ street: z.string().min(1), city: z.string() }).meta({
  id: "Address",
  description: "Where somebody lives",
});

const Pet = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("cat"), lives: z.int().min(0).max(9) }),
  z.object({ kind: z.literal("dog"), tricks: z.array(z.string()).max(3) }),
]);

/** It contains itself. */
const Person = z.object({
  name: z.string().min(2).max(40),
  address: Address,
  former: z.array(Address).optional(),
  pet: Pet.nullable(),
  get friends() {
    return z.array(Person).max(5);
  },
});
dto("Person", Person);

const ZodKinds = dto(
  "ZodKinds",
  z.object({
    email: z.email(),
    url: z.url(),
    uuid: z.uuid(),
    ipv4: z.ipv4(),
    date: z.iso.date(),
    time: z.iso.datetime(),
    pattern: z.string().regex(/^[A-Z]{2}-\d+$/),
    start: z.string().startsWith("a").max(5),
    whole: z.int(),
    positive: z.number().positive().max(1000),
    dozens: z.number().multipleOf(12),
    truth: z.boolean(),
    nothing: z.null(),
    perhaps: z.string().optional(),
    nullable: z.number().nullable(),
    one: z.literal(1),
    some: z.literal(["a", "b"]),
    colour: z.enum(["red", "green"]),
    union: z.union([z.string(), z.number()]),
    both: z.intersection(z.object({ left: z.string() }), z.object({ right: z.string() })),
    pair: z.tuple([z.string(), z.number()]),
    row: z.tuple([z.string()], z.boolean()),
    counts: z.record(z.string(), z.int()),
    byColour: z.record(z.enum(["red", "green"]), z.number()),
    strict: z.strictObject({ known: z.string() }),
    loose: z.looseObject({ known: z.string() }),
    others: z.object({ known: z.string() }).catchall(z.string()),
    branded: z.string().brand("Name"),
    frozen: z.array(z.number()).readonly(),
    template: z.templateLiteral(["v", z.int()]),
    anything: z.unknown(),
  }),
);

const ZodChanging = dto(
  "ZodChanging",
  z.object({
    defaulted: z.string().max(5).default("none"),
    trimmed: z.string().trim().toLowerCase(),
    coerced: z.coerce.number().min(0).max(9),
    length: z.string().transform((text) => text.length),
    piped: z.string().regex(/^\d{1,3}$/).transform(Number).pipe(z.int()),
    codec: z.codec(z.iso.datetime(), z.date(), {
      decode: (text) => new Date(text),
      encode: (date) => date.toISOString(),
    }),
  }),
);
const ZodChanged = dto(
  "ZodChanged",
  z.object({ defaulted: z.string(), coerced: z.number(), codec: z.date(), json: z.json() }),
);

class ZodController extends controller("schemas/zod") {
  person = route.post("/person", { body: Person, response: Person }, ({ body }) => body);
  kinds = route.post("/kinds", { body: ZodKinds, response: ZodKinds }, ({ body }) => body);
  changing = route.post(
    "/changing",
    { body: ZodChanging, response: ZodChanged },
    ({ body: { defaulted, coerced, codec, ...rest } }) => ({
      defaulted,
      coerced,
      codec,
      json: { ...rest },
    }),
  );
  addresses = route.get(
    "/addresses/:city",
    {
      params: z.object({ city: z.string().min(1).max(30) }),
      query: z.object({
        take: z.coerce.number().int().min(1).max(100).default(20),
        exact: z.stringbool().optional().describe("Whether case matters"),
        order: z.enum(["asc", "desc"]).default("asc"),
      }),
      headers: z.object({ "x-trace": z.string().optional() }),
      response: z.array(Address),
    },
    ({ params, query }) => [{ street: `${query.order} ${query.take}`, city: params.city }],
  );
  picture = route.post(
    "/picture",
    {
      body: z.object({ title: z.string().max(20), picture: z.file() }),
      consumes: ["multipart"],
      response: z.object({ size: z.int() }),
    },
    ({ body }) => ({ size: body.picture.size }),
  );
}

export const ZodModule: Module = module({ name: "ZodModule", controllers: [ZodController] });
