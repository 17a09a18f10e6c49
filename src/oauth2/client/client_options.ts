/**
 * The options of a client and its authorization server.
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
import { refuseOption } from "../ground/refuse_option.ts";
import { checkNames } from "../../platform/option_names.ts";
import { describe, inspectedByToString, REDACTED } from "../../platform/secret.ts";
import type { SigningAlgorithm } from "../resource_server/signing_algorithm.ts";
import { type IssuerOf, ValidationConfig } from "../resource_server/validation_config.ts";

/** Options of a public client. URLs are https, or http to this machine. */
export interface PublicClientOptions {
  /** The identifier of the client at the server. */
  readonly clientId: string;
  /** The authorization endpoint; `authorizeUrl()` requires it. */
  readonly authorizeUrl?: string | URL | undefined;
  /** The token endpoint. */
  readonly tokenUrl: string | URL;
  /** The URL of the callback, exactly as registered at the server; `authorizeUrl()` requires it. */
  readonly redirectUri?: string | URL | undefined;
  /** The identifier of the server, exactly as in its tokens and callbacks. */
  readonly issuer?: string | undefined;
  /** The URL of the key set for id_tokens. */
  readonly jwksUrl?: string | URL | undefined;
  /** The revocation endpoint (RFC 7009). */
  readonly revokeUrl?: string | URL | undefined;
  /** The userinfo endpoint. */
  readonly userinfoUrl?: string | URL | undefined;
  /** Whether a callback without `iss` is refused (RFC 9207 §3); `false` by default. */
  readonly issParameterSupported?: boolean | undefined;
  /** The accepted algorithms of id_tokens; `["RS256"]` by default. */
  readonly idTokenAlgorithms?: readonly SigningAlgorithm[] | undefined;
  /**
   * The `iss` of an id_token if it can differ from `issuer`, as with one issuer for each tenant.
   */
  readonly idTokenIssuer?: IssuerOf | undefined;
}

/** Options of a confidential client. */
export interface ConfidentialClientOptions
  extends PublicClientOptions, ClientAuthenticationOptions {
  /** How the client authenticates; `client_secret_post` by default. */
  readonly authMethod?: AuthMethod | undefined;
}

/** Options of a client that discovers its server. */
export interface DiscoveryOptions
  extends
    ClientAuthenticationOptions,
    Pick<PublicClientOptions, "clientId" | "redirectUri" | "idTokenAlgorithms"> {
  /**
   * How the client authenticates. By default `none` without secret and key, `private_key_jwt`
   * with a key only, otherwise `client_secret_post`, or `client_secret_basic` if the server
   * supports only that.
   */
  readonly authMethod?: AuthMethod | undefined;
  /** Sends the requests; the platform's `fetch` by default. */
  readonly fetch?: Fetch | undefined;
  /** How long each of at most two requests may take, in milliseconds; 30 000 by default. */
  readonly timeoutMs?: number | undefined;
}

/**
 * The options of a client and its authorization server: checked by the constructor, and immutable.
 * Printing them, or converting them to JSON, does not show the secret or the key.
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
  /** How the client authenticates. */
  readonly authMethod: AuthMethod;
  /** The authorization endpoint. */
  readonly authorizeUrl: string | undefined;
  /** The token endpoint. */
  readonly tokenUrl: string;
  /** The URL of the callback. */
  readonly redirectUri: string | undefined;
  /** The identifier of the server. */
  readonly issuer: string | undefined;
  /** The URL of the key set. */
  readonly jwksUrl: string | undefined;
  /** The revocation endpoint. */
  readonly revokeUrl: string | undefined;
  /** The userinfo endpoint. */
  readonly userinfoUrl: string | undefined;
  /** Whether a callback without `iss` is refused. */
  readonly issParameterSupported: boolean;
  /** The accepted algorithms of id_tokens. */
  readonly idTokenAlgorithms: readonly SigningAlgorithm[];
  /** The `iss` of an id_token if it can differ from `issuer`. */
  readonly idTokenIssuer: IssuerOf | undefined;
  readonly #authentication: ClientAuth;
  readonly #hidden: Readonly<Record<string, string | undefined>>;

  /**
   * Creates the options of a confidential client.
   *
   * @throws {OAuth2Error} `InvalidConfig` if an option is missing or invalid
   */
  constructor(options: ConfidentialClientOptions) {
    checkNames(options, { known: OPTIONS, refuse: (why) => refuseOption("options", why) });
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
      refuseOption("issParameterSupported", "issuer is missing");
    }
  }

  /**
   * Creates the options of a public client, which has no secret and relies on PKCE (RFC 8252 §8.1).
   *
   * @throws {OAuth2Error} `InvalidConfig` if an option is missing or invalid
   */
  static publicClient(options: PublicClientOptions): OAuth2Options {
    return new OAuth2Options({ ...options, authMethod: "none" });
  }

  /**
   * Fetches the metadata of the server: those of OpenID Connect or, if there are none, those of RFC
   * 8414. Their `issuer` must equal the given one, including a slash at the end. By default,
   * id_tokens can have any asymmetric algorithm that they list.
   *
   * @throws {OAuth2Error} `Transport` if the server cannot be reached, `TokenEndpoint` if it has no
   * metadata, `InvalidConfig` if the metadata or an option are invalid
   */
  static async discover(
    issuer: string,
    { fetch = globalThis.fetch, timeoutMs = 30_000, ...options }: DiscoveryOptions,
  ): Promise<OAuth2Options> {
    checkClientId(options.clientId);
    if (!(timeoutMs >= 1 && timeoutMs < 2 ** 31)) {
      refuseOption("timeoutMs", "it is not 1 to 2^31 - 1");
    }
    const identifier = checkIssuer(issuer) ?? refuseOption("issuer", "it is missing");
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

  /** The client authentication of `oauth4webapi`. */
  get authentication(): ClientAuth {
    return this.#authentication;
  }

  /** Returns the options for printing, with `<redacted>` for the secret and the key. */
  toString(): string {
    const { idTokenAlgorithms, idTokenIssuer: _, issParameterSupported, ...texts } = this;
    return describe("OAuth2Options", {
      ...texts,
      issParameterSupported: String(issParameterSupported),
      idTokenAlgorithms: `[${idTokenAlgorithms.join(", ")}]`,
      ...this.#hidden,
    });
  }

  /** Returns the options for JSON, with `<redacted>` for the secret and the key. */
  toJSON(): Readonly<Record<string, unknown>> {
    return { ...this, ...this.#hidden };
  }
}

inspectedByToString(OAuth2Options);

const OPTIONS: readonly (keyof ConfidentialClientOptions)[] = [
  "clientId",
  "authorizeUrl",
  "tokenUrl",
  "redirectUri",
  "issuer",
  "jwksUrl",
  "revokeUrl",
  "userinfoUrl",
  "issParameterSupported",
  "idTokenAlgorithms",
  "idTokenIssuer",
  "authMethod",
  "clientSecret",
  "privateKey",
  "privateKeyId",
];

function checkClientId(clientId: unknown): string {
  const isValid = typeof clientId === "string" && clientId.trim() !== "";
  return isValid ? clientId : refuseOption("clientId", "it is empty");
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
  if (issuer?.includes("?")) refuseOption("issuer", "it has a query");
  return checkOptionalUrl("issuer", issuer);
}
