/**
 * An identity provider for development and tests.
 *
 * @module
 */
import type { MiddlewareHandler } from "hono";
import { cors } from "hono/cors";
import { csrf } from "hono/csrf";
import type { FwApplication } from "../../application/application.ts";
import { FwFactory } from "../../application/factory.ts";
import { HttpException } from "../../core/http/http_exception.ts";
import { module } from "../../core/module/module.ts";
import { provide } from "../../core/module/provider.ts";
import { isProduction } from "../../platform/env.ts";
import { AuthorizationController } from "./authorization_controller.ts";
import { Authorizer } from "./authorizer.ts";
import { Grants } from "./grants.ts";
import { OpenIdController } from "./openid_controller.ts";
import type {
  DevelopmentIdentityProviderOptions,
  DevelopmentUser,
  IssueTokenOptions,
  RotateKeysOptions,
} from "./options.ts";
import { callbackRequest } from "./page.ts";
import { Settings } from "./settings.ts";
import { TokenController } from "./token_controller.ts";
import { SigningKeys, TokenIssuer } from "./tokens.ts";

/**
 * A small OAuth 2.0 and OpenID Connect provider on this machine, for development and tests: a user
 * logs in with a click on a name. It supports the code grant with PKCE, rotating refresh tokens,
 * client credentials, userinfo and revocation. Its tokens are real, and kept in memory.
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
    this.#settings.issuer = issuer;
    this.issuer = issuer;
    this.jwksUrl = `${issuer}/jwks`;
  }

  /**
   * Starts a provider; resolves when it listens.
   *
   * @throws {TypeError} if `FW_ENV` is `production`, or a client or user is invalid
   * @throws {RangeError} if the port or the lifetime of tokens is out of range
   * @throws {ListenError} if it cannot listen on the address
   */
  static async start(
    options: DevelopmentIdentityProviderOptions = {},
  ): Promise<DevelopmentIdentityProvider> {
    if (isProduction()) {
      throw new TypeError(
        "Cannot start the development identity provider: FW_ENV is production, and it needs no password",
      );
    }
    const { port = 0, hostname = "127.0.0.1" } = options;
    const app = await createApplication(options);
    try {
      const { url } = await app.listen(port, { hostname });
      return new DevelopmentIdentityProvider(app, url);
    } catch (error) {
      await app.close();
      throw error;
    }
  }

  /** Signs an access token without a login. */
  issueToken({ subject, clientId, claims, ...options }: IssueTokenOptions): Promise<string> {
    const [first = "development"] = this.#settings.clients.keys();
    const user = this.#settings.users.get(subject);
    const { scope = "", roles = user?.roles } = options;
    const grant = { clientId: clientId ?? first, user, scope, revoked: false };
    return this.#app.get(TokenIssuer).accessToken(grant, {
      ...options,
      subject,
      roles,
      claims: user?.claims,
      override: claims,
    });
  }

  /**
   * Logs a user in, by default the first, and returns the request that a browser would then
   * send to the application: a `POST` with the response mode `form_post`, else a `GET`. For
   * tests of logins.
   *
   * @throws {TypeError} if the user, the client or its redirect URI is unknown
   */
  signIn(authorizationUrl: string, subject?: string): Request {
    const [first = ""] = this.#settings.users.keys();
    const user = this.#settings.users.get(subject ?? first);
    if (user === undefined) throw new TypeError("Cannot sign in: the user is unknown");
    return this.#decide(authorizationUrl, user);
  }

  /**
   * Refuses to log in, and returns the request that a browser would then send, with
   * `access_denied`.
   *
   * @throws {TypeError} if the client or its redirect URI is unknown
   */
  refuse(authorizationUrl: string): Request {
    return this.#decide(authorizationUrl, undefined);
  }

  /** Signs with a new key from now on. */
  rotateKeys({ keepPrevious = true }: RotateKeysOptions = {}): Promise<void> {
    return this.#app.get(SigningKeys).rotate({ keepPrevious });
  }

  /** Stops immediately. */
  async close(): Promise<void> {
    await this.#app.close({ drainMs: 0 });
  }

  /** Stops immediately. */
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

/** What pages of any origin can call, as clients. */
const OF_CLIENTS = ["/.well-known/*", "/jwks", "/revoke", "/token", "/userinfo"];

const BODY_LIMIT_BYTES = 64 * 1024;

async function createApplication(
  options: DevelopmentIdentityProviderOptions,
): Promise<FwApplication> {
  const settings = new Settings(options);
  const keys = await SigningKeys.generate(options.algorithm ?? "EdDSA");
  const providerModule = module({
    name: "DevelopmentIdentityProviderModule",
    providers: [
      provide(Settings, () => settings),
      provide(SigningKeys, () => keys),
      Authorizer,
      Grants,
      TokenIssuer,
    ],
    controllers: [AuthorizationController, OpenIdController, TokenController],
  });
  const app = await FwFactory.create(providerModule);
  app.use(refuseForeignHosts(options.hostname));
  for (const path of OF_CLIENTS) app.use(path, cors());
  return app.use("/login", csrf()).useBodyLimit(BODY_LIMIT_BYTES);
}

/**
 * Refuses requests to another host name with 421: a page of that name, whose address was changed to
 * this one, could log in for the user (DNS rebinding).
 */
function refuseForeignHosts(own?: string): MiddlewareHandler {
  return async (c, next) => {
    const { hostname } = new URL(c.req.url);
    const isOwn = hostname === "localhost" || hostname === own?.toLowerCase() ||
      /^[\d.]+$|^\[/.test(hostname);
    if (!isOwn) throw new HttpException(421, "The provider answers to addresses and to localhost");
    await next();
  };
}
