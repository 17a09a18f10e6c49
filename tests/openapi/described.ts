/**
 * Small applications, and what their documents say.
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

/** What is said of a body of which nothing is known, not even whether there is one. */
export const ANY_BODY: Required<Pick<ResponseObject, "content">> = {
  content: { "*/*": { schema: {} } },
};

/** What a route answers that says nothing of it. */
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

/** Makes a controller, `ThingsController`, of routes by the names of its fields. */
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

/** Makes an application of controllers in the module `AppModule`. */
export async function applicationOf(
  controllers: ControllerClass | readonly ControllerClass[],
  { openApi, setUp }: DescribeOptions = {},
): Promise<FwApplication> {
  const list = [controllers].flat() as ControllerClass[]; // `flat` does not know of a list that is read only
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

/** Describes a route, `ThingsController.thing`; gives its one operation. */
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

/** Gives the texts of what is logged, which has to be warnings alone. */
export function warningsAmong(records: readonly LogRecord[]): readonly string[] {
  return records.map(({ level, message }) =>
    (level === "warning" ? "" : `${level}: `) + message.map(String).join("")
  );
}

/** Gives what a schema stands for: the component, if it is a reference to one. */
export function resolved(
  schema: JsonSchema | undefined,
  document: OpenApiDocument,
): JsonSchema | undefined {
  const prefix = "#/components/schemas/";
  if (typeof schema?.$ref !== "string" || !schema.$ref.startsWith(prefix)) return schema;
  return resolved(document.components?.schemas?.[schema.$ref.slice(prefix.length)], document);
}

/** Gives the schemas among the components that are not those of all problem documents. */
export function ownSchemasOf(
  { components }: OpenApiDocument,
): Readonly<Record<string, JsonSchema>> {
  const { ProblemDetails: _details, ValidationIssue: _issue, ...own } = components?.schemas ?? {};
  return own;
}

/** Gives what is said of a problem (RFC 9457), which means what is described. */
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

/** What of a schema JSON Schema cannot represent, as its library calls it. */
export interface Wordless {
  /** Of what it takes. */
  readonly taken?: readonly string[];
  /** Of what it gives. */
  readonly given?: readonly string[];
}

/** Describes one schema as what a route takes and what another gives, and tells what boot warns of. */
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

/** Gives the warnings of {@linkcode describedBothWays} of what JSON Schema cannot represent. */
export function warningsOf(
  { "~standard": { vendor } }: AnySchema,
  { taken = [], given = [] }: Wordless,
): readonly string[] {
  const warning = (user: string) => (kind: string) =>
    `The ${user}: JSON Schema cannot represent "${kind}" of ${vendor}, so it is described as "any"`;
  return [
    ...taken.map(warning("body of POST /")),
    ...given.map(warning("response 200 of GET /")),
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
