/**
 * OAuth2 as a module of the application.
 *
 * @module
 */
import { type Module, module } from "../core/module/module.ts";
import { type FactoryProvider, provide } from "../core/module/provider.ts";
import { OAuth2Client } from "./client/client.ts";
import { JwksCache, type JwksCacheOptions } from "./resource_server/jwks_cache.ts";
import { JwtVerifier, type JwtVerifierOptions } from "./resource_server/jwt_verifier.ts";
import type { ValidationConfig } from "./resource_server/validation_config.ts";

/** What verifies the tokens that an application is sent. */
export interface ResourceServerOptions extends JwksCacheOptions, JwtVerifierOptions {
  /** Where the provider publishes its keys. */
  readonly jwksUrl: string | URL;
  /** What a token must be like. */
  readonly validation: ValidationConfig;
}

/** What an {@linkcode OAuth2Module} provides. */
export interface OAuth2ModuleOptions {
  /** The client; without it, the module provides what verifies tokens alone. */
  readonly client?: OAuth2Client;
  /** What verifies tokens; without it, the module provides the client alone. */
  readonly resourceServer?: ResourceServerOptions;
}

/** Makes modules that provide an OAuth2 client, and what verifies tokens. */
export class OAuth2Module {
  /**
   * Gives a module that provides and exports the {@linkcode OAuth2Client} and, with a resource server,
   * its {@linkcode JwtVerifier} and {@linkcode JwksCache}, whose keys are fetched before.
   *
   * @example
   * ```ts
   * import { inject, module } from "@fw/fw";
   * import { OAuth2Client, OAuth2Module, OAuth2Options } from "@fw/fw/oauth2";
   *
   * const client = new OAuth2Client(
   *   new OAuth2Options({
   *     clientId: "shop",
   *     clientSecret: "secret",
   *     authorizeUrl: "https://id.example.com/authorize",
   *     tokenUrl: "https://id.example.com/token",
   *     redirectUri: "https://shop.example.com/auth/callback",
   *   }),
   * );
   *
   * class LoginService {
   *   readonly #client = inject(OAuth2Client);
   *   logout = (refreshToken: string) => this.#client.revoke(refreshToken, "refresh_token");
   * }
   *
   * const AppModule = module({
   *   imports: [OAuth2Module.forRoot({ client })],
   *   providers: [LoginService],
   * });
   * ```
   *
   * @throws {OAuth2Error} `JwksFetch` if the keys cannot be fetched, `InvalidConfig` if an option is
   * not sound
   */
  static async forRoot({ client, resourceServer }: OAuth2ModuleOptions): Promise<Module> {
    const providers: FactoryProvider<unknown>[] = [];
    if (client) providers.push(provide(OAuth2Client, () => client));
    if (resourceServer) {
      const { jwksUrl, validation, ...options } = resourceServer;
      const keys = new JwksCache(jwksUrl, options);
      const verifier = new JwtVerifier(keys, validation, options);
      await keys.refresh();
      providers.push(provide(JwksCache, () => keys), provide(JwtVerifier, () => verifier));
    }
    return module({ name: "OAuth2Module", providers, exports: providers });
  }
}
