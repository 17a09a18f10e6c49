/**
 * Who sends requests to an authorization server, and how.
 *
 * @module
 */
import { type AuthorizationServer, type Client, clockSkew } from "oauth4webapi";
import type { Fetch } from "../../platform/bounded_fetch.ts";
import type { OAuth2Options } from "./client_options.ts";

/** Who sends requests to an authorization server, and how. */
export interface Requester {
  /** The client and its server. */
  readonly options: OAuth2Options;
  /** What sends the requests. */
  readonly fetch: Fetch;
  /** The time in milliseconds since 1970. */
  readonly now: () => number;
  /** How long each may take in milliseconds. */
  readonly timeoutMs: number;
}

/**
 * Describes the server to `oauth4webapi`. The audience of an assertion is the issuer or else, if that is
 * not known, the token endpoint (RFC 7523 §3).
 */
export function serverOf({ options }: Requester): AuthorizationServer {
  const { issuer, tokenUrl } = options;
  return { issuer: issuer ?? tokenUrl, token_endpoint: tokenUrl };
}

/** Describes the client to `oauth4webapi`. */
export function clientOf({ options, now }: Requester): Client {
  const skewSeconds = Math.round((now() - Date.now()) / 1000);
  return { client_id: options.clientId, [clockSkew]: skewSeconds };
}
