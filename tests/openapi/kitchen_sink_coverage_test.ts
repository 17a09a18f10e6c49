import assert from "node:assert/strict";
import type {
  BodyFormat,
  ControllerOptions,
  Deprecation,
  Module,
  RouteMethod,
  RouteOpenApi,
  RouteOptions,
  RouteResponse,
  SuccessStatus,
} from "../../mod.ts";
import { declarationOf, extendsController, routesOf } from "../../src/core/route/controller.ts";
import { test } from "../support/test.ts";
import { KitchenSinkModule } from "./kitchen_sink.ts";

// The lists are checked against the types, so that every new option must be used in the kitchen sink.

const OPTIONS = keysOf<RouteOptions>({
  args: 0,
  body: 0,
  bodyLimit: 0,
  consumes: 0,
  etag: 0,
  filters: 0,
  guards: 0,
  headers: 0,
  idempotent: 0,
  interceptors: 0,
  openapi: 0,
  params: 0,
  public: 0,
  query: 0,
  response: 0,
  roles: 0,
  scopes: 0,
  status: 0,
  version: 0,
});
const OPENAPI = keysOf<RouteOpenApi>({
  deprecated: 0,
  description: 0,
  hidden: 0,
  operationId: 0,
  responses: 0,
  security: 0,
  summary: 0,
  tag: 0,
});
const DEPRECATION = keysOf<Deprecation>({ link: 0, since: 0, sunset: 0 });
const RESPONSE = keysOf<RouteResponse>({
  contentType: 0,
  description: 0,
  headers: 0,
  receives: 0,
  schema: 0,
  sends: 0,
});
const CONTROLLER = keysOf<ControllerOptions & { readonly prefix: string }>({
  filters: 0,
  guards: 0,
  interceptors: 0,
  prefix: 0,
  public: 0,
  roles: 0,
  scopes: 0,
  tag: 0,
  version: 0,
});
const METHODS = keysOf<Record<RouteMethod, 0>>({
  ALL: 0,
  DELETE: 0,
  GET: 0,
  HEAD: 0,
  OPTIONS: 0,
  PATCH: 0,
  POST: 0,
  PUT: 0,
});
const STATUSES = keysOf<Record<SuccessStatus | 204, 0>>({
  200: 0,
  201: 0,
  202: 0,
  203: 0,
  204: 0,
  206: 0,
  207: 0,
  208: 0,
  226: 0,
});
const FORMATS = keysOf<Record<BodyFormat, 0>>({ form: 0, json: 0, multipart: 0 });

test("the kitchen sink uses everything that controllers and routes can declare", () => {
  const modules = KitchenSinkModule.imports as readonly Module[]; // all are modules, not promises
  const controllers = modules.flatMap((module) => module.controllers);
  const declarations = controllers.map(({ [extendsController]: declared }) => declared);
  const routes = controllers.flatMap((type) =>
    routesOf(new type(), declarationOf(type)).map(([, route]) => route)
  );
  const used = (lists: readonly (object | undefined)[]) =>
    [
      ...new Set(lists.flatMap((list) => Object.keys(list ?? {}))),
    ].sort();
  const openapi = routes.map(({ options }) => options.openapi);
  const objects = (values: readonly unknown[]) => values.filter((value) => isObject(value));
  assert.deepEqual(used(routes.map(({ options }) => options)), OPTIONS);
  assert.deepEqual(used(openapi), OPENAPI);
  assert.deepEqual(used(objects(openapi.map((each) => each?.deprecated))), DEPRECATION);
  const responses = openapi.flatMap((each) => Object.values(each?.responses ?? {}));
  assert.deepEqual(used(objects(responses)), RESPONSE);
  assert.deepEqual(used(declarations), CONTROLLER);
  assert.deepEqual([...new Set(routes.map(({ method }) => method))].sort(), METHODS);
  const statuses = routes.map(({ options }) => String(options.status ?? 200));
  assert.deepEqual([...new Set(statuses)].sort(), STATUSES);
  const formats = routes.flatMap(({ options }) => options.consumes ?? []);
  assert.deepEqual([...new Set(formats)].sort(), FORMATS);
});

function keysOf<T extends object>(keys: Readonly<Record<keyof T, 0>>): readonly string[] {
  return Object.keys(keys);
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
