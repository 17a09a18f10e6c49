/**
 * The endpoints that clients authenticate to.
 *
 * @module
 */
import { timingSafeEqual } from "hono/utils/buffer";
import type { Context } from "../../core/http/context.ts";
import { inject } from "../../core/module/container.ts";
import { controller } from "../../core/route/controller.ts";
import { route } from "../../core/route/route.ts";
import { readScope } from "./authorizer.ts";
import { type Grant, Grants } from "./grants.ts";
import {
  answerClient,
  clientParameters,
  OAuthRefusal,
  parameter,
  requiredParameter,
} from "./oauth_refusal.ts";
import type { DevelopmentClient } from "./options.ts";
import { Settings } from "./settings.ts";
import { TokenIssuer } from "./tokens.ts";

interface Credentials {
  readonly clientId: string | undefined;
  readonly clientSecret: string | undefined;
}

/** A successful response (RFC 6749 §5.1). */
type TokenResponse = Readonly<Record<string, unknown>>;

/** The supported grants. */
export const GRANT_TYPES = ["authorization_code", "refresh_token", "client_credentials"] as const;

/** The methods by which a client can authenticate. */
export const AUTHENTICATION_METHODS = [
  "client_secret_post",
  "client_secret_basic",
  "none",
] as const;

/** Serves `/token` (RFC 6749 §3.2), and `/revoke` (RFC 7009), which ignores `token_type_hint`. */
export class TokenController extends controller("", { filters: [answerClient] }) {
  readonly #grants = inject(Grants);
  readonly #issuer = inject(TokenIssuer);
  readonly #settings = inject(Settings);

  /** Issues tokens for a grant; a login always includes a refresh token. */
  token = route.post("/token", { args: { form: clientParameters } }, async ({ form }, c) => {
    const client = await this.#authenticate(c, form);
    c.header("cache-control", "no-store");
    return await this.#grant(client, form);
  });

  /** Revokes a token of the client. */
  revoke = route.post("/revoke", { args: { form: clientParameters } }, async ({ form }, c) => {
    const { clientId } = await this.#authenticate(c, form);
    this.#grants.revoke(requiredParameter(form, "token"), clientId);
    return c.body(null);
  });

  /** The error does not reveal what was wrong. */
  async #authenticate(c: Context, form: URLSearchParams): Promise<DevelopmentClient> {
    const { clientId, clientSecret } = credentialsOf(c, form);
    const client = this.#settings.clients.get(clientId ?? "");
    const isKnown = client !== undefined &&
      await timingSafeEqual(clientSecret ?? "", client.clientSecret ?? "");
    if (!isKnown) throw new OAuthRefusal("invalid_client", "The client is unknown");
    return client;
  }

  #grant(client: DevelopmentClient, form: URLSearchParams): Promise<TokenResponse> {
    const { clientId, clientSecret } = client;
    switch (requiredParameter(form, "grant_type") as (typeof GRANT_TYPES)[number]) {
      case "authorization_code":
        return this.#exchangeCode(clientId, form);
      case "refresh_token":
        return this.#refresh(clientId, form);
      case "client_credentials":
        if (clientSecret !== undefined) return this.#clientCredentials(clientId, form);
        throw new OAuthRefusal("unauthorized_client", "A public client has no credentials");
      default:
        throw new OAuthRefusal("unsupported_grant_type", "The grant_type is not supported");
    }
  }

  async #exchangeCode(clientId: string, form: URLSearchParams): Promise<TokenResponse> {
    const grant = await this.#grants.redeemCode(requiredParameter(form, "code"), {
      clientId,
      redirectUri: requiredParameter(form, "redirect_uri"),
      codeVerifier: requiredParameter(form, "code_verifier"),
    });
    return await this.#respond(grant, { scope: grant.scope, nonce: grant.nonce });
  }

  /** The scope can be narrowed, not widened (RFC 6749 §6); the `nonce` is not repeated. */
  async #refresh(clientId: string, form: URLSearchParams): Promise<TokenResponse> {
    const token = requiredParameter(form, "refresh_token");
    const scope = readScope(form);
    const grant = this.#grants.redeemRefreshToken(token, { clientId, scope });
    return await this.#respond(grant, { scope: scope ?? grant.scope });
  }

  async #clientCredentials(clientId: string, form: URLSearchParams): Promise<TokenResponse> {
    const scope = readScope(form) ?? "";
    return await this.#respond({ clientId, user: undefined, scope, revoked: false }, { scope });
  }

  async #respond(
    grant: Grant,
    { scope, nonce }: { readonly scope: string; readonly nonce?: string | undefined },
  ): Promise<TokenResponse> {
    const { user } = grant;
    const { roles, claims } = user ?? {};
    const subject = user?.subject ?? grant.clientId; // RFC 9068 §2.2
    const accessToken = await this.#issuer.accessToken(grant, { subject, scope, roles, claims });
    return {
      access_token: accessToken,
      token_type: "Bearer",
      expires_in: this.#settings.accessTokenSeconds,
      ...(scope && { scope }),
      ...(user && { refresh_token: this.#grants.issueRefreshToken(grant) }),
      ...(user && scope.split(" ").includes("openid") && {
        id_token: await this.#issuer.idToken({ ...grant, user }, { accessToken, nonce }),
      }),
    };
  }
}

/** A client authenticates by a secret in the form or by Basic; a public client by its id alone. */
function credentialsOf(c: Context, form: URLSearchParams): Credentials {
  const [clientId, clientSecret] = [parameter(form, "client_id"), parameter(form, "client_secret")];
  const header = c.req.header("authorization");
  if (header === undefined) return { clientId, clientSecret };
  const basic = basicCredentials(header);
  if (clientSecret !== undefined || (clientId ?? basic.clientId) !== basic.clientId) {
    throw new OAuthRefusal("invalid_request", "The client authenticates in two ways");
  }
  return basic;
}

/** Both halves are encoded as in a form before they are joined (RFC 6749 §2.3.1). */
function basicCredentials(header: string): Credentials {
  try {
    const [, encoded = ""] = /^basic +([\w+/]+=*) *$/i.exec(header) ?? [];
    const pair = atob(encoded);
    const colon = pair.indexOf(":");
    const [clientId, clientSecret] = [pair.slice(0, colon), pair.slice(colon + 1)].map((half) =>
      decodeURIComponent(half.replaceAll("+", " "))
    );
    if (colon > 0) return { clientId, clientSecret };
  } catch {
    // not Base64, or not percent-encoded
  }
  throw new OAuthRefusal("invalid_client", "The client's credentials cannot be read");
}
