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
import { checkIdToken, type IdTokenClaims, idTokenVerifier } from "./id_token.ts";
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

/** What an {@linkcode OAuth2Client} reaches the outside by. */
export interface OAuth2ClientOptions {
  /** What sends its requests; the platform's by default. */
  readonly fetch?: Fetch | undefined;
  /** The time in milliseconds since 1970; the platform's by default. */
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

/** How many sets a client keeps that is given no cache. */
const OWN_CACHE_SETS = 1_000;

/**
 * A client of an authorization server (RFC 6749, RFC 9700). Immutable: each `with…` method gives a new
 * client, which shares the cache unless it is given another. Its operations send one request each,
 * follow no redirect, and take answers of up to 1 MiB; what they throw is an {@linkcode OAuth2Error},
 * or a `TypeError` over an argument of the wrong type:
 * - `Grant` if the server refuses as RFC 6749 says it does, though the status be 200;
 * - `TokenEndpoint` if its answer is anything else that was not asked for;
 * - `Transport` if it cannot be reached, or there is no answer in time;
 * - `InvalidConfig` if the operation needs an option that is missing.
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
 * // Keep state and verifier, bound to the browser, and send it to url. Then:
 * async function login(callback: URL): Promise<TokenSet> {
 *   const code = client.verifyCallback(callback, state);
 *   return await client.exchangeCode(code, verifier);
 * }
 * ```
 */
export class OAuth2Client {
  #settings: Settings;

  /** Creates a client with a cache of its own, of the last 1 000 sets. */
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

  /** What the client knows of itself and of its server. */
  get options(): OAuth2Options {
    return this.#settings.options;
  }

  /**
   * Gives a client that waits so many milliseconds for an answer, its body included; 30 000 by default.
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
   * Gives a client that revokes tokens there.
   *
   * @throws {OAuth2Error} `InvalidConfig` if the URL is neither https nor http to this machine
   */
  withRevokeUrl(url: string | URL): OAuth2Client {
    return this.#with({ revokeUrl: endpointUrl("revokeUrl", url).href });
  }

  /**
   * Gives a client that asks there who a user is.
   *
   * @throws {OAuth2Error} `InvalidConfig` if the URL is neither https nor http to this machine
   */
  withUserinfoUrl(url: string | URL): OAuth2Client {
    return this.#with({ userinfoUrl: endpointUrl("userinfoUrl", url).href });
  }

  /** Gives a client that shares a cache with others of the same server. */
  withCache(cache: TokenCache): OAuth2Client {
    if (cache instanceof TokenCache) return this.#with({ cache });
    throw new TypeError("Cannot share cache: it is no TokenCache");
  }

