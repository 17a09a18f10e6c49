/**
 * GitHub.
 *
 * @module
 */
import { type SocialOptions, SocialProvider } from "./social_provider.ts";

/** What GitHub says of a user. */
export interface GitHubUserinfo {
  /** Who the user is, for ever. */
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
 * Makes the provider GitHub. Its tokens are opaque: no key set verifies them, only the userinfo says
 * whose they are. Scopes are granted separated by commas.
 *
 * @throws {OAuth2Error} `InvalidConfig` if an option is not sound
 */
export function github(options: SocialOptions): SocialProvider<GitHubUserinfo> {
  return new SocialProvider<GitHubUserinfo>(options, {
    name: "GitHub",
    scopes: ["read:user", "user:email"],
    identifier: { name: "id", type: "number" },
    headers: { accept: "application/vnd.github+json", "user-agent": "fw" },
    server: {
      clientSecret: options.clientSecret,
      issuer: "https://github.com/login/oauth", // as its callbacks have it (RFC 9207)
      authorizeUrl: "https://github.com/login/oauth/authorize",
      tokenUrl: "https://github.com/login/oauth/access_token",
      userinfoUrl: "https://api.github.com/user",
    },
  });
}
