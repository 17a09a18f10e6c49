/**
 * The URL at which a user logs in.
 *
 * @module
 */
import { generateRandomState } from "oauth4webapi";
import type { OAuth2Options } from "./client_options.ts";
import { OAuth2Error } from "../ground/errors.ts";

/** An authorization request. */
export interface AuthorizeRequest {
  /** The scopes; none by default, for which most servers grant their default scopes. */
  readonly scopes?: readonly string[] | undefined;
  /** The challenge of `generatePkce()`. */
  readonly pkce: string;
  /**
   * The value that the id_token must have (OpenID Connect Core §3.1.2.1);
   * `verifyIdToken()` checks it.
   */
  readonly nonce?: string | undefined;
  /** Further parameters, such as `prompt`, except those that the client sets itself. */
  readonly extra?: Readonly<Record<string, string>> | undefined;
}

/** The URL at which a user logs in, with its state. */
export interface AuthorizeUrl {
  /** The URL to redirect to. */
  readonly url: string;
  /** The `state` of the URL; keep it, bound to the browser, for `verifyCallback()`. */
  readonly state: string;
}

/** The parameters that `extra` must not contain. */
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
 * Returns the URL of an authorization request (RFC 6749 §4.1.1, RFC 7636 §4.3) with a new
 * state of 256 bits.
 *
 * @throws {OAuth2Error} `InvalidConfig` if authorizeUrl or redirectUri is missing, or `extra` has a
 * parameter that the client sets itself
 * @throws {TypeError} if an argument has the wrong type
 */
export function makeAuthorizeUrl(
  { authorizeUrl, clientId, redirectUri }: OAuth2Options,
  { scopes = [], pkce, nonce, extra = {} }: AuthorizeRequest,
): AuthorizeUrl {
  if (authorizeUrl === undefined) throw refusal("authorizeUrl is missing");
  if (redirectUri === undefined) throw refusal("redirectUri is missing");
  if (!/^[\w-]{43}$/.test(pkce)) {
    throw new TypeError("Cannot make authorize URL: pkce is not a challenge of generatePkce()");
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

/** Checks whether a state has the form of those of {@linkcode makeAuthorizeUrl}. */
export function isState(state: string): boolean {
  return state.length === 43 && /^[\w-]+$/.test(state);
}

/** The syntax of a scope (RFC 6749 §3.3). */
const SCOPE = /^[!#-[\]-~]+$/;

/**
 * Joins scopes for a request (RFC 6749 §3.3).
 *
 * @throws {TypeError} if they are not an array of strings, or one is not a scope
 */
export function joinScopes(scopes: readonly string[]): string {
  const isList = Array.isArray(scopes) && scopes.every((scope) => typeof scope === "string");
  if (!isList) throw new TypeError("Cannot request scopes: they are not an array of strings");
  const invalid = scopes.find((scope) => !SCOPE.test(scope));
  if (invalid === undefined) return scopes.join(" ");
  throw new TypeError(`Cannot request scopes: ${JSON.stringify(invalid)} is not a single scope`);
}

function checkExtra(extra: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  for (const [name, value] of Object.entries(extra)) {
    if (RESERVED.has(name)) throw refusal(`extra has ${name}, which the client sets itself`);
    if (typeof value !== "string") {
      throw new TypeError(`Cannot make authorize URL: ${name} in extra is not a string`);
    }
  }
  return extra;
}

function refusal(why: string): OAuth2Error {
  return new OAuth2Error({ code: "InvalidConfig" }, `Cannot make authorize URL: ${why}`);
}
