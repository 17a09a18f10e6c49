/**
 * Where an application reads the tokens of its callers.
 *
 * @module
 */
import type { FwApplication } from "../../application/application.ts";
import type { RouteProtection } from "../../core/route/route_protection.ts";
import { matchedBy } from "./request/called_route.ts";

/** Returns the headers that send a token. */
export type TokenHeaders = (token: string) => Readonly<Record<string, string>>;

/** The challenges of tokens that are read from a cookie, or sent as bearer tokens. */
const OF_COOKIE = /^Cookie cookie-name="([^"]+)"/;
const OF_BEARER = /^Bearer\b/i;

/** How routes are protected that answer every caller without a token by a challenge. */
const NEED_TOKENS: ReadonlySet<RouteProtection> = new Set(["identity", "scopes", "roles"]);

/** Returns how tokens are sent to an application, by its challenges. */
export async function tokenHeadersOf(app: FwApplication): Promise<TokenHeaders> {
  const challenge = await challengeOf(app);
  const cookie = OF_COOKIE.exec(challenge)?.[1];
  if (cookie !== undefined) {
    return (token) => ({ cookie: `${cookie}=${token}`, "sec-fetch-site": "same-origin" });
  }
  const [scheme] = challenge.split(/[ ,]/, 1);
  return (token) => ({ authorization: `${scheme} ${token}` });
}

/**
 * Returns the challenge of a protected route to a caller without a token. It can be that of a
 * guard, so that one of a cookie or of bearer tokens comes first.
 */
async function challengeOf(app: FwApplication): Promise<string> {
  let other: string | undefined;
  for (const route of app.routes()) {
    if (!NEED_TOKENS.has(route.protection)) continue;
    const { method, path } = matchedBy(route);
    const answer = await app.request(path, { method });
    await answer.body?.cancel();
    const challenge = answer.headers.get("www-authenticate") ?? "";
    if (OF_COOKIE.test(challenge) || OF_BEARER.test(challenge)) return challenge;
    other ??= challenge || undefined;
  }
  return other ?? "Bearer";
}
