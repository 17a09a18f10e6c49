/** How `oauth4webapi` and the client treat the same answers. */
import assert from "node:assert/strict";
import {
  allowInsecureRequests,
  processRefreshTokenResponse,
  refreshTokenGrantRequest,
} from "oauth4webapi";
import * as oauth from "oauth4webapi";
import { OAuth2Error } from "../../../src/oauth2/ground/errors.ts";
import { test } from "../../support/test.ts";
import { clientOf, type Reply, TOKENS, tokenServer } from "./token_server.ts";

const ERROR = { error: "invalid_client", error_description: "Unknown" };
const LOGIN = { ...TOKENS, id_token: "not.a.jwt" };

/** Answers, the error code (or the result) of oauth4webapi, and the result of the client. */
const ANSWERS: readonly (readonly [name: string, Reply, theirs: unknown, ours: unknown])[] = [
  [
    "a 401 with WWW-Authenticate hides the error",
    { status: 401, body: ERROR, headers: { "www-authenticate": 'Basic realm="x"' } },
    "OAUTH_WWW_AUTHENTICATE_CHALLENGE",
    "invalid_client",
  ],
  [
    "a null member is fatal",
    { body: { ...TOKENS, refresh_token: null, scope: null } },
    "OAUTH_INVALID_RESPONSE",
    "at-1",
  ],
  [
    "an id_token in any grant is validated",
    { body: LOGIN },
    "OAUTH_PARSE_ERROR",
    "at-1",
  ],
  [
    "an error needs to be application/json",
    { status: 400, body: ERROR, headers: { "content-type": "application/vnd.x+json" } },
    "OAUTH_RESPONSE_IS_NOT_JSON",
    "invalid_client",
  ],
  [
    "an error with the status 200 is a malformed response",
    { body: ERROR },
    "OAUTH_INVALID_RESPONSE",
    "invalid_client",
  ],
  ["3600abc is a lifetime", { body: { ...TOKENS, expires_in: "3600abc" } }, 3600, "TokenEndpoint"],
  ["1e308 is a lifetime", { body: { ...TOKENS, expires_in: 1e308 } }, 1e308, "TokenEndpoint"],
  [
    "an unparsable body is consumed, and its content is lost",
    { body: "<html>Maintenance</html>", headers: { "content-type": "application/json" } },
    "OAUTH_PARSE_ERROR",
    "<html>Maintenance</html>",
  ],
  [
    "an unrequested DPoP token is accepted",
    { body: { ...TOKENS, token_type: "DPoP" } },
    undefined,
    "TokenEndpoint",
  ],
];

for (const [name, reply, theirs, ours] of ANSWERS) {
  test(`oauth4webapi: ${name}; not for OAuth2Client`, async () => {
    await using server = await tokenServer(() => reply);
    assert.deepEqual(await theirOutcome(server.url), theirs);
    const outcome = await ourOutcome(server.url);
    assert.ok(outcome.includes(ours), `${ours} is not in ${outcome}`);
  });
}

test("oauth4webapi: a body has no limit; OAuth2Client stops at 1 MiB", async () => {
  const body = { ...TOKENS, padding: "x".repeat(2 ** 20) };
  await using server = await tokenServer(() => ({ body }));
  assert.equal(await theirOutcome(server.url), undefined);
  assert.deepEqual(await ourOutcome(server.url), [
    "Transport",
    "Cannot refresh token: the answer is over 1048576 bytes",
  ]);
});

/** Gives the code of the error or, without one, the lifetime. */
async function theirOutcome(url: string): Promise<unknown> {
  const server = { issuer: url, token_endpoint: `${url}/token` };
  const client = { client_id: "web" };
  const response = await refreshTokenGrantRequest(server, client, oauth.None(), "rt-1", {
    [allowInsecureRequests]: true,
  });
  try {
    return (await processRefreshTokenResponse(server, client, response)).expires_in;
  } catch (error) {
    if (!response.bodyUsed) await response.body?.cancel();
    return (error as { code?: unknown }).code;
  }
}

/** Returns the code of an error, or the access token. */
async function ourOutcome(url: string): Promise<readonly unknown[]> {
  try {
    return [(await clientOf(url).refresh("rt-1")).accessToken];
  } catch (error) {
    assert.ok(error instanceof OAuth2Error);
    if (error.code === "Grant") return [error.code, error.grant.error];
    if (error.code === "TokenEndpoint") return [error.code, error.body];
    return [error.code, error.message];
  }
}
