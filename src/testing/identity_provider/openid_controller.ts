/**
 * The endpoints of OpenID Connect: metadata, public keys and userinfo.
 *
 * @module
 */
import type { Context } from "../../core/http/context.ts";
import { inject } from "../../core/module/container.ts";
import { controller } from "../../core/route/controller.ts";
import { route } from "../../core/route/route.ts";
import { Grants } from "./grants.ts";
import { answerBearer, OAuthRefusal } from "./oauth_refusal.ts";
import { Settings } from "./settings.ts";
import { AUTHENTICATION_METHODS, GRANT_TYPES } from "./token_controller.ts";
import { CLAIMS, claimsOf, SigningKeys } from "./tokens.ts";

/**
 * Serves the metadata (OpenID Connect Discovery §4), the keys and userinfo (OpenID
 * Connect Core §5.3).
 */
export class OpenIdController extends controller() {
  readonly #settings = inject(Settings);
  readonly #keys = inject(SigningKeys);
  readonly #grants = inject(Grants);

  /** Returns the metadata. */
  openidConfiguration = route.get("/.well-known/openid-configuration", () => this.#metadata());

  /** Returns the same where RFC 8414 §3 expects it. */
  authorizationServer = route.get(
    "/.well-known/oauth-authorization-server",
    () => this.#metadata(),
  );

  /** Returns the public keys (RFC 7517 §5). */
  jwks = route.get("/jwks", () => this.#keys.toJwks());

  /** Returns the claims of the user of an access token. */
  userinfo = route.get("/userinfo", { filters: [answerBearer] }, (_, c) => this.#userinfo(c));

  /** Returns the same. */
  userinfoByPost = route.post("/userinfo", this.userinfo.options, (_, c) => this.#userinfo(c));

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

  #userinfo(c: Context): Response {
    const header = c.req.header("authorization");
    if (header === undefined) return c.body(null, 401, { "www-authenticate": "Bearer" });
    const [, bearer] = /^bearer +([\w.~+/-]+=*) *$/i.exec(header) ?? [];
    if (bearer === undefined) {
      throw new OAuthRefusal("invalid_request", "The Authorization header has no bearer token");
    }
    const token = this.#grants.findAccessToken(bearer);
    const user = this.#settings.users.get(token?.subject ?? "");
    if (token === undefined || user === undefined) {
      throw new OAuthRefusal("invalid_token", "The access token is invalid, or not of a user");
    }
    if (!token.scope.split(" ").includes("openid")) {
      throw new OAuthRefusal("insufficient_scope", "The access token lacks the scope openid");
    }
    c.header("cache-control", "no-store");
    return c.json(claimsOf(user, token.scope));
  }
}
