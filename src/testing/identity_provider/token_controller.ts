/**
 * The token endpoint.
 *
 * @module
 */
import { inject } from "../../core/module/container.ts";
import { controller } from "../../core/route/controller.ts";
import { route } from "../../core/route/route.ts";
import { readScope } from "./authorization_request.ts";
import { ClientAuthentication } from "./client_authentication.ts";
import type { Grant } from "./grant.ts";
import { Grants } from "./grants.ts";
import { answerClient, OAuthRefusal } from "./oauth_refusal.ts";
import type { DevelopmentClient } from "./options.ts";
import { clientParameters, requiredParameter } from "./parameters.ts";
import { Settings } from "./settings.ts";
import { TokenIssuer } from "./token_issuer.ts";

/** A successful answer (RFC 6749 §5.1). */
interface TokenResponse {
  readonly access_token: string;
  readonly token_type: "Bearer";
  readonly expires_in: number;
  readonly scope?: string;
  readonly refresh_token?: string;
  readonly id_token?: string;
}

/** The grants that the endpoint takes. */
export const GRANT_TYPES: readonly string[] = [
  "authorization_code",
  "refresh_token",
  "client_credentials",
];

/** Serves `/token` (RFC 6749 §3.2). A login always gives a refresh token. */
export class TokenController extends controller("", { filters: [answerClient] }) {
  readonly #authentication = inject(ClientAuthentication);
  readonly #grants = inject(Grants);
  readonly #issuer = inject(TokenIssuer);
  readonly #settings = inject(Settings);

  /** Gives tokens for a grant. */
  token = route.post(
    "/token",
    { args: { parameters: clientParameters } },
    async ({ parameters }, c) => {
      const client = await this.#authentication.authenticate(c, parameters);
      c.header("cache-control", "no-store");
      return await this.#grant(client, parameters);
    },
  );

  #grant(client: DevelopmentClient, parameters: URLSearchParams): Promise<TokenResponse> {
    switch (requiredParameter(parameters, "grant_type")) {
      case "authorization_code":
        return this.#exchangeCode(client, parameters);
      case "refresh_token":
        return this.#refresh(client, parameters);
      case "client_credentials":
        return this.#clientCredentials(client, parameters);
      default:
        throw new OAuthRefusal("unsupported_grant_type", `There are ${GRANT_TYPES.join(", ")}`);
    }
  }

  async #exchangeCode(
    { clientId }: DevelopmentClient,
    parameters: URLSearchParams,
  ): Promise<TokenResponse> {
    const grant = await this.#grants.redeemCode(requiredParameter(parameters, "code"), {
      clientId,
      redirectUri: requiredParameter(parameters, "redirect_uri"),
      codeVerifier: requiredParameter(parameters, "code_verifier"),
    });
    return await this.#respond(grant, { scope: grant.scope, nonce: grant.nonce });
  }

  /** The scope may be narrowed, not widened (RFC 6749 §6); the `nonce` is not told again. */
  async #refresh(
    { clientId }: DevelopmentClient,
    parameters: URLSearchParams,
  ): Promise<TokenResponse> {
    const token = requiredParameter(parameters, "refresh_token");
    const scope = readScope(parameters);
    const grant = this.#grants.redeemRefreshToken(token, { clientId, scope });
    return await this.#respond(grant, { scope: scope ?? grant.scope });
  }

  async #clientCredentials(
    { clientId, clientSecret }: DevelopmentClient,
    parameters: URLSearchParams,
  ): Promise<TokenResponse> {
    if (clientSecret === undefined) {
      throw new OAuthRefusal("unauthorized_client", "A public client has no credentials");
    }
    const scope = readScope(parameters) ?? "";
    return await this.#respond({ clientId, user: undefined, scope, revoked: false }, { scope });
  }

  async #respond(
    grant: Grant,
    { scope, nonce }: { readonly scope: string; readonly nonce?: string | undefined },
  ): Promise<TokenResponse> {
    const { user } = grant;
    const { roles, claims } = user ?? {};
    const subject = user?.subject ?? grant.clientId; // RFC 9068 §2.2
    const access_token = await this.#issuer.accessToken(grant, { subject, scope, roles, claims });
    const isLogin = scope.split(" ").includes("openid");
    return {
      access_token,
      token_type: "Bearer",
      expires_in: this.#settings.accessTokenSeconds,
      ...(scope && { scope }),
      ...(user && { refresh_token: this.#grants.issueRefreshToken(grant) }),
      ...(user && isLogin && {
        id_token: await this.#issuer.idToken(grant, user, { accessToken: access_token, nonce }),
      }),
    };
  }
}
