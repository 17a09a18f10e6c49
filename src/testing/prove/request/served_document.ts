/**
 * An OpenAPI document as a client has it: its references are resolved, its schemas compiled once.
 *
 * @module
 */
import {
  registerSchema,
  setShouldValidateFormat,
  unregisterSchema,
  validate,
} from "@hyperjump/json-schema/openapi-3-1";
import "@hyperjump/json-schema/formats";
import { isJsonSchema, type JsonSchema } from "../../../openapi/json_schema/json_schema.ts";
import { METHODS, pointerKeys, pointerPart, valueAt } from "../document_keys.ts";
import { percentDecoded } from "../percent_encoding.ts";

/** A schema of the document. */
export interface DescribedSchema {
  /** The schema, whose references are into the document. */
  readonly schema: JsonSchema;
  /** Checks whether a value satisfies it, formats included. */
  holds(value: unknown): boolean;
  /** Returns where a value violates it, as JSON Pointers, each with the violated keyword. */
  violations(value: unknown): readonly string[];
}

/** A parameter of an operation. */
export interface DescribedParameter extends DescribedSchema {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  /** Whether the members of its value, an object, are parameters of their own. */
  readonly isOpen: boolean;
}

/** A response, or the body of a request. */
export interface DescribedContent {
  /** Schemas by media type; `undefined` if the document describes no body. */
  readonly content: ReadonlyMap<string, DescribedSchema> | undefined;
}

/** A response of an operation. */
export interface DescribedResponse extends DescribedContent {
  readonly headers: ReadonlyMap<string, DescribedSchema>;
}

/** An operation. */
export interface DescribedOperation {
  readonly id: string;
  readonly method: string;
  readonly template: string;
  readonly parameters: readonly DescribedParameter[];
  readonly body: DescribedContent & { readonly required: boolean } | undefined;
  readonly responses: ReadonlyMap<number, DescribedResponse>;
  /** Whether it requires an identity. */
  readonly needsIdentity: boolean;
}

/** The dialect of schemas in documents of OpenAPI 3.1. */
const DIALECT = "https://spec.openapis.org/oas/3.1/schema-base";

/** A document, read once. */
export class ServedDocument implements Disposable {
  readonly #json: Json;
  readonly #uri = `https://documents.example/${crypto.randomUUID()}/openapi.json`;
  #operations: readonly DescribedOperation[] = [];
  readonly #made = new WeakMap<object, readonly JsonSchema[]>();

