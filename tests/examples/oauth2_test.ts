import assert from "node:assert/strict";
import { calculatePKCECodeChallenge } from "oauth4webapi";
import { appModule, developmentSettings, Settings, setUp } from "../../examples/oauth2.ts";
import { environment, type FwApplication } from "../../mod.ts";
import { createTestApplication, type DevelopmentIdentityProvider } from "../../src/testing/mod.ts";
import { captureLogs } from "../support/capture_logs.ts";
import { test } from "../support/test.ts";

const REDIRECT_URI = "http://localhost:3000/auth/callback";

interface Example {
  readonly app: FwApplication;
  readonly provider: DevelopmentIdentityProvider;
  /** The settings of the provider. */
  readonly settings: Settings;
}

/** Runs the example with its development provider; settings replace the defaults, `undefined` removes one. */
function exampleTest(
  name: string,
  body: (example: Example) => Promise<void>,
  settingsOf: (example: Omit<Example, "app">) => Settings = () => ({}),
): void {
  test(`the OAuth2 example ${name}`, () =>
    captureLogs(["fw"], async (records) => {
      const { provider, settings } = await developmentSettings(0, REDIRECT_URI);
      await using _ = provider;
      const own = { ...settings, ...settingsOf({ provider, settings }) };
      await using app = await createTestApplication(await appModule(own, REDIRECT_URI), { setUp });
      await body({ app, provider, settings: own });
      const logged = JSON.stringify(
        records.map(({ message, properties }) => [message, properties]),
      );
      assert.ok(!logged.includes(settings.OAUTH2_CLIENT_SECRET!), logged);
    }));
}

/** The state of a browser after the response to a login. */
interface Begun {
  readonly authorizeUrl: string;
  readonly cookie: string;
}

async function begin(app: FwApplication, query = "", headers: HeadersInit = {}): Promise<Begun> {
  const response = await app.request(`/auth/login${query}`, { headers });
  assert.equal(response.status, 303);
  const [cookie = ""] = response.headers.getSetCookie();
  const authorizeUrl = response.headers.get("location") ?? "";
  return { authorizeUrl, cookie: cookie.split(";")[0] ?? "" };
}

