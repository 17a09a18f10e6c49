import assert from "node:assert/strict";
import { OAuth2Client } from "../../../src/oauth2/client/client.ts";
import { OAuth2Options } from "../../../src/oauth2/client/client_options.ts";
import { test } from "../../support/test.ts";

/** A client whose server issues tokens for a minute, and records the requests. */
function machine({ expiresIn = 60 }: { readonly expiresIn?: number | null } = {}) {
  const asked: string[] = [];
  const state = { nowMs: 1_000_000, fails: false, asked };
  const client = new OAuth2Client(
    new OAuth2Options({
      clientId: "job",
      clientSecret: "secret",
      tokenUrl: "https://id.example.com/token",
    }),
    {
      now: () => state.nowMs,
      fetch: async (_, init) => {
        const form = new URLSearchParams(String(init?.body));
        await Promise.resolve();
        if (state.fails) return Response.json({ error: "invalid_client" }, { status: 401 });
        asked.push([form.get("scope"), form.get("resource")].filter(Boolean).join(" "));
        return Response.json({
          access_token: `at-${asked.length}`,
          token_type: "bearer",
          expires_in: expiresIn,
        });
      },
    },
  );
  const token = async (...args: Parameters<OAuth2Client["cachedClientCredentials"]>) =>
    (await client.cachedClientCredentials(...args)).accessToken;
  return { client, state, token };
}

test("OAuth2Client.cachedClientCredentials() sends one request for concurrent calls, and another one 30 s before expiry", async () => {
  const { state, token } = machine();
  const tokens = await Promise.all(Array.from({ length: 100 }, () => token(["a"])));
  assert.deepEqual([...new Set(tokens)], ["at-1"]);
  state.nowMs += 29_999;
  assert.equal(await token(["a"]), "at-1");
  state.nowMs += 1;
  const renewed = await Promise.all(Array.from({ length: 100 }, () => token(["a"])));
  assert.deepEqual([...new Set(renewed)], ["at-2"]);
});

test("OAuth2Client.cachedClientCredentials() drops a set from before its clock was set back", async () => {
  const { state, token } = machine();
  const realMs = state.nowMs;
  state.nowMs += 86_400_000;
  assert.deepEqual([await token(["a"]), await token(["a"])], ["at-1", "at-1"]);
  state.nowMs = realMs + 1;
  assert.deepEqual([await token(["a"]), await token(["a"])], ["at-2", "at-2"]);
  state.nowMs += 29_000;
  assert.equal(await token(["a"]), "at-2");
});

test("OAuth2Client.cachedClientCredentials() keeps tokens of other scopes and parameters apart", async () => {
  const { client, state, token } = machine();
  const extra = { resource: "https://api.example.com" };
  assert.equal(await token(["a"]), "at-1");
  assert.equal(await token(["b"]), "at-2");
  assert.equal(await token(["a"], { extra }), "at-3");
  assert.equal(await token(["a"], { extra }), "at-3");
  assert.equal(
    (await client.withTimeout(1_000).cachedClientCredentials(["b"])).accessToken,
    "at-2",
  );
  assert.deepEqual(state.asked, ["a", "b", "a https://api.example.com"]);
});

test("OAuth2Client.cachedClientCredentials() keeps no failure, and nothing whose time is unknown", async () => {
  const { state, token } = machine({ expiresIn: null });
  state.fails = true;
  await assert.rejects(token(), { code: "Grant", httpStatus: 502 });
  state.fails = false;
  assert.deepEqual([await token(), await token()], ["at-1", "at-2"]);
});

test("OAuth2Client.clientCredentials() refuses parameters of the client in extra", async () => {
  const { client, state } = machine();
  for (const name of ["grant_type", "scope", "client_id", "client_secret", "client_assertion"]) {
    await assert.rejects(client.clientCredentials([], { extra: { [name]: "x" } }), {
      code: "InvalidConfig",
      message: `Cannot get client credentials: extra has ${name}, which the client sets itself`,
    });
  }
  assert.deepEqual(state.asked, []);
});

test("OAuth2Client.authorizeUrl() needs an authorizeUrl", () => {
  const { client } = machine();
  assert.throws(() => client.authorizeUrl({ pkce: "c".repeat(43) }), {
    code: "InvalidConfig",
    message: "Cannot make authorize URL: authorizeUrl is missing",
  });
});

test("TokenSet.expiresWithin() checks whether a set is about to expire", async () => {
  const { client } = machine();
  const set = await client.cachedClientCredentials();
  assert.deepEqual(
    [set.expiresWithin(59_999, 1_000_000), set.expiresWithin(60_000, 1_000_000)],
    [false, true],
  );
  const { client: silent } = machine({ expiresIn: null });
  assert.equal((await silent.cachedClientCredentials()).expiresWithin(1e12), false);
});

test("OAuth2Client.forgetClientCredentials() removes the token alone, for every client of its cache", async () => {
  const { client, state, token } = machine();
  assert.deepEqual([await token(["a"]), await token(["b"])], ["at-1", "at-2"]);
  client.forgetClientCredentials("unknown");
  client.withTimeout(1_000).forgetClientCredentials("at-1");
  assert.deepEqual([await token(["a"]), await token(["b"])], ["at-3", "at-2"]);
  assert.deepEqual(state.asked, ["a", "b", "a"]);
});

test("OAuth2Client.cachedClientCredentials() shares any result of a request", async () => {
  for (const expiresIn of [null, 30, 60]) {
    const { state, token } = machine({ expiresIn });
    const tokens = await Promise.all(Array.from({ length: 20 }, () => token()));
    assert.deepEqual([[...new Set(tokens)], state.asked.length], [["at-1"], 1]);
  }
  const { client, state } = machine();
  state.fails = true;
  const all = Array.from({ length: 20 }, () => client.cachedClientCredentials().catch((e) => e));
  assert.equal(new Set(await Promise.all(all)).size, 1);
});

test("OAuth2Client.cachedClientCredentials() does not return a revoked token", async () => {
  const { client, token } = machine();
  const revoking = client.withRevokeUrl("https://id.example.com/revoke");
  assert.equal(await token(), "at-1");
  await revoking.revoke("at-1").catch((error) => assert.fail(error));
  assert.notEqual(await token(), "at-1");
});
