/**
 * Deciding authorization requests.
 *
 * @module
 */
import { inject } from "../../core/module/container.ts";
import {
  type AuthorizationRequest,
  type AuthorizationTarget,
  readRequest,
  readTarget,
} from "./authorization_request.ts";
import type { Callback } from "./callback.ts";
import { Grants } from "./grants.ts";
import { asRefusal, OAuthRefusal } from "./oauth_refusal.ts";
import type { DevelopmentUser } from "./options.ts";
import { Settings } from "./settings.ts";

/** What is made of a request: something to decide, or an answer. */
export type Authorization =
  | { readonly target: AuthorizationTarget; readonly request: AuthorizationRequest }
  | { readonly callback: Callback };

/** Reads authorization requests, and answers them when the user has decided. */
export class Authorizer {
  readonly #settings = inject(Settings);
  readonly #grants = inject(Grants);

  /**
   * Reads a request; what is wrong with it is an answer already.
   *
   * @throws {OAuthRefusal} if it is not certain where an answer would go
   */
  read(parameters: URLSearchParams): Authorization {
    const target = readTarget(parameters, this.#settings);
    try {
      const request = readRequest(parameters);
      const asked = request.scope.split(" ");
      const scope = asked.filter((each) => this.#settings.scopes.has(each)).join(" ");
      return { target, request: { ...request, scope } };
    } catch (error) {
      const refusal = asRefusal(error);
      if (refusal === undefined) throw error;
      return { callback: this.#refusal(target, refusal) };
    }
  }

  /**
   * Answers a request: with a code if a user has logged in, else with `access_denied`.
   *
   * @throws {OAuthRefusal} if it is not certain where the answer would go
   */
  decide(parameters: URLSearchParams, user: DevelopmentUser | undefined): Callback {
    const read = this.read(parameters);
    if ("callback" in read) return read.callback;
    const { target, request } = read;
    if (user === undefined) {
      return this.#refusal(target, new OAuthRefusal("access_denied", "The user has refused"));
    }
    const { scope, nonce, codeChallenge } = request;
    const { client: { clientId }, redirectUri } = target;
    const authTime = Math.floor(this.#settings.now() / 1000);
    const grant = { clientId, user, scope, nonce, authTime, revoked: false };
    const code = this.#grants.issueCode(grant, { redirectUri, codeChallenge });
    return this.#callback(target, [["code", code]]);
  }

  #refusal(target: AuthorizationTarget, { code, message }: OAuthRefusal): Callback {
    return this.#callback(target, [["error", code], ["error_description", message]]);
  }

  /** The issuer is told in each (RFC 9207 §2). */
  #callback(target: AuthorizationTarget, answer: Callback["parameters"]): Callback {
    const { redirectUri, responseMode, state } = target;
    const parameters: [string, string][] = answer.map(([name, value]) => [name, value]);
    if (state !== undefined) parameters.push(["state", state]);
    parameters.push(["iss", this.#settings.issuer]);
    return { redirectUri, responseMode, parameters };
  }
}
