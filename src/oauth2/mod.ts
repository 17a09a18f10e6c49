/**
 * OAuth2: a strict client, and a resource server that survives the outages and key rotations of its
 * provider. It requires Fetch and WebCrypto only.
 *
 * @example
 * ```ts
 * import { controller, FwFactory, module, route } from "@fw/fw";
 * import { JwksCache, JwtVerifier, OAuth2Principal, ValidationConfig } from "@fw/fw/oauth2";
 *
 * class MeController extends controller() {
 *   me = route.get("/me", { args: { me: OAuth2Principal } }, ({ me }) => ({
 *     subject: me.subject,
 *   }));
 * }
 *
 * const config = new ValidationConfig("RS256")
 *   .withIssuer("https://id.example.com")
 *   .withAudience("https://api.example.com");
 * const verifier = new JwtVerifier(new JwksCache("https://id.example.com/jwks"), config);
 *
 * const app = await FwFactory.create(module({ controllers: [MeController] }));
 * app.useOAuth2(verifier, { require: true });
 * ```
 *
 * @module
 */
export type { Fetch } from "../platform/bounded_fetch.ts";
export { OAuth2Error } from "./ground/errors.ts";
export type {
  GrantError,
  OAuth2ErrorBase,
  OAuth2ErrorCode,
  OAuth2ErrorConstructor,
  OAuth2Failure,
} from "./ground/errors.ts";
export { claimedRoles, type OAuth2Identity, type RolesReader } from "./identity.ts";
export type { JsonObject } from "../platform/json_object.ts";
export type { TokenVerifier } from "./authentication_options.ts";
export { OAuth2Module, type OAuth2ModuleOptions, type ResourceServerOptions } from "./module.ts";
export {
  OAuth2Guard,
  oauth2Identity,
  OAuth2Principal,
  OAuth2PrincipalMissing,
} from "./principal.ts";

export type { AuthorizeRequest, AuthorizeUrl } from "./client/authorize_url.ts";
export type { Callback } from "./client/callback.ts";
export { OAuth2Client, type OAuth2ClientOptions } from "./client/client.ts";
export type {
  AuthMethod,
  ClientAuthenticationOptions,
  ClientSecret,
} from "./client/client_authentication.ts";
export type { ClientCredentialsOptions } from "./client/client_credentials.ts";
export { OAuth2Options } from "./client/client_options.ts";
export type {
  ConfidentialClientOptions,
  DiscoveryOptions,
  PublicClientOptions,
} from "./client/client_options.ts";
export type { IdTokenClaims, VerifyIdTokenOptions } from "./client/id_token.ts";
export { generatePkce, type PkcePair, PkceVerifier } from "./client/pkce.ts";
export type { TokenTypeHint } from "./client/token_request.ts";
export { TokenCache, type TokenCacheOptions } from "./client/token_cache.ts";
export { TokenSet, TokenSetDto } from "./client/token_set.ts";
export type { TokenSetDtoFields, TokenSetFields } from "./client/token_set.ts";

export { MemoryLoginStore, type MemoryLoginStoreOptions } from "./login/login_store.ts";
export type { LoginStore, PendingLogin, SaveLoginOptions } from "./login/login_store.ts";
export type { RequestedClaims } from "./login/requested_claims.ts";
export { OAuth2Login } from "./login/oauth2_login.ts";
export type { BeginLoginOptions, FinishedLogin, OAuth2LoginOptions } from "./login/oauth2_login.ts";
export { RedisLoginStore } from "./login/redis_login_store.ts";
export type {
  IoRedisClient,
  NodeRedisClient,
  RedisLoginStoreOptions,
} from "./login/redis_login_store.ts";

export type { Claims } from "./resource_server/claims.ts";
export type { JwsHeader } from "./resource_server/compact_jws.ts";
export { JwksCache, type JwksCacheOptions } from "./resource_server/jwks_cache.ts";
export { JwtVerifier, type JwtVerifierOptions } from "./resource_server/jwt_verifier.ts";
export type { KeySource, VerifyOptions } from "./resource_server/key_set.ts";
export { isSigningAlgorithm, type SigningAlgorithm } from "./resource_server/signing_algorithm.ts";
export { type IssuerOf, ValidationConfig } from "./resource_server/validation_config.ts";
export type { VerifiedToken } from "./resource_server/verified_token_cache.ts";
