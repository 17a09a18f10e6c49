/**
 * Authorization requests (RFC 6749 §4.1.1, OpenID Connect Core §3.1.2.1).
 *
 * @module
 */
import { inject } from "../../core/module/container.ts";
import { Grants } from "./grants.ts";
import { asRefusal, OAuthRefusal, parameter, requiredParameter } from "./oauth_refusal.ts";
import type { DevelopmentClient, DevelopmentUser } from "./options.ts";
import type { Callback } from "./page.ts";
import { Settings } from "./settings.ts";

/** Where the response goes. */
interface AuthorizationTarget {
  readonly client: DevelopmentClient;
  readonly redirectUri: string;
  readonly responseMode: Callback["responseMode"];
  readonly state: string | undefined;
}

interface AuthorizationRequest {
  readonly scope: string;
  readonly nonce: string | undefined;
  /** The S256 challenge (RFC 7636 §4.2). */
  readonly codeChallenge: string;
}

/** A valid request for the user to decide, or the response to an invalid one. */
type Authorization =
  | { readonly target: AuthorizationTarget; readonly request: AuthorizationRequest }
  | { readonly callback: Callback };

/** The parameters of a request. */
export const AUTHORIZATION_PARAMETERS: readonly string[] =
  ("client_id redirect_uri response_type response_mode scope state nonce code_challenge " +
    "code_challenge_method prompt request request_uri").split(" ");

const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/;

/** Reads authorization requests, and answers them when the user has decided. */
export class Authorizer {
  readonly #settings = inject(Settings);
  readonly #grants = inject(Grants);

  /**
   * Reads a request; throws where the response must not be sent to the client (RFC 6749 §4.1.2.1).
   */
  read(parameters: URLSearchParams): Authorization {
    const target = this.#readTarget(parameters);
    try {
      const request = readRequest(parameters);
      const requested = request.scope.split(" ");
      const scope = requested.filter((each) => this.#settings.scopes.has(each)).join(" ");
      return { target, request: { ...request, scope } };
    } catch (error) {
      const refusal = asRefusal(error);
      if (refusal === undefined) throw error;
      return { callback: this.#refusal(target, refusal) };
    }
  }

  /** Answers a request: with a code if a user has logged in, else with `access_denied`. */
  decide(parameters: URLSearchParams, user: DevelopmentUser | undefined): Callback {
    const read = this.read(parameters);
    if ("callback" in read) return read.callback;
    const { target, request: { scope, nonce, codeChallenge } } = read;
    if (user === undefined) {
      return this.#refusal(target, new OAuthRefusal("access_denied", "The user has refused"));
    }
    const { client: { clientId }, redirectUri } = target;
    const authTime = Math.floor(this.#settings.now() / 1000);
    const grant = { clientId, user, scope, nonce, authTime, revoked: false };
    const code = this.#grants.issueCode(grant, { redirectUri, codeChallenge });
    return this.#callback(target, [["code", code]]);
  }

  #readTarget(parameters: URLSearchParams): AuthorizationTarget {
    const client = this.#settings.clients.get(requiredParameter(parameters, "client_id"));
    if (client === undefined) {
      throw new OAuthRefusal("unauthorized_client", "No client with this client_id is registered");
    }
    const redirectUri = requiredParameter(parameters, "redirect_uri");
    if (!client.redirectUris?.includes(redirectUri)) {
      throw new OAuthRefusal(
        "invalid_request",
        "The redirect_uri is not registered for the client",
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

  #refusal(target: AuthorizationTarget, { code, message }: OAuthRefusal): Callback {
    return this.#callback(target, [["error", code], ["error_description", message]]);
  }

  /** Every response names the issuer (RFC 9207 §2). */
  #callback(target: AuthorizationTarget, answer: Callback["parameters"]): Callback {
    const { redirectUri, responseMode, state } = target;
    const repeated = state === undefined ? [] : [["state", state] as const];
    const parameters = [...answer, ...repeated, ["iss", this.#settings.issuer] as const];
    return { redirectUri, responseMode, parameters };
  }
}

/** Reads the requested scopes (RFC 6749 §3.3). */
export function readScope(parameters: URLSearchParams): string | undefined {
  const scope = parameter(parameters, "scope");
  if (scope === undefined || SCOPE.test(scope)) return scope;
  throw new OAuthRefusal("invalid_scope", "The scope is malformed");
}

/** PKCE with S256 is required of all clients (RFC 9700 §2.1.1). */
function readRequest(parameters: URLSearchParams): AuthorizationRequest {
  const read: Readonly<Record<string, string | undefined>> = Object.fromEntries(
    AUTHORIZATION_PARAMETERS.map((name) => [name, parameter(parameters, name)]),
  );
  for (const name of ["request", "request_uri"] as const) {
    if (read[name]) throw new OAuthRefusal(`${name}_not_supported`, `A ${name} is not supported`);
  }
  if (requiredParameter(parameters, "response_type") !== "code") {
    throw new OAuthRefusal("unsupported_response_type", "The response_type has to be code");
  }
  if (!["query", "form_post", undefined].includes(read["response_mode"])) {
    throw new OAuthRefusal("invalid_request", "The response_mode has to be query or form_post");
  }
  const { code_challenge: codeChallenge, code_challenge_method: method } = read;
  if (!/^[\w-]{43}$/.test(codeChallenge ?? "") || method !== "S256") {
    throw new OAuthRefusal("invalid_request", "PKCE with code_challenge_method S256 is required");
  }
  if (read["prompt"]?.split(" ").includes("none")) {
    throw new OAuthRefusal("login_required", "A login without a click is not possible");
  }
  const scope = readScope(parameters) ?? "";
  return { scope, nonce: read["nonce"], codeChallenge: codeChallenge as string };
}
