/**
 * Identity providers of the public: what differs between them is data.
 *
 * @module
 */
import type { Fetch } from "../../platform/bounded_fetch.ts";
import { invalidClaim } from "../resource_server/claims.ts";
import { OAuth2Client } from "../client/client.ts";
import { type ConfidentialClientOptions, OAuth2Options } from "../client/client_options.ts";
import { OAuth2Error } from "../ground/errors.ts";
import { MemoryLoginStore } from "../login/login_store.ts";
import { type FinishedLogin, OAuth2Login, type OAuth2LoginOptions } from "../login/oauth2_login.ts";

/** What an application is to a provider. */
export interface SocialOptions {
  /** The identifier that the provider gave to the application. */
  readonly clientId: string;
  /** The secret that the provider gave to the application. */
  readonly clientSecret: string;
  /** Where users come back to, exactly as the provider has registered it. */
  readonly redirectUri: string | URL;
  /** What is asked for, instead of the provider's default scopes. */
  readonly scopes?: readonly string[];
  /** What sends requests; the platform's by default. */
  readonly fetch?: Fetch;
}

/** What makes a provider what it is. */
export interface SocialProviderData<Profile> {
  /** Its name in messages. */
  readonly name: string;
  /** Its default scopes. */
  readonly scopes: readonly string[];
  /** Its endpoints, and how it authenticates clients. */
  readonly server: Omit<ConfidentialClientOptions, "clientId" | "redirectUri">;
  /** Parameters of every authorization request. */
  readonly extra?: Readonly<Record<string, string>>;
  /** Headers of the userinfo request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The member of a profile that says who a user is, and its type; a number is a safe integer. */
  readonly identifier: {
    readonly name: keyof Profile & string;
    readonly type: "string" | "number";
  };
  /** Reads the profile where the provider has no userinfo endpoint. */
  readonly readProfile?: (login: SocialLogin) => Readonly<Record<string, unknown>>;
}

/** What is known after a login: what `OAuth2Login.finish` gives, or the tokens alone. */
export type SocialLogin = Pick<FinishedLogin, "tokens"> & Partial<FinishedLogin>;

/**
 * An identity provider of the public, with its endpoints and default scopes.
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
   * Creates one; the functions named after the providers do so, and any other
   * provider is added in the same way.
   *
   * @throws {OAuth2Error} `InvalidConfig` if an option is not sound
   */
  constructor(
    { clientId, redirectUri, scopes, fetch }: Omit<SocialOptions, "clientSecret">,
    data: SocialProviderData<Profile>,
  ) {
    const options = new OAuth2Options({ ...data.server, clientId, redirectUri });
    this.#client = new OAuth2Client(options, fetch ? { fetch } : {});
    this.#scopes = scopes ?? data.scopes;
    this.#data = { ...data };
  }

  /** Gives the client. */
  client(): OAuth2Client {
    return this.#client;
  }

  /** What is asked for. */
  get scopes(): readonly string[] {
    return this.#scopes;
  }

  /**
   * Gives what logs users in, with the provider's scopes and parameters. Whichever is called for
   * finishes what any has begun that has the same store: by default one in memory.
   */
  login(
    { store = this.#logins, ...options }: Omit<OAuth2LoginOptions, "scopes"> = {},
  ): OAuth2Login {
    const extra = { ...this.#data.extra, ...options.extra };
    return new OAuth2Login(this.#client, { ...options, store, scopes: this.#scopes, extra });
  }

  /**
   * Gives what the provider says of the user.
   *
   * @throws {OAuth2Error} as `OAuth2Client.userinfo` does; `InvalidClaim` if it is of another user than
   * the id_token; `Validation` if it does not say who the user is
   */
  async userinfo(login: SocialLogin): Promise<Profile> {
    const { name, identifier, headers, readProfile } = this.#data;
    const profile = readProfile
      ? readProfile(login)
      : await this.#client.userinfo(login.tokens.accessToken, headers ? { headers } : {});
    const id = profile[identifier.name];
    const isSound = identifier.type === "number"
      ? Number.isSafeInteger(id) // beyond, two users would have one number
      : typeof id === "string" && id !== "";
    if (!isSound) {
      const message = `Cannot read userinfo of ${name}: it has no ${identifier.name}`;
      throw new OAuth2Error({ code: "Validation" }, message);
    }
    // OpenID Connect Core §5.3.2: a token may have been swapped for another user's
    const sub = login.claims?.sub;
    if (sub !== undefined && sub !== id) throw invalidClaim("sub", "does not match");
    return profile as Profile; // the provider documents the rest
  }

  /** Lists the scopes that were granted: some providers separate them by commas. */
  grantedScopes({ tokens }: SocialLogin): readonly string[] {
    return (tokens.scope ?? this.#scopes.join(" ")).split(/[ ,]+/).filter(Boolean);
  }
}
