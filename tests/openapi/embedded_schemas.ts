/**
 * The schemas within an OpenAPI document, by `@hyperjump/json-schema`: an implementation of JSON Schema
 * 2020-12, and of the dialect of it that OpenAPI 3.1 has.
 *
 * @module
 */
import {
  type OutputUnit,
  registerSchema,
  unregisterSchema,
  validate,
  type Validator,
} from "@hyperjump/json-schema/openapi-3-1";

/** The schema of OpenAPI 3.1 documents that has all schemas in them checked by the dialect's own. */
const SCHEMA_OF_DOCUMENTS = "https://spec.openapis.org/oas/3.1/schema-base";

/** The keywords whose values are not schemas. */
const OF_VALUES = new Set(["default", "enum", "example", "examples", "value"]);

type Json = Parameters<Validator>[0];

/** The schemas of a document. */
export class EmbeddedSchemas implements Disposable {
  readonly #document: Json;
  readonly #url = `https://document.invalid/${crypto.randomUUID()}`;

  /** Takes a document, as it is when it is sent. */
  constructor(document: object) {
    const json = JSON.parse(JSON.stringify(document));
    this.#document = json;
    registerSchema(json, this.#url, SCHEMA_OF_DOCUMENTS);
  }

  /** The JSON pointers of the schemas. */
  get pointers(): readonly string[] {
    return [...pointersOf(this.#document, "")];
  }

  /** The defaults, with the JSON pointers of the schemas that have them. */
  get defaults(): readonly { readonly pointer: string; readonly value: unknown }[] {
    return [...defaultsOf(this.#document, "")];
  }

  /** Prepares to check values against a schema, by its JSON pointer. */
  async checker(pointer: string): Promise<(value: unknown) => boolean> {
    const check = await validate(`${this.#url}#${encodeURI(pointer)}`);
    return (value) => check(value as Json).valid; // a value that is not JSON satisfies no schema
  }

  /**
   * Lists what is wrong with the document by the schema of all documents; if nothing is, with those of
   * its schemas that cannot be used.
   */
  async complaints(): Promise<readonly string[]> {
    const result = await validate(SCHEMA_OF_DOCUMENTS, this.#document, "BASIC");
    if (!result.valid) return (result.errors ?? []).map(told);
    const complaints: string[] = [];
    for (const pointer of this.pointers) {
      await this.checker(pointer).catch((error) => complaints.push(`${pointer}: ${error}`));
    }
    return complaints;
  }

  /** Forgets the document. */
  [Symbol.dispose](): void {
    unregisterSchema(this.#url);
  }
}

/** Creates a JSON pointer of keys (RFC 6901). */
export function pointerOf(...keys: readonly string[]): string {
  return keys.map((key) => `/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

function told({ instanceLocation, absoluteKeywordLocation }: OutputUnit): string {
  return `${instanceLocation} violates ${absoluteKeywordLocation}`;
}

function* pointersOf(part: unknown, at: string): Generator<string> {
  if (typeof part !== "object" || part === null) return;
  for (const [key, value] of Object.entries(part)) {
    const pointer = at + pointerOf(key);
    if (key === "schema" || at === "/components/schemas") yield pointer;
    else if (!OF_VALUES.has(key)) yield* pointersOf(value, pointer);
  }
}

function* defaultsOf(part: unknown, at: string): Generator<{ pointer: string; value: unknown }> {
  if (typeof part !== "object" || part === null) return;
  if ("default" in part && !at.includes("/variables/")) yield { pointer: at, value: part.default };
  for (const [key, value] of Object.entries(part)) {
    if (!OF_VALUES.has(key)) yield* defaultsOf(value, at + pointerOf(key));
  }
}
