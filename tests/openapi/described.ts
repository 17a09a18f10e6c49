/**
 * Small applications, and their documents.
 *
 * @module
 */
import type { LogRecord } from "@logtape/logtape";
import {
  type AnySchema,
  controller,
  type ControllerClass,
  type ControllerOptions,
  type FwApplication,
  FwFactory,
  module,
  type OpenApiDocument,
  type OpenApiOptions,
  type Route,
  route,
} from "../../mod.ts";
import { captureLogs } from "../support/capture_logs.ts";
import { freePort } from "../support/free_port.ts";
import type { JsonSchema } from "../../src/openapi/json_schema/json_schema.ts";
import type {
  OperationMethod,
  OperationObject,
  ResponseObject,
} from "../../src/openapi/openapi_document.ts";

/** The description of a response whose body is unknown. */
export const ANY_BODY: Required<Pick<ResponseObject, "content">> = {
  content: { "*/*": { schema: {} } },
};

/** The response of a route that declares none. */
export const OK: ResponseObject = { description: "OK", ...ANY_BODY };

/** The names of the statuses of problems (RFC 9110 §15.5, RFC 6585 §4). */
const TITLES: Readonly<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  409: "Conflict",
  410: "Gone",
  413: "Content Too Large",
  415: "Unsupported Media Type",
  422: "Unprocessable Content",
  429: "Too Many Requests",
};

/** How an application is set up before it is described. */
export interface DescribeOptions {
  /** What `enableOpenApi` is given. */
  readonly openApi?: OpenApiOptions;
  /** Settles prefixes and middleware. */
  readonly setUp?: (app: FwApplication) => unknown;
}

/** What a controller declares beside its routes. */
export interface ControllerSettings extends ControllerOptions {
  readonly prefix?: string;
}

/** Creates a controller, `ThingsController`, of routes by the names of its fields. */
export function controllerOf(
  routes: Readonly<Record<string, Route>>,
  { prefix = "", ...options }: ControllerSettings = {},
): ControllerClass {
  return class ThingsController extends controller(prefix, options) {
    constructor() {
      super();
      Object.assign(this, routes);
    }
  };
}

/** Creates an application of controllers in the module `AppModule`. */
export async function applicationOf(
  controllers: ControllerClass | readonly ControllerClass[],
  { openApi, setUp }: DescribeOptions = {},
): Promise<FwApplication> {
  const list = [controllers].flat() as ControllerClass[]; // the type of `flat` does not accept a readonly array
  const app = await FwFactory.create(module({ name: "AppModule", controllers: list }));
  setUp?.(app);
  return app.enableOpenApi(openApi);
}

/** Describes an application of controllers. */
export async function documentOf(
  controllers: ControllerClass | readonly ControllerClass[],
  options: DescribeOptions = {},
): Promise<OpenApiDocument> {
  return await (await applicationOf(controllers, options)).openApi();
}

/** Describes a route, `ThingsController.thing`; returns its one operation. */
export async function operationOf(
  thing: Route,
  { settings, ...options }: DescribeOptions & { readonly settings?: ControllerSettings } = {},
): Promise<OperationObject> {
  const { paths } = await documentOf(controllerOf({ thing }, settings), options);
  const operations = Object.values(paths).flatMap((item) => Object.values(item));
  const [operation] = operations;
  if (!operation || operations.length > 1) {
    throw new Error(`It has ${operations.length} operations`);
  }
  return operation;
}

/** Lists the operations of a document, such as `get /users/{id}`, in its order. */
export function operationsOf({ paths }: OpenApiDocument): readonly string[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method as OperationMethod} ${path}`)
  );
}

/** Returns the texts of log records, all of which must be warnings. */
export function warningsAmong(records: readonly LogRecord[]): readonly string[] {
  return records.map(({ level, message }) =>
    (level === "warning" ? "" : `${level}: `) + message.map(String).join("")
  );
}

/** Resolves a schema that is a reference to a component. */
export function resolved(
  schema: JsonSchema | undefined,
  document: OpenApiDocument,
): JsonSchema | undefined {
  const prefix = "#/components/schemas/";
  if (typeof schema?.$ref !== "string" || !schema.$ref.startsWith(prefix)) return schema;
  return resolved(document.components?.schemas?.[schema.$ref.slice(prefix.length)], document);
}

/** Returns the component schemas other than those of problem documents. */
export function ownSchemasOf(
  { components }: OpenApiDocument,
): Readonly<Record<string, JsonSchema>> {
  const { ProblemDetails: _details, ValidationIssue: _issue, ...own } = components?.schemas ?? {};
  return own;
}

/** Returns the expected description of a problem document (RFC 9457). */
export function problem(status: number, description: string): ResponseObject {
  const example = {
    type: "about:blank",
    title: TITLES[status],
    status,
    detail: description,
    instance: "/",
    ...status === 422 && {
      errors: [{ in: "body", field: "name", message: "Why it is invalid" }],
    },
  };
  const schema = { $ref: "#/components/schemas/ProblemDetails" };
  return { description, content: { "application/problem+json": { schema, example } } };
}

/** The types in a schema that JSON Schema cannot represent, as its library names them. */
export interface Wordless {
  /** Of its input. */
  readonly taken?: readonly string[];
  /** Of its output. */
  readonly given?: readonly string[];
}

/** Describes one schema as the body of a route and the response of another, with the warnings of boot. */
export async function describedBothWays(schema: AnySchema) {
  const openapi = { responses: { 200: { description: "", schema } } };
  const app = await applicationOf(controllerOf({
    take: route.post("/", { body: schema }, () => 1),
    give: route.get("/", { openapi }, () => 1), // not every schema can strip what is sent
  }));
  let warnings: readonly string[] = [];
  await captureLogs(["fw"], async (records) => {
    await app.ready();
    warnings = warningsAmong(records);
  });
  const document = await app.openApi();
  const { get, post } = document.paths["/"] ?? {};
  const ok = get?.responses[200];
  return {
    document,
    input: post?.requestBody?.content["application/json"]?.schema,
    output: ok && "content" in ok ? ok.content?.["application/json"]?.schema : undefined,
    components: ownSchemasOf(document),
    warnings: warnings.toSorted(),
  };
}

const NOT_SENT = "; JSON has no bigint, so convert it, as v.pipe(v.bigint(), v.toString()) and " +
  "z.bigint().transform(String) do";

/** Returns the warnings of {@linkcode describedBothWays} of types that JSON Schema cannot represent. */
export function warningsOf(
  { "~standard": { vendor } }: AnySchema,
  { taken = [], given = [] }: Wordless,
): readonly string[] {
  const warning = (user: string) => (kind: string) =>
    `The ${user}: JSON Schema cannot represent "${kind}" of ${vendor}, so it is described as "any"`;
  return [
    ...taken.map(warning("body of POST /")),
    ...given.map((kind) =>
      `${warning("response 200 of GET /")(kind)}${kind === "bigint" ? NOT_SENT : ""}`
    ),
  ].toSorted();
}

/** Serves an application on loopback meanwhile; what it logs is not printed. */
export async function overSocket(
  app: FwApplication,
  body: (get: (path: string, init?: RequestInit) => Promise<Response>) => Promise<void>,
): Promise<void> {
  await captureLogs(["fw"], async () => {
    await using server = await app.listen(await freePort(), { hostname: "127.0.0.1" });
    await body((path, init) => fetch(new URL(path, server.url), init));
  });
}
