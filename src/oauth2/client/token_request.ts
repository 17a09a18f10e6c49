/**
 * Requests to an authorization server that issue and revoke tokens.
 *
 * @module
 */
import {
  type AuthorizationServer,
  type Client,
  clockSkew,
  genericTokenEndpointRequest,
  processGenericTokenEndpointResponse,
  revocationRequest,
  type TokenEndpointResponse,
} from "oauth4webapi";
import { Exchange } from "./exchange.ts";
import { type JsonObject, withoutNulls } from "../../platform/json_object.ts";
import { TokenSet } from "./token_set.ts";
import type { Fetch } from "../../platform/bounded_fetch.ts";
import type { OAuth2Options } from "./client_options.ts";

/** The sender of requests to an authorization server. */
export interface Requester {
  /** The client and its server. */
  readonly options: OAuth2Options;
  /** Sends the requests. */
  readonly fetch: Fetch;
  /** Returns the time in milliseconds since 1970. */
  readonly now: () => number;
  /** The time limit of each request in milliseconds. */
  readonly timeoutMs: number;
}

/** Describes the client to `oauth4webapi`. */
export function clientOf({ options, now }: Requester): Client {
  const skewSeconds = Math.round((now() - Date.now()) / 1000);
  return { client_id: options.clientId, [clockSkew]: skewSeconds };
}

/** A request to the token endpoint. */
export interface TokenRequest {
  /** The operation, for messages: `refresh token`. */
  readonly action: string;
  /** The type of the grant. */
  readonly grantType: "authorization_code" | "client_credentials" | "refresh_token";
  /** The parameters of the grant. */
  readonly parameters: Readonly<Record<string, string>>;
}

/**
 * Sends a request to the token endpoint and reads its answer (RFC 6749 §5.1). Without a new refresh
 * token in the answer, the set has the one that was sent (§6).
 *
 * @throws {OAuth2Error} `Grant`, `TokenEndpoint`, `Transport` or `InvalidConfig`
 */
export async function requestTokens(
  requester: Requester,
  { action, grantType, parameters }: TokenRequest,
): Promise<TokenSet> {
  const { options, fetch, timeoutMs, now } = requester;
  const exchange = new Exchange({ action, fetch, timeoutMs });
  const sentAtMs = now();
  await genericTokenEndpointRequest(
    serverOf(requester),
    clientOf(requester),
    options.authentication,
    grantType,
    { ...parameters, client_id: options.clientId },
    exchange.transport(options.tokenUrl),
  );
  const refusal = exchange.refusal();
  if (refusal) throw refusal;
  if (exchange.status !== 200) throw exchange.unforeseen();
  const { json } = exchange;
  const tokens = json && await readTokens(withoutNulls(json), requester);
  const expiresAt = tokens && readExpiry(tokens.expiresIn, sentAtMs);
  if (!tokens || expiresAt === INVALID) {
    throw exchange.unforeseen("the answer has no valid tokens");
  }
  return new TokenSet({ refreshToken: parameters.refresh_token, ...tokens.fields, expiresAt });
}

/** Tokens with a lifetime that has not been parsed. */
interface Tokens {
  readonly fields: ConstructorParameters<typeof TokenSet>[0];
  readonly expiresIn: unknown;
}

/** The characters that an `Authorization` header can contain (RFC 6750 §2.1 allows fewer). */
export const SENDABLE: RegExp = /^[\x21-\x7E]+$/;

const INVALID = Symbol("invalid");

/** The type of a token, a hint for the server (RFC 7009 §2.1). */
export type TokenTypeHint = "access_token" | "refresh_token";

/** A request to revoke a token. */
export interface RevokeRequest {
  /** The revocation endpoint. */
  readonly revokeUrl: string;
  /** The token. */
  readonly token: string;
  /** The type of the token. */
  readonly hint: TokenTypeHint | undefined;
}

/**
 * Revokes a token. A token that is unknown to the server counts as revoked (RFC 7009 §2.2).
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

/**
 * Describes the server to `oauth4webapi`. The audience of an assertion is the issuer or, if that is
 * unknown, the token endpoint (RFC 7523 §3).
 */
function serverOf({ options }: Requester): AuthorizationServer {
  const { issuer, tokenUrl } = options;
  return { issuer: issuer ?? tokenUrl, token_endpoint: tokenUrl };
}

/**
 * Reads the tokens by `oauth4webapi`, except the id_token, which it validates as that of a login,
 * and the lifetime, for which it accepts `3600abc`.
 */
async function readTokens(json: JsonObject, requester: Requester): Promise<Tokens | undefined> {
  const { id_token: idToken, expires_in: expiresIn, ...rest } = json;
  if (!isOptionalString(idToken)) return undefined;
  const tokens = await process(rest, requester);
  if (!tokens || tokens.token_type !== "bearer") return undefined;
  if (!SENDABLE.test(tokens.access_token)) return undefined;
  const fields = {
    accessToken: tokens.access_token,
    tokenType: tokens.token_type,
    ...(tokens.refresh_token === undefined ? {} : { refreshToken: tokens.refresh_token }),
    idToken,
    scope: tokens.scope,
  };
  return { fields, expiresIn };
}

async function process(
  json: JsonObject,
  requester: Requester,
): Promise<TokenEndpointResponse | undefined> {
  try {
    const response = Response.json(json);
    return await processGenericTokenEndpointResponse(
      serverOf(requester),
      clientOf(requester),
      response,
    );
  } catch {
    return undefined; // the error contains the tokens
  }
}

/**
 * Reads `expires_in`: seconds, as a number of 0 or more or its digits, within the
 * range of a `Date`.
 */
function readExpiry(expiresIn: unknown, fromMs: number): Date | undefined | typeof INVALID {
  if (expiresIn === undefined) return undefined;
  const isDigits = typeof expiresIn === "string" && /^\d+$/.test(expiresIn);
  const seconds = isDigits ? Number(expiresIn) : expiresIn;
  if (typeof seconds !== "number" || seconds < 0) return INVALID;
  const expiresAt = new Date(fromMs + seconds * 1000);
  return Number.isNaN(expiresAt.getTime()) ? INVALID : expiresAt;
}

function isOptionalString(value: unknown): value is string | undefined {
  return value === undefined || typeof value === "string" && value !== "";
}
