/**
 * Public identity providers, which differ in data only.
 *
 * @module
 */
import type { Fetch } from "../../platform/bounded_fetch.ts";
import { invalidClaim } from "../resource_server/claims.ts";
import { checkNames, refusing } from "../../platform/option_names.ts";
import { OAuth2Client } from "../client/client.ts";
import { type ConfidentialClientOptions, OAuth2Options } from "../client/client_options.ts";
import { OAuth2Error } from "../ground/errors.ts";
import { refuseOption } from "../ground/refuse_option.ts";
import { MemoryLoginStore } from "../login/login_store.ts";
import { type FinishedLogin, OAuth2Login, type OAuth2LoginOptions } from "../login/oauth2_login.ts";

/** Options of a provider. */
export interface SocialOptions {
  /** The identifier of the application at the provider. */
  readonly clientId: string;
  /** The secret of the application at the provider. */
  readonly clientSecret: string;
  /** The URL of the callback, exactly as registered at the provider. */
  readonly redirectUri: string | URL;
  /** The requested scopes; those of the provider by default. */
  readonly scopes?: readonly string[];
  /** Sends requests; the platform's `fetch` by default. */
  readonly fetch?: Fetch;
}

/** The data of a provider. */
export interface SocialProviderData<Profile> {
  /** The name, for messages. */
  readonly name: string;
  /** The default scopes. */
  readonly scopes: readonly string[];
  /** The names of its options beyond those of every provider. */
  readonly furtherOptions?: readonly string[];
  /** The endpoints, and how clients authenticate. */
  readonly server: Omit<ConfidentialClientOptions, "clientId" | "redirectUri">;
  /** Parameters of every authorization request. */
  readonly extra?: Readonly<Record<string, string>>;
  /** Headers of the userinfo request. */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * The member of a profile that identifies the user, and its type; a number must be
   * a safe integer.
   */
  readonly identifier: {
    readonly name: keyof Profile & string;
    readonly type: "string" | "number";
  };
  /** Reads the profile if the provider has no userinfo endpoint. */
  readonly readProfile?: (login: SocialLogin) => Readonly<Record<string, unknown>>;
}

const OPTIONS = ["clientId", "clientSecret", "redirectUri", "scopes", "fetch"];

/** The result of a login: that of `OAuth2Login.finish`, or the tokens only. */
export type SocialLogin = Pick<FinishedLogin, "tokens"> & Partial<FinishedLogin>;

/**
 * A public identity provider with its endpoints and default scopes.
 *
 * @example
 * ```ts
 * import { controller, route } from "@fw/fw";
 * import { github } from "@fw/fw/oauth2/social";
 *
 * const provider = github({
 *   clientId: "an identifier",
 *   clientSecret: "a secret from the environment",
 *   redirectUri: "https://shop.example.com/auth/callback",
 * });
 *
 * class AuthController extends controller("auth") {
 *   readonly #login = provider.login();
 *
 *   login = route.get("/login", (_, c) => this.#login.begin(c));
 *   callback = route.get("/callback", async (_, c) => {
 *     const user = await provider.userinfo(await this.#login.finish(c));
 *     return { id: user.id, login: user.login };
 *   });
 * }
 * ```
 */
export class SocialProvider<Profile extends object> {
  readonly #client: OAuth2Client;
  readonly #scopes: readonly string[];
  readonly #data: SocialProviderData<Record<string, unknown>>;
  readonly #logins = new MemoryLoginStore();

  /**
   * Creates a provider, as the functions with the names of providers do.
   *
   * @throws {OAuth2Error} `InvalidConfig` if an option is unknown or invalid
   */
  constructor(
    options: Omit<SocialOptions, "clientSecret">,
    data: SocialProviderData<Profile>,
  ) {
    checkNames(options, {
      known: [...OPTIONS, ...data.furtherOptions ?? []],
      refuse: (why) => refuseOption(data.name, why),
    });
    const { clientId, redirectUri, scopes, fetch } = options;
    const clientOptions = new OAuth2Options({ ...data.server, clientId, redirectUri });
    this.#client = new OAuth2Client(clientOptions, fetch ? { fetch } : {});
    this.#scopes = scopes ?? data.scopes;
    this.#data = { ...data };
  }

  /** Returns the client. */
  client(): OAuth2Client {
    return this.#client;
  }

  /** The requested scopes. */
  get scopes(): readonly string[] {
    return this.#scopes;
  }

  /**
   * Returns the logins of the provider, with its scopes and parameters. Logins with the same store
   * can finish each other; by default, the store is in memory.
   *
   * @throws {RangeError} if `ttlMs` is not a whole number of milliseconds from 1 to a day
   * @throws {TypeError} if an option is unknown
   */
  login(options: Omit<OAuth2LoginOptions, "scopes"> = {}): OAuth2Login {
    checkNames(options, {
      known: ["extra", "store", "ttlMs"],
      refuse: refusing("log users in"),
    });
    const { store = this.#logins } = options;
    const extra = { ...this.#data.extra, ...options.extra };
    return new OAuth2Login(this.#client, { ...options, store, scopes: this.#scopes, extra });
  }

  /**
   * Fetches the profile of the user.
   *
   * @throws {OAuth2Error} as `OAuth2Client.userinfo` does; `InvalidClaim` if it is of another user
   * than the id_token; `Validation` if it does not identify the user
   */
  async userinfo(login: SocialLogin): Promise<Profile> {
    const { name, identifier, headers, readProfile } = this.#data;
    const profile = readProfile
      ? readProfile(login)
      : await this.#client.userinfo(login.tokens.accessToken, headers ? { headers } : {});
    const id = profile[identifier.name];
    const isValid = identifier.type === "number"
      ? Number.isSafeInteger(id) // larger numbers are not exact
      : typeof id === "string" && id !== "";
    if (!isValid) {
      const message = `Cannot read userinfo of ${name}: it has no ${identifier.name}`;
      throw new OAuth2Error({ code: "Validation" }, message);
    }
    // the token may have been replaced by that of another user (OpenID Connect Core §5.3.2)
    const sub = login.claims?.sub;
    if (sub !== undefined && sub !== id) throw invalidClaim("sub", "does not match");
    return profile as Profile; // the provider documents the other members
  }

  /** Lists the granted scopes, which some providers separate by commas. */
  grantedScopes({ tokens }: SocialLogin): readonly string[] {
    return (tokens.scope ?? this.#scopes.join(" ")).split(/[ ,]+/).filter(Boolean);
  }
}
