/** Types: this file tests by compiling. */
import type { TokenSet } from "../../../src/oauth2/client/token_set.ts";
import type {
  apple,
  AppleUserinfo,
  discord,
  DiscordUserinfo,
  github,
  GitHubUserinfo,
  google,
  GoogleUserinfo,
  microsoft,
  MicrosoftUserinfo,
  SocialLogin,
  SocialOptions,
} from "../../../src/oauth2/social/mod.ts";
import { test } from "../../support/test.ts";
import { same } from "../../types/same.ts";

/** Compiles its body, which never runs. */
function compiles(_: () => unknown): void {}

/** The result type of `userinfo()` of a provider. */
type ProfileOf<Create extends (...args: never[]) => unknown> = ReturnType<Create> extends
  { userinfo(login: SocialLogin): Promise<infer Profile> } ? Profile : never;

test("SocialProvider.userinfo() returns a typed profile", () => {
  same<ProfileOf<typeof google>, GoogleUserinfo>();
  same<ProfileOf<typeof github>, GitHubUserinfo>();
  same<ProfileOf<typeof microsoft>, MicrosoftUserinfo>();
  same<ProfileOf<typeof apple>, AppleUserinfo>();
  same<ProfileOf<typeof discord>, DiscordUserinfo>();
  same<GoogleUserinfo["sub"], string>();
  same<GitHubUserinfo["id"], number>();
  same<DiscordUserinfo["id"], string>();
  same<GoogleUserinfo["email_verified"], boolean | undefined>();
  same<
    AppleUserinfo["name"],
    { readonly firstName?: string; readonly lastName?: string } | undefined
  >();
});

test("a profile has only the members of its provider", () => {
  compiles(async () => {
    const github =
      await ({} as ReturnType<typeof import("../../../src/oauth2/social/mod.ts").github>)
        .userinfo({ tokens: {} as TokenSet });
    // @ts-expect-error: GitHub has `id`
    github.sub;
    // @ts-expect-error: a profile is read
    github.id = 1;
    const google = {} as GoogleUserinfo;
    // @ts-expect-error: the name is optional
    google.name.length;
  });
});

test("a provider accepts only its options", () => {
  compiles(async () => {
    const { apple, google, microsoft } = await import("../../../src/oauth2/social/mod.ts");
    const options = {} as SocialOptions;
    google(options).login({ ttlMs: 1 });
    // @ts-expect-error: the scopes are the provider's option
    google(options).login({ scopes: ["openid"] });
    // @ts-expect-error: Google has no tenants
    google({ ...options, tenant: "common" });
    microsoft({ ...options, tenant: "common" });
    const { clientId, redirectUri } = options;
    apple({ clientId, redirectUri, teamId: "", keyId: "", privateKey: "" });
    // @ts-expect-error: the key signs the secret of Apple
    apple({ clientId, redirectUri, teamId: "", keyId: "", privateKey: "", clientSecret: "" });
    // @ts-expect-error: the key is missing
    apple({ clientId, redirectUri, teamId: "", keyId: "" });
    // @ts-expect-error: tokens are needed
    google(options).userinfo({});
    google(options).userinfo({ tokens: {} as TokenSet });
  });
});
