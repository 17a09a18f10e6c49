/**
 * What a client knows of itself and of its authorization server.
 *
 * @module
 */
import type { ClientAuth } from "oauth4webapi";
import type { Fetch } from "../../platform/bounded_fetch.ts";
import {
  type AuthMethod,
  clientAuthentication,
  type ClientAuthenticationOptions,
} from "./client_authentication.ts";
import { discover } from "./discovery.ts";
import { endpointUrl } from "../ground/endpoint_url.ts";
import { OAuth2Error } from "../ground/errors.ts";
import { describe, inspectedByToString, REDACTED } from "../../platform/secret.ts";
import type { SigningAlgorithm } from "../resource_server/signing_algorithm.ts";
import { type IssuerOf, ValidationConfig } from "../resource_server/validation_config.ts";

/** What a public client is configured with. URLs are https, or http to this machine. */
export interface PublicClientOptions {
  /** The identifier that the server gave to the client. */
  readonly clientId: string;
  /** Where users are sent to log in; `authorizeUrl()` needs it. */
  readonly authorizeUrl?: string | URL | undefined;
  /** Where codes and refresh tokens are exchanged. */
  readonly tokenUrl: string | URL;
  /** Where users come back to, exactly as the server has registered it; `authorizeUrl()` needs it. */
  readonly redirectUri?: string | URL | undefined;
  /** The server's identifier, exactly as its tokens and callbacks have it. */
  readonly issuer?: string | undefined;
  /** Where the server publishes the keys of its id_tokens. */
  readonly jwksUrl?: string | URL | undefined;
  /** Where tokens are revoked (RFC 7009). */
  readonly revokeUrl?: string | URL | undefined;
  /** Where claims about the user are asked for. */
  readonly userinfoUrl?: string | URL | undefined;
  /** Whether every callback has an `iss` (RFC 9207 §3), so that one without is refused; false by default. */
  readonly issParameterSupported?: boolean | undefined;
  /** The algorithms that an id_token may be signed with; `["RS256"]` by default. */
  readonly idTokenAlgorithms?: readonly SigningAlgorithm[] | undefined;
  /** The `iss` of an id_token, where it is not always `issuer`, as with one for each tenant. */
  readonly idTokenIssuer?: IssuerOf | undefined;
}

/** What a confidential client is configured with. */
export interface ConfidentialClientOptions
  extends PublicClientOptions, ClientAuthenticationOptions {
  /** How the client proves who it is; `client_secret_post` by default. */
  readonly authMethod?: AuthMethod | undefined;
}

/** What a client that discovers its server is configured with. */
export interface DiscoveryOptions
  extends
    ClientAuthenticationOptions,
    Pick<PublicClientOptions, "clientId" | "redirectUri" | "idTokenAlgorithms"> {
  /**
   * How the client proves who it is. By default `none` without secret and key, `private_key_jwt` with a
   * key alone, else `client_secret_post`, or `client_secret_basic` if the server has that one only.
   */
  readonly authMethod?: AuthMethod | undefined;
  /** What sends the requests; the platform's by default. */
  readonly fetch?: Fetch | undefined;
  /** How long each of at most two requests may take, in milliseconds; 30 000 by default. */
  readonly timeoutMs?: number | undefined;
}

/**
 * What a client knows of itself and of its authorization server. Checked at once, and immutable.
 * Nothing that prints it or turns it into JSON shows the secret or the key.
 *
 * @example
 * ```ts
 * import { OAuth2Options } from "@fw/fw/oauth2";
 *
 * const options = new OAuth2Options({
 *   clientId: "shop",
 *   clientSecret: "a secret from the environment",
 *   authorizeUrl: "https://id.example.com/authorize",
 *   tokenUrl: "https://id.example.com/token",
 *   redirectUri: "https://shop.example.com/auth/callback",
 * });
 * ```
 */
export class OAuth2Options {
  /** The identifier of the client. */
  readonly clientId: string;
  /** How the client proves who it is. */
  readonly authMethod: AuthMethod;
  /** Where users are sent to log in. */
  readonly authorizeUrl: string | undefined;
  /** Where codes and refresh tokens are exchanged. */
  readonly tokenUrl: string;
  /** Where users come back to. */
  readonly redirectUri: string | undefined;
  /** The server's identifier. */
  readonly issuer: string | undefined;
  /** Where the server publishes its keys. */
  readonly jwksUrl: string | undefined;
  /** Where tokens are revoked. */
  readonly revokeUrl: string | undefined;
  /** Where claims about the user are asked for. */
  readonly userinfoUrl: string | undefined;
  /** Whether every callback has an `iss`. */
  readonly issParameterSupported: boolean;
  /** The algorithms that an id_token may be signed with. */
  readonly idTokenAlgorithms: readonly SigningAlgorithm[];
  /** The `iss` of an id_token, where it is not always `issuer`. */
  readonly idTokenIssuer: IssuerOf | undefined;
  readonly #authentication: ClientAuth;
  readonly #hidden: Readonly<Record<string, string | undefined>>;

