/**
 * OAuth2 as a module of the application.
 *
 * @module
 */
import { type Module, module } from "../core/module/module.ts";
import { type FactoryProvider, provide } from "../core/module/provider.ts";
import { checkNames } from "../platform/option_names.ts";
import { OAuth2Client } from "./client/client.ts";
import { JwksCache, type JwksCacheOptions } from "./resource_server/jwks_cache.ts";
import { OAuth2Error } from "./ground/errors.ts";
import {
  JwtVerifier,
  type JwtVerifierOptions,
  verifierOf,
} from "./resource_server/jwt_verifier.ts";
import type { ValidationConfig } from "./resource_server/validation_config.ts";

/** Options of the verifier of incoming tokens. */
export interface ResourceServerOptions extends JwksCacheOptions, JwtVerifierOptions {
  /** Where the provider publishes its keys. */
  readonly jwksUrl: string | URL;
  /** What a token must be like. */
  readonly validation: ValidationConfig;
}

/** Options of {@linkcode OAuth2Module.forRoot}. */
export interface OAuth2ModuleOptions {
  /** The client; without it, the module provides the verifier only. */
  readonly client?: OAuth2Client;
  /** Configures the verifier; without it, the module provides the client only. */
  readonly resourceServer?: ResourceServerOptions;
}

/** Creates modules that provide an OAuth2 client and a verifier of tokens. */
export class OAuth2Module {
  /**
   * Returns a module that provides and exports the {@linkcode OAuth2Client} and, with a resource
   * server, a {@linkcode JwtVerifier} and its {@linkcode JwksCache}, after fetching the keys.
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
   * @throws {OAuth2Error} `JwksFetch` if the keys cannot be fetched, `InvalidConfig` if an
   * option is unknown or invalid
   */
  static async forRoot(options: OAuth2ModuleOptions): Promise<Module> {
    checkNames(options, { known: ["client", "resourceServer"], refuse });
    const { client, resourceServer } = options;
    const providers: FactoryProvider<unknown>[] = [];
    if (client) providers.push(provide(OAuth2Client, () => client));
    if (resourceServer) {
      const { jwksUrl, validation, ...others } = resourceServer;
      const { keys, verifier } = verifierOf(jwksUrl, validation, others);
      await keys.refresh();
      providers.push(provide(JwksCache, () => keys), provide(JwtVerifier, () => verifier));
    }
    return module({ name: "OAuth2Module", providers, exports: providers });
  }
}

function refuse(why: string): never {
  throw new OAuth2Error({ code: "InvalidConfig" }, `Cannot create OAuth2Module: ${why}`);
}
