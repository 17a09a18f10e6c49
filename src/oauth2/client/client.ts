/**
 * The OAuth2 client.
 *
 * @module
 */
import { MAX_DELAY_MS, within } from "../../platform/time_limit.ts";
import {
  type AuthorizeRequest,
  type AuthorizeUrl,
  joinScopes,
  makeAuthorizeUrl,
} from "./authorize_url.ts";
import type { Fetch } from "../../platform/bounded_fetch.ts";
import { type Callback, readCallback } from "./callback.ts";
import type { OAuth2Options } from "./client_options.ts";
import { endpointUrl } from "../ground/endpoint_url.ts";
import { OAuth2Error } from "../ground/errors.ts";
import {
  checkIdToken,
  type IdTokenClaims,
  idTokenVerifier,
  type VerifyIdTokenOptions,
} from "./id_token.ts";
import type { JsonObject } from "../../platform/json_object.ts";
import type { JwtVerifier } from "../resource_server/jwt_verifier.ts";
import {
  ClientCredentialsCache,
  type ClientCredentialsOptions,
  requestClientCredentials,
} from "./client_credentials.ts";
import { PkceVerifier } from "./pkce.ts";
import { describe, inspectedByToString } from "../../platform/secret.ts";
import { type Requester, requestTokens, revokeToken, type TokenTypeHint } from "./token_request.ts";
import { TokenCache } from "./token_cache.ts";
import type { TokenSet } from "./token_set.ts";
import { requestUserinfo } from "./userinfo.ts";

/** Options of an {@linkcode OAuth2Client}. */
export interface OAuth2ClientOptions {
  /** Sends the requests; the platform's `fetch` by default. */
  readonly fetch?: Fetch | undefined;
  /** Returns the time in milliseconds since 1970; `Date.now` by default. */
  readonly now?: (() => number) | undefined;
}

interface Settings extends Requester {
  readonly revokeUrl: string | undefined;
  readonly userinfoUrl: string | undefined;
  readonly cache: TokenCache;
  readonly clientCredentialsCache: ClientCredentialsCache;
  readonly idTokens: JwtVerifier | undefined;
}

const TIMEOUT_MS = 30_000;

/** The longest code or token in characters. */
const MAX_LENGTH = 16 * 1024;

/** The most sets in the cache of a client, unless it is given a cache. */
const OWN_CACHE_SETS = 1_000;

/**
 * A client of an authorization server (RFC 6749, RFC 9700). Immutable: each `with…` method returns
 * a new client, which shares the cache unless it is given another. Each operation sends one
 * request, follows no redirect and accepts an answer of up to 1 MiB. It throws a `TypeError` for an
 * argument of the wrong type, or an {@linkcode OAuth2Error}:
 * - `Grant` if the server answers with an error response of RFC 6749, even with status 200;
 * - `TokenEndpoint` if the server answers in any other unexpected way;
 * - `Transport` if the server cannot be reached, or does not answer in time;
 * - `InvalidConfig` if the operation requires an option that is missing.
 *
 * @example
 * ```ts
 * import { generatePkce, OAuth2Client, OAuth2Options, type TokenSet } from "@fw/fw/oauth2";
 *
 * const options = new OAuth2Options({ // or: await OAuth2Options.discover(issuer, …)
 *   clientId: "shop",
 *   clientSecret: "a secret from the environment",
 *   authorizeUrl: "https://id.example.com/authorize",
 *   tokenUrl: "https://id.example.com/token",
 *   redirectUri: "https://shop.example.com/auth/callback",
 * });
 * const client = new OAuth2Client(options);
 *
 * const { challenge, verifier } = await generatePkce();
 * const { url, state } = client.authorizeUrl({ scopes: ["openid"], pkce: challenge });
 * // Keep state and verifier, bound to the browser, and redirect it to url. Then:
 * async function login(callback: URL): Promise<TokenSet> {
 *   const code = client.verifyCallback(callback, state);
 *   return await client.exchangeCode(code, verifier);
 * }
 * ```
 */
export class OAuth2Client {
  #settings: Settings;

