/** An application whose users log in at a provider of the public, which a server on loopback plays. */
import type { SocialOptions, SocialProvider } from "../../../src/oauth2/social/social_provider.ts";
import { Browser } from "../login/browser.ts";
import { CALLBACK, loginApplication, SECRET } from "../login/login_application.ts";
import { Provider, type ProviderUrls } from "../login/provider.ts";
import type { Site } from "../login/site.ts";

export interface SocialSite<Profile extends object> extends Site {
  readonly social: SocialProvider<Profile>;
}

/** Answers at the callback with the profile of the user and the granted scopes. */
export async function socialSite<Profile extends object>(
  urls: ProviderUrls,
  create: (options: SocialOptions) => SocialProvider<Profile>,
): Promise<SocialSite<Profile>> {
  const provider = await Provider.start(urls);
  try {
    const { fetch } = provider;
    const social = create({ clientId: "shop", clientSecret: SECRET, redirectUri: CALLBACK, fetch });
    const app = await loginApplication(social.login(), {
      answer: async (login) => ({
        user: await social.userinfo(login),
        scopes: social.grantedScopes(login),
      }),
    });
    return {
      app,
      provider,
      social,
      browser: new Browser(app),
      async [Symbol.asyncDispose]() {
        await app.close();
        await provider[Symbol.asyncDispose]();
      },
    };
  } catch (error) {
    await provider[Symbol.asyncDispose]();
    throw error;
  }
}

/** Returns the URL and the parameters of the redirect, except those that change each time. */
export async function authorizationOf({ browser }: Site): Promise<readonly [string, unknown]> {
  const location = (await browser.open("/auth/login")).headers.get("location") ?? "";
  const { origin, pathname, searchParams } = new URL(location);
  const { state: _, nonce, code_challenge: __, ...rest } = Object.fromEntries(searchParams);
  return [origin + pathname, { ...rest, ...(nonce && { nonce: "fresh" }) }];
}
