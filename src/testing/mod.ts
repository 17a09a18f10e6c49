/**
 * Test applications, stubs, data of models, and an identity provider for development.
 *
 * @example
 * ```ts
 * import { controller, inject, module, provide, route } from "@fw/fw";
 * import { createTestApplication } from "@fw/fw/testing";
 *
 * const Clock = provide("clock", () => Date.now);
 * class TimeController extends controller() {
 *   readonly #now = inject(Clock);
 *   time = route.get("/time", () => ({ ms: this.#now() }));
 * }
 * const AppModule = module({ providers: [Clock], controllers: [TimeController] });
 *
 * await using app = await createTestApplication(AppModule, {
 *   overrides: [provide(Clock, () => () => 42)],
 *   setUp: (app) => app.setGlobalPrefix("api"),
 * });
 * const response = await app.request("/api/time");
 * console.assert((await response.json()).ms === 42);
 * ```
 *
 * @module
 */
export { Factory, factory, type FactoryValues } from "./factory.ts";
export { DevelopmentIdentityProvider } from "./identity_provider/development_identity_provider.ts";
export {
  DEFAULT_USERS,
  type DevelopmentClient,
  type DevelopmentIdentityProviderOptions,
  type DevelopmentSigningAlgorithm,
  type DevelopmentUser,
  type IssueTokenOptions,
  type RotateKeysOptions,
} from "./identity_provider/options.ts";
export type {
  ContractBase,
  PartName,
  ProveCaller,
  ProveIdentity,
  ProveOptions,
  ProveRecord,
  ProveRunOptions,
  Undocumented,
} from "./prove/options.ts";
export { type Proof, prove } from "./prove/prove.ts";
export type { PartReport, ProveReport } from "./prove/report.ts";
export type { Failure, PartResult } from "./prove/part.ts";
export { stub, type StubMembers } from "./stub.ts";
export {
  createTestApplication,
  type TestApplication,
  type TestApplicationOptions,
} from "./test_application.ts";
export { TestJobs } from "./test_jobs.ts";