/** Returns to the application with the cookie of the browser. */
async function comeBack(
  app: FwApplication,
  callback: Request | URL,
  cookie: string,
): Promise<{ readonly status: number; readonly headers: Headers; readonly text: string }> {
  const { pathname, search } = new URL("url" in callback ? callback.url : callback);
  const response = await app.request(pathname + search, { headers: { cookie } });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

const outcome = (response: Response) => [
  response.status,
  response.headers.get("www-authenticate"),
];

exampleTest("redirects a login with state, nonce and an S256 challenge", async (example) => {
  const { app, provider } = example;
  const url = new URL((await begin(app)).authorizeUrl);
  const { state, nonce, code_challenge, ...rest } = Object.fromEntries(url.searchParams);
  assert.equal(url.origin + url.pathname, `${provider.issuer}/authorize`);
  assert.deepEqual(rest, {
    client_id: "example",
    redirect_uri: REDIRECT_URI,
    response_type: "code",
    scope: "openid email",
    code_challenge_method: "S256",
  });
  assert.match(state ?? "", /^[\w-]{43}$/);
  assert.match(code_challenge ?? "", /^[\w-]{43}$/);
  assert.match(nonce ?? "", /^[\w-]{22,}$/);
  const again = new URL((await begin(app)).authorizeUrl).searchParams;
  for (const name of ["state", "nonce", "code_challenge"]) {
    assert.notEqual(again.get(name), url.searchParams.get(name), name);
  }
});

exampleTest("logs in, and sends no token in the response", async ({ app, provider }) => {
  const { authorizeUrl, cookie } = await begin(app, "?return_to=/cart%3Fstep=2");
  const { status, headers, text } = await comeBack(app, provider.signIn(authorizeUrl), cookie);
  assert.equal(status, 200, text);
  const { expiresAt, ...session } = JSON.parse(text);
  assert.deepEqual(session, {
    subject: "alice",
    scope: "openid email",
    returnTo: "/cart?step=2",
  });
  assert.ok(Date.parse(expiresAt) > Date.now());
  assert.doesNotMatch(text, /eyJ|token|[\w-]{30}/i);
  assert.equal(headers.get("content-type"), "application/json");
  assert.equal(headers.get("cache-control"), "no-store");
});

exampleTest("refuses to return to another site", async ({ app }) => {
  for (const path of ["//evil.example", "https://evil.example/", "/\\evil.example"]) {
    const response = await app.request(`/auth/login?return_to=${encodeURIComponent(path)}`);
    assert.deepEqual([response.status, response.headers.get("location")], [400, null], path);
  }
});

exampleTest(
  "responds 400 to a callback without state or without code",
  async ({ app, provider }) => {
    const { authorizeUrl, cookie } = await begin(app);
    const callback = new URL(provider.signIn(authorizeUrl).url);
    for (
      const missing of [["state"], ["code"], ["state", "code"], ["state", "code", "iss"]]
    ) {
      const url = new URL(callback);
      for (const name of missing) url.searchParams.delete(name);
      assert.equal((await comeBack(app, url, cookie)).status, 400, missing.join());
      for (const name of missing) url.searchParams.set(name, "");
      assert.equal((await comeBack(app, url, cookie)).status, 400, `${missing.join()} empty`);
    }
    assert.equal((await comeBack(app, callback, cookie)).status, 200);
  },
);

exampleTest("responds 401 to a callback that belongs to another login", async (example) => {
  const { app, provider } = example;
  const signIn = async (change: (url: URL, begun: Begun) => string) => {
    const begun = await begin(app);
    const url = new URL(provider.signIn(begun.authorizeUrl).url);
    return (await comeBack(app, url, change(url, begun))).status;
  };
  const other = await begin(app);
  const state = (url: string) => new URL(url).searchParams.get("state") ?? "";
  const changes: Readonly<Record<string, Parameters<typeof signIn>[0]>> = {
    "an unknown state": (url, { cookie }) => {
      url.searchParams.set("state", "A".repeat(43));
      return cookie;
    },
    "the state of another browser": (url, { cookie }) => {
      url.searchParams.set("state", state(other.authorizeUrl));
      return cookie;
    },
    "the cookie of another browser": () => other.cookie,
    "no cookie": () => "",
    "a cookie that is made up": () => "fw-login=AAAAAAAAAAAAAAAAAAAAAA",
    "the issuer of another provider": (url, { cookie }) => {
      url.searchParams.set("iss", "https://evil.example");
      return cookie;
    },
    "no issuer": (url, { cookie }) => {
      url.searchParams.delete("iss");
      return cookie;
    },
  };
  for (const [name, change] of Object.entries(changes)) {
    assert.equal(await signIn(change), 401, name);
  }
  assert.equal(await signIn((_, { cookie }) => cookie), 200);
});

exampleTest("responds 401 to a repeated callback", async ({ app, provider }) => {
  const { authorizeUrl, cookie } = await begin(app);
  const callback = provider.signIn(authorizeUrl);
  assert.equal((await comeBack(app, callback, cookie)).status, 200);
  assert.equal((await comeBack(app, callback, cookie)).status, 401);
  assert.equal((await comeBack(app, provider.signIn(authorizeUrl), cookie)).status, 401);
});

exampleTest("responds 401 to a user who has refused", async ({ app, provider }) => {
  const { authorizeUrl, cookie } = await begin(app);
  const { status, text } = await comeBack(app, provider.refuse(authorizeUrl), cookie);
  assert.equal(status, 401);
  assert.match(text, /access_denied/);
});

exampleTest("accepts logins of two tabs of one browser", async ({ app, provider }) => {
  const { authorizeUrl, cookie } = await begin(app);
  const second = await begin(app, "", { cookie });
  assert.equal(second.cookie, cookie);
  for (const url of [authorizeUrl, second.authorizeUrl]) {
    assert.equal((await comeBack(app, provider.signIn(url, "bob"), cookie)).status, 200);
  }
});

exampleTest(
  "responds 401 to a wrong code and 502 if the exchange fails, without a secret",
  async (example) => {
    const { app, provider, settings } = example;
    const forged = await begin(app);
    const url = new URL(provider.signIn(forged.authorizeUrl).url);
    url.searchParams.set("code", "a-code-of-nobody");
    const stopped = await begin(app);
    const callback = provider.signIn(stopped.authorizeUrl);
    const answers = [await comeBack(app, url, forged.cookie)];
    await provider.close();
    answers.push(await comeBack(app, callback, stopped.cookie));
    assert.deepEqual(answers.map(({ status, text }) => [status, JSON.parse(text).detail]), [
      [401, "Cannot exchange code: the server refused with invalid_grant"],
      [502, "The provider did not complete the login"],
    ]);
    for (const { text } of answers) {
      for (const secret of [settings.OAUTH2_CLIENT_SECRET!, "a-code-of-nobody"]) {
        assert.ok(!text.includes(secret));
      }
    }
  },
);

exampleTest(
  "requires a valid token for /me, and returns its subject",
  async ({ app, provider }) => {
    assert.deepEqual(outcome(await app.request("/me")), [401, "Bearer"]);
    const wrong = [
      "not-a-token",
      await provider.issueToken({ subject: "alice", expiresInSeconds: -600 }),
      await provider.issueToken({ subject: "alice", audience: "others" }),
      await provider.issueToken({ subject: "alice", claims: { iss: "https://evil.example" } }),
      await provider.issueToken({ subject: "alice", claims: { sub: undefined } }),
    ];
    for (const token of wrong) {
      const answer = await app.request("/me", bearer(token));
      assert.deepEqual(outcome(answer), [401, 'Bearer error="invalid_token"']);
    }
    const token = await provider.issueToken({ subject: "bob", claims: { tenant_id: "t1" } });
    const { subject, claims } = await (await app.request("/me", bearer(token))).json();
    assert.deepEqual([subject, claims.sub, claims.tenant_id], ["bob", "bob", "t1"]);
  },
);

exampleTest("requires the role admin for /admin", async ({ app, provider }) => {
  const answer = async (subject: string) =>
    outcome(await app.request("/admin", bearer(await provider.issueToken({ subject }))));
  assert.deepEqual(outcome(await app.request("/admin")), [401, "Bearer"]);
  assert.deepEqual(await answer("bob"), [403, 'Bearer error="insufficient_scope"']);
  assert.deepEqual(await answer("alice"), [200, null]);
});

exampleTest("requires a token for all routes except health and the login", async ({ app }) => {
  assert.deepEqual(await (await app.request("/health")).json(), { status: "ok" });
  assert.deepEqual(
    Object.fromEntries(app.routes().map(({ path, protection }) => [path, protection])),
    {
      "/auth/login": "public",
      "/auth/callback": "public",
      "/me": "identity",
      "/admin": "roles",
    },
  );
});

exampleTest(
  "does not discover endpoints that are set",
  async ({ app, provider }) => {
    const { authorizeUrl, cookie } = await begin(app);
    const { status, text } = await comeBack(app, provider.signIn(authorizeUrl), cookie);
    assert.equal(status, 200, text);
    const { subject, scope } = JSON.parse(text);
    // without an issuer, an id_token cannot be verified
    assert.deepEqual([subject, scope], [null, null]);
    const token = await provider.issueToken({ subject: "alice" });
    assert.equal((await app.request("/me", bearer(token))).status, 200);
  },
  ({ provider: { issuer } }) => ({
    OAUTH2_ISSUER: undefined,
    OAUTH2_AUTHORIZE_URL: `${issuer}/authorize`,
    OAUTH2_TOKEN_URL: `${issuer}/token`,
    OAUTH2_JWKS_URL: `${issuer}/jwks`,
  }),
);

exampleTest(
  "verifies id_tokens with an issuer that is set in addition to the endpoints",
  async ({ app, provider }) => {
    const { authorizeUrl, cookie } = await begin(app);
    const { text } = await comeBack(app, provider.signIn(authorizeUrl, "bob"), cookie);
    assert.equal(JSON.parse(text).subject, "bob");
    const token = await provider.issueToken({ subject: "bob", claims: { iss: "https://evil" } });
    assert.equal((await app.request("/me", bearer(token))).status, 401);
  },
  ({ provider: { issuer } }) => ({
    OAUTH2_AUTHORIZE_URL: `${issuer}/authorize`,
    OAUTH2_TOKEN_URL: `${issuer}/token`,
    OAUTH2_JWKS_URL: `${issuer}/jwks`,
  }),
);

exampleTest(
  "accepts tokens for any audience without OAUTH2_AUDIENCE",
  async ({ app, provider }) => {
    const token = await provider.issueToken({ subject: "alice", audience: "others" });
    assert.equal((await app.request("/me", bearer(token))).status, 200);
  },
  () => ({ OAUTH2_AUDIENCE: undefined }),
);

for (
  const [names, status] of [
    ["RS256", 401],
    ["ES256, EdDSA", 200],
    [undefined, 401],
  ] as const
) {
  exampleTest(
    `accepts the algorithms of OAUTH2_ALGORITHMS: ${names ?? "RS256 if unset"}`,
    async ({ app, provider }) => {
      const token = await provider.issueToken({ subject: "alice" });
      assert.equal((await app.request("/me", bearer(token))).status, status);
    },
    () => settingsIn({ OAUTH2_ALGORITHMS: names }),
  );
}

/** Reads settings as the example reads them from the process. */
function settingsIn(source: Readonly<Record<string, string | undefined>>): Settings {
  return { OAUTH2_ALGORITHMS: undefined, ...environment(Settings, { source }) };
}

test("the OAuth2 example reads its settings once, and lists all issues", () => {
  const source = {
    OAUTH2_CLIENT_ID: "",
    OAUTH2_CLIENT_SECRET: "",
    OAUTH2_ISSUER: "id.example",
    OAUTH2_JWKS_URL: "hunter2",
    OAUTH2_ALGORITHMS: "RS256,none",
  };
  assert.throws(() => environment(Settings, { source }), {
    name: "EnvironmentError",
    message: "Cannot use the environment: it does not satisfy its schema\n" +
      "  OAUTH2_CLIENT_ID: It is empty\n" +
      "  OAUTH2_CLIENT_SECRET: It is empty\n" +
      "  OAUTH2_ISSUER: It is not a URL\n" +
      "  OAUTH2_JWKS_URL: It is not a URL\n" +
      "  OAUTH2_ALGORITHMS: It is not a supported algorithm",
  });
  for (const name of ["none", "HS256", "rs256", ""]) {
    assert.throws(
      () => settingsIn({ OAUTH2_ALGORITHMS: name }),
      /OAUTH2_ALGORITHMS: It is not a supported algorithm/,
    );
  }
});

test("the OAuth2 example does not start without required settings, and names them", async () => {
  const endpoints = {
    OAUTH2_CLIENT_ID: "example",
    OAUTH2_AUTHORIZE_URL: "https://id.example/authorize",
    OAUTH2_TOKEN_URL: "https://id.example/token",
  };
  const OAUTH2_CLIENT_SECRET = "hunter2-hunter2";
  const cases: readonly (readonly [Settings, string])[] = [
    [{ OAUTH2_ISSUER: "https://id.example" }, "Cannot log users in: OAUTH2_CLIENT_ID is not set"],
    [
      { OAUTH2_CLIENT_ID: "example" },
      "Cannot log users in: set OAUTH2_ISSUER, or OAUTH2_AUTHORIZE_URL and OAUTH2_TOKEN_URL",
    ],
    [
      { ...endpoints, OAUTH2_TOKEN_URL: undefined },
      "Cannot log users in: set OAUTH2_ISSUER, or OAUTH2_AUTHORIZE_URL and OAUTH2_TOKEN_URL",
    ],
    [endpoints, "Cannot verify tokens: OAUTH2_JWKS_URL is not set"],
    [
      { ...endpoints, OAUTH2_TOKEN_URL: "http://id.example/token" },
      "Cannot use tokenUrl: it is neither https nor http to this machine",
    ],
    [
      { OAUTH2_CLIENT_ID: "example", OAUTH2_ISSUER: "http://id.example" },
      "Cannot use issuer: it is neither https nor http to this machine",
    ],
    [
      { OAUTH2_CLIENT_ID: "example", OAUTH2_ISSUER: "http://127.0.0.1:1" },
      "Cannot discover issuer: the connection failed",
    ],
  ];
  for (const [settings, message] of cases) {
    await assert.rejects(appModule({ ...settings, OAUTH2_CLIENT_SECRET }, REDIRECT_URI), {
      message,
    });
  }
});

exampleTest(
  "accepts no id_token as an access token, and no scope that the user chose",
  async ({ app, provider, settings }) => {
    const { authorizeUrl } = await begin(app);
    const url = new URL(authorizeUrl);
    url.searchParams.set("scope", "openid admin");
    const verifier = "v".repeat(43);
    url.searchParams.set("code_challenge", await calculatePKCECodeChallenge(verifier));
    const callback = new URL(provider.signIn(url.href, "bob").url);
    const response = await fetch(`${provider.issuer}/token`, {
      method: "POST",
      body: new URLSearchParams({
        grant_type: "authorization_code",
        client_id: "example",
        client_secret: settings.OAUTH2_CLIENT_SECRET ?? "",
        redirect_uri: REDIRECT_URI,
        code: callback.searchParams.get("code") ?? "",
        code_verifier: verifier,
      }),
    });
    const { id_token, access_token } = await response.json();
    assert.equal((await app.request("/me", bearer(access_token))).status, 200);
    assert.equal((await app.request("/admin", bearer(access_token))).status, 403);
    assert.equal((await app.request("/me", bearer(id_token))).status, 401);
  },
);
