/**
 * Proving an application by what it declares.
 *
 * @module
 */
import type { Module } from "../../core/module/module.ts";
import { unlessAborted } from "../../db/transaction/time_limits.ts";
import { checkNames, refusing } from "../../platform/option_names.ts";
import { PART_NAMES, type PartName, type ProveOptions, type ProveRunOptions } from "./options.ts";
import { type PartReport, ProveReport } from "./report.ts";
import { secretHider } from "./document/leaks.ts";
import type { Failure, Part } from "./part.ts";

/** The number of requests from the document. */
const REQUESTS = 20_000;

/** For how long an answer is awaited. */
const TIMEOUT_MS = 10_000;

/** For how long a failure is reduced. */
const REDUCE_MS = 5000;

/** The largest seed. */
const MAX_SEED = 2 ** 31 - 1;

/** What `prove.ts` exports: an application that can be proved; see {@linkcode prove}. */
export class Proof {
  readonly #root: Module | Promise<Module>;
  readonly #options: ProveOptions;

  /** Creates a proof; use {@linkcode prove}. */
  constructor(root: Module | Promise<Module>, options: ProveOptions) {
    this.#root = root;
    this.#options = options;
  }

  /**
   * Proves the application. Whatever is wrong with it is part of the report.
   *
   * @throws {RangeError} if the seed, the number of requests or `reduceMs` is out of range
   * @throws {TypeError} if a part or an option is unknown, `FW_ENV` is `production`, or a package
   * is missing that a part needs; the message names it
   * @throws {Error} as the application does if it cannot start
   */
  async run(options: ProveRunOptions = {}): Promise<ProveReport> {
    const known = [
      ...["only", "base", "seed", "requests", "reduceMs"],
      ...["database", "recorded", "signal"],
    ];
    const refuse = refusing("prove");
    checkNames(options, { known, refuse });
    const { base, recorded, reduceMs = REDUCE_MS, signal } = options;
    const { only = PART_NAMES.filter((name) => base || name !== "contract") } = options;
    const unknown = only.find((name) => !PART_NAMES.includes(name));
    if (unknown !== undefined) refuse(`there is no part ${unknown}`);
    if (!base && only.includes("contract")) refuse("contract needs a base to compare with");
    const seed = options.seed ?? recorded?.seed ?? randomSeed();
    const requests = options.requests ?? recorded?.requests ?? REQUESTS;
    checkWhole("seed", seed, { min: 0, max: MAX_SEED });
    checkWhole("number of requests", requests, { min: 1, max: MAX_SEED });
    checkWhole("time in reduceMs", reduceMs, { min: 0, max: MAX_SEED });
    const { Applications } = await withPackages(() => import("./applications.ts"));
    const applications = await Applications.open(await this.#root, this.#options, options);
    const reports: PartReport[] = [];
    const hide = secretHider(this.#options.secrets);
    try {
      for (const name of PART_NAMES.filter((name) => only.includes(name))) {
        const part = await withPackages(PARTS[name]);
        signal?.throwIfAborted();
        const start = performance.now();
        const running = part.run({
          options: this.#options,
          seed,
          requests,
          reduceMs,
          timeoutMs: this.#options.timeoutMs ?? TIMEOUT_MS,
          base,
          recorded: recorded?.[name],
          isAsRecorded: recorded?.seed === seed && recorded.requests === requests,
          start: () => applications.start(),
        });
        const result = await unlessAborted(running, signal).catch((error) => {
          throw signal?.aborted ? signal.reason : error;
        });
        const failures = result.failures.map((failure) => hidden(failure, hide));
        reports.push({ name, ms: Math.round(performance.now() - start), ...result, failures });
      }
    } finally {
      await applications[Symbol.asyncDispose]();
    }
    return new ProveReport(reports, { seed, requests, recorded });
  }
}

/**
 * Declares how an application is proved by what it declares: `fw prove` runs the default export of
 * `prove.ts`, and tests call {@linkcode Proof.run}. Requests are made from its OpenAPI document,
 * and their answers are checked against it; every route is called by every caller, and must let in
 * whom it declares; no answer to a caller may depend on rows of another tenant. Applications run
 * without a server, on databases of their own: with SQLite in memory, and the tables of their
 * models, by default.
 *
 * @example
 * ```ts
 * import { controller, dto, module, NotFoundException, route } from "@fw/fw";
 * import { prove } from "@fw/fw/testing";
 * import * as v from "valibot";
 *
 * const Cat = dto("Cat", v.object({ name: v.string() }));
 * class CatsController extends controller("cats") {
 *   one = route.get("/:name", { response: Cat }, ({ params: { name } }) =>
 *     name === "Tom" ? { name } : NotFoundException.throw("No such cat"));
 * }
 * const AppModule = module({ name: "AppModule", controllers: [CatsController] });
 *
 * const proof = prove(AppModule, { callers: { ann: { tenant_id: "a" } } });
 * const report = await proof.run({ requests: 50 });
 * console.assert(report.isPassed, report.toText());
 * ```
 *
 * @throws {TypeError} if an option is unknown
 */
export function prove(root: Module | Promise<Module>, options: ProveOptions = {}): Proof {
  const refuse = refusing("prove");
  const known = [
    ...["setUp", "callers", "overrides", "migrations"],
    ...["undocumented", "revealed", "timeoutMs", "problemType", "secrets"],
  ];
  checkNames(options, { known, refuse });
  const reserved = Object.keys(options.callers ?? {}).find((name) =>
    !/^[\w.@-]+$/.test(name) || RESERVED.includes(name)
  );
  if (reserved !== undefined) refuse(`a caller cannot have the name ${JSON.stringify(reserved)}`);
  return new Proof(root, options);
}

/** The names of callers that are not declared. */
const RESERVED = ["anonymous", "expired", "forger"];

/** Returns a failure without secrets, which its answers may contain. */
function hidden(
  { subject, message, details }: Failure,
  hide: (text: string) => string,
): Failure {
  return { subject, message: hide(message), ...details && { details: details.map(hide) } };
}

function randomSeed(): number {
  return crypto.getRandomValues(new Uint32Array(1))[0]! >>> 1;
}

function checkWhole(
  what: string,
  value: number,
  { min, max }: { readonly min: number; readonly max: number },
): void {
  if (Number.isSafeInteger(value) && value >= min && value <= max) return;
  throw new RangeError(`Cannot prove: the ${what} is not a whole number from ${min} to ${max}`);
}

/** The packages that proofs import, and an application need not. */
const PACKAGES = ["fast-check", "@hyperjump/json-schema"];

/**
 * Loads what proofs consist of.
 *
 * @throws {TypeError} if a package that it needs is not installed
 */
async function withPackages<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    const text = cause instanceof Error ? cause.message : "";
    if (!PACKAGES.some((name) => text.includes(name))) throw cause;
    const command = `npm install --save-dev ${PACKAGES.join(" ")}`;
    throw new TypeError(`Cannot prove: a package is missing; run ${command}`, { cause });
  }
}

const PARTS: Readonly<Record<PartName, () => Promise<Part>>> = {
  document: async () => (await import("./document/document_part.ts")).documentPart,
  roles: async () => (await import("./roles/roles_part.ts")).rolesPart,
  tenants: async () => (await import("./tenants/tenants_part.ts")).tenantsPart,
  contract: async () => (await import("./contract/contract_part.ts")).contractPart,
};
