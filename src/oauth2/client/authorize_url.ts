/**
 * Where a user is sent to log in.
 *
 * @module
 */
import { generateRandomState } from "oauth4webapi";
import type { OAuth2Options } from "./client_options.ts";
import { OAuth2Error } from "../ground/errors.ts";

/** What is asked of the authorization server. */
export interface AuthorizeRequest {
  /** The scopes; none by default, by which most servers mean some of their own. */
  readonly scopes?: readonly string[] | undefined;
  /** The challenge of `generatePkce()`. */
  readonly pkce: string;
  /** What the id_token must repeat (OpenID Connect Core §3.1.2.1), as `verifyIdToken()` checks. */
  readonly nonce?: string | undefined;
  /** Further parameters, such as `prompt`; none that the client sets itself. */
  readonly extra?: Readonly<Record<string, string>> | undefined;
}

/** Where a user is sent to log in. */
export interface AuthorizeUrl {
  /** The URL to redirect to. */
  readonly url: string;
  /** The `state` in it: to be kept, bound to the browser, for `verifyCallback()`. */
  readonly state: string;
}

/** What `extra` may not hold. */
const RESERVED: ReadonlySet<string> = new Set([
  "client_id",
  "code_challenge",
  "code_challenge_method",
  "nonce",
  "redirect_uri",
  "response_type",
  "scope",
  "state",
]);

/**
 * Makes the URL of an authorization request (RFC 6749 §4.1.1, RFC 7636 §4.3) with a fresh state of 256
 * bits.
 *
 * @throws {OAuth2Error} `InvalidConfig` if there is no authorizeUrl or redirectUri, or `extra` has a
 * parameter that the client sets itself
 * @throws {TypeError} if an argument is not of its type
 */
export function makeAuthorizeUrl(
  { authorizeUrl, clientId, redirectUri }: OAuth2Options,
  { scopes = [], pkce, nonce, extra = {} }: AuthorizeRequest,
): AuthorizeUrl {
  if (authorizeUrl === undefined) throw refusal("there is no authorizeUrl");
  if (redirectUri === undefined) throw refusal("there is no redirectUri");
  if (!/^[\w-]{43}$/.test(pkce)) {
    throw new TypeError("Cannot make authorize URL: pkce is no challenge of generatePkce()");
  }
  if (nonce === "") throw new TypeError("Cannot make authorize URL: nonce is empty");
  const scope = joinScopes(scopes);
  const state = generateRandomState();
  const url = new URL(authorizeUrl);
  const parameters = {
    ...checkExtra(extra),
    response_type: "code",
    client_id: clientId,
    redirect_uri: redirectUri,
    ...(scope === "" ? {} : { scope }),
    state,
    ...(nonce === undefined ? {} : { nonce }),
    code_challenge: pkce,
    code_challenge_method: "S256",
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return { url: url.href, state };
}

function checkExtra(extra: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  for (const [name, value] of Object.entries(extra)) {
    if (RESERVED.has(name)) throw refusal(`extra has ${name}, which the client sets itself`);
    if (typeof value !== "string") {
      throw new TypeError(`Cannot make authorize URL: ${name} in extra is no text`);
    }
  }
  return extra;
}

function refusal(why: string): OAuth2Error {
  return new OAuth2Error({ code: "InvalidConfig" }, `Cannot make authorize URL: ${why}`);
}

/**
 * Gives scopes as a request has them (RFC 6749 §3.3).
 *
 * @throws {TypeError} if they are no list of texts
 */
export function joinScopes(scopes: readonly string[]): string {
  const isList = Array.isArray(scopes) && scopes.every((scope) => typeof scope === "string");
  if (!isList) throw new TypeError("Cannot ask for scopes: they are no list of texts");
  return scopes.join(" ");
}
