/** An application whose users log in at Apple. */
import assert from "node:assert/strict";
import { exportPKCS8, generateKeyPair, jwtVerify } from "jose";
import { apple, type AppleOptions, type AppleUserinfo } from "../../../src/oauth2/social/apple.ts";
import { begun } from "../login/site.ts";
import { type SocialSite, socialSite } from "./social_site.ts";

/** The endpoints of the discovery document of Apple, which has no userinfo endpoint. */
export const APPLE = {
  issuer: "https://appleid.apple.com",
  authorizeUrl: "https://appleid.apple.com/auth/authorize",
  tokenUrl: "https://appleid.apple.com/auth/token",
  jwksUrl: "https://appleid.apple.com/auth/keys",
} as const;

export const KEY_ID = "ABC123DEFG";
export const TEAM_ID = "TEAM567890";
export const { privateKey, publicKey } = await generateKeyPair("ES256", { extractable: true });
export const P8 = await exportPKCS8(privateKey);

export const MONTH_SECONDS = 30 * 86_400;

/** An application at Apple, which accepts only a secret that the key of the team has signed. */
export async function appleSite(
  options: Partial<AppleOptions> = {},
): Promise<SocialSite<AppleUserinfo>> {
  const it = await socialSite(
    APPLE,
    ({ clientSecret: _, ...rest }) =>
      apple({ ...rest, teamId: TEAM_ID, keyId: KEY_ID, privateKey: P8, ...options }),
  );
  const { now = Date.now } = options;
  it.provider.answers[APPLE.tokenUrl] = async ({ form }) => {
    try {
      const { payload } = await jwtVerify(form.get("client_secret") ?? "", publicKey, {
        algorithms: ["ES256"],
        issuer: TEAM_ID,
        subject: "shop",
        audience: "https://appleid.apple.com",
        requiredClaims: ["iat", "exp"],
        currentDate: new Date(now()),
        clockTolerance: 0,
      });
      const { iat = 0, exp = 0 } = payload;
      assert(exp - iat <= 6 * MONTH_SECONDS && iat <= now() / 1000);
    } catch {
      return { status: 400, body: { error: "invalid_client" } };
    }
    return await it.provider.exchange(form);
  };
  return it;
}

/** Logs in: the page of Apple posts the form, with the user at the first login. */
export async function logIn(it: SocialSite<AppleUserinfo>, user?: string): Promise<Response> {
  const form = new URLSearchParams((await begun(it)).split("?")[1]);
  if (user !== undefined) form.set("user", user);
  return await it.browser.post("/auth/callback", form);
}
