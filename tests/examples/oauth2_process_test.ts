import assert from "node:assert/strict";
import { DevelopmentIdentityProvider } from "../../src/testing/mod.ts";
import { captureLogs } from "../support/capture_logs.ts";
import { freePort } from "../support/free_port.ts";
import { Subprocess } from "../support/subprocess.ts";
import { test } from "../support/test.ts";

const EXAMPLE = "examples/oauth2.ts";

const SECRET = "hunter2-hunter2-hunter2";

type Environment = Readonly<Record<string, string>>;

async function statusOf(url: string, token?: string): Promise<number> {
  const headers = new Headers(token === undefined ? [] : [["authorization", `Bearer ${token}`]]);
  const response = await fetch(url, { headers });
  await response.body?.cancel();
  return response.status;
}

test("the OAuth2 example starts a labelled provider on the next port, and stops on SIGTERM", async () => {
  const port = await freePort(2);
  const issuer = `http://127.0.0.1:${port + 1}`;
  const origin = `http://localhost:${port}`;
  await using example = new Subprocess(EXAMPLE, { env: { PORT: String(port) } });
  await example.until(/\/admin -H .+$/m);
  const label = `DEVELOPMENT IDENTITY PROVIDER at ${issuer}: anyone can log in`;
  assert.equal(await example.until(/^DEVELOPMENT .+$/m), label);
  const loginUrl = await example.until(/(?<=Open )\S+/);
  assert.equal(loginUrl, `${origin}/auth/login`);

  const login = await fetch(loginUrl);
  assert.ok(login.url.startsWith(`${issuer}/authorize?`), login.url);
  assert.match(await login.text(), /Development identity provider: not for production/);
  const token = await example.until(/(?<=TOKEN=)\S+/);
  assert.equal(await statusOf(`${origin}/me`), 401);
  assert.equal(await statusOf(`${origin}/me`, token), 200);
  assert.equal(await statusOf(`${origin}/admin`, token), 200);

  example.kill("SIGTERM");
  const { code, output } = await example.ended;
  assert.equal(code, 0, output);
  // the log line of a request has no query, which contains the state
  assert.match(output, /GET \/auth\/login 303/);
  assert.doesNotMatch(output, /state|secret/i);
  await assert.rejects(fetch(issuer), "the provider has outlived the example");
});

test("the OAuth2 example logs in at the provider of its variables, and prints no secret", () =>
  captureLogs(["fw"], async () => {
    const port = await freePort();
    const redirectUri = `http://127.0.0.1:${port}/auth/callback`;
    await using provider = await DevelopmentIdentityProvider.start({
      algorithm: "ES256",
      audience: "orders",
      clients: [{ clientId: "shop", clientSecret: SECRET, redirectUris: [redirectUri] }],
    });
    await using example = new Subprocess(EXAMPLE, {
      env: {
        PORT: String(port),
        HOST: "127.0.0.1",
        OAUTH2_ISSUER: provider.issuer,
        OAUTH2_CLIENT_ID: "shop",
        OAUTH2_CLIENT_SECRET: SECRET,
        OAUTH2_REDIRECT_URI: redirectUri,
        OAUTH2_AUDIENCE: "orders",
        OAUTH2_ALGORITHMS: "RS256, ES256",
      },
    });
    const loginUrl = await example.until(/(?<=Open )\S+/);
    await example.until(/\/admin -H .+$/m);
    const login = await fetch(loginUrl, { redirect: "manual" });
    await login.body?.cancel();
    const [cookie = ""] = login.headers.getSetCookie();
    const callback = provider.signIn(login.headers.get("location") ?? "", "bob");
    const response = await fetch(callback.url, { headers: { cookie: cookie.split(";")[0]! } });
    assert.equal((await response.json()).subject, "bob");
    const token = await provider.issueToken({ subject: "alice" });
    assert.equal(await statusOf(`http://127.0.0.1:${port}/admin`, token), 200);

    example.kill("SIGTERM");
    const { code, output } = await example.ended;
    assert.equal(code, 0, output);
    assert.doesNotMatch(output, /DEVELOPMENT|OAUTH2_AUDIENCE/);
    const { searchParams } = new URL(callback.url);
    for (const secret of [SECRET, token, searchParams.get("code"), searchParams.get("state")]) {
      assert.ok(secret && !output.includes(secret), output);
    }
  }));

const ENDPOINTS: Environment = {
  OAUTH2_CLIENT_ID: "shop",
  OAUTH2_AUTHORIZE_URL: "https://id.example/authorize",
  OAUTH2_TOKEN_URL: "https://id.example/token",
};

const REFUSED: readonly (readonly [what: string, env: Environment, says: string])[] = [
  ["a client id", { OAUTH2_ISSUER: "https://id.example" }, "OAUTH2_CLIENT_ID is not set"],
  ["keys", ENDPOINTS, "OAUTH2_JWKS_URL is not set"],
  [
    "a URL",
    { OAUTH2_CLIENT_ID: "shop", OAUTH2_ISSUER: "id.example" },
    "OAUTH2_ISSUER: It is not a URL",
  ],
  [
    "safe algorithms",
    { ...ENDPOINTS, OAUTH2_ALGORITHMS: "HS256" },
    "OAUTH2_ALGORITHMS: It is not a supported algorithm",
  ],
  [
    "its provider",
    { OAUTH2_CLIENT_ID: "shop", OAUTH2_ISSUER: "http://127.0.0.1:1" },
    "Cannot discover issuer: the connection failed",
  ],
  [
    "its provider's keys",
    { ...ENDPOINTS, OAUTH2_JWKS_URL: "http://127.0.0.1:1/jwks" },
    "Cannot fetch keys: the connection failed",
  ],
];

for (const [what, env, says] of REFUSED) {
  test(`the OAuth2 example does not start without ${what}, and prints no secret`, async () => {
    await using example = new Subprocess(EXAMPLE, {
      env: { PORT: String(await freePort()), OAUTH2_CLIENT_SECRET: SECRET, ...env },
    });
    const { code, output } = await example.ended;
    assert.equal(code, 1, output);
    assert.ok(output.includes(says), output);
    assert.ok(!output.includes(SECRET), output);
  }, { slow: what !== "keys" });
}

test("the OAuth2 example starts no provider in production", async () => {
  await using example = new Subprocess(EXAMPLE, {
    env: { PORT: String(await freePort(2)), FW_ENV: "production" },
  });
  const { code, output } = await example.ended;
  assert.equal(code, 1, output);
  assert.match(output, /Cannot start the development identity provider: FW_ENV is production/);
});
