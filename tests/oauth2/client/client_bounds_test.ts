import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { inspect } from "node:util";
import type { OAuth2Client } from "../../../src/oauth2/client/client.ts";
import { OAuth2Error } from "../../../src/oauth2/ground/errors.ts";
import { generatePkce } from "../../../src/oauth2/client/pkce.ts";
import { test } from "../../support/test.ts";
import { breakOff, endless, hang } from "../resource_server/jwks_server.ts";
import { clientOf, SECRET, TOKENS, tokenServer } from "./token_server.ts";

type Operation = (client: OAuth2Client) => Promise<unknown>;

const OPERATIONS: Readonly<Record<string, Operation>> = {
  "exchange code": async (client) =>
    client.exchangeCode("the-code-1", (await generatePkce()).verifier),
  "get client credentials": (client) => client.clientCredentials(),
  "refresh token": (client) => client.refresh("the-refresh-token"),
  "revoke token": (client) => client.revoke("the-refresh-token"),
  "fetch userinfo": (client) => client.userinfo("the-access-token"),
};

const BROKEN = "the connection failed";
const FAULTS: readonly (readonly [string, (response: ServerResponse) => void, string])[] = [
  ["no answer", hang(), "no answer in 1000 ms"],
  ["half a body", hang({ after: '{"access_token":' }), "no answer in 1000 ms"],
  ["an endless body", endless(), "the answer is over 1048576 bytes"],
  ["a connection that is broken off", breakOff(), BROKEN],
  ["a body that is broken off", breakOff({ after: '{"access_token":' }), BROKEN],
];

for (const [name, fault, reason] of FAULTS) {
  // where it is not the time that is up, there is enough of it
  const timeoutMs = reason.startsWith("no answer") ? 1_000 : 5_000;
  test(`OAuth2Client fails with Transport over ${name}, after one request that is open no more`, async () => {
    await Promise.all(
      Object.entries(OPERATIONS).map(async ([action, operation]) => {
        let client: OAuth2Client;
        {
          await using server = await tokenServer((_, response) => fault(response));
          client = clientOf(server.url).withTimeout(timeoutMs);
          await assert.rejects(operation(client), {
            name: "OAuth2Error",
            code: "Transport",
            httpStatus: 502,
            message: `Cannot ${action}: ${reason}`,
          });
          assert.equal(server.received.length, 1);
        }
        // a refresh continues after its caller, until the server is closed
        await assert.rejects(operation(client.withTimeout(5_000)), { code: "Transport" });
      }),
    );
  });
}

test("OAuth2Client fails with Transport if no server listens", async () => {
  const { url } = await tokenServer(() => {}).then(async (server) => {
    await server[Symbol.asyncDispose]();
    return server;
  });
  for (const [action, operation] of Object.entries(OPERATIONS)) {
    await assert.rejects(operation(clientOf(url)), {
      code: "Transport",
      message: `Cannot ${action}: ${BROKEN}`,
    });
  }
});

test("OAuth2Client follows no redirect", async () => {
  for (const status of [301, 302, 303, 307, 308]) {
    for (const [action, operation] of Object.entries(OPERATIONS)) {
      await using server = await tokenServer(({ path }) =>
        path === "/elsewhere" ? { body: TOKENS } : { status, headers: { location: "/elsewhere" } }
      );
      await assert.rejects(operation(clientOf(server.url)), {
        code: "TokenEndpoint",
        status,
        message: `Cannot ${action}: the answer is ${status}`,
      });
      assert.equal(server.received.length, 1);
    }
  }
});

test("OAuth2Client.withTimeout() returns another client, and accepts the delays of a timer only", async () => {
  await using server = await tokenServer(async () => {
    await new Promise((later) => setTimeout(later, 100));
    return { body: TOKENS };
  });
  const client = clientOf(server.url);
  await assert.rejects(client.withTimeout(1).clientCredentials(), { code: "Transport" });
  assert.equal((await client.clientCredentials()).accessToken, "at-1");
  for (const ms of [0, -1, 0.5, NaN, Infinity, 2 ** 31, "x"]) {
    assert.throws(() => client.withTimeout(ms as number), RangeError, String(ms));
  }
});

test("OAuth2Client keeps only the message of an error of fetch, without what was sent", async () => {
  const response = new Response("the-response");
  const failing = ((url: string, init: RequestInit) => {
    const words = `${url} ${init.body} ${btoa(`web:${SECRET}`)} ${JSON.stringify(init.headers)}`;
    const cause = Object.assign(new Error(words), { request: init, response });
    return Promise.reject(Object.assign(new TypeError("it fails", { cause }), { init, response }));
  }) as typeof fetch;
  for (const [action, operation] of Object.entries(OPERATIONS)) {
    const client = clientOf("https://id.example", { fetch: failing });
    const error = await operation(client).then(() => undefined, (error) => error);
    assert.ok(error instanceof OAuth2Error && error.code === "Transport", String(error));
    assert.equal(error.message, `Cannot ${action}: ${BROKEN}`);
    const text = inspect(error, { depth: 10, showHidden: true });
    assert.match(text, /it fails: https:\/\/id\.example\//);
    for (const secret of [SECRET, encodeURIComponent(SECRET), "the-", btoa(`web:${SECRET}`)]) {
      assert.ok(!text.includes(secret), `${secret} is in ${text}`);
    }
  }
});

test("OAuth2Client treats any value that fetch throws as a failed connection", async () => {
  for (const thrown of [undefined, null, "the-refresh-token", { token: "the-refresh-token" }]) {
    const client = clientOf("https://id.example", { fetch: () => Promise.reject(thrown) });
    await assert.rejects(client.refresh("the-refresh-token"), (error) => {
      assert.ok(error instanceof OAuth2Error && error.code === "Transport");
      assert.equal(error.cause, undefined);
      return true;
    });
  }
});

test("OAuth2Client refuses a body that is nested too deep", async () => {
  const deep = "[".repeat(300_000) + "]".repeat(300_000);
  for (const status of [200, 400, 500]) {
    const body = `{"access_token":"at-1","token_type":"bearer","x":${deep}}`;
    await using server = await tokenServer(() => ({ status, body }));
    const outcome = await clientOf(server.url).refresh("rt-1").then(
      ({ accessToken }) => accessToken,
      (error) => error.code,
    );
    assert.ok(["TokenEndpoint", "at-1"].includes(outcome), outcome);
  }
});
