/**
 * The provider Google.
 *
 * @module
 */
import { type SocialOptions, SocialProvider } from "./social_provider.ts";

/** The userinfo of Google (OpenID Connect Core §5.1). */
export interface GoogleUserinfo {
  /** The permanent identifier of the user. */
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
  /** The domain of the organisation of the user. */
  readonly hd?: string;
}

/** The documented values of `iss` in its id_tokens. */
const ISSUERS = ["https://accounts.google.com", "accounts.google.com"];

/**
 * Creates the provider Google. The secret is sent in the body: Google refuses percent-encoded Basic
 * credentials.
 *
 * @throws {OAuth2Error} `InvalidConfig` if an option is invalid
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
