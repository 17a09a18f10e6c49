/** Random declarations of routes. */
import fc from "fast-check";
import { BODIES } from "./data_kinds.ts";
import { type Field, fieldsOf, FORM_NAMES } from "./fields.ts";
import { INTEGERS, type Kind, type Library, optionalOf } from "./kind.ts";
import { type Answer, ANSWERS, HEADS } from "./planned_answer.ts";
import {
  FORM_KINDS,
  HEADER_KINDS,
  MULTIPART_KINDS,
  PARAM_KINDS,
  QUERY_KINDS,
  WILDCARD_KIND,
} from "./text_kinds.ts";

/** The method of a route, as a member of `route`. */
export type Method = "get" | "post" | "put" | "patch" | "delete" | "options" | "head" | "all";

/** A declared version, or several. */
export type Version = string | readonly string[];

/** What a route declares of its body: a form has fields. */
export type PlannedBody =
  | { readonly formats: readonly ["json"]; readonly kind: Kind }
  | { readonly formats: readonly ("form" | "multipart")[]; readonly fields: readonly Field[] };

/** A declaration of a route, and of its controller. */
export interface PlannedRoute {
  readonly method: Method;
  readonly schemas: Library;
  /** The path of its controller. */
  readonly prefix: string;
  /** Its own path. */
  readonly path: string;
  /** The parameters of both paths; `*` is that of a wildcard. */
  readonly params: readonly Field[];
  /** Whether the parameters have a schema; otherwise they are strings. */
  readonly hasParams: boolean;
  readonly version: { readonly controller: Version | undefined; readonly own: Version | undefined };
  readonly query: readonly Field[] | undefined;
  readonly headers: readonly Field[] | undefined;
  readonly body: PlannedBody | undefined;
  readonly answer: Answer;
  /** Whether its handler takes the context. */
  readonly takesContext: boolean;
}

/** A segment of a path, and its parameter. */
interface Segment {
  readonly text: string;
  readonly param?: Field;
}

const LITERALS: fc.Arbitrary<Segment> = fc.constantFrom("cats", "a-b", "v.1", "ü", "~x")
  .map((text) => ({ text }));

const PARAMS = fc.constantFrom(...PARAM_KINDS);

function segmentsOf(name: string): fc.Arbitrary<Segment> {
  const any = PARAMS.map((kind) => ({ text: `:${name}`, param: { name, kind } }));
  const { wrong: _, ...kind } = INTEGERS; // another value is another path
  const digits = fc.constant({ text: `:${name}{-?[0-9]+}`, param: { name, kind } });
  return fc.oneof(LITERALS, any, digits);
}

/** The last segments of a path, of which only one can be optional or a wildcard. */
const ENDS: fc.Arbitrary<Segment | undefined> = fc.oneof(
  { arbitrary: fc.constant(undefined), weight: 3 },
  PARAMS.map((kind) => ({ text: ":last?", param: { name: "last", kind: optionalOf(kind) } })),
  fc.constant({ text: "*", param: { name: "*", kind: WILDCARD_KIND } }),
);

const PATHS = fc.record({
  prefix: fc.tuple(segmentsOf("in-prefix"), LITERALS).chain((all) => fc.subarray(all)),
  own: fc.tuple(segmentsOf("id"), segmentsOf("second_id")).chain((all) => fc.subarray(all)),
  end: ENDS,
  hasParams: fc.boolean(),
}).map(({ prefix, own, end, hasParams }) => {
  const params = [...prefix, ...own, ...end ? [end] : []].flatMap(({ param }) => param ?? []);
  return {
    prefix: prefix.map(({ text }) => text).join("/"),
    path: `/${[...own, ...end ? [end] : []].map(({ text }) => text).join("/")}`,
    params,
    hasParams: hasParams && params.some(({ name }) => name !== "*"),
  };
});

const VERSIONS = fc.constantFrom<Version | undefined>(undefined, undefined, "v1", ["v1", "v2"]);

const HEADER_NAMES = fc.stringMatching(/^x-[a-z0-9_-]{1,8}$/);

const FORMS = fc.oneof(
  fieldsOf(fc.constantFrom(...FORM_KINDS), { names: FORM_NAMES, minLength: 1 }).chain((fields) =>
    fc.subarray(["form", "multipart"] as const, { minLength: 1 })
      .map((formats) => ({ formats, fields }))
  ),
  fieldsOf(fc.constantFrom(...MULTIPART_KINDS), { names: FORM_NAMES, minLength: 1 })
    .map((fields) => ({ formats: ["multipart"] as const, fields })),
);

const JSON_BODIES = fc.tuple(BODIES, fc.boolean()).map(([kind, isOptional]) => ({
  formats: ["json"] as const,
  kind: isOptional ? optionalOf(kind) : kind,
}));

/** Random declarations of routes. */
export const ROUTES: fc.Arbitrary<PlannedRoute> = fc.constantFrom<Method>(
  ...["get", "post", "put", "patch", "delete", "options", "head", "all"] as const,
).chain((method) =>
  fc.record({
    method: fc.constant(method),
    schemas: fc.constantFrom<Library>("valibot", "zod"),
    paths: PATHS,
    version: fc.record({ controller: VERSIONS, own: VERSIONS }),
    query: fc.option(fieldsOf(fc.constantFrom(...QUERY_KINDS)), { nil: undefined }),
    headers: fc.option(fieldsOf(fc.constantFrom(...HEADER_KINDS), { names: HEADER_NAMES }), {
      nil: undefined,
    }),
    body: method === "get" || method === "head"
      ? fc.constant(undefined)
      : fc.option<PlannedBody, undefined>(fc.oneof(JSON_BODIES, FORMS), { nil: undefined }),
    answer: method === "head" ? HEADS : ANSWERS,
    takesContext: fc.boolean(),
  }).map(({ paths, ...route }): PlannedRoute => ({ ...paths, ...route }))
);