  private constructor(json: Json) {
    this.#json = json;
    setShouldValidateFormat(true); // of the package; whoever else uses it sets it too
    // a document of OpenAPI is to be registered as a schema is
    registerSchema(json as Parameters<typeof registerSchema>[0], this.#uri, DIALECT);
  }

  /** Reads a document. */
  static async read(json: unknown): Promise<ServedDocument> {
    const document = new ServedDocument(json as Json); // the framework has written it
    document.#operations = await document.#read();
    return document;
  }

  /** Its operations. */
  get operations(): readonly DescribedOperation[] {
    return this.#operations;
  }

  /** Resolves a reference. */
  resolve(reference: string): JsonSchema {
    const at = valueAt(this.#json, pointerKeys(reference));
    if (isJsonSchema(at)) return at;
    throw new TypeError(`Cannot read document: there is nothing at ${reference}`);
  }

  /** Makes something of a schema once, and returns it. */
  cached(schema: unknown, make: () => readonly JsonSchema[]): readonly JsonSchema[] {
    if (typeof schema !== "object" || schema === null) return make();
    const made = this.#made.get(schema) ?? make();
    this.#made.set(schema, made);
    return made;
  }

  /** Finds the operation that a request is for, if any is. */
  operationAt(method: string, path: string): DescribedOperation | undefined {
    const given = path.replace(/[?#].*$/s, "").replace(/(?<=.)\/$/, "").split("/");
    const isAt = ({ template }: DescribedOperation) => {
      const segments = template.split("/");
      return segments.length === given.length &&
        segments.every((segment, i) => /^\{.*\}$/.test(segment) ? given[i] : segment === given[i]);
    };
    const candidates = this.#operations.filter((operation) =>
      operation.method === method && isAt(operation)
    );
    const parameters = ({ template }: DescribedOperation) => template.split("{").length;
    return candidates.sort((a, b) => parameters(a) - parameters(b))[0];
  }

  [Symbol.dispose](): void {
    unregisterSchema(this.#uri);
  }

  async #read(): Promise<readonly DescribedOperation[]> {
    const operations: DescribedOperation[] = [];
    for (const [template, item] of entriesOf(this.#json.paths)) {
      for (const [method, operation] of entriesOf(item)) {
        if (!METHODS.includes(method)) continue;
        const at = `#/paths/${pointerPart(template)}/${method}`;
        operations.push(await this.#readOperation(operation as Json, { at, method, template }));
      }
    }
    return operations;
  }

  async #readOperation(
    { operationId, parameters = [], requestBody, responses, security = this.#json.security }: Json,
    { at, method, template }: Record<"at" | "method" | "template", string>,
  ): Promise<DescribedOperation> {
    const read = new Map<number, DescribedResponse>();
    for (const status of Object.keys(responses as Json)) {
      const [pointer, response] = this.#follow(`${at}/responses/${status}`);
      const headers = new Map<string, DescribedSchema>();
      for (const name of Object.keys(response.headers ?? {})) {
        headers.set(name, await this.#compile(`${pointer}/headers/${pointerPart(name)}/schema`));
      }
      read.set(Number(status), { headers, content: await this.#contentOf(pointer, response) });
    }
    const [bodyAt, body] = requestBody ? this.#follow(`${at}/requestBody`) : ["", undefined];
    const needed = security as readonly object[] | undefined ?? [];
    return {
      id: String(operationId),
      method: method.toUpperCase(),
      template,
      parameters: await Promise.all((parameters as Json[]).map(async (_, i) => {
        const [pointer, { name, in: place, required = false, explode }] = this.#follow(
          `${at}/parameters/${i}`,
        );
        const described = await this.#compile(`${pointer}/schema`);
        const isOpen = explode === true && described.schema.type === "object";
        return { name, in: place, required, isOpen, ...described } as DescribedParameter;
      })),
      body: body && {
        required: body.required === true,
        content: await this.#contentOf(bodyAt, body),
      },
      responses: read,
      needsIdentity: needed.length > 0 && needed.every((each) => Object.keys(each).length > 0),
    };
  }

  async #contentOf(
    at: string,
    { content }: Json,
  ): Promise<DescribedContent["content"]> {
    if (!content) return undefined;
    const schemas = new Map<string, DescribedSchema>();
    for (const [mediaType, described] of entriesOf(content)) {
      const schema = (described as Json).schema === undefined
        ? { schema: {}, holds: () => true, violations: () => [] }
        : await this.#compile(`${at}/content/${pointerPart(mediaType)}/schema`);
      schemas.set(mediaType, schema);
      // a version can be a parameter of the media type, which answers have too
      const [essence = ""] = mediaType.split(";");
      if (!schemas.has(essence)) schemas.set(essence, schema);
    }
    return schemas;
  }

  /** Returns the value at a pointer, and its pointer after references are resolved. */
  #follow(pointer: string): [string, JsonSchema] {
    const found = this.resolve(pointer);
    return typeof found.$ref === "string" ? this.#follow(found.$ref) : [pointer, found];
  }

  async #compile(pointer: string): Promise<DescribedSchema> {
    const parts = pointerKeys(pointer).map((key) => `/${pointerPart(key)}`);
    const check = await validate(`${this.#uri}#${parts.join("")}`);
    type Value = Parameters<typeof check>[0]; // every value that is present is JSON
    return {
      schema: this.resolve(pointer),
      holds: (value) => value !== undefined && check(value as Value).valid,
      violations: (value) => [...new Set(leavesOf(check(value as Value, "DETAILED")))],
    };
  }
}

/** The part of a detailed output (JSON Schema 2020-12, Core §12.4.3) that is read. */
interface DetailedOutput {
  readonly valid: boolean;
  readonly keyword?: string;
  readonly instanceLocation?: string;
  readonly errors?: readonly DetailedOutput[];
}

/** Returns the innermost errors of a detailed output. */
function leavesOf(output: DetailedOutput): readonly string[] {
  const { errors = [], keyword = "", instanceLocation = "" } = output;
  if (errors.length > 0) return errors.flatMap(leavesOf);
  if (output.valid) return [];
  const place = percentDecoded(instanceLocation.replace(/^#/, "")) || "/";
  return [`${place}: ${keyword.split("/").at(-1)}`];
}

type Json = { readonly [key: string]: unknown };

function entriesOf(value: unknown): readonly (readonly [string, unknown])[] {
  return Object.entries(value as Json);
}
