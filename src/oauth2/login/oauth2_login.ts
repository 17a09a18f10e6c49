/**
 * Logins by the authorization code flow (RFC 6749 §4.1) with PKCE and OpenID Connect.
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import type { Context } from "../../core/http/context.ts";
import { BadGatewayException, UnauthorizedException } from "../../core/http/http_exception.ts";
import { isState, joinScopes } from "../client/authorize_url.ts";
import type { OAuth2Client } from "../client/client.ts";
import { checkNames, type Refuse, refusing } from "../../platform/option_names.ts";
import { OAuth2Error } from "../ground/errors.ts";
import type { IdTokenClaims, VerifyIdTokenOptions } from "../client/id_token.ts";
import { generatePkce, PkceVerifier } from "../client/pkce.ts";
import type { TokenSet } from "../client/token_set.ts";
import { BrowserCookie, callbackParameters, returnPath } from "./browser.ts";
import { type LoginStore, MemoryLoginStore, type PendingLogin } from "./login_store.ts";
import { checkHostedDomain, requestedClaims } from "./requested_claims.ts";

/** Options of an {@linkcode OAuth2Login}. */
export interface OAuth2LoginOptions {
  /** The requested scopes; none by default. With `openid`, the id_token is verified. */
  readonly scopes?: readonly string[];
  /**
   * Parameters of every authorization request, such as `{ prompt: "login" }`. The id_token must
   * state what `max_age` (OpenID Connect Core §3.1.2.1) and `hd` of Google ask for.
   */
  readonly extra?: Readonly<Record<string, string>>;
  /** Stores pending logins; in memory by default. */
  readonly store?: LoginStore;
  /** The time limit of a login in milliseconds: 600 000 (ten minutes) by default, at most a day. */
  readonly ttlMs?: number;
}

/** Options of one login. */
export interface BeginLoginOptions {
  /** The path on this site to return to, `/` by default; it can come from the caller. */
  readonly returnTo?: string | undefined;
  /** Parameters of this authorization request, as those of every one. */
  readonly extra?: Readonly<Record<string, string>>;
}

/** The result of a login. */
export interface FinishedLogin {
  /** The tokens. */
  readonly tokens: TokenSet;
  /** The verified claims of the id_token; `undefined` without the scope `openid`. */
  readonly claims: IdTokenClaims | undefined;
  /** The path on this site to return to. */
  readonly returnTo: string;
  /** The other parameters of the callback, such as `user` of Apple. */
  readonly parameters: URLSearchParams;
}

/** The parameters of a callback that are not part of the result. */
const USED = ["code", "state", "iss"];

const DAY_MS = 86_400_000;

/**
 * Logs users in: `begin` redirects the browser to the provider, and `finish` handles the callback.
 * The data of a login stay on the server, for one use by the browser that began it.
 *
 * @example
 * ```ts
 * import { controller, inject, route } from "@fw/fw";
 * import { OAuth2Client, OAuth2Login } from "@fw/fw/oauth2";
 *
 * class AuthController extends controller("auth") {
 *   readonly #login = new OAuth2Login(inject(OAuth2Client), { scopes: ["openid", "email"] });
 *
 *   login = route.get("/login", (_, c) =>
 *     this.#login.begin(c, { returnTo: c.req.query("return_to") }));
 *
 *   callback = route.get("/callback", async (_, c) => {
 *     const { claims, returnTo } = await this.#login.finish(c);
 *     console.log(claims?.sub); // start a session here
 *     return c.redirect(returnTo, 303);
 *   });
 * }
 * ```
 */
export class OAuth2Login {
  readonly #client: OAuth2Client;
  readonly #options: OAuth2LoginOptions;
  readonly #store: LoginStore;
  readonly #ttlMs: number;
  readonly #cookie: BrowserCookie;
  readonly #clientName: string;