  /**
   * Takes the options of a confidential client.
   *
   * @throws {OAuth2Error} `InvalidConfig` if one is missing or not sound
   */
  constructor(options: ConfidentialClientOptions) {
    const { authMethod = "client_secret_post", idTokenAlgorithms = ["RS256"] } = options;
    this.clientId = checkClientId(options.clientId);
    this.authMethod = authMethod;
    this.authorizeUrl = checkOptionalUrl("authorizeUrl", options.authorizeUrl);
    this.tokenUrl = checkUrl("tokenUrl", options.tokenUrl);
    this.redirectUri = checkOptionalUrl("redirectUri", options.redirectUri);
    this.issuer = checkIssuer(options.issuer);
    this.jwksUrl = checkOptionalUrl("jwksUrl", options.jwksUrl);
    this.revokeUrl = checkOptionalUrl("revokeUrl", options.revokeUrl);
    this.userinfoUrl = checkOptionalUrl("userinfoUrl", options.userinfoUrl);
    this.issParameterSupported = options.issParameterSupported ?? false;
    this.idTokenAlgorithms = new ValidationConfig().withAlgorithms(idTokenAlgorithms).algorithms;
    this.idTokenIssuer = options.idTokenIssuer;
    this.#authentication = clientAuthentication(authMethod, options);
    this.#hidden = {
      clientSecret: options.clientSecret === undefined ? undefined : REDACTED,
      privateKey: options.privateKey === undefined ? undefined : REDACTED,
    };
    if (this.issParameterSupported && this.issuer === undefined) {
      refuse("issParameterSupported", "there is no issuer to compare with");
    }
  }

  /**
   * Takes the options of a public client, which has no secret and relies on PKCE (RFC 8252 §8.1).
   *
   * @throws {OAuth2Error} `InvalidConfig` if one is missing or not sound
   */
  static publicClient(options: PublicClientOptions): OAuth2Options {
    return new OAuth2Options({ ...options, authMethod: "none" });
  }

  /**
   * Asks the server for its side of the options: its OpenID Connect metadata or else, if it has none,
   * those of RFC 8414. Its `issuer` must be exactly the given one, a slash at the end included.
   * id_tokens may have any asymmetric algorithm that it lists, unless `idTokenAlgorithms` says
   * otherwise.
   *
   * @throws {OAuth2Error} `Transport` if it cannot be reached, `TokenEndpoint` if it has no metadata,
   * `InvalidConfig` if they are not sound or an option is not
   */
  static async discover(
    issuer: string,
    { fetch = globalThis.fetch, timeoutMs = 30_000, ...options }: DiscoveryOptions,
  ): Promise<OAuth2Options> {
    checkClientId(options.clientId);
    if (!(timeoutMs >= 1 && timeoutMs < 2 ** 31)) refuse("timeoutMs", "it is not 1 to 2^31 - 1");
    const identifier = checkIssuer(issuer) ?? refuse("issuer", "it is missing");
    const { secretMethod, ...server } = await discover(identifier, { fetch, timeoutMs });
    const methodOfKey = options.privateKey === undefined ? "none" : "private_key_jwt";
    return new OAuth2Options({
      ...server,
      ...options,
      idTokenAlgorithms: options.idTokenAlgorithms ?? server.idTokenAlgorithms,
      authMethod: options.authMethod ??
        (options.clientSecret === undefined ? methodOfKey : secretMethod),
    });
  }

  /** What authenticates the client in requests of `oauth4webapi`. */
  get authentication(): ClientAuth {
    return this.#authentication;
  }

  /** Gives the options for printing, with `<redacted>` for a secret and a key. */
  toString(): string {
    const { idTokenAlgorithms, idTokenIssuer: _, issParameterSupported, ...texts } = this;
    return describe("OAuth2Options", {
      ...texts,
      issParameterSupported: String(issParameterSupported),
      idTokenAlgorithms: `[${idTokenAlgorithms.join(", ")}]`,
      ...this.#hidden,
    });
  }

  /** Gives the options for JSON, with `<redacted>` for a secret and a key. */
  toJSON(): Readonly<Record<string, unknown>> {
    return { ...this, ...this.#hidden };
  }
}

inspectedByToString(OAuth2Options);

function checkClientId(clientId: unknown): string {
  const isSound = typeof clientId === "string" && clientId.trim() !== "";
  return isSound ? clientId : refuse("clientId", "it is empty");
}

function checkUrl(name: string, url: string | URL): string {
  endpointUrl(name, url);
  return String(url);
}

function checkOptionalUrl(name: string, url: string | URL | undefined): string | undefined {
  return url === undefined ? undefined : checkUrl(name, url);
}

/** An issuer has no query (RFC 8414 §2). */
function checkIssuer(issuer: string | undefined): string | undefined {
  if (issuer?.includes("?")) refuse("issuer", "it has a query");
  return checkOptionalUrl("issuer", issuer);
}

function refuse(name: string, why: string): never {
  throw new OAuth2Error({ code: "InvalidConfig" }, `Cannot use ${name}: ${why}`);
}
