import assert from "node:assert/strict";
import { test } from "../../support/test.ts";
import { clientOf, type Reply, SECRET, tokenServer } from "./token_server.ts";

test("OAuth2Client.revoke() sends the token with its hint, and authenticates", async () => {
  await using server = await tokenServer(() => ({}));
  const client = clientOf(server.url);
  await client.revoke("rt-1", "refresh_token");
  await client.revoke("at-1");
  assert.deepEqual(server.received.map(({ path, form }) => [path, Object.fromEntries(form)]), [
    ["/revoke", {
      client_id: "web",
      client_secret: SECRET,
      token: "rt-1",
      token_type_hint: "refresh_token",
    }],
    ["/revoke", { client_id: "web", client_secret: SECRET, token: "at-1" }],
  ]);
});

test("OAuth2Client.revoke() accepts any 2xx with any body", async () => {
  const replies: readonly Reply[] = [
    {},
    { body: {} },
    { body: "<html>" },
    { status: 204 },
    { status: 202, body: "Later" },
  ];
  for (const reply of replies) {
    await using server = await tokenServer(() => reply);
    await clientOf(server.url).revoke("rt-1");
  }
});

test("OAuth2Client.revoke() fails with Grant or TokenEndpoint over all else", async () => {
  const error = "unsupported_token_type";
  const cases: readonly (readonly [Reply, string, string])[] = [
    [{ status: 400, body: { error } }, "Grant", `the server refused with ${error}`],
    [{ status: 401, body: { error } }, "Grant", `the server refused with ${error}`],
    [{ status: 200, body: { error } }, "Grant", `the server refused with ${error}`],
    [{ status: 400, body: "?" }, "TokenEndpoint", "the answer is 400"],
    [{ status: 302, headers: { location: "/" } }, "TokenEndpoint", "the answer is 302"],
    [{ status: 404 }, "TokenEndpoint", "the answer is 404"],
    [{ status: 503, body: { error } }, "TokenEndpoint", "the answer is 503"],
  ];
  for (const [reply, code, why] of cases) {
    await using server = await tokenServer(() => reply);
    await assert.rejects(clientOf(server.url).revoke("rt-1"), {
      code,
      message: `Cannot revoke token: ${why}`,
    });
    assert.equal(server.received.length, 1);
  }
});

test("OAuth2Client.revoke() requires a revokeUrl, which withRevokeUrl() sets", async () => {
  await using server = await tokenServer(() => ({}));
  const client = clientOf(server.url, { revokeUrl: undefined });
  await assert.rejects(client.revoke("rt-1"), {
    code: "InvalidConfig",
    message: "Cannot revoke token: revokeUrl is missing",
  });
  await client.withRevokeUrl(new URL("/out", server.url)).revoke("rt-1");
  assert.deepEqual(server.received.map(({ path }) => path), ["/out"]);
  assert.throws(() => client.withRevokeUrl("ftp://id.example"), { code: "InvalidConfig" });
  for (const token of ["", undefined, 7]) {
    await assert.rejects(clientOf(server.url).revoke(token as string), TypeError);
  }
});
