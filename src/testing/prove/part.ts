/**
 * The parts of a proof, as the frame runs them. To add one:
 *
 * 1. write a {@linkcode Part} in a folder of its own, whose `run` starts applications by
 *    {@linkcode ProveContext.start} and returns what it has found;
 * 2. name it in `PART_NAMES` of `options.ts` (the order of reports), and load it in `PARTS`
 *    of `prove.ts`;
 * 3. if what it finds is to be compared from run to run, return it as `record`: it becomes the
 *    member of that name in `prove.json`, and the next run receives it as `recorded`.
 *
 * The frame does the rest: seeds, callers with tokens, a database of its own for each application,
 * reports as text, JSON and JUnit, and the exit code of `fw prove`.
 *
 * @module
 */
import type { FwApplication } from "../../application/application.ts";
import type { DbService } from "../../db/service.ts";
import type { ContractBase, PartName, ProveOptions } from "./options.ts";

/** A part of a proof. */
export interface Part {
  /** Its name. */
  readonly name: PartName;
  /** Checks the application. What it finds are failures; it throws only if it cannot check. */
  run(context: ProveContext): Promise<PartResult>;
}

/** What a part has found. */
export interface PartResult {
  /** What was checked, in one line: `63 routes x 5 callers`. */
  readonly checked: string;
  /** The result if there is no failure: `as declared`. */
  readonly outcome: string;
  /** The failures, each once. */
  readonly failures: readonly Failure[];
  /** Further lines of the report, which are no failures. */
  readonly notes?: readonly string[];
  /** What `prove.json` is to contain, as JSON; `undefined` for nothing. */
  readonly record?: unknown;
}

/** Something that is wrong. */
export interface Failure {
  /** The route, or what else it is about: `GET /api/v1/users/:id`. */
  readonly subject: string;
  /** The fault, in one line. */
  readonly message: string;
  /** Further lines: requests as `curl` commands, and the answer. */
  readonly details?: readonly string[];
}

/** What a part is run with. */
export interface ProveContext {
  /** The options of `prove`. */
  readonly options: ProveOptions;
  /** Determines whatever is random. */
  readonly seed: number;
  /** How many requests are to be made from the document. */
  readonly requests: number;
  /** For how long an answer is awaited, in milliseconds. */
  readonly timeoutMs: number;
  /** For how long each failure is reduced, in milliseconds; 0 for not at all. */
  readonly reduceMs: number;
  /** The document to compare with. */
  readonly base: ContractBase | undefined;
  /** What the part has recorded earlier: its member in `prove.json`. */
  readonly recorded: unknown;
  /** Whether the seed and the number of requests are those of `prove.json`. */
  readonly isAsRecorded: boolean;
  /** Starts an application with an empty database of its own. Dispose it. */
  start(): Promise<StartedApplication>;
}

/** An application, and its callers. */
export interface StartedApplication extends AsyncDisposable {
  readonly app: FwApplication;
  /** Its databases, for rows to begin with, and to check what was written. */
  readonly databases: readonly DbService[];
  /** The declared callers, with valid tokens. */
  readonly callers: readonly SignedCaller[];
  /**
   * The first of them, with a token that has expired; `undefined` if none can be issued, as
   * `overrides` provide a `JwtService`.
   */
  readonly expired: SignedCaller | undefined;
  /** A caller with an invalid token. */
  readonly forger: SignedCaller;
  /** Sends a request, each from another address. */
  readonly send: Send;
  /** Sends a request, all from one address. */
  readonly sendHastily: Send;
}

/** The error of a request, or of a start, after the run was aborted. */
export class RunEnded extends Error {
  override readonly name = "RunEnded";
}

/** Sends a request. */
export type Send = (path: string, init?: RequestInit) => Promise<Response>;

/** Who makes a request. */
export interface Caller {
  /** For messages. */
  readonly name: string;
  /** The headers that identify it. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether it is known to the application. */
  readonly isKnown: boolean;
  /** Whether it may not do all that those may who are known. */
  readonly isLimited?: boolean;
  /** Whether it makes more requests than it may. */
  readonly isHasty?: boolean;
}

/** A caller with a token. */
export interface SignedCaller extends Caller {
  readonly headers: Readonly<Record<string, string>>;
  readonly roles: readonly string[];
  readonly scopes: readonly string[];
}

/** The caller without a token. */
export const ANONYMOUS: SignedCaller = {
  name: "anonymous",
  headers: {},
  isKnown: false,
  isHasty: true,
  roles: [],
  scopes: [],
};
