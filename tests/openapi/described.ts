/**
 * Small applications, and what their documents say.
 *
 * @module
 */
import type { LogRecord } from "@logtape/logtape";
import {
  type ControllerClass,
  type FwApplication,
  FwFactory,
  module,
  type OpenApiDocument,
  type OpenApiOptions,
  type Route,
} from "../../mod.ts";
import { captureLogs } from "../capture_logs.ts";
import { freePort } from "../free_port.ts";
import type { JsonSchema } from "../../src/openapi/json_schema.ts";
import type { OperationMethod, OperationObject } from "../../src/openapi/openapi_document.ts";

/** How an application is set up before it is described. */
export interface DescribeOptions {
  /** What `enableOpenApi` is given. */
  readonly openApi?: OpenApiOptions;
  /** Settles prefixes and middleware. */
  readonly setUp?: (app: FwApplication) => unknown;
}

/** What a controller has beside its routes. */
export type ControllerStatics = Partial<
  Pick<ControllerClass, "prefix" | "version" | "tag" | "guards" | "roles" | "public">
>;

/** Makes a controller, `ThingsController`, of routes by the names of its fields. */
export function controllerOf(
  routes: Readonly<Record<string, Route>>,
  statics: ControllerStatics = {},
): ControllerClass {
  return Object.assign(
    class ThingsController {
      constructor() {
        Object.assign(this, routes);
      }
    },
    statics,
  );
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
  { statics, ...options }: DescribeOptions & { readonly statics?: ControllerStatics } = {},
): Promise<OperationObject> {
  const { paths } = await documentOf(controllerOf({ thing }, statics), options);
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
