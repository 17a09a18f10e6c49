import assert from "node:assert/strict";
import { discord } from "../../../src/oauth2/social/discord.ts";
import { test } from "../../support/test.ts";
import { CALLBACK, SECRET } from "../login/login_application.ts";
import { begun } from "../login/site.ts";
import { authorizationOf, socialSite } from "./social_site.ts";

/** As Discord's documentation has them. */
const DISCORD = {
  issuer: "https://discord.com",
  authorizeUrl: "https://discord.com/oauth2/authorize",
  tokenUrl: "https://discord.com/api/oauth2/token",
  userinfoUrl: "https://discord.com/api/v10/users/@me",
} as const;

const NELLY = {
  id: "80351110224678912",
  username: "nelly",
  global_name: null,
  email: "nelly@example.com",
  verified: true,
};

test("discord() logs users in by the id, a number in text", async () => {
  await using it = await socialSite(DISCORD, discord);
  it.provider.profile = NELLY;
  it.provider.tokens = { scope: "identify email" };
  assert.deepEqual(await authorizationOf(it), [DISCORD.authorizeUrl, {
    response_type: "code",
    client_id: "shop",
    redirect_uri: CALLBACK,
    scope: "identify email",
    code_challenge_method: "S256",
  }]);
  const response = await it.browser.open(await begun(it));
  assert.deepEqual([response.status, await response.json()], [200, {
    user: NELLY,
    scopes: ["identify", "email"],
  }]);
  assert.deepEqual(it.provider.asked, [`POST ${DISCORD.tokenUrl}`, `GET ${DISCORD.userinfoUrl}`]);
  const [exchange, userinfo] = it.provider.received;
  assert.equal(exchange?.form.get("client_secret"), SECRET);
  assert.equal(
    exchange?.headers["content-type"]?.split(";")[0],
    "application/x-www-form-urlencoded",
  );
  assert.match(userinfo?.headers["user-agent"] ?? "", /^DiscordBot \(https:\/\/[^ ]+, [^)]+\)$/);
});

test("discord().userinfo() refuses a user without an id", async () => {
  await using it = await socialSite(DISCORD, discord);
  for (const profile of [{}, { id: "" }, { id: 80351110224678912 }, { id: null }]) {
    it.provider.profile = profile;
    const response = await it.browser.open(await begun(it));
    assert.equal(response.status, 401);
    await response.body?.cancel();
  }
});
