/**
 * The provider Discord.
 *
 * @module
 */
import { type SocialOptions, SocialProvider } from "./social_provider.ts";

/** The userinfo of Discord. */
export interface DiscordUserinfo {
  /** The permanent identifier of the user: larger than a safe integer. */
  readonly id: string;
  /** The user name, which may change. */
  readonly username: string;
  /** The displayed name. */
  readonly global_name?: string | null;
  /** The hash of the picture. */
  readonly avatar?: string | null;
  /** The e-mail address. */
  readonly email?: string | null;
  /** Whether the address is verified. */
  readonly verified?: boolean;
}

/**
 * Creates the provider Discord. Its tokens are opaque.
 *
 * @throws {OAuth2Error} `InvalidConfig` if an option is invalid
 */
export function discord(options: SocialOptions): SocialProvider<DiscordUserinfo> {
  return new SocialProvider<DiscordUserinfo>(options, {
    name: "Discord",
    scopes: ["identify", "email"],
    identifier: { name: "id", type: "string" },
    // Discord blocks other user agents
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
