/**
 * OpenAPI 3.1 documents: the types of `app.openApi()` and `app.enableOpenApi()`, and YAML.
 *
 * @example
 * ```ts
 * import { controller, FwFactory, module, route } from "@fw/fw";
 * import type { OpenApiOptions } from "@fw/fw/openapi";
 *
 * class CatsController extends controller() {
 *   list = route.get("/cats", () => ["Tom"]);
 * }
 *
 * const options: OpenApiOptions = { title: "Cats" };
 * const app = await FwFactory.create(module({ controllers: [CatsController] }));
 * const document = await app.enableOpenApi(options).openApi();
 * console.assert(Object.keys(document.paths)[0] === "/cats");
 * ```
 *
 * @module
 */
export type { DocsSignIn, DocsUi } from "./docs/docs_page_options.ts";
export type { JsonSchema } from "./json_schema/json_schema.ts";
export type { OpenApiOptions, OpenApiProblem } from "./options.ts";
export type {
  ComponentsObject,
  HeaderObject,
  InfoObject,
  MediaTypeObject,
  OAuthFlowObject,
  OAuthFlowsObject,
  OpenApiDocument,
  OperationMethod,
  OperationObject,
  ParameterObject,
  PathItemObject,
  ReferenceObject,
  RequestBodyObject,
  ResponseObject,
  SecurityRequirementObject,
  SecuritySchemeObject,
  ServerObject,
  TagObject,
} from "./openapi_document.ts";
export { toYaml } from "./yaml.ts";
