/**
 * The options of `prove`.
 *
 * @module
 */
import type { FwApplication } from "../../application/application.ts";
import type { Provider } from "../../core/module/provider.ts";
import type { Migrations } from "../../db/migrate/migrations.ts";
import type { JwtVerifier } from "../../oauth2/resource_server/jwt_verifier.ts";
import type { DevelopmentIdentityProvider } from "../identity_provider/development_identity_provider.ts";

/** The parts of a proof, in their order. */
export const PART_NAMES = ["document", "roles", "tenants", "contract"] as const;

/** A part of a proof. */
export type PartName = (typeof PART_NAMES)[number];

/**
 * A caller: the claims of its token, such as `tenant_id`. `roles` is a list, `scope` words that are
 * separated by spaces, and `sub` the name of the caller by default. A caller with `headers` sends
 * these instead of a token.
 */
export interface ProveCaller {
  /** The roles. */
  readonly roles?: readonly string[];
  /** The scopes. */
  readonly scope?: string;
  /** Headers to send instead of a token, such as an API key. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Any other claim. */
  readonly [claim: string]: unknown;
}

/** The identity provider of a run, for applications that do not inject a `JwtVerifier`. */
export interface ProveIdentity {
  /** The provider that issues the tokens of the callers. */
  readonly provider: DevelopmentIdentityProvider;
  /** Verifies them. */
  readonly verifier: JwtVerifier;
}

/** Facts about an application that its document does not describe. */
export interface Undocumented {
  /**
   * The ids of operations that need more than is described, such as a state, or one parameter for
   * another.
   */
  readonly operations?: readonly string[];
  /** Patterns that the document lacks: of properties, and of parameters such as `path id`. */
  readonly patterns?: Readonly<Record<string, string>>;
  /** Names of parameters and properties that accept more than is described. */
  readonly lenient?: readonly string[];
}

/** Options of {@linkcode prove}. */
export interface ProveOptions {
  /**
   * Configures prefixes and middleware, as the application's main file does; awaited. One that
   * calls `useOAuth2` with a verifier that it does not inject uses that of `identity` instead.
   */
  readonly setUp?: (app: FwApplication, identity: ProveIdentity) => unknown;
  /** The callers, by name; default none. A caller without a token is always one. */
  readonly callers?: Readonly<Record<string, ProveCaller>>;
  /**
   * Providers that replace every provider of their keys. Those of `DbService`, `JwtVerifier` and
   * `JwtService` are replaced anyway: by a database of the run, and by the tokens of the callers.
   */
  readonly overrides?: readonly Provider[] | ((identity: ProveIdentity) => readonly Provider[]);
  /**
   * The migrations of the databases: a folder, relative to the working directory, or the migrations
   * by name. By default, the tables are those of the models.
   */
  readonly migrations?: string | Migrations;
  /** Facts that the document does not describe; each is less that is checked. */
  readonly undocumented?: Undocumented;
  /**
   * What a caller may learn of another tenant, and no more: that a column which is unique among
   * all tenants has a value (`users.email`), or that a row exists, by the status of a refusal
   * (`PATCH /users/:id`).
   */
  readonly revealed?: readonly string[];
  /** For how long an answer is awaited in milliseconds; default 10 000. */
  readonly timeoutMs?: number;
  /** The media type of error responses; default that of problem documents (RFC 9457). */
  readonly problemType?: string;
  /**
   * Texts that no answer may contain. The values of variables named `*KEY`, `*PASSWORD`, `*SECRET`
   * or `*TOKEN`, and the password of `DATABASE_URL`, are such texts anyway.
   */
  readonly secrets?: readonly string[];
}

/** Options of a run. */
export interface ProveRunOptions {
  /** The parts to run; default all, `contract` only with a `base`. */
  readonly only?: readonly PartName[] | undefined;
  /** The document that the part `contract` compares with. */
  readonly base?: ContractBase | undefined;
  /** Determines the requests: from 0 to 2^31 - 1; default that of `recorded`, else a random one. */
  readonly seed?: number | undefined;
  /** How many requests are made from the document; default that of `recorded`, else 20 000. */
  readonly requests?: number | undefined;
  /**
   * For how long each failure is reduced, in milliseconds; default 5000. With 0, it is reported by
   * the request that has failed.
   */
  readonly reduceMs?: number | undefined;
  /** The URL of a server on which each application has a database; default SQLite in memory. */
  readonly database?: string | undefined;
  /** The content of `prove.json`: what the run compares; default nothing. */
  readonly recorded?: ProveRecord | undefined;
  /** Aborting it ends the run, which removes its databases and throws the reason. */
  readonly signal?: AbortSignal | undefined;
}

/** An earlier document of the application. */
export interface ContractBase {
  /** Where it comes from, for the report: `main`. */
  readonly name: string;
  /** The OpenAPI 3.1 document, as JSON. */
  readonly document: unknown;
}

/** The content of `prove.json`. Each part has a member of its own, besides those here. */
export interface ProveRecord {
  /** The seed. */
  readonly seed?: number;
  /** How many requests are made from the document. */
  readonly requests?: number;
  /** What a part has recorded. */
  readonly [part: string]: unknown;
}
