/**
 * Requests of claims about the user.
 *
 * @module
 */
import { protectedResourceRequest, WWWAuthenticateChallengeError } from "oauth4webapi";
import type { OAuth2Error } from "../ground/errors.ts";
import { Exchange } from "./exchange.ts";
import type { JsonObject } from "../../platform/json_object.ts";
import { type Requester, SENDABLE } from "./token_request.ts";

/** A userinfo request. */
export interface UserinfoRequest {
  /** The userinfo endpoint. */
  readonly userinfoUrl: string;
  /** An access token of the user. */
  readonly accessToken: string;
  /** Further headers, such as `User-Agent`, but not `Authorization`. */
  readonly headers: HeadersInit | undefined;
}

/**
 * Fetches the claims about the user (OpenID Connect Core §5.3).
 *
 * @throws {OAuth2Error} `Grant` if the server refuses the token (RFC 6750 §3.1), `TokenEndpoint` if
 * its answer is not a JSON object, `Transport`
 * @throws {TypeError} if the token or a header cannot be sent
 */
export async function requestUserinfo(
  { fetch, timeoutMs }: Requester,
  { userinfoUrl, accessToken, headers }: UserinfoRequest,
): Promise<JsonObject> {
  // the error of the platform for an invalid header quotes it
  if (!SENDABLE.test(accessToken)) {
    throw new TypeError("Cannot fetch userinfo: the access token contains invalid characters");
  }
  const exchange = new Exchange({ action: "fetch userinfo", fetch, timeoutMs });
  const sent = new Headers(headers);
  if (!sent.has("accept")) sent.set("accept", "application/json");
  let refusal: OAuth2Error | undefined;
  try {
    await protectedResourceRequest(
      accessToken,
      "GET",
      new URL(userinfoUrl),
      sent,
      null,
      exchange.transport(userinfoUrl),
    );
  } catch (error) {
    if (!(error instanceof WWWAuthenticateChallengeError)) throw error;
    const bearer = error.cause.find(({ scheme }) => scheme === "bearer");
    refusal = bearer && exchange.refused(bearer.parameters);
  }
  const { status, json } = exchange;
  if (refusal && (status === 401 || status === 403)) throw refusal;
  if (status !== 200) throw exchange.unforeseen();
  return json ?? refuse(exchange);
}

function refuse(exchange: Exchange): never {
  throw exchange.unforeseen("the answer is not a JSON object");
}
