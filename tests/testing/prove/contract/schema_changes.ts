/** Changes of schemas, and whether each breaks clients that send it, or that receive it. */
import type { JsonSchema } from "../../../../src/openapi/json_schema/json_schema.ts";

/** A change of a schema. */
export interface SchemaChange {
  readonly name: string;
  readonly base: unknown;
  readonly current: unknown;
  /** Whether it breaks as the body of a request. */
  readonly breaksInput: boolean;
  /** Whether it breaks as the body of a response. */
  readonly breaksOutput: boolean;
}

/** Whom a change breaks. */
type Broken = "none" | "input" | "output" | "both";

const TEXT = { type: "string" };
const NUMBER = { type: "number" };
const NULL = { type: "null" };
const ANY = { $ref: "#/components/schemas/Any" };
const NOTHING = { not: { description: "Anything" } };

/** Components that references of these schemas name. */
export const SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  Any: { description: "Anything" },
  Name: { type: "string", minLength: 1 },
  List: {
    oneOf: [
      { type: "object", properties: { next: ref("List") }, required: ["next"] },
      { type: "object", properties: { next: ref("List"), end: TEXT }, required: ["next"] },
    ],
  },
  Tree: {
    type: "object",
    properties: { value: NUMBER, children: { type: "array", items: ref("Tree") } },
    required: ["value"],
  },
  LooseTree: {
    type: "object",
    properties: { value: NUMBER, children: { type: "array", items: ref("LooseTree") } },
  },
};

