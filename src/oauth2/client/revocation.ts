/**
 * Giving tokens back (RFC 7009).
 *
 * @module
 */
import { revocationRequest } from "oauth4webapi";
import { Exchange } from "./exchange.ts";
import { clientOf, type Requester, serverOf } from "./requester.ts";

/** What a token is, for a server that would otherwise look through all. */
export type TokenTypeHint = "access_token" | "refresh_token";

/** What is revoked, and where. */
export interface RevokeRequest {
  /** The revocation endpoint. */
  readonly revokeUrl: string;
  /** The token. */
  readonly token: string;
  /** What it is. */
  readonly hint: TokenTypeHint | undefined;
}

/**
 * Revokes a token. One that the server does not know is revoked (RFC 7009 §2.2).
 *
 * @throws {OAuth2Error} `Grant`, `TokenEndpoint`, `Transport` or `InvalidConfig`
 */
export async function revokeToken(
  requester: Requester,
  { revokeUrl, token, hint }: RevokeRequest,
): Promise<void> {
  const { options, fetch, timeoutMs } = requester;
  const exchange = new Exchange({ action: "revoke token", fetch, timeoutMs });
  await revocationRequest(
    { ...serverOf(requester), revocation_endpoint: revokeUrl },
    clientOf(requester),
    options.authentication,
    token,
    {
      ...exchange.transport(revokeUrl),
      additionalParameters: {
        client_id: options.clientId,
        ...(hint === undefined ? {} : { token_type_hint: hint }),
      },
    },
  );
  const refusal = exchange.refusal();
  if (refusal) throw refusal;
  if (exchange.status < 200 || exchange.status > 299) throw exchange.unforeseen();
}
