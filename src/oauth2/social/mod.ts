/**
 * Public identity providers: Google, GitHub, Microsoft, Apple and Discord.
 *
 * @example
 * ```ts
 * import { google } from "@fw/fw/oauth2/social";
 *
 * const provider = google({
 *   clientId: "an identifier",
 *   clientSecret: "a secret from the environment",
 *   redirectUri: "https://shop.example.com/auth/callback",
 * });
 * const login = provider.login(); // begin() and finish() serve the two routes of a login
 * ```
 *
 * @module
 */
export { apple, type AppleOptions, type AppleUserinfo } from "./apple.ts";
export { discord, type DiscordUserinfo } from "./discord.ts";
export { github, type GitHubUserinfo } from "./github.ts";
export { google, type GoogleUserinfo } from "./google.ts";
export { microsoft, type MicrosoftOptions, type MicrosoftUserinfo } from "./microsoft.ts";
export {
  type SocialLogin,
  type SocialOptions,
  SocialProvider,
  type SocialProviderData,
} from "./social_provider.ts";
