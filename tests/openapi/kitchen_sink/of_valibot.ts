/**
 * Every kind of schema of valibot: each route returns its body.
 *
 * @module
 */
import * as v from "valibot";
import { controller, dto, type Module, module, route } from "../../../mod.ts";

const Colour = { Red: "red", Green: "green" } as const;

const Formats = dto(
  "Formats",
  v.object({
    email: v.pipe(v.string(), v.email()),
    url: v.pipe(v.string(), v.url()),
    uuid: v.pipe(v.string(), v.uuid()),
    ipv4: v.pipe(v.string(), v.ipv4()),
    ipv6: v.pipe(v.string(), v.ipv6()),
    date: v.pipe(v.string(), v.isoDate()),
    timestamp: v.pipe(v.string(), v.isoTimestamp()),
    pattern: v.pipe(v.string(), v.regex(/^[A-Z]{2}-\d+$/)),
    anyCase: v.pipe(v.string(), v.regex(/^[a-z]*$/i)),
    base64: v.pipe(v.string(), v.base64()),
  }),
);

const Numbers = dto(
  "Numbers",
  v.object({
    any: v.number(),
    whole: v.pipe(v.number(), v.integer()),
    safe: v.pipe(v.number(), v.safeInteger()),
    from: v.pipe(v.number(), v.minValue(1), v.maxValue(9)),
    between: v.pipe(v.number(), v.gtValue(0), v.ltValue(1)),
    dozens: v.pipe(v.number(), v.multipleOf(12)),
  }),
);

const Circle = dto("Circle", v.object({ kind: v.literal("circle"), radius: v.number() }));
const Square = dto("Square", v.strictObject({ kind: v.literal("square"), side: v.number() }));

const Kinds = dto(
  "Kinds",
  v.object({
    text: v.pipe(
      v.string(),
      v.minLength(1),
      v.maxLength(9),
      v.title("A text"),
      v.description("Not long"),
      v.examples(["short"]),
    ),
    exact: v.pipe(v.string(), v.length(3)),
    truth: v.boolean(),
    nothing: v.null(),
    perhaps: v.optional(v.string()),
    nullable: v.nullable(v.number()),
    nullish: v.nullish(v.boolean()),
    one: v.literal(1),
    colour: v.picklist(["red", "green"]),
    enumerated: v.enum(Colour),
    union: v.union([v.string(), v.number()]),
    both: v.intersect([v.object({ left: v.string() }), v.object({ right: v.string() })]),
    list: v.pipe(v.array(v.string()), v.minLength(1), v.maxLength(3)),
    pair: v.tuple([v.string(), v.number()]),
    row: v.tupleWithRest([v.string()], v.boolean()),
    counts: v.record(v.pipe(v.string(), v.regex(/^[a-z]+$/)), v.pipe(v.number(), v.integer())),
    loose: v.looseObject({ known: v.string() }),
    others: v.objectWithRest({ known: v.string() }, v.number()),
    branded: v.pipe(v.string(), v.brand("Name")),
    frozen: v.pipe(v.object({ still: v.number() }), v.readonly()),
    anything: v.any(),
    inner: v.object({ formats: v.optional(Formats), numbers: v.nullable(Numbers) }),
  }),
);

/** A union of components that a property distinguishes. */
const Shape = dto("Shape", v.variant("kind", [Circle, Square]));

/** Each contains the other. */
interface Folder {
  name: string;
  entries: (Folder | Link)[];
}
interface Link {
  to: string;
  folder: Folder | null;
}
const Link: v.GenericSchema<Link> = dto(
  "Link",
  v.object({ to: v.string(), folder: v.nullable(v.lazy(() => Folder)) }),
);
const Folder: v.GenericSchema<Folder> = dto(
  "Folder",
  v.object({ name: v.string(), entries: v.array(v.union([v.lazy(() => Folder), Link])) }),
);

/** It contains itself, and has no name. */
interface Tree {
  value: number;
  left?: Tree | undefined;
  right?: Tree | undefined;
}
const Tree: v.GenericSchema<Tree> = v.object({
  value: v.number(),
  left: v.optional(v.lazy(() => Tree)),
  right: v.optional(v.lazy(() => Tree)),
});

/** Its input differs from its output in every way. */
const Changing = dto(
  "Changing",
  v.object({
    defaulted: v.optional(v.pipe(v.string(), v.maxLength(5)), "none"),
    computed: v.optional(v.number(), () => 42),
    fallenBack: v.nullish(v.string(), "back"),
    trimmed: v.pipe(v.string(), v.trim(), v.toLowerCase()),
    date: v.pipe(v.string(), v.isoTimestamp(), v.toDate()),
    length: v.pipe(v.string(), v.transform((text) => text.length)),
  }),
);
/** Its output is that of {@linkcode Changing}, as the handler has it. */
const Changed = dto(
  "Changed",
  v.object({ date: v.date(), trimmed: v.string(), length: v.number(), inner: v.array(Shape) }),
);

class ValibotController extends controller("schemas/valibot") {
  formats = route.post("/formats", { body: Formats, response: Formats }, ({ body }) => body);
  numbers = route.post("/numbers", { body: Numbers, response: Numbers }, ({ body }) => body);
  kinds = route.post("/kinds", { body: Kinds, response: Kinds }, ({ body }) => body);
  shapes = route.post(
    "/shapes",
    { body: v.array(Shape), response: v.array(Shape) },
    ({ body }) => body,
  );
  folder = route.post("/folder", { body: Folder, response: Folder }, ({ body }) => body);
  tree = route.post("/tree", { body: Tree, response: Tree }, ({ body }) => body);
  changing = route.post(
    "/changing",
    { body: Changing, response: Changed },
    ({ body }) => ({ ...body, inner: [{ kind: "circle" as const, radius: body.computed }] }),
  );
}

export const ValibotModule: Module = module({
  name: "ValibotModule",
  controllers: [ValibotController],
});