const ROWS: readonly (readonly [name: string, base: unknown, current: unknown, Broken])[] = [
  // forms of the same schema
  ["the same", TEXT, TEXT, "none"],
  ["a reference becomes inline", ref("Name"), { type: "string", minLength: 1 }, "none"],
  ["inline becomes a reference", { type: "string", minLength: 1 }, ref("Name"), "none"],
  ["annotations", { ...TEXT, title: "A", examples: ["x"] }, { ...TEXT, description: "B" }, "none"],
  ["the order of members", object({ a: TEXT, b: NUMBER }), object({ b: NUMBER, a: TEXT }), "none"],
  ["a list of one type", TEXT, { type: ["string"] }, "none"],
  ["types as alternatives", { type: ["string", "null"] }, { anyOf: [TEXT, NULL] }, "none"],
  ["allOf of one", TEXT, { allOf: [TEXT] }, "none"],
  [
    "allOf is merged",
    object({ a: TEXT, b: NUMBER }, "a"),
    { allOf: [object({ a: TEXT }, "a"), object({ b: NUMBER })] },
    "none",
  ],
  ["const is an enum of one", { const: "a" }, { enum: ["a"] }, "none"],
  ["the order of enum", { enum: ["a", "b"] }, { enum: ["b", "a"] }, "none"],
  ["enum without its type", { ...TEXT, enum: ["a"] }, { enum: ["a"] }, "none"],
  ["alternatives in another order", { anyOf: [TEXT, NUMBER] }, { anyOf: [NUMBER, TEXT] }, "none"],
  [
    "enum as alternatives",
    { enum: ["a", "b"] },
    { anyOf: [{ const: "a" }, { const: "b" }] },
    "none",
  ],
  ["a recursive schema", ref("Tree"), ref("Tree"), "none"],
  ["alternatives that are not told apart", ref("List"), ref("List"), "none"],
  [
    "a closed object and another one",
    { allOf: [closed({ a: TEXT }), object({ a: TEXT, b: TEXT })] },
    { allOf: [closed({ a: TEXT }), object({ b: NUMBER })] },
    "none",
  ],
  ["types in common", { allOf: [NUMBER, { type: ["string", "integer"] }] }, integer({}), "none"],
  ["types not in common", { allOf: [TEXT, { type: ["string", "integer"] }] }, TEXT, "none"],
  [
    "several divisors",
    { allOf: [integer({ multipleOf: 4 }), { multipleOf: 6 }, { multipleOf: 1 }] },
    { allOf: [integer({ multipleOf: 6 }), { multipleOf: 4 }] },
    "none",
  ],
  ["a decimal limit of integers", integer({ minimum: 1 }), integer({ minimum: 0.5 }), "none"],
  [
    "a pattern of an older syntax",
    { enum: ["a-b"] },
    { enum: ["a-b"], pattern: "^[\\w\\-]+$", type: "string" },
    "none",
  ],
  ["elements of both lists", tuple(TEXT), { allOf: [tuple(TEXT), list(TEXT)] }, "none"],
  ["true is the empty schema", true, {}, "none"],
  [
    "an exclusive limit of integers",
    integer({ minimum: 1 }),
    integer({ exclusiveMinimum: 0 }),
    "none",
  ],
  ["a limit that is the default", { ...TEXT, minLength: 0 }, TEXT, "none"],
  // types
  ["another type", TEXT, NUMBER, "both"],
  ["number becomes integer", NUMBER, { type: "integer" }, "input"],
  ["integer becomes number", { type: "integer" }, NUMBER, "output"],
  ["null is added", TEXT, { type: ["string", "null"] }, "output"],
  ["null is removed", { type: ["string", "null"] }, TEXT, "input"],
  ["null as an alternative is added", TEXT, { anyOf: [TEXT, NULL] }, "output"],
  ["a type where any was allowed", {}, TEXT, "input"],
  ["any type", TEXT, {}, "output"],
  // values
  ["a value is added to enum", { enum: ["a", "b"] }, { enum: ["a", "b", "c"] }, "output"],
  ["a value is removed from enum", { enum: ["a", "b"] }, { enum: ["a"] }, "input"],
  ["a value is replaced in enum", { enum: ["a", "b"] }, { enum: ["a", "c"] }, "both"],
  ["text becomes enum", TEXT, { enum: ["a", "b"] }, "input"],
  ["enum becomes text", { enum: ["a", "b"] }, TEXT, "output"],
  ["enum becomes text that includes it", { enum: ["a", "b"] }, { ...TEXT, maxLength: 5 }, "output"],
  [
    "enum becomes text that excludes it",
    { enum: ["a", "long"] },
    { ...TEXT, maxLength: 1 },
    "both",
  ],
  ["another const", { const: 1 }, { const: 2 }, "both"],
  ["a boolean becomes true", { type: "boolean" }, { const: true }, "input"],
  // limits
  ["minimum is raised", { ...NUMBER, minimum: 1 }, { ...NUMBER, minimum: 2 }, "input"],
  ["minimum is lowered", { ...NUMBER, minimum: 2 }, { ...NUMBER, minimum: 1 }, "output"],
  ["maximum is added", NUMBER, { ...NUMBER, maximum: 10 }, "input"],
  ["maximum is removed", { ...NUMBER, maximum: 10 }, NUMBER, "output"],
  [
    "a limit becomes exclusive",
    { ...NUMBER, minimum: 1 },
    { ...NUMBER, exclusiveMinimum: 1 },
    "input",
  ],
  ["multipleOf is added", NUMBER, { ...NUMBER, multipleOf: 5 }, "input"],
  ["multipleOf of fewer", { ...NUMBER, multipleOf: 5 }, { ...NUMBER, multipleOf: 10 }, "input"],
  ["multipleOf of others", { ...NUMBER, multipleOf: 5 }, { ...NUMBER, multipleOf: 7 }, "both"],
  ["minLength is raised", { ...TEXT, minLength: 1 }, { ...TEXT, minLength: 3 }, "input"],
  ["maxLength is raised", { ...TEXT, maxLength: 10 }, { ...TEXT, maxLength: 20 }, "output"],
  ["maxLength is lowered", { ...TEXT, maxLength: 20 }, { ...TEXT, maxLength: 10 }, "input"],
  ["a limit of another type", TEXT, { ...TEXT, maximum: 10 }, "none"],
  // texts
  ["pattern is added", TEXT, { ...TEXT, pattern: "^a" }, "input"],
  ["pattern is removed", { ...TEXT, pattern: "^a" }, TEXT, "output"],
  ["another pattern", { ...TEXT, pattern: "^a" }, { ...TEXT, pattern: "^[ab]" }, "both"],
  ["format is added", TEXT, { ...TEXT, format: "email" }, "input"],
  ["format is removed", { ...TEXT, format: "email" }, TEXT, "output"],
  ["another format", { ...TEXT, format: "date" }, { ...TEXT, format: "date-time" }, "both"],
  ["a format that includes it", { ...TEXT, format: "uri" }, { ...TEXT, format: "iri" }, "output"],
  ["another encoding", { ...TEXT, contentEncoding: "base64" }, TEXT, "both"],
  // members of objects
  ["an optional member is added", object({ a: TEXT }), object({ a: TEXT, b: TEXT }), "none"],
  ["a required member is added", object({ a: TEXT }), object({ a: TEXT, b: TEXT }, "b"), "input"],
  ["a required member is removed", object({ a: TEXT, b: TEXT }, "b"), object({ a: TEXT }), "both"],
  ["an optional member is removed", object({ a: TEXT, b: TEXT }), object({ a: TEXT }), "both"],
  ["a member becomes required", object({ a: TEXT }), object({ a: TEXT }, "a"), "input"],
  ["a member becomes optional", object({ a: TEXT }, "a"), object({ a: TEXT }), "output"],
  ["a member is renamed", object({ a: TEXT }, "a"), object({ b: TEXT }, "b"), "both"],
  [
    "a member of a member becomes required",
    object({ a: object({ b: TEXT }) }),
    object({ a: object({ b: TEXT }, "b") }),
    "input",
  ],
  ["the type of a member", object({ a: TEXT }), object({ a: NUMBER }), "both"],
  [
    "a member is added to a closed object",
    closed({ a: TEXT }),
    closed({ a: TEXT, b: TEXT }),
    "output",
  ],
  ["an object becomes closed", object({ a: TEXT }), closed({ a: TEXT }), "input"],
  ["an object becomes open", closed({ a: TEXT }), object({ a: TEXT }), "output"],
  ["values of a record become wider", record({ type: "integer" }), record(NUMBER), "output"],
  ["values of a record become narrower", record(NUMBER), record({ type: "integer" }), "input"],
  ["a required member that is excluded", impossible(), closed({ a: TEXT }), "output"],
  ["a member is required and excluded", closed({ a: TEXT }), impossible(), "input"],
  ["an open object in other words", object({ a: TEXT }), others({ a: TEXT }, {}), "none"],
  ["others are any, in a component", object({ a: TEXT }), others({ a: TEXT }, ANY), "none"],
  ["a member beside any others", others({}, ANY), object({ a: TEXT }), "none"],
  [
    "a required member beside any others",
    others({}, { title: "A" }),
    object({ a: TEXT }, "a"),
    "input",
  ],
  ["a closed object in other words", closed({ a: TEXT }), others({ a: TEXT }, NOTHING), "none"],
  ["an object is closed by not", object({ a: TEXT }), others({ a: TEXT }, NOTHING), "input"],
  [
    "an object is opened, closed by not",
    others({ a: TEXT }, NOTHING),
    others({ a: TEXT }, ANY),
    "output",
  ],
  ["a member is excluded by not", closed({}), closed({ a: NOTHING }), "none"],
  ["an excluded member may be anything", object({ a: NOTHING }), object({}), "output"],
  ["an excluded member of a closed object is lost", closed({ a: NOTHING }), closed({}), "none"],
  ["a list that ends by not", tuple(TEXT), { ...tuple(TEXT), items: NOTHING }, "none"],
  ["a pattern of members beside any others", object({}), {
    ...others({}, ANY),
    patternProperties: { "^a": TEXT },
  }, "input"],
  ["a record becomes closed", record(NUMBER), closed({}), "input"],
  ["a closed object becomes a record", closed({}), record(NUMBER), "output"],
  [
    "a closed object in another order",
    closed({ a: TEXT, b: TEXT }),
    closed({ b: TEXT, a: TEXT }),
    "none",
  ],
  ["a record becomes any object", record(NUMBER), object({}), "output"],
  [
    "a member of a record is named",
    record(TEXT),
    { ...record(TEXT), properties: { a: TEXT } },
    "none",
  ],
  ["a named member of a record narrows", record(TEXT), {
    ...record(TEXT),
    properties: { a: { ...TEXT, maxLength: 3 } },
  }, "input"],
  ["names of members are limited", record(TEXT), {
    ...record(TEXT),
    propertyNames: { maxLength: 3 },
  }, "input"],
  ["minProperties", record(TEXT), { ...record(TEXT), minProperties: 1 }, "input"],
  ["dependentRequired is added", object({ a: TEXT, b: TEXT }), {
    ...object({ a: TEXT, b: TEXT }),
    dependentRequired: { a: ["b"] },
  }, "input"],
  [
    "patternProperties are added",
    object({}),
    { ...object({}), patternProperties: { "^x": TEXT } },
    "input",
  ],
  // elements of lists
  ["elements become narrower", list(NUMBER), list({ type: "integer" }), "input"],
  ["elements become wider", list({ type: "integer" }), list(NUMBER), "output"],
  ["maxItems is added", list(TEXT), { ...list(TEXT), maxItems: 3 }, "input"],
  ["minItems is removed", { ...list(TEXT), minItems: 1 }, list(TEXT), "output"],
  ["uniqueItems is added", list(TEXT), { ...list(TEXT), uniqueItems: true }, "input"],
  ["contains is added", list(TEXT), { ...list(TEXT), contains: { const: "a" } }, "input"],
  ["contains is removed", { ...list(TEXT), contains: { const: "a" } }, list(TEXT), "output"],
  [
    "contains in another form",
    { ...list(TEXT), contains: { const: "a" } },
    { ...list(TEXT), contains: { enum: ["a"] }, minContains: 1 },
    "none",
  ],
  [
    "contains more, which is not compared",
    { ...list(TEXT), contains: { const: "a" } },
    { ...list(TEXT), contains: { const: "a" }, minContains: 2 },
    "both",
  ],
  ["an element of a tuple", tuple(TEXT, NUMBER), tuple(TEXT, TEXT), "both"],
  ["a tuple is longer", tuple(TEXT), tuple(TEXT, NUMBER), "both"],
  ["a value becomes a list", TEXT, list(TEXT), "both"],
  ["a value or a list of it", TEXT, { anyOf: [TEXT, list(TEXT)] }, "output"],
  // alternatives
  [
    "an alternative is added",
    { anyOf: [TEXT, NUMBER] },
    { anyOf: [TEXT, NUMBER, list(TEXT)] },
    "output",
  ],
  ["an alternative is removed", { anyOf: [TEXT, NUMBER] }, { anyOf: [TEXT] }, "input"],
  ["an alternative becomes narrower", { anyOf: [TEXT, NUMBER] }, {
    anyOf: [TEXT, { type: "integer" }],
  }, "input"],
  ["oneOf becomes anyOf", { oneOf: [TEXT, NUMBER] }, { anyOf: [TEXT, NUMBER] }, "none"],
  ["a kind is added", { oneOf: [kind("cat"), kind("dog")] }, {
    oneOf: [kind("cat"), kind("dog"), kind("cow")],
  }, "output"],
  ["a kind is removed", { oneOf: [kind("cat"), kind("dog")] }, { oneOf: [kind("cat")] }, "input"],
  ["a kind needs more", { oneOf: [kind("cat"), kind("dog")] }, {
    oneOf: [kind("cat"), needy("dog")],
  }, "input"],
  ["a kind loses a member", { oneOf: [needy("cat"), kind("dog")] }, {
    oneOf: [kind("cat"), kind("dog")],
  }, "both"],
  [
    "the last of several alternatives overlaps, which is not compared",
    { oneOf: [{ type: "null" }, NUMBER, TEXT] },
    { oneOf: [{ type: "null" }, NUMBER, TEXT, { ...TEXT, minLength: 3 }] },
    "both",
  ],
  [
    "a value of two alternatives, of which one applies",
    { anyOf: [{ const: "a" }, { enum: ["a", "b"] }] },
    { oneOf: [{ const: "a" }, { enum: ["a", "b"] }] },
    "input",
  ],
  ["one becomes alternatives", kind("cat"), { oneOf: [kind("cat"), kind("dog")] }, "output"],
  ["not is added", TEXT, { ...TEXT, not: { const: "a" } }, "input"],
  [
    "not excludes less",
    { ...TEXT, not: { enum: ["a", "b"] } },
    { ...TEXT, not: { const: "a" } },
    "output",
  ],
  [
    "not excludes more",
    { ...TEXT, not: { const: "a" } },
    { ...TEXT, not: { enum: ["a", "b"] } },
    "input",
  ],
  ["not excludes others", { ...TEXT, not: { enum: ["a", "c"] } }, {
    ...TEXT,
    not: { enum: ["a", "b"] },
  }, "both"],
  ["not excludes objects", object({ a: TEXT }), {
    ...object({ a: TEXT }),
    not: object({ b: TEXT }, "b"),
  }, "input"],
  [
    "another condition",
    { if: TEXT, then: { minLength: 1 } },
    { if: TEXT, then: { minLength: 2 } },
    "both",
  ],
  ["a recursive schema becomes a list of it", ref("Tree"), list(ref("Tree")), "both"],
  [
    "a list of a recursive schema becomes looser",
    list(ref("Tree")),
    list(ref("LooseTree")),
    "output",
  ],
  ["a recursive schema becomes looser", ref("Tree"), ref("LooseTree"), "output"],
  // defaults: what a request without the member means
  [
    "another default",
    object({ a: { ...NUMBER, default: 1 } }),
    object({ a: { ...NUMBER, default: 2 } }),
    "input",
  ],
  [
    "a default is removed",
    object({ a: { ...NUMBER, default: 1 } }),
    object({ a: NUMBER }),
    "input",
  ],
  ["a default is added", object({ a: NUMBER }), object({ a: { ...NUMBER, default: 1 } }), "none"],
];

