/**
 * An OpenAPI document, as its clients depend on it.
 *
 * @module
 */
import type { JsonSchema } from "../../../openapi/json_schema/json_schema.ts";
import { NOT_PARAMETERS } from "../../../openapi/operation/parameters.ts";
import { METHODS } from "../document_keys.ts";
import type { Schema } from "./schema/keywords.ts";
import { Shapes } from "./schema/shapes.ts";

/** An operation. */
export interface ContractOperation {
  /** The method and the path template: `GET /orders/{id}`. */
  readonly name: string;
  /** The same with parameters by their positions, as their names do not matter. */
  readonly key: string;
  /** Its object in the document. */
  readonly content: JsonSchema;
  /** Its parameters and those of its path, by place and name. */
  readonly parameters: ReadonlyMap<string, JsonSchema>;
  /** The body of its requests. */
  readonly body: JsonSchema | undefined;
  /** Its responses, by status, range of statuses or `default`. */
  readonly responses: ReadonlyMap<string, JsonSchema>;
  /** Alternative requirements: scopes by scheme; none if it needs no credentials. */
  readonly security: readonly Requirement[];
}

/** Scopes by scheme, which are needed together. */
export type Requirement = Readonly<Record<string, readonly string[]>>;

/** A document, whose references are resolved. */
export class ContractDocument {
  /** Its schemas. */
  readonly shapes: Shapes;
  /** Its operations, by key. */
  readonly operations: ReadonlyMap<string, ContractOperation>;
  /** The URLs of its servers. */
  readonly servers: readonly string[];
  /** Its security schemes, by name. */
  readonly schemes: ReadonlyMap<string, JsonSchema>;

  /**
   * Reads a document.
   *
   * @throws {TypeError} if it is not a document of OpenAPI 3.1, or a reference is invalid
   */
  constructor(document: unknown) {
    const { openapi, paths, servers = [{ url: "/" }], components, ...rest } = Object(document);
    if (!/^3\.1\.\d+$/.test(String(openapi))) {
      const version = openapi === undefined
        ? "it has no version of OpenAPI"
        : `it is of OpenAPI ${openapi}`;
      throw new TypeError(
        `Cannot read document: ${version}; documents of OpenAPI 3.1 are compared`,
      );
    }
    this.shapes = new Shapes(document);
    this.servers = (servers as JsonSchema[]).map(({ url }) => String(url).replace(/(?<=.)\/$/, ""));
    this.schemes = this.named(components?.securitySchemes);
    const operations = this.named(paths);
    this.operations = new Map(
      [...operations].flatMap(([path, item]) =>
        METHODS.filter((method) => item[method]).map((method) => {
          const operation = this.#read({ path, method, item }, rest.security);
          return [operation.key, operation] as const;
        })
      ),
    );
  }

  /** Returns the members of an object, whose references are resolved. */
  named(object: unknown): ReadonlyMap<string, JsonSchema> {
    const entries = Object.entries(Object(object));
    return new Map(entries.map(([name, value]) => [name, this.#resolve(value)]));
  }

  #resolve(value: unknown): JsonSchema {
    return this.shapes.schemas.resolve(value) as JsonSchema; // as OpenAPI has objects there
  }

  #read(
    { path, method, item }: {
      readonly path: string;
      readonly method: string;
      readonly item: JsonSchema;
    },
    common: unknown = [],
  ): ContractOperation {
    const content = item[method] as JsonSchema;
    const verb = method.toUpperCase();
    const names = [...path.matchAll(/\{([^}]*)\}/g)].map(([, name]) => name);
    const { parameters = [], requestBody, responses, security = common } = content;
    const all = [...item.parameters as unknown[] ?? [], ...parameters as unknown[]]
      .map((each) => this.#resolve(each));
    return {
      name: `${verb} ${path}`,
      key: `${verb} ${path.replaceAll(/\{[^}]*\}/g, "{}")}`,
      content,
      parameters: new Map(
        all.filter((each) => !isIgnored(each)).map((each) => [keyOf(each, names), each]),
      ),
      body: requestBody === undefined ? undefined : this.#resolve(requestBody),
      responses: this.named(responses),
      security: requirementsOf(security as readonly Requirement[]),
    };
  }
}

/** Returns the schema of a parameter, a header or a media type. */
export function schemaIn({ schema = true }: JsonSchema): Schema {
  return schema as Schema;
}

/** Returns the place and name of a parameter; of one in the path, its position. */
function keyOf({ in: place, name }: JsonSchema, names: readonly unknown[]): string {
  if (place === "path") return `path ${names.indexOf(name)}`;
  return `${place} ${place === "header" ? String(name).toLowerCase() : name}`;
}

function isIgnored({ in: place, name }: JsonSchema): boolean {
  return place === "header" && NOT_PARAMETERS.has(String(name).toLowerCase());
}

/** An empty requirement needs no credentials, so that the others do not matter. */
function requirementsOf(security: readonly Requirement[]): readonly Requirement[] {
  return security.some((each) => Object.keys(each).length === 0) ? [] : security;
}
