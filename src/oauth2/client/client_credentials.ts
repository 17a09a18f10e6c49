/**
 * Tokens that a client gets for itself (RFC 6749 §4.4), cached while they are valid.
 *
 * @module
 */
import { BoundedMap } from "../../platform/bounded_map.ts";
import { hasEnded } from "../../platform/wait_until.ts";
import { OAuth2Error } from "../ground/errors.ts";
import { joinScopes } from "./authorize_url.ts";
import { type Requester, requestTokens } from "./token_request.ts";
import type { TokenSet } from "./token_set.ts";

/** Options of the client credentials grant. */
export interface ClientCredentialsOptions {
  /**
   * Further parameters, such as `resource` (RFC 8707) or `audience`, except those that the
   * client sets itself.
   */
  readonly extra?: Readonly<Record<string, string>> | undefined;
}

/**
 * The parameters of a client credentials grant that are not for `extra` (RFC 6749
 * §4.4.2, RFC 7521).
 */
const OWN_PARAMETERS = /^(grant_type|scope|client_(id|secret|assertion|assertion_type))$/;

/**
 * Requests tokens for the client itself.
 *
 * @throws {OAuth2Error} `InvalidConfig` if the client is public, or `extra` has a parameter that
 * the client sets itself; or as {@linkcode requestTokens} does
 */
export async function requestClientCredentials(
  requester: Requester,
  scopes: readonly string[],
  { extra = {} }: ClientCredentialsOptions = {},
): Promise<TokenSet> {
  if (requester.options.authMethod === "none") throw refusal("the client is public");
  const own = Object.keys(extra).find((name) => OWN_PARAMETERS.test(name));
  if (own) throw refusal(`extra has ${own}, which the client sets itself`);
  const scope = joinScopes(scopes);
  return await requestTokens(requester, {
    action: "get client credentials",
    grantType: "client_credentials",
    parameters: { ...extra, ...(scope === "" ? {} : { scope }) },
  });
}

/** A request and its result. */
interface Entry {
  readonly asked: Promise<TokenSet>;
  /** The set, once it has been received, and when that was, in milliseconds since 1970. */
  received?: { readonly set: TokenSet; readonly atMs: number };
}

/** How long before its expiry a set is no longer used, in milliseconds. */
const EARLY_MS = 30_000;

/** The most cached sets: one for each list of scopes, of which an application has few. */
const MAX_SETS = 100;

/** Caches sets of tokens by what was requested; concurrent calls for the same share one request. */
export class ClientCredentialsCache {
  readonly #entries = new BoundedMap<string, Entry>({ max: MAX_SETS });
  readonly #now: () => number;

  /** Creates an empty cache. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Returns a set that is valid for at least 30 seconds more, or requests one. */
  async get(key: string, ask: () => Promise<TokenSet>): Promise<TokenSet> {
    const entry = this.#entries.get(key);
    if (entry?.received && this.#isValid(entry.received)) return entry.received.set;
    if (entry && !entry.received) {
      if (await hasEnded(entry.asked)) return await entry.asked;
      if (this.#entries.get(key) !== entry) return await this.get(key, ask); // one has asked again
    }
    return await this.#keep(key, ask());
  }

  /** Removes the set of an access token. */
  forget(accessToken: string): void {
    for (const [key, { received }] of this.#entries) {
      if (received?.set.accessToken === accessToken) this.#entries.delete(key);
    }
  }

  /**
   * A set without an expiry is never reused, nor one from before the clock was set back: it expires
   * by the wrong time.
   */
  #isValid({ set, atMs }: Required<Entry>["received"]): boolean {
    const nowMs = this.#now();
    return nowMs >= atMs && set.expiresAt !== undefined && !set.expiresWithin(EARLY_MS, nowMs);
  }

  #keep(key: string, asked: Promise<TokenSet>): Promise<TokenSet> {
    const entry: Entry = { asked };
    this.#entries.set(key, entry);
    asked.then(
      (set) => entry.received = { set, atMs: this.#now() },
      () => this.#entries.get(key) === entry && this.#entries.delete(key),
    );
    return asked;
  }
}

function refusal(why: string): OAuth2Error {
  return new OAuth2Error({ code: "InvalidConfig" }, `Cannot get client credentials: ${why}`);
}