/** The changes. */
export const SCHEMA_CHANGES: readonly SchemaChange[] = ROWS.map(
  ([name, base, current, broken]) => ({
    name,
    base,
    current,
    breaksInput: broken === "input" || broken === "both",
    breaksOutput: broken === "output" || broken === "both",
  }),
);

function ref(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}

function integer(limits: JsonSchema): JsonSchema {
  return { type: "integer", ...limits };
}

function object(properties: JsonSchema, ...required: readonly string[]): JsonSchema {
  return { type: "object", properties, ...required.length > 0 && { required } };
}

function closed(properties: JsonSchema): JsonSchema {
  return { ...object(properties), additionalProperties: false };
}

/** Returns the schema of an object that requires a member, and has to be without it. */
function impossible(): JsonSchema {
  return { allOf: [closed({ a: TEXT }), object({ b: TEXT }, "b")] };
}

function others(properties: JsonSchema, additionalProperties: unknown): JsonSchema {
  return { ...object(properties), additionalProperties };
}

function record(values: JsonSchema): JsonSchema {
  return { type: "object", additionalProperties: values };
}

function list(items: JsonSchema): JsonSchema {
  return { type: "array", items };
}

function tuple(...prefixItems: readonly JsonSchema[]): JsonSchema {
  return { type: "array", prefixItems, items: false, minItems: prefixItems.length };
}

function kind(name: string): JsonSchema {
  return object({ kind: { const: name } }, "kind");
}

function needy(name: string): JsonSchema {
  return object({ kind: { const: name }, age: NUMBER }, "kind", "age");
}
