/**
 * An identity provider for development and tests.
 *
 * @module
 */
import type { FwApplication } from "../../application/application.ts";
import { isProduction } from "../../platform/env.ts";
import { Authorizer } from "./authorizer.ts";
import { callbackRequest } from "./callback.ts";
import type {
  DevelopmentIdentityProviderOptions,
  DevelopmentUser,
  IssueTokenOptions,
  RotateKeysOptions,
} from "./options.ts";
import { createProvider } from "./provider_application.ts";
import { Settings } from "./settings.ts";
import { SigningKeys } from "./signing_keys.ts";
import { TokenIssuer } from "./token_issuer.ts";

/**
 * A small OAuth 2.0 and OpenID Connect provider on this machine, for development and tests: logging in
 * is a click on a name. It knows the code grant with PKCE, refresh tokens that rotate, client
 * credentials, userinfo and revocation; its tokens are real. Everything is in memory.
 *
 * @example
 * ```ts
 * import { DevelopmentIdentityProvider } from "@fw/fw/testing";
 * import { createRemoteJWKSet, jwtVerify } from "jose";
 *
 * await using idp = await DevelopmentIdentityProvider.start();
 * const token = await idp.issueToken({ subject: "alice" });
 * const { issuer, jwksUrl } = idp;
 * const keys = createRemoteJWKSet(new URL(jwksUrl));
 * const { payload } = await jwtVerify(token, keys, { issuer, audience: "development" });
 * console.assert(payload.sub === "alice");
 * ```
 */
export class DevelopmentIdentityProvider implements AsyncDisposable {
  /** The issuer: `http://127.0.0.1:PORT`, without a slash at its end. */
  readonly issuer: string;
  /** Where the public keys are. */
  readonly jwksUrl: string;
  readonly #app: FwApplication;
  readonly #settings: Settings;

  private constructor(app: FwApplication, issuer: string) {
    this.#app = app;
    this.#settings = app.get(Settings);
    this.#settings.listensAt(issuer);
    this.issuer = issuer;
    this.jwksUrl = `${issuer}/jwks`;
  }

  /**
   * Starts a provider; resolves when it listens.
   *
   * @throws {TypeError} if `FW_ENV` is `production`, or a client or user is not sound
   * @throws {RangeError} if the port or the life of tokens is out of range
   * @throws {ListenError} if the address cannot be listened on
   */
  static async start(
    options: DevelopmentIdentityProviderOptions = {},
  ): Promise<DevelopmentIdentityProvider> {
    if (isProduction()) {
      throw new TypeError(
        "Cannot start the development identity provider: FW_ENV is production, and it lets anybody in",
      );
    }
    const { port = 0, hostname = "127.0.0.1" } = options;
    const app = await createProvider(options);
    try {
      const { url } = await app.listen(port, { hostname });
      return new DevelopmentIdentityProvider(app, url);
    } catch (error) {
      await app.close();
      throw error;
    }
  }

  /** Signs an access token, without any login: for tests of what accepts one. */
  issueToken({ subject, clientId, claims, ...options }: IssueTokenOptions): Promise<string> {
    const [first] = this.#settings.clients.keys();
    const user = this.#settings.users.get(subject);
    const grant = {
      clientId: clientId ?? first ?? "development",
      user,
      scope: options.scope ?? "",
      revoked: false,
    };
    return this.#app.get(TokenIssuer).accessToken(grant, {
      subject,
      ...options,
      roles: options.roles ?? user?.roles,
      claims: user?.claims,
      override: claims,
    });
  }

  /**
   * Logs a user in, by default the first, and gives the request that a browser would then make to the
   * application: a `POST` with the response mode `form_post`, else a `GET`. For tests of logins.
   *
   * @throws {TypeError} if there is no such user, or the browser would not be sent anywhere
   */
  signIn(authorizationUrl: string, subject?: string): Request {
    const [first] = this.#settings.users.keys();
    const user = this.#settings.users.get(subject ?? first ?? "");
    if (user === undefined) throw new TypeError("Cannot sign in: there is no such user");
    return this.#decide(authorizationUrl, user);
  }

  /**
   * Refuses to log in, and gives the request that a browser would then make, with `access_denied`.
   *
   * @throws {TypeError} if the browser would not be sent anywhere
   */
  refuse(authorizationUrl: string): Request {
    return this.#decide(authorizationUrl, undefined);
  }

  /** Signs with a new key from now on. */
  rotateKeys({ keepPrevious = true }: RotateKeysOptions = {}): Promise<void> {
    return this.#app.get(SigningKeys).rotate({ keepPrevious });
  }

  /** Stops at once. */
  async close(): Promise<void> {
    await this.#app.close({ drainMs: 0 });
  }

  /** Stops at once. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #decide(authorizationUrl: string, user: DevelopmentUser | undefined): Request {
    const parameters = new URL(authorizationUrl).searchParams;
    try {
      return callbackRequest(this.#app.get(Authorizer).decide(parameters, user));
    } catch (cause) {
      throw new TypeError(`Cannot sign in: ${(cause as Error).message}`, { cause });
    }
  }
}
