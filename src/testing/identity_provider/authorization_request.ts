/**
 * Reading authorization requests (RFC 6749 §4.1.1, OpenID Connect Core §3.1.2.1).
 *
 * @module
 */
import type { ResponseMode } from "./callback.ts";
import { OAuthRefusal } from "./oauth_refusal.ts";
import type { DevelopmentClient } from "./options.ts";
import { parameter, requiredParameter } from "./parameters.ts";
import type { Settings } from "./settings.ts";

/** Who is to be answered, and where: known before anything else of a request is. */
export interface AuthorizationTarget {
  /** The client. */
  readonly client: DevelopmentClient;
  /** One of its redirect URIs. */
  readonly redirectUri: string;
  /** How the answer gets there. */
  readonly responseMode: ResponseMode;
  /** What the answer has to repeat. */
  readonly state: string | undefined;
}

/** What a client asks of the user. */
export interface AuthorizationRequest {
  /** The scopes, apart by a space. */
  readonly scope: string;
  /** What the ID token has to repeat. */
  readonly nonce: string | undefined;
  /** The S256 challenge (RFC 7636 §4.2). */
  readonly codeChallenge: string;
}

/** The parameters that are read of a request. */
export const AUTHORIZATION_PARAMETERS = [
  "client_id",
  "redirect_uri",
  "response_type",
  "response_mode",
  "scope",
  "state",
  "nonce",
  "code_challenge",
  "code_challenge_method",
  "prompt",
  "request",
  "request_uri",
] as const;

/**
 * Reads who is to be answered, and where.
 *
 * @throws {OAuthRefusal} if that is not certain: it is shown to the user and sent to nobody (RFC 6749
 * §4.1.2.1)
 */
export function readTarget(parameters: URLSearchParams, settings: Settings): AuthorizationTarget {
  const client = settings.clients.get(requiredParameter(parameters, "client_id"));
  if (client === undefined) {
    throw new OAuthRefusal("unauthorized_client", "No client with this client_id is registered");
  }
  const redirectUri = requiredParameter(parameters, "redirect_uri");
  if (!client.redirectUris?.includes(redirectUri)) {
    throw new OAuthRefusal(
      "invalid_request",
      "The redirect_uri is none of those that the client has registered",
    );
  }
  const [state, ...others] = parameters.getAll("state");
  return {
    client,
    redirectUri,
    responseMode: parameters.get("response_mode") === "form_post" ? "form_post" : "query",
    state: others.length === 0 && state ? state : undefined,
  };
}

/**
 * Reads what a client asks for. PKCE with S256 is required of all (RFC 9700 §2.1.1).
 *
 * @throws {OAuthRefusal} which is sent to the client
 */
export function readRequest(parameters: URLSearchParams): AuthorizationRequest {
  const read = Object.fromEntries(
    AUTHORIZATION_PARAMETERS.map((name) => [name, parameter(parameters, name)]),
  );
  if (read.request) throw new OAuthRefusal("request_not_supported", "There is no request object");
  if (read.request_uri) {
    throw new OAuthRefusal("request_uri_not_supported", "There is no request_uri");
  }
  if (requiredParameter(parameters, "response_type") !== "code") {
    throw new OAuthRefusal("unsupported_response_type", "The response_type has to be code");
  }
  if (!["query", "form_post", undefined].includes(read.response_mode)) {
    throw new OAuthRefusal("invalid_request", "The response_mode has to be query or form_post");
  }
  const { code_challenge: codeChallenge, code_challenge_method: method } = read;
  if (!/^[\w-]{43}$/.test(codeChallenge ?? "") || method !== "S256") {
    throw new OAuthRefusal(
      "invalid_request",
      "PKCE with a code_challenge_method of S256 is required",
    );
  }
  if (read.prompt?.split(" ").includes("none")) {
    throw new OAuthRefusal("login_required", "Every login has to be clicked here");
  }
  const scope = readScope(parameters) ?? "";
  return { scope, nonce: read.nonce, codeChallenge: codeChallenge as string };
}

/**
 * Reads the scopes that are asked for.
 *
 * @throws {OAuthRefusal} `invalid_scope` if they are not what RFC 6749 §3.3 says
 */
export function readScope(parameters: URLSearchParams): string | undefined {
  const scope = parameter(parameters, "scope");
  if (
    scope !== undefined && !/^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/.test(scope)
  ) {
    throw new OAuthRefusal("invalid_scope", "The scope is malformed");
  }
  return scope;
}
