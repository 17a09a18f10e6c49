/**
 * A typed client of an application, from the types of its routes: no code is generated, and nothing
 * of the server is loaded.
 *
 * @example
 * ```ts
 * import { controller, FwFactory, module, route } from "@fw/fw";
 * import { type ApiOf, createClient } from "@fw/fw/client";
 *
 * class CatsController extends controller("cats") {
 *   one = route.get("/:name", ({ params }) => params.name);
 * }
 * const AppModule = module({ controllers: [CatsController] });
 * interface Api extends ApiOf<typeof AppModule> {}
 *
 * const app = await FwFactory.create(AppModule);
 * const api = createClient<Api>("http://localhost", { fetch: app.fetch });
 * console.assert(await api.get("/cats/:name", { params: { name: "Tom" } }) === "Tom");
 * ```
 *
 * @module
 */
export type {
  AnyApi,
  ApiOf,
  ApiOptions,
  ByKey,
  CallMethod,
  CommonIn,
  ControllersOf,
  Endpoint,
  EndpointsOf,
  KeyOf,
  Methods,
  PathParts,
  PathsIn,
  PathsOf,
  Plain,
  RouteAt,
  RoutesIn,
  Segments,
  Start,
  TypesOf,
  Versioned,
  VersionOf,
  WholePath,
  WithoutPattern,
  WithoutPatterns,
} from "./api.ts";
export type {
  AnswerOf,
  Arguments,
  AsText,
  BodyIn,
  BodyKeys,
  BodyOf,
  CallArguments,
  CallHeaders,
  CallInput,
  CallOptions,
  ConnectArguments,
  DataOf,
  DeclaredData,
  DeclaredMessages,
  DeclaredProblemOf,
  EventOf,
  EventPath,
  Failure,
  FailureOf,
  HeadersOf,
  InputOf,
  InvalidInput,
  InvalidStatus,
  IsOne,
  NoEvents,
  NoMessages,
  NotModified,
  Param,
  ParamName,
  Params,
  ParamsOf,
  Part,
  Preconditions,
  ProblemStatus,
  ProblemWith,
  Received,
  ReceivedItem,
  ServerSentEvent,
  SocketOf,
  SocketPath,
  Success,
  Successful,
  SuccessOf,
  Texts,
  TextValue,
} from "./call.ts";
export {
  type Calls,
  type Client,
  type ClientOptions,
  type Connect,
  createClient,
  type Send,
} from "./client.ts";
export type { ClientSocket } from "./socket.ts";
export { ProblemError } from "./problem_error.ts";
