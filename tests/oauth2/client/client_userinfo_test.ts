import assert from "node:assert/strict";
import { OAuth2Error } from "../../../src/oauth2/ground/errors.ts";
import { test } from "../../support/test.ts";
import { clientOf, type Reply, tokenServer } from "./token_server.ts";

const TOKEN = "at-1.of~the+user/=";

async function failureOf(reply: Reply): Promise<OAuth2Error> {
  await using server = await tokenServer(() => reply);
  const error = await clientOf(server.url).userinfo(TOKEN).then(() => undefined, (error) => error);
  assert.ok(error instanceof OAuth2Error, String(error));
  assert.equal(error.cause, undefined);
  return error;
}

test("OAuth2Client.userinfo() returns the claims, sends the token in the header and accepts JSON", async () => {
  const claims = { sub: "1", id: 7, email: null, roles: ["a"] };
  await using server = await tokenServer(() => ({ body: claims }));
  assert.deepEqual(await clientOf(server.url).userinfo(TOKEN), claims);
  const [{ method, path, headers } = assert.fail()] = server.received;
  assert.deepEqual([method, path, headers.authorization, headers.accept], [
    "GET",
    "/userinfo",
    `Bearer ${TOKEN}`,
    "application/json",
  ]);
});

test("OAuth2Client.userinfo() sends the headers that it is given, and never other credentials", async () => {
  await using server = await tokenServer(() => ({ body: {} }));
  const client = clientOf(server.url);
  const headers = { "User-Agent": "shop", Accept: "application/vnd.github+json", "X-Version": "1" };
  await client.userinfo(TOKEN, { headers });
  const [{ headers: sent } = assert.fail()] = server.received;
  assert.deepEqual([sent["user-agent"], sent.accept, sent["x-version"]], [
    "shop",
    "application/vnd.github+json",
    "1",
  ]);
  await assert.rejects(client.userinfo(TOKEN, { headers: { authorization: "x" } }), TypeError);
  assert.equal(server.received.length, 1);
});

test("OAuth2Client.userinfo() throws the error of a Bearer challenge as Grant", async () => {
  const challenge = 'DPoP algs="ES256", Bearer realm="x", error="invalid_token", ' +
    `error_description="It \\"${TOKEN}\\" has expired", error_uri="https://id.example/e"`;
  for (const status of [401, 403]) {
    const error = await failureOf({ status, headers: { "www-authenticate": challenge } });
    assert.ok(error.code === "Grant");
    assert.equal(error.message, "Cannot fetch userinfo: the server refused with invalid_token");
    assert.deepEqual(error.grant, {
      error: "invalid_token",
      description: 'It "<redacted>" has expired',
      uri: "https://id.example/e",
    });
  }
});

test("OAuth2Client.userinfo() fails with TokenEndpoint on any other answer", async () => {
  const bearer = { "www-authenticate": 'Bearer error="invalid_token"' };
  const answers: readonly (readonly [Reply, string])[] = [
    [{ status: 401 }, "is 401"],
    [{ status: 401, headers: { "www-authenticate": "Bearer" } }, "is 401"],
    [{ status: 401, headers: { "www-authenticate": 'Bearer realm="x"' } }, "is 401"],
    [{ status: 401, headers: { "www-authenticate": 'Basic error="invalid_token"' } }, "is 401"],
    [{ status: 401, headers: { "www-authenticate": ",,;" } }, "is 401"],
    [{ status: 401, body: { error: "invalid_token" } }, "is 401"],
    [{ status: 400, headers: bearer }, "is 400"],
    [{ status: 500, headers: bearer }, "is 500"],
    [{ status: 404, body: "Not found" }, "is 404"],
    [{ status: 302, headers: { location: "/userinfo2" } }, "is 302"],
    [{ status: 201, body: { sub: "1" } }, "is 201"],
    [{ body: "eyJhbGciOiJub25lIn0.e30." }, "is not a JSON object"],
    [{ body: "null" }, "is not a JSON object"],
    [{ body: [] }, "is not a JSON object"],
    [{ body: "" }, "is not a JSON object"],
  ];
  for (const [reply, why] of answers) {
    const error = await failureOf(reply);
    assert.ok(error.code === "TokenEndpoint", JSON.stringify(reply));
    assert.equal(error.status, reply.status ?? 200);
    assert.equal(error.message, `Cannot fetch userinfo: the answer ${why}`);
  }
});

test("OAuth2Client.userinfo() returns claims that come with a challenge", async () => {
  const headers = { "www-authenticate": 'Bearer error="invalid_token"' };
  await using server = await tokenServer(() => ({ body: { sub: "1" }, headers }));
  assert.deepEqual(await clientOf(server.url).userinfo(TOKEN), { sub: "1" });
});

test("OAuth2Client.userinfo() repeats the token in no error", async () => {
  for (const token of [`${TOKEN}\n`, "a b", "é", "\0"]) {
    await assert.rejects(clientOf("http://127.0.0.1:9").userinfo(token), {
      name: "TypeError",
      message: "Cannot fetch userinfo: the access token contains invalid characters",
    });
  }
  const error = await failureOf({ status: 500, body: `${TOKEN} ${encodeURIComponent(TOKEN)}` });
  assert.equal(error.code === "TokenEndpoint" && error.body, "<redacted> <redacted>");
});

test("OAuth2Client.userinfo() requires a userinfoUrl, which withUserinfoUrl() sets", async () => {
  await using server = await tokenServer(() => ({ body: {} }));
  const client = clientOf(server.url, { userinfoUrl: undefined });
  await assert.rejects(client.userinfo(TOKEN), {
    code: "InvalidConfig",
    message: "Cannot fetch userinfo: userinfoUrl is missing",
  });
  await client.withUserinfoUrl(`${server.url}/me?fields=id`).userinfo(TOKEN);
  assert.deepEqual(server.received.map(({ path }) => path), ["/me?fields=id"]);
  assert.throws(() => client.withUserinfoUrl("http://id.example"), { code: "InvalidConfig" });
  for (const token of ["", undefined, 7]) {
    await assert.rejects(clientOf(server.url).userinfo(token as string), TypeError);
  }
});
