/**
 * The provider GitHub.
 *
 * @module
 */
import { type SocialOptions, SocialProvider } from "./social_provider.ts";

/** The userinfo of GitHub. */
export interface GitHubUserinfo {
  /** The permanent identifier of the user. */
  readonly id: number;
  /** The user name, which may change. */
  readonly login: string;
  /** The full name. */
  readonly name?: string | null;
  /** The public e-mail address. */
  readonly email?: string | null;
  /** The URL of a picture. */
  readonly avatar_url?: string;
  /** The URL of the profile. */
  readonly html_url?: string;
}

/**
 * Creates the provider GitHub. Its tokens are opaque: only the userinfo identifies their user. It
 * separates granted scopes by commas.
 *
 * @throws {OAuth2Error} `InvalidConfig` if an option is invalid
 */
export function github(options: SocialOptions): SocialProvider<GitHubUserinfo> {
  return new SocialProvider<GitHubUserinfo>(options, {
    name: "GitHub",
    scopes: ["read:user", "user:email"],
    identifier: { name: "id", type: "number" },
    headers: { accept: "application/vnd.github+json", "user-agent": "fw" },
    server: {
      clientSecret: options.clientSecret,
      issuer: "https://github.com/login/oauth", // the `iss` of its callbacks (RFC 9207)
      authorizeUrl: "https://github.com/login/oauth/authorize",
      tokenUrl: "https://github.com/login/oauth/access_token",
      userinfoUrl: "https://api.github.com/user",
    },
  });
}
