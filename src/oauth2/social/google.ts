/**
 * Google.
 *
 * @module
 */
import { type SocialOptions, SocialProvider } from "./social_provider.ts";

/** What Google says of a user (OpenID Connect Core §5.1). */
export interface GoogleUserinfo {
  /** Who the user is, for ever. */
  readonly sub: string;
  /** The full name. */
  readonly name?: string;
  /** The given name. */
  readonly given_name?: string;
  /** The family name. */
  readonly family_name?: string;
  /** The URL of a picture. */
  readonly picture?: string;
  /** The e-mail address. */
  readonly email?: string;
  /** Whether Google has verified the address. */
  readonly email_verified?: boolean;
  /** The domain of the user's organisation. */
  readonly hd?: string;
}

/** What Google documents as the `iss` of its id_tokens: either. */
const ISSUERS = ["https://accounts.google.com", "accounts.google.com"];

/**
 * Makes the provider Google. It refuses percent-encoded Basic credentials, so the secret is posted.
 *
 * @throws {OAuth2Error} `InvalidConfig` if an option is not sound
 */
export function google(options: SocialOptions): SocialProvider<GoogleUserinfo> {
  return new SocialProvider<GoogleUserinfo>(options, {
    name: "Google",
    scopes: ["openid", "email", "profile"],
    identifier: { name: "sub", type: "string" },
    server: {
      clientSecret: options.clientSecret,
      issuer: "https://accounts.google.com",
      idTokenIssuer: ({ iss }) => ISSUERS.find((issuer) => issuer === iss),
      authorizeUrl: "https://accounts.google.com/o/oauth2/v2/auth",
      tokenUrl: "https://oauth2.googleapis.com/token",
      revokeUrl: "https://oauth2.googleapis.com/revoke",
      userinfoUrl: "https://openidconnect.googleapis.com/v1/userinfo",
      jwksUrl: "https://www.googleapis.com/oauth2/v3/certs",
    },
  });
}
