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

const IS_OF_TOKENS = /^(?:Bearer\b|Cookie cookie-name=)/i;

/** How routes are protected that answer every caller without a token by a challenge. */
const NEED_TOKENS: ReadonlySet<RouteProtection> = new Set(["identity", "scopes", "roles"]);

/**
 * Returns how tokens are sent to an application: as its challenges say. They can be those of guards
 * too, so that bearer tokens and cookies come first.
 */
export async function tokenHeadersOf(app: FwApplication): Promise<TokenHeaders> {
  const challenges = await challengesOf(app);
  const known = challenges.find((each) => IS_OF_TOKENS.test(each)) ?? challenges[0] ?? "Bearer";
  const cookie = OF_COOKIE.exec(known)?.[1];
  if (cookie !== undefined) {
    return (token) => ({ cookie: `${cookie}=${token}`, "sec-fetch-site": "same-origin" });
  }
  const [scheme] = known.split(/[ ,]/, 1);
  return (token) => ({ authorization: `${scheme} ${token}` });
}

/** Returns the challenges of the protected routes to a caller without a token. */
async function challengesOf(app: FwApplication): Promise<readonly string[]> {
  const challenges = new Set<string>();
  for (const { method, path, protection } of app.routes()) {
    if (!NEED_TOKENS.has(protection)) continue;
    const [{ template } = { template: path }] = templatesOf(path);
    const answer = await app.request(template.replaceAll(/\{[^}]+\}/g, "1"), {
      method: method === "ALL" ? "GET" : method,
    });
    await answer.body?.cancel();
    const challenge = answer.headers.get("www-authenticate");
    if (answer.status === 401 && challenge) challenges.add(challenge);
  }
  return [...challenges];
}
