/**
 * Discord.
 *
 * @module
 */
import { type SocialOptions, SocialProvider } from "./social_provider.ts";

/** What Discord says of a user. */
export interface DiscordUserinfo {
  /** Who the user is, for ever: a number too large for one of JavaScript's. */
  readonly id: string;
  /** The user name, which may change. */
  readonly username: string;
  /** The name that is shown. */
  readonly global_name?: string | null;
  /** The hash of the picture. */
  readonly avatar?: string | null;
  /** The e-mail address. */
  readonly email?: string | null;
  /** Whether the address is verified. */
  readonly verified?: boolean;
}

/**
 * Makes the provider Discord, whose tokens are opaque.
 *
 * @throws {OAuth2Error} `InvalidConfig` if an option is not sound
 */
export function discord(options: SocialOptions): SocialProvider<DiscordUserinfo> {
  return new SocialProvider<DiscordUserinfo>(options, {
    name: "Discord",
    scopes: ["identify", "email"],
    identifier: { name: "id", type: "string" },
    // it blocks who does not name itself so
    headers: { "user-agent": "DiscordBot (https://jsr.io/@fw/fw, 0)" },
    server: {
      clientSecret: options.clientSecret,
      authorizeUrl: "https://discord.com/oauth2/authorize",
      tokenUrl: "https://discord.com/api/oauth2/token",
      revokeUrl: "https://discord.com/api/oauth2/token/revoke",
      userinfoUrl: "https://discord.com/api/v10/users/@me",
    },
  });
}