  /** Creates a client with a new cache of at most 1 000 sets. */
  constructor(
    options: OAuth2Options,
    { fetch = globalThis.fetch, now = Date.now }: OAuth2ClientOptions = {},
  ) {
    this.#settings = {
      options,
      fetch,
      now,
      timeoutMs: TIMEOUT_MS,
      revokeUrl: options.revokeUrl,
      userinfoUrl: options.userinfoUrl,
      cache: new TokenCache({ maxSets: OWN_CACHE_SETS, now }),
      clientCredentialsCache: new ClientCredentialsCache(now),
      idTokens: idTokenVerifier(options, { fetch, now }),
    };
  }

  /** The options of the client. */
  get options(): OAuth2Options {
    return this.#settings.options;
  }

  /**
   * Returns a client with a time limit for requests in milliseconds, including the body of the
   * answer; 30 000 by default.
   *
   * @throws {RangeError} if it is not 1 to 2^31 - 1
   */
  withTimeout(timeoutMs: number): OAuth2Client {
    if (!(timeoutMs >= 1 && timeoutMs <= MAX_DELAY_MS)) {
      throw new RangeError(`Cannot limit time: ${timeoutMs} ms is not 1 to ${MAX_DELAY_MS}`);
    }
    return this.#with({ timeoutMs });
  }

  /**
   * Returns a client with a revocation endpoint.
   *
   * @throws {OAuth2Error} `InvalidConfig` if the URL is neither https nor http to this machine
   */
  withRevokeUrl(url: string | URL): OAuth2Client {
    return this.#with({ revokeUrl: endpointUrl("revokeUrl", url).href });
  }

  /**
   * Returns a client with a userinfo endpoint.
   *
   * @throws {OAuth2Error} `InvalidConfig` if the URL is neither https nor http to this machine
   */
  withUserinfoUrl(url: string | URL): OAuth2Client {
    return this.#with({ userinfoUrl: endpointUrl("userinfoUrl", url).href });
  }

  /** Returns a client with a cache, which other clients of the same server can share. */
  withCache(cache: TokenCache): OAuth2Client {
    if (cache instanceof TokenCache) return this.#with({ cache });
    throw new TypeError("Cannot share cache: it is not a TokenCache");
  }

  /**
   * Returns the URL at which a user logs in, with a new state of 256 bits.
   *
   * @throws {OAuth2Error} `InvalidConfig` if authorizeUrl or redirectUri is missing, or `extra` has
   * a parameter that the client sets itself: `client_id`, `code_challenge`,
   * `code_challenge_method`, `nonce`, `redirect_uri`, `response_type`, `scope` and `state`
   */
  authorizeUrl(request: AuthorizeRequest): AuthorizeUrl {
    return makeAuthorizeUrl(this.#settings.options, request);
  }

  /**
   * Returns the code of a callback: its URL, its query, or the body of a `form_post`. Its `state`
   * must be the expected one. Its `iss` must be the issuer (RFC 9207) if both are known, or if the
   * server always sends `iss`. No parameter may be repeated.
   *
   * @throws {OAuth2Error} `Validation` if the callback is invalid; otherwise `Grant` if the server
   * or the user refuses
   */
  verifyCallback(callback: Callback, expectedState: string): string {
    const { issuer, issParameterSupported } = this.#settings.options;
    return readCallback(callback, { state: expectedState, issuer, issParameterSupported });
  }

  /**
   * Exchanges the code of a callback for tokens, which are cached. It consumes the verifier,
   * even if it fails.
   *
   * @throws {OAuth2Error} `Validation`, before anything is sent, if the verifier has been used
   */
  async exchangeCode(code: string, verifier: PkceVerifier): Promise<TokenSet> {
    const action = "exchange code";
    if (!(verifier instanceof PkceVerifier)) {
      throw new TypeError(`Cannot ${action}: the verifier is not a PkceVerifier`);
    }
    const { options: { redirectUri } } = this.#settings;
    const parameters = {
      code_verifier: verifier.consume(),
      code: checkText(code, action),
      ...(redirectUri === undefined ? {} : { redirect_uri: redirectUri }),
    };
    const request = { action, grantType: "authorization_code", parameters } as const;
    return this.#store(await requestTokens(this.#settings, request));
  }

  /**
   * Requests new tokens for the client itself (RFC 6749 §4.4). Each call sends a request; see
   * {@linkcode OAuth2Client.cachedClientCredentials}.
   *
   * @throws {OAuth2Error} `InvalidConfig` if the client is public, or `extra` has a parameter that
   * the client sets itself
   */
  async clientCredentials(
    scopes: readonly string[] = [],
    options: ClientCredentialsOptions = {},
  ): Promise<TokenSet> {
    return this.#store(await requestClientCredentials(this.#settings, scopes, options));
  }

  /**
   * Returns tokens for the client itself that are valid for at least 30 seconds: cached tokens, or
   * new ones. Concurrent calls share one request.
   *
   * @throws {OAuth2Error} as {@linkcode OAuth2Client.clientCredentials} does
   */
  async cachedClientCredentials(
    scopes: readonly string[] = [],
    options: ClientCredentialsOptions = {},
  ): Promise<TokenSet> {
    const key = JSON.stringify([joinScopes(scopes), Object.entries(options.extra ?? {}).sort()]);
    const ask = () => this.clientCredentials(scopes, options);
    return await this.#settings.clientCredentialsCache.get(key, ask);
  }

  /**
   * Removes an access token that {@linkcode OAuth2Client.cachedClientCredentials} has returned and
   * an API has refused, so that the next call requests a new one.
   */
  forgetClientCredentials(accessToken: string): void {
    this.#settings.clientCredentialsCache.forget(accessToken);
  }

  /**
   * Exchanges a refresh token for a new set of tokens (RFC 6749 §6), and caches it. Concurrent
   * calls with the same token and cache share one request. For a minute, a call with a superseded
   * token returns the newest set or, if that has expired, refreshes it; later, the token is sent,
   * so that the server sees its reuse (RFC 9700 §4.14.2). If the server returns no new refresh
   * token, the set keeps the old one.
   *
   * The time limit applies to the caller. The request itself continues for at least 30 seconds,
   * because its answer may contain the only refresh token that is still valid; a second call
   * receives that answer. Without any answer, it is unknown whether the server has superseded the
   * token. A further call sends it again: if it was superseded, its successor is lost anyway.
   */
  async refresh(refreshToken: string): Promise<TokenSet> {
    const action = "refresh token";
    const { cache, timeoutMs } = this.#settings;
    const requester = { ...this.#settings, timeoutMs: Math.max(timeoutMs, TIMEOUT_MS) };
    const refreshed = cache.refresh(
      checkText(refreshToken, action),
      (newest) =>
        requestTokens(requester, {
          action,
          grantType: "refresh_token",
          parameters: { refresh_token: newest },
        }),
    );
    if (await within(refreshed, timeoutMs)) return await refreshed;
    const message = `Cannot ${action}: no answer in ${timeoutMs} ms`;
    throw new OAuth2Error({ code: "Transport" }, message);
  }

  /**
   * Revokes a token (RFC 7009), then removes its sets from the cache. If a refresh token has been
   * superseded, or a pending refresh is about to supersede it, the newest one is revoked.
   * Concurrent refreshes wait, and then fail with `Grant`, `invalid_grant`.
   *
   * @throws {OAuth2Error} `InvalidConfig` if revokeUrl is missing
   */
  async revoke(token: string, hint?: TokenTypeHint): Promise<void> {
    const action = "revoke token";
    const { revokeUrl, cache, clientCredentialsCache } = this.#settings;
    if (revokeUrl === undefined) return refuse(action, "revokeUrl is missing");
    await cache.revoke(
      checkText(token, action),
      (newest) => revokeToken(this.#settings, { revokeUrl, token: newest, hint }),
    );
    clientCredentialsCache.forget(token);
  }

  /**
   * Fetches the claims about the user of an access token. If there is an id_token, compare its
   * `sub` with that of the result (OpenID Connect Core §5.3.2). `headers` are sent too; `Accept` is
   * JSON by default.
   *
   * @throws {OAuth2Error} `InvalidConfig` if userinfoUrl is missing
   */
  async userinfo(
    accessToken: string,
    { headers }: { readonly headers?: HeadersInit | undefined } = {},
  ): Promise<JsonObject> {
    const action = "fetch userinfo";
    const { userinfoUrl } = this.#settings;
    if (userinfoUrl === undefined) return refuse(action, "userinfoUrl is missing");
    checkText(accessToken, action);
    return await requestUserinfo(this.#settings, { userinfoUrl, accessToken, headers });
  }

  /** Returns the cached set of an access token, even if it has expired. */
  cached(accessToken: string): TokenSet | undefined {
    return this.#settings.cache.cached(accessToken);
  }

  /**
   * Verifies the id_token of a login: its signature, issuer, audience, times, subject and
   * authorized party (OpenID Connect Core §3.1.3.7), its nonce, which must be that of the
   * authorization request, and its `auth_time`, if that had a `max_age`.
   *
   * @throws {OAuth2Error} `InvalidConfig` if issuer or jwksUrl is missing; otherwise as
   * `JwtVerifier.verify()` does
   */
  async verifyIdToken(
    idToken: string,
    { nonce, maxAgeSeconds }: VerifyIdTokenOptions = {},
  ): Promise<IdTokenClaims> {
    const action = "verify id_token";
    const { idTokens, now, options: { clientId } } = this.#settings;
    if (!idTokens) return refuse(action, "issuer or jwksUrl is missing");
    const { claims } = await idTokens.verify(checkText(idToken, action));
    const nowSeconds = now() / 1000 - idTokens.validation.leewaySeconds;
    return checkIdToken(claims, { clientId, nonce, maxAgeSeconds, nowSeconds });
  }

  /** Returns the client for printing, without secrets. */
  toString(): string {
    return describe("OAuth2Client", { options: String(this.#settings.options) });
  }

  #with(changed: Partial<Settings>): OAuth2Client {
    const client = new OAuth2Client(this.#settings.options);
    client.#settings = { ...this.#settings, ...changed };
    return client;
  }

  #store(set: TokenSet): TokenSet {
    this.#settings.cache.store(set);
    return set;
  }
}

inspectedByToString(OAuth2Client);

function checkText(value: unknown, action: string): string {
  if (typeof value === "string" && value !== "" && value.length <= MAX_LENGTH) return value;
  throw new TypeError(
    `Cannot ${action}: the argument is not a string, empty, or over ${MAX_LENGTH} characters`,
  );
}

function refuse(action: string, why: string): never {
  throw new OAuth2Error({ code: "InvalidConfig" }, `Cannot ${action}: ${why}`);
}
