/**
 * Every kind of type of arktype: each route returns its body.
 *
 * @module
 */
import { scope, type } from "arktype";
import { controller, dto, type Module, module, route } from "../../../mod.ts";

/** It contains itself, and declares the handling of undeclared keys. */
const { Comment } = scope({
  Comment: { "+": "delete", text: "0 < string <= 99", replies: "Comment[]" },
}).export();
dto("Comment", Comment);

const ArktypeKinds = dto(
  "ArktypeKinds",
  type({
    email: "string.email",
    uuid: "string.uuid",
    url: "string.url",
    ipv4: "string.ip.v4",
    text: "0 < string <= 9",
    pattern: /^[A-Z]{2}-\d+$/,
    whole: "number.integer",
    from: "1 <= number <= 9",
    between: "0 < number < 1",
    dozens: "number % 12",
    truth: "boolean",
    nothing: "null",
    "perhaps?": "string",
    nullable: "number | null",
    one: "1",
    colour: "'red' | 'green'",
    union: "string | number",
    list: "0 < string[] <= 3",
    pair: ["string", "number"],
    row: ["string", "...", "boolean[]"],
    counts: "Record<string, number.integer>",
    inner: { deep: { deeper: "string" } },
    anything: "unknown",
  }),
);

const ArktypeChanging = dto(
  "ArktypeChanging",
  type({
    defaulted: "string <= 5 = 'none'",
    parsed: "string.integer.parse",
    date: "string.date.iso.parse",
    trimmed: "string.trim",
  }),
);
const ArktypeChanged = dto(
  "ArktypeChanged",
  type({ defaulted: "string", parsed: "number", date: "Date", trimmed: "string" }),
);

class ArktypeController extends controller("schemas/arktype") {
  comment = route.post("/comment", { body: Comment, response: Comment }, ({ body }) => body);
  kinds = route.post("/kinds", { body: ArktypeKinds, response: ArktypeKinds }, ({ body }) => body);
  changing = route.post(
    "/changing",
    { body: ArktypeChanging, response: ArktypeChanged },
    ({ body }) => body,
  );
  numbers = route.get(
    "/numbers/:from",
    {
      params: type({ from: "string.integer.parse" }),
      query: type({ "to?": "string.numeric.parse", order: "'asc' | 'desc' = 'asc'" }),
      headers: type({ "x-trace?": "string" }),
      response: type("number[]"),
    },
    ({ params, query }) => [params.from, ...query.to === undefined ? [] : [query.to]],
  );
}

export const ArktypeModule: Module = module({
  name: "ArktypeModule",
  controllers: [ArktypeController],
});
