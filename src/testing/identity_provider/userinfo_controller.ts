/**
 * The userinfo endpoint.
 *
 * @module
 */
import { inject } from "../../core/module/container.ts";
import type { Context } from "../../core/http/context.ts";
import { controller } from "../../core/route/controller.ts";
import { route } from "../../core/route/route.ts";
import { Grants } from "./grants.ts";
import { answerBearer, OAuthRefusal } from "./oauth_refusal.ts";
import { Settings } from "./settings.ts";
import { claimsOf } from "./user_claims.ts";

/** Serves `/userinfo` (OpenID Connect Core §5.3), by GET and POST. */
export class UserinfoController extends controller("", { filters: [answerBearer] }) {
  readonly #grants = inject(Grants);
  readonly #users = inject(Settings).users;

  /** Tells who an access token stands for. */
  userinfo = route.get("/userinfo", (_, c) => this.#userinfo(c));

  /** Tells the same. */
  userinfoByPost = route.post("/userinfo", (_, c) => this.#userinfo(c));

  #userinfo(c: Context): Response {
    const header = c.req.header("authorization");
    if (header === undefined) return c.body(null, 401, { "www-authenticate": "Bearer" });
    const token = this.#grants.findAccessToken(bearerToken(header));
    const user = this.#users.get(token?.subject ?? "");
    if (token === undefined || user === undefined) {
      throw new OAuthRefusal("invalid_token", "The access token is no user's, or good no more");
    }
    if (!token.scope.split(" ").includes("openid")) {
      throw new OAuthRefusal("insufficient_scope", "The access token has not the scope openid");
    }
    c.header("cache-control", "no-store");
    return c.json(claimsOf(user, token.scope));
  }
}

function bearerToken(header: string): string {
  const [, token] = /^bearer +([\w.~+/-]+=*) *$/i.exec(header) ?? [];
  if (token !== undefined) return token;
  throw new OAuthRefusal("invalid_request", "The Authorization header holds no bearer token");
}
