import assert from "node:assert/strict";
import { Agent, request } from "node:http";
import { json as readJson } from "node:stream/consumers";
import { freePort } from "../support/free_port.ts";
import { JwksServer } from "../oauth2/resource_server/jwks_server.ts";
import { AUDIENCE, ISSUER, SigningKey } from "../oauth2/resource_server/signing_key.ts";
import { Subprocess } from "../support/subprocess.ts";
import { testOn } from "../support/test.ts";
import { untilListening } from "./uses.ts";

const denoTest = testOn(["deno"], "deno serve is Deno's");

/** The response to a call. */
interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** Calls the edge example, each time on a new connection. */
type Call = (
  method: "GET" | "POST",
  path: string,
  options?: { readonly token?: string; readonly json?: unknown },
) => Promise<Answer>;

/** Runs the edge example with `deno serve`, for tokens of a key. */
async function withEdge(
  flags: readonly string[],
  body: (call: Call, key: SigningKey) => Promise<void>,
): Promise<void> {
  const key = await SigningKey.generate();
  await using jwks = await JwksServer.start(key.jwk);
  const port = await freePort();
  await using _edge = new Subprocess("examples/edge.ts", {
    command: "serve",
    permissions: ["-A", "--host=127.0.0.1", `--port=${port}`, ...flags],
    env: {
      DENO_JOBS: "2",
      OAUTH2_ISSUER: ISSUER,
      OAUTH2_AUDIENCE: AUDIENCE,
      OAUTH2_JWKS_URL: jwks.url,
    },
  });
  await untilListening(`http://127.0.0.1:${port}`);
  await body((method, path, { token, json } = {}) => {
    const headers = {
      ...token !== undefined && { authorization: `Bearer ${token}` },
      ...json !== undefined && { "content-type": "application/json" },
    };
    const agent = new Agent({ keepAlive: false });
    return new Promise((resolve, reject) => {
      const options = { method, path, port, host: "127.0.0.1", headers, agent };
      const sent = request(options, async (response) => {
        resolve({ status: response.statusCode ?? 0, body: await readJson(response) });
      });
      sent.on("error", reject).end(json === undefined ? undefined : JSON.stringify(json));
    });
  }, key);
}

function inTenMinutes(): number {
  return Math.floor(Date.now() / 1000) + 600;
}

denoTest(
  "the edge example under deno serve keeps the notes of each caller with a token",
  () =>
    withEdge([], async (call, key) => {
      const ada = await key.token({ exp: inTenMinutes() });
      const bob = await key.token({ exp: inTenMinutes(), sub: "bob" });
      const late = await key.token({ exp: Math.floor(Date.now() / 1000) - 600 });
      const json = { text: "tea" };
      const added = await call("POST", "/api/v1/notes", { token: ada, json });
      const { id, text } = added.body as { id: number; text: string };
      assert.deepEqual([added.status, id, text], [201, 1, "tea"]);
      assert.deepEqual(await call("GET", "/api/v1/notes/1", { token: ada }), {
        ...added,
        status: 200,
      });
      assert.deepEqual(await call("GET", "/api/v1/notes", { token: bob }), {
        status: 200,
        body: [],
      });
      const refused = await Promise.all([
        call("POST", "/api/v1/notes", { token: ada, json: { text: "" } }),
        call("GET", "/api/v1/notes/1", { token: bob }),
        call("GET", "/api/v1/notes/1", { token: late }),
        call("GET", "/api/v1/notes"),
        call("GET", "/health"),
      ]);
      assert.deepEqual(refused.map(({ status }) => status), [422, 404, 401, 401, 200]);
    }),
);

denoTest(
  "the isolates of deno serve --parallel share no memory, and each verifies tokens",
  () =>
    withEdge(["--parallel"], async (call, key) => {
      const token = await key.token({ exp: inTenMinutes() });
      const json = { text: "tea" };
      const ids: number[] = [];
      // Each isolate has a separate database, so its first note has the first id. One may start late.
      while (ids.filter((id) => id === 1).length < 2) {
        const { status, body } = await call("POST", "/api/v1/notes", { token, json });
        assert.equal(status, 201);
        ids.push((body as { id: number }).id);
        assert.ok(ids.length < 2000, ids.join());
      }
    }),
);
