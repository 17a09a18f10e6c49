/**
 * Documents that are wrong in one way each, made of one that is right.
 *
 * @module
 */
import { SHOP_DOCUMENT } from "./kitchen_sink/shop_document.ts";

/** What refuses documents: two validators, of documents and of the schemas in them, and a linter. */
export type Judge = "seriousme" | "hyperjump" | "redocly";

/** A way in which a document is wrong. */
export interface Breakage {
  readonly what: string;
  /** Where: the keys down to the value. */
  readonly at: readonly string[];
  /** The value that replaces it; `undefined` removes it. */
  readonly value?: unknown;
  /** Who notices. */
  readonly refusedBy: readonly Judge[];
}

const OPEN = ["paths", "/api/v1/account/open", "get"];
const CREATE = ["paths", "/api/v2/{tenant}/products", "post"];
const LIST = ["paths", "/api/v2/{tenant}/products", "get"];
const PRODUCT = ["components", "schemas", "Product"];
const EVERYBODY: readonly Judge[] = ["seriousme", "hyperjump", "redocly"];

/** The ways. */
export const BREAKAGES: readonly Breakage[] = [
  {
    what: "a response without a description",
    at: [...OPEN, "responses", "200", "description"],
    refusedBy: EVERYBODY,
  },
  {
    what: "a reference to a schema that is not there",
    at: [...CREATE, "requestBody", "content", "application/json", "schema", "$ref"],
    value: "#/components/schemas/Nothing",
    refusedBy: EVERYBODY,
  },
  {
    what: "a reference to a response that is not there",
    at: [...OPEN, "responses", "429", "$ref"],
    value: "#/components/responses/Nothing",
    refusedBy: ["seriousme", "redocly"],
  },
  {
    what: "a parameter without a schema",
    at: [...LIST, "parameters", "1", "schema"],
    refusedBy: EVERYBODY,
  },
  {
    what: "a schema of a type that there is not",
    at: [...PRODUCT, "properties", "name", "type"],
    value: "strin",
    refusedBy: ["hyperjump", "redocly"],
  },
  {
    what: "a path parameter that is not told",
    at: [...CREATE, "parameters"],
    refusedBy: ["redocly"],
  },
  {
    what: "a path parameter that may be left out",
    at: [...CREATE, "parameters", "0", "required"],
    value: false,
    refusedBy: ["seriousme", "hyperjump"],
  },
  {
    what: "a parameter at a place that there is not",
    at: [...LIST, "parameters", "1", "in"],
    value: "body",
    refusedBy: EVERYBODY,
  },
  {
    what: "two operations of one id",
    at: [...OPEN, "operationId"],
    value: "compare",
    refusedBy: ["redocly"],
  },
  {
    what: "an operation without a summary",
    at: [...OPEN, "summary"],
    refusedBy: ["redocly"],
  },
  {
    what: "a security scheme that is not declared",
    at: ["components", "securitySchemes", "oauth"],
    refusedBy: ["redocly"],
  },
  {
    what: "a security scheme of a type that there is not",
    at: ["components", "securitySchemes", "oauth", "type"],
    value: "bearer",
    refusedBy: EVERYBODY,
  },
  {
    what: "required properties that are no list",
    at: [...PRODUCT, "required"],
    value: "name",
    refusedBy: ["hyperjump", "redocly"],
  },
  {
    what: "a pattern that is no regular expression",
    at: [...PRODUCT, "properties", "name", "pattern"],
    value: "(",
    refusedBy: ["hyperjump"],
  },
  {
    what: "an enumeration of another type",
    at: [...LIST, "parameters", "2", "schema", "enum"],
    value: [1, 2],
    refusedBy: ["redocly"],
  },
  {
    what: "a component whose name is none",
    at: ["components", "schemas", "A name"],
    value: { type: "string" },
    refusedBy: EVERYBODY,
  },
  {
    what: "no version of the API",
    at: ["info", "version"],
    refusedBy: EVERYBODY,
  },
  {
    what: "a path of the shape of another",
    at: ["paths", "/api/v2/{shop}/products"],
    value: {},
    refusedBy: ["redocly"],
  },
];

/** Creates a document that is wrong. */
export function brokenDocument({ at, value }: Breakage): object {
  const document: Record<string, unknown> = JSON.parse(JSON.stringify(SHOP_DOCUMENT));
  let part = document;
  for (const key of at.slice(0, -1)) {
    const next = part[key];
    if (typeof next !== "object" || next === null) throw new Error(`Cannot break ${at}: no ${key}`);
    part = next as Record<string, unknown>;
  }
  const last = at.at(-1) ?? "";
  if (value === undefined && !(last in part)) throw new Error(`Cannot break ${at}: no ${last}`);
  if (value === undefined) delete part[last];
  else part[last] = value;
  return document;
}