  /**
   * Creates the logins of a client.
   *
   * @throws {OAuth2Error} `InvalidConfig` if the client has no redirectUri or, with the scope
   * `openid`, no issuer or jwksUrl
   * @throws {RangeError} if `ttlMs` is not a whole number of milliseconds from 1 to a day
   * @throws {TypeError} if an option is unknown, `scopes` is not a list of scopes, the store has no
   * methods of one, or `max_age` or `hd` in `extra` is invalid, or cannot be checked without the
   * scope `openid`
   */
  constructor(client: OAuth2Client, options: OAuth2LoginOptions = {}) {
    const refuse: Refuse = refusing("log users in");
    checkNames(options, { known: ["scopes", "extra", "store", "ttlMs"], refuse });
    const { scopes = [], store = new MemoryLoginStore(), ttlMs = 600_000 } = options;
    const { authorizeUrl, clientId, redirectUri, issuer, idTokenIssuer, jwksUrl } = client.options;
    if (!(Number.isInteger(ttlMs) && ttlMs >= 1 && ttlMs <= DAY_MS)) {
      throw new RangeError(`Cannot log users in: ttlMs ${ttlMs} is not 1 to ${DAY_MS}`);
    }
    if (typeof store?.save !== "function" || typeof store.take !== "function") {
      refuse("store has no methods save and take; wrap a Redis client in a RedisLoginStore");
    }
    joinScopes(scopes); // checks them
    requestedClaims(options.extra ?? {}, { hasIdToken: scopes.includes("openid") });
    if (redirectUri === undefined) throw unfit("no redirectUri");
    if (scopes.includes("openid") && !((issuer || idTokenIssuer) && jwksUrl)) {
      throw unfit("no issuer or no jwksUrl, which verifying an id_token requires");
    }
    this.#client = client;
    this.#options = options;
    this.#store = store;
    this.#ttlMs = ttlMs;
    this.#cookie = new BrowserCookie({
      isSecure: new URL(redirectUri).protocol === "https:",
      ttlMs,
    });
    this.#clientName = JSON.stringify([authorizeUrl, clientId, redirectUri]);
  }

  /**
   * Begins a login: redirects the browser to the provider (303).
   *
   * @throws {BadRequestException} 400 if `returnTo` leads to another site
   * @throws {TypeError} if an option is unknown, or `max_age` or `hd` in `extra` is invalid, or
   * cannot be checked without the scope `openid`
   */
  async begin(c: Context, options: BeginLoginOptions = {}): Promise<Response> {
    checkNames(options, { known: ["returnTo", "extra"], refuse: refusing("begin login") });
    c.header("Cache-Control", "no-store");
    const { scopes = [] } = this.#options;
    const extra = { ...this.#options.extra, ...options.extra };
    const requested = requestedClaims(extra, { hasIdToken: scopes.includes("openid") });
    const path = returnPath(options.returnTo || "/");
    const { challenge, verifier } = await generatePkce();
    const nonce = scopes.includes("openid") ? crypto.randomUUID() : undefined;
    const { url, state } = this.#client.authorizeUrl({
      scopes,
      pkce: challenge,
      extra,
      ...(nonce && { nonce }),
    });
    const isCrossSite = extra.response_mode === "form_post";
    await this.#store.save(await this.#cookie.set(c, { state, isCrossSite }), {
      verifier: verifier.export(),
      ...(nonce && { nonce }),
      returnTo: path,
      client: this.#clientName,
      ...requested,
    }, { ttlMs: this.#ttlMs });
    return c.redirect(url, 303);
  }

  /**
   * Finishes a login at the callback, which is the query of a GET or the form of a POST. Only the
   * browser that began it uses it up.
   *
   * @throws {BadRequestException} 400 if `state`, or both `code` and `error`, are missing, or if
   * one of them or `iss` is repeated
   * @throws {UnauthorizedException} 401 if the state is unknown, used, expired, or of another
   * browser or client
   * @throws {OAuth2Error} `Grant`, 401 or 502, if the user or the provider refuses, also the code;
   * `Validation`, 401, if the callback is from another provider (RFC 9207); `InvalidClaim`, 401, if
   * the id_token is of another login, or of one that is older than `max_age`
   * @throws {ForbiddenException} 403 if the user is of another domain than `hd`
   * @throws {MethodNotAllowedException} 405 for a HEAD
   * @throws {BadGatewayException} 502 if the provider returns no tokens, or an invalid id_token
   */
  async finish(c: Context): Promise<FinishedLogin> {
    c.header("Cache-Control", "no-store");
    const { parameters, state } = await callbackParameters(c);
    const login = await this.#take(c, state);
    if (login.client !== this.#clientName) throw refused("another client has begun it");
    const code = this.#client.verifyCallback(parameters, state);
    const { tokens, claims } = await this.#exchange(code, login);
    checkHostedDomain(claims, login.hostedDomain);
    for (const name of USED) parameters.delete(name);
    return { tokens, claims, returnTo: login.returnTo, parameters };
  }

  async #take(c: Context, state: string): Promise<PendingLogin> {
    // anyone can send a state: the store is asked for none that no login can have
    const keys = isState(state) ? await this.#cookie.keys(c, state) : undefined;
    if (keys?.length === 0) {
      throw refused("another browser, or another host of this site, has begun it");
    }
    for (const key of keys ?? []) {
      const login = await this.#store.take(key);
      if (login) return login;
    }
    throw refused("its state is unknown, used, expired or of another browser");
  }

  async #exchange(
    code: string,
    { verifier, nonce, maxAgeSeconds }: PendingLogin,
  ): Promise<Pick<FinishedLogin, "tokens" | "claims">> {
    try {
      const tokens = await this.#client.exchangeCode(code, PkceVerifier.restore(verifier));
      if (nonce === undefined) return { tokens, claims: undefined };
      return { tokens, claims: await this.#claimsOf(tokens, { nonce, maxAgeSeconds }) };
    } catch (cause) {
      if (isDueToCaller(cause)) throw cause;
      throw new BadGatewayException("The provider did not complete the login", { cause });
    }
  }

  async #claimsOf(
    { idToken }: TokenSet,
    expected: VerifyIdTokenOptions,
  ): Promise<IdTokenClaims> {
    if (idToken !== undefined) return await this.#client.verifyIdToken(idToken, expected);
    throw new OAuth2Error({ code: "Validation" }, "Cannot verify login: there is no id_token");
  }
}

/** The errors of a code that is wrong, used or expired: of RFC 6749 §5.2, and of GitHub. */
const REFUSED_CODE: readonly string[] = ["invalid_grant", "bad_verification_code"];

/** The claims that depend on what the browser sent to the provider, as the code does. */
const REQUESTED: readonly string[] = ["nonce", "auth_time"];

/** Checks whether a login has failed by what the caller can send, not by the provider. */
function isDueToCaller(error: unknown): boolean {
  if (!(error instanceof OAuth2Error)) return false;
  return error.code === "Grant"
    ? REFUSED_CODE.includes(error.grant.error)
    : error.code === "InvalidClaim" && REQUESTED.includes(error.claim);
}

/** Logs the reason, which the response does not contain. */
function refused(reason: string): UnauthorizedException {
  getLogger(["fw", "oauth2"]).debug("Login refused: {reason}", { reason });
  return new UnauthorizedException("The login is unknown, expired, or of another browser");
}

function unfit(why: string): OAuth2Error {
  const message = `Cannot log users in: the client has ${why}`;
  return new OAuth2Error({ code: "InvalidConfig" }, message);
}
