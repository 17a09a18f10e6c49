/**
 * Discovery of the metadata of an authorization server.
 *
 * @module
 */
import { type AuthorizationServer, discoveryRequest, processDiscoveryResponse } from "oauth4webapi";
import type { Fetch } from "../../platform/bounded_fetch.ts";
import type { AuthMethod } from "./client_authentication.ts";
import { endpointUrl } from "../ground/endpoint_url.ts";
import { OAuth2Error } from "../ground/errors.ts";
import { Exchange } from "./exchange.ts";
import { type JsonObject, withoutNulls } from "../../platform/json_object.ts";
import { isSigningAlgorithm, type SigningAlgorithm } from "../resource_server/signing_algorithm.ts";

/** Options of {@linkcode discover}. */
export interface DiscoverOptions {
  /** Sends the requests. */
  readonly fetch: Fetch;
  /** The time limit of each request in milliseconds. */
  readonly timeoutMs: number;
}

/** The metadata of a server that a client needs. */
export interface DiscoveredServer {
  /** The identifier of the server. */
  readonly issuer: string;
  /** The authorization endpoint. */
  readonly authorizeUrl: string;
  /** The token endpoint. */
  readonly tokenUrl: string;
  /** The URL of the key set. */
  readonly jwksUrl: string | undefined;
  /** The revocation endpoint. */
  readonly revokeUrl: string | undefined;
  /** The userinfo endpoint. */
  readonly userinfoUrl: string | undefined;
  /** Whether every callback has an `iss`. */
  readonly issParameterSupported: boolean;
  /** The asymmetric algorithms of its id_tokens; `undefined` if it lists none. */
  readonly idTokenAlgorithms: readonly SigningAlgorithm[] | undefined;
  /** How clients send their secret. */
  readonly secretMethod: AuthMethod;
}

/**
 * Fetches the OpenID Connect metadata of a server or, if there are none, those of RFC 8414 §3.
 *
 * @throws {OAuth2Error} as `OAuth2Options.discover()` does
 */
export async function discover(
  issuer: string,
  options: DiscoverOptions,
): Promise<DiscoveredServer> {
  const oidc = await ask(issuer, "oidc", options);
  if (isMetadata(oidc)) return await readServer(issuer, oidc.json);
  const oauth2 = await ask(issuer, "oauth2", options);
  if (isMetadata(oauth2)) return await readServer(issuer, oauth2.json);
  throw oidc.unforeseen(`it has no metadata, the answer is ${oidc.status}`);
}

async function ask(
  issuer: string,
  algorithm: "oidc" | "oauth2",
  options: DiscoverOptions,
): Promise<Exchange> {
  const exchange = new Exchange({ ...options, action: "discover issuer" });
  await discoveryRequest(new URL(issuer), { algorithm, ...exchange.transport(issuer) });
  return exchange;
}

function isMetadata(exchange: Exchange): exchange is Exchange & { readonly json: JsonObject } {
  return exchange.status === 200 && exchange.json !== undefined;
}

async function readServer(issuer: string, json: JsonObject): Promise<DiscoveredServer> {
  const metadata = await checkMetadata(issuer, json);
  const endpoint = (name: string): string | undefined => readEndpoint(name, metadata[name], issuer);
  const required = (name: string): string => endpoint(name) ?? refuse(`it has no ${name}`);
  return {
    issuer,
    authorizeUrl: required("authorization_endpoint"),
    tokenUrl: required("token_endpoint"),
    jwksUrl: endpoint("jwks_uri"),
    revokeUrl: endpoint("revocation_endpoint"),
    userinfoUrl: endpoint("userinfo_endpoint"),
    issParameterSupported: metadata.authorization_response_iss_parameter_supported === true,
    idTokenAlgorithms: readAlgorithms(metadata.id_token_signing_alg_values_supported),
    secretMethod: readSecretMethod(metadata.token_endpoint_auth_methods_supported),
  };
}

/**
 * Compares issuers exactly: `oauth4webapi` compares URLs, and ignores a missing slash at the end.
 */
async function checkMetadata(issuer: string, json: JsonObject): Promise<AuthorizationServer> {
  try {
    const response = Response.json(withoutNulls(json));
    const metadata = await processDiscoveryResponse(new URL(issuer), response);
    if (metadata.issuer === issuer) return metadata;
  } catch {
    // the error contains the answer of the server
  }
  return refuse("its metadata have another issuer (a slash at the end counts)");
}

/**
 * Reads an endpoint, on this machine only if the issuer is too: otherwise a server could reach it.
 */
function readEndpoint(name: string, value: unknown, issuer: string): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== "string") return refuse(`${name} is not a string`);
  const { protocol } = endpointUrl(name, value);
  if (protocol !== "https:" && new URL(issuer).protocol === "https:") {
    refuse(`${name} is not https`);
  }
  return value;
}

function readAlgorithms(names: unknown): readonly SigningAlgorithm[] | undefined {
  const algorithms = Array.isArray(names) ? names.filter(isSigningAlgorithm) : [];
  return algorithms.length > 0 ? algorithms : undefined;
}

function readSecretMethod(names: unknown): AuthMethod {
  const methods: readonly unknown[] = Array.isArray(names) ? names : [];
  const isBasicOnly = methods.includes("client_secret_basic") &&
    !methods.includes("client_secret_post");
  return isBasicOnly ? "client_secret_basic" : "client_secret_post";
}

function refuse(why: string): never {
  throw new OAuth2Error({ code: "InvalidConfig" }, `Cannot discover issuer: ${why}`);
}
