/**
 * Where an application reads the tokens of its callers.
 *
 * @module
 */
import type { FwApplication } from "../../application/application.ts";
import type { RouteProtection } from "../../core/route/route_protection.ts";
import { templatesOf } from "../../openapi/operation/path_templates.ts";

/** Returns the headers that send a token. */
export type TokenHeaders = (token: string) => Readonly<Record<string, string>>;

/** The challenge of a token that is read from a cookie. */
const OF_COOKIE = /^Cookie cookie-name="([^"]+)"/;

/** How routes are protected that answer every caller without a token by a challenge. */
const NEED_TOKENS: ReadonlySet<RouteProtection> = new Set(["identity", "scopes", "roles"]);

/**
 * Returns how tokens are sent: as the challenge of the first protected route asks for that answers a
 * caller without one, or as `Authorization: Bearer`.
 */
export async function tokenHeadersOf(app: FwApplication): Promise<TokenHeaders> {
  const challenge = await challengeOf(app) ?? "Bearer";
  const cookie = OF_COOKIE.exec(challenge)?.[1];
  if (cookie === undefined) {
    const [scheme] = challenge.split(/[ ,]/, 1);
    return (token) => ({ authorization: `${scheme} ${token}` });
  }
  return (token) => ({ cookie: `${cookie}=${token}`, "sec-fetch-site": "same-origin" });
}

async function challengeOf(app: FwApplication): Promise<string | undefined> {
  for (const { method, path, protection } of app.routes()) {
    if (!NEED_TOKENS.has(protection)) continue;
    const { template = path } = templatesOf(path).at(-1) ?? {};
    const answer = await app.request(template.replaceAll(/\{[^}]+\}/g, "1"), {
      method: method === "ALL" ? "GET" : method,
    });
    await answer.body?.cancel();
    const challenge = answer.headers.get("www-authenticate");
    if (answer.status === 401 && challenge) return challenge;
  }
  return undefined;
}