  /**
   * Makes the URL that sends a user to log in, with a fresh state of 256 bits.
   *
   * @throws {OAuth2Error} `InvalidConfig` if there is no redirectUri, or `extra` has a parameter that
   * the client sets itself: `client_id`, `code_challenge`, `code_challenge_method`, `nonce`,
   * `redirect_uri`, `response_type`, `scope` and `state`
   */
  authorizeUrl(request: AuthorizeRequest): AuthorizeUrl {
    return makeAuthorizeUrl(this.#settings.options, request);
  }

  /**
   * Gives the code of a callback: its URL, its query, or the body of a `form_post`. First its `state`
   * must be the expected one, and its `iss` the issuer (RFC 9207), if both are known or the server
   * always sends it. No parameter may come twice.
   *
   * @throws {OAuth2Error} `Validation` if the callback does not hold; then `Grant` if it says that the
   * server or the user refuses
   */
  verifyCallback(callback: Callback, expectedState: string): string {
    const { issuer, issParameterSupported } = this.#settings.options;
    return readCallback(callback, { state: expectedState, issuer, issParameterSupported });
  }

  /**
   * Exchanges the code of a callback for tokens, which are cached. It consumes the verifier at once,
   * even if it fails.
   *
   * @throws {OAuth2Error} `Validation` if the verifier has been used; nothing is sent then
   */
  async exchangeCode(code: string, verifier: PkceVerifier): Promise<TokenSet> {
    const action = "exchange code";
    if (!(verifier instanceof PkceVerifier)) {
      throw new TypeError(`Cannot ${action}: the verifier is no PkceVerifier`);
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
   * Gets new tokens for the client itself (RFC 6749 §4.4): each call asks the server; see
   * {@linkcode OAuth2Client.cachedClientCredentials}. `extra` has further parameters, such as `resource`
   * (RFC 8707) or `audience`.
   *
   * @throws {OAuth2Error} `InvalidConfig` if the client is public, or `extra` has a parameter that the
   * client sets itself
   */
  async clientCredentials(
    scopes: readonly string[] = [],
    options: ClientCredentialsOptions = {},
  ): Promise<TokenSet> {
    return this.#store(await requestClientCredentials(this.#settings, scopes, options));
  }

  /**
   * Gives tokens for the client itself that hold for half a minute yet: those it had before, or else
   * new ones, for which all who ask meanwhile send one request.
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
   * Gets a new set of tokens for a refresh token (RFC 6749 §6), and caches it. All who ask for the same
   * token of the same cache meanwhile share one request and its answer; who comes later with a token
   * that has been superseded is given the newest set or, if that has expired, what its refresh token
   * gives. If the server gives no new refresh token, the set has the old one.
   *
   * The time limit is that of the caller. The request itself goes on for 30 seconds at least, for its
   * answer may hold the one refresh token that is still good: who asks again has that answer. If even
   * then there is none, or the connection fails, the server may have superseded the token or not.
   * Asking again sends it once more: had it been superseded, its successor would be lost in any case.
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
   * Revokes a token (RFC 7009), and forgets its sets once that is done. Of a refresh token that has been
   * superseded, or is about to be by a refresh under way, the newest one is revoked. Who refreshes it
   * meanwhile waits, and is then told `Grant`, `invalid_grant`.
   *
   * @throws {OAuth2Error} `InvalidConfig` if there is no revokeUrl
   */
  async revoke(token: string, hint?: TokenTypeHint): Promise<void> {
    const action = "revoke token";
    const { revokeUrl, cache, clientCredentialsCache } = this.#settings;
    if (revokeUrl === undefined) return refuse(action, "there is no revokeUrl");
    await cache.revoke(
      checkText(token, action),
      (newest) => revokeToken(this.#settings, { revokeUrl, token: newest, hint }),
    );
    clientCredentialsCache.forget(token);
  }

  /**
   * Asks who the user of an access token is. With an id_token at hand, `sub` must be compared with its
   * (OpenID Connect Core §5.3.2). `headers` are sent along; without an `Accept`, JSON is asked for.
   *
   * @throws {OAuth2Error} `InvalidConfig` if there is no userinfoUrl
   */
  async userinfo(
    accessToken: string,
    { headers }: { readonly headers?: HeadersInit | undefined } = {},
  ): Promise<JsonObject> {
    const action = "fetch userinfo";
    const { userinfoUrl } = this.#settings;
    if (userinfoUrl === undefined) return refuse(action, "there is no userinfoUrl");
    checkText(accessToken, action);
    return await requestUserinfo(this.#settings, { userinfoUrl, accessToken, headers });
  }

  /** Gives the cached set of an access token, even if it has expired. */
  cached(accessToken: string): TokenSet | undefined {
    return this.#settings.cache.cached(accessToken);
  }

  /**
   * Verifies the id_token of a login: signature, issuer, audience, times, subject and authorized party
   * (OpenID Connect Core §3.1.3.7), and that it has the nonce of the authorization request, or none if
   * that had none.
   *
   * @throws {OAuth2Error} `InvalidConfig` if there is no issuer or jwksUrl, or what
   * `JwtVerifier.verify()` throws
   */
  async verifyIdToken(
    idToken: string,
    { nonce }: { readonly nonce?: string | undefined } = {},
  ): Promise<IdTokenClaims> {
    const action = "verify id_token";
    const { idTokens, options: { clientId } } = this.#settings;
    if (!idTokens) return refuse(action, "there is no issuer, or no jwksUrl");
    const { claims } = await idTokens.verify(checkText(idToken, action));
    return checkIdToken(claims, { clientId, nonce });
  }

  /** Gives the client for printing, without secrets. */
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
    `Cannot ${action}: the argument is no text, empty, or over ${MAX_LENGTH} characters`,
  );
}

function refuse(action: string, why: string): never {
  throw new OAuth2Error({ code: "InvalidConfig" }, `Cannot ${action}: ${why}`);
}
