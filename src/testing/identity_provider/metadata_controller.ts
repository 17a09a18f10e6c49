/**
 * What the provider tells of itself.
 *
 * @module
 */
import { inject } from "../../core/module/container.ts";
import { controller } from "../../core/route/controller.ts";
import { route } from "../../core/route/route.ts";
import { AUTHENTICATION_METHODS } from "./client_authentication.ts";
import { Settings } from "./settings.ts";
import { SigningKeys } from "./signing_keys.ts";
import { GRANT_TYPES } from "./token_controller.ts";
import { CLAIMS } from "./user_claims.ts";

/** Serves the metadata (OpenID Connect Discovery §4, RFC 8414 §3) and the public keys. */
export class MetadataController extends controller() {
  readonly #settings = inject(Settings);
  readonly #keys = inject(SigningKeys);

  /** Tells what OpenID Connect Discovery asks for. */
  openidConfiguration = route.get("/.well-known/openid-configuration", () => this.#metadata());

  /** Tells what RFC 8414 asks for: the same. */
  authorizationServer = route.get(
    "/.well-known/oauth-authorization-server",
    () => this.#metadata(),
  );

  /** Tells the public keys (RFC 7517 §5). */
  jwks = route.get("/jwks", () => this.#keys.toJwks());

  #metadata(): Readonly<Record<string, unknown>> {
    const { issuer, scopes } = this.#settings;
    return {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      userinfo_endpoint: `${issuer}/userinfo`,
      revocation_endpoint: `${issuer}/revoke`,
      jwks_uri: `${issuer}/jwks`,
      scopes_supported: [...scopes],
      claims_supported: CLAIMS,
      response_types_supported: ["code"],
      response_modes_supported: ["query", "form_post"],
      grant_types_supported: GRANT_TYPES,
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: [this.#keys.algorithm],
      token_endpoint_auth_methods_supported: AUTHENTICATION_METHODS,
      revocation_endpoint_auth_methods_supported: AUTHENTICATION_METHODS,
      code_challenge_methods_supported: ["S256"],
      authorization_response_iss_parameter_supported: true,
      request_parameter_supported: false,
      request_uri_parameter_supported: false,
    };
  }
}
