import assert from "node:assert/strict";
import { type DiscoveryOptions, OAuth2Options } from "../../../src/oauth2/client/client_options.ts";
import { OAuth2Error } from "../../../src/oauth2/ground/errors.ts";
import { test } from "../../support/test.ts";
import { type Reply, tokenServer } from "./token_server.ts";

const OIDC = "/.well-known/openid-configuration";
const OAUTH2 = "/.well-known/oauth-authorization-server";
const CLIENT = { clientId: "web", clientSecret: "hunter2-hunter2" };

function metadataOf(issuer: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    ...more,
  };
}

/** Discovers a server that answers so to each path, 404 to others. */
async function discover(
  replies: (issuer: string) => Readonly<Record<string, Reply>>,
  { path = "", ...options }: Partial<DiscoveryOptions> & { readonly path?: string } = {},
): Promise<{ options: OAuth2Options; issuer: string; asked: readonly string[] }> {
  let origin = "";
  await using server = await tokenServer(({ path }) =>
    replies(origin + issuerPath)[path] ?? { status: 404 }
  );
  const issuerPath = path;
  origin = server.url;
  const issuer = origin + path;
  const discovered = await OAuth2Options.discover(issuer, { ...CLIENT, ...options });
  return { options: discovered, issuer, asked: server.received.map(({ path }) => path) };
}

test("OAuth2Options.discover() reads OpenID Connect metadata", async () => {
  const { options: { ...options }, issuer, asked } = await discover((issuer) => ({
    [OIDC]: {
      body: metadataOf(issuer, {
        jwks_uri: `${issuer}/jwks`,
        revocation_endpoint: `${issuer}/revoke`,
        userinfo_endpoint: `${issuer}/userinfo`,
        authorization_response_iss_parameter_supported: true,
        id_token_signing_alg_values_supported: ["HS256", "none", "ES256", "EdDSA"],
        registration_endpoint: null,
      }),
    },
  }), { redirectUri: "https://app.example/callback" });
  assert.deepEqual(asked, [OIDC]);
  assert.deepEqual(options, {
    clientId: "web",
    authMethod: "client_secret_post",
    authorizeUrl: `${issuer}/authorize`,
    tokenUrl: `${issuer}/token`,
    redirectUri: "https://app.example/callback",
    issuer,
    jwksUrl: `${issuer}/jwks`,
    revokeUrl: `${issuer}/revoke`,
    userinfoUrl: `${issuer}/userinfo`,
    issParameterSupported: true,
    idTokenAlgorithms: ["ES256", "EdDSA"],
    idTokenIssuer: undefined,
  });
});

test("OAuth2Options.discover() falls back to RFC 8414 without OpenID Connect", async () => {
  const none: readonly Reply[] = [
    { status: 404 },
    { status: 500, body: "?" },
    { status: 302, headers: { location: "/elsewhere" } },
    { status: 200, body: "<html>" },
    { status: 200, body: [] },
  ];
  for (const reply of none) {
    const { asked, options } = await discover((issuer) => ({
      [OIDC]: reply,
      [OAUTH2]: { body: metadataOf(issuer) },
    }));
    assert.deepEqual(asked, [OIDC, OAUTH2]);
    assert.deepEqual(options.idTokenAlgorithms, ["RS256"]);
    assert.equal(options.jwksUrl, undefined);
  }
});

test("OAuth2Options.discover() fetches the metadata of an issuer with a path at the URLs of each RFC", async () => {
  const oidc = await discover((issuer) => ({
    [`/tenant${OIDC}`]: { body: metadataOf(issuer) },
  }), { path: "/tenant" });
  assert.deepEqual(oidc.asked, [`/tenant${OIDC}`]);
  const oauth2 = await discover((issuer) => ({
    [`${OAUTH2}/tenant`]: { body: metadataOf(issuer) },
  }), { path: "/tenant" });
  assert.deepEqual(oauth2.asked, [`/tenant${OIDC}`, `${OAUTH2}/tenant`]);
  const slash = await discover((issuer) => ({ [OIDC]: { body: metadataOf(issuer) } }), {
    path: "/",
  });
  assert.equal(slash.options.issuer, slash.issuer);
});

test("OAuth2Options.discover() refuses metadata of another issuer, and does not look further", async () => {
  const others = (issuer: string): readonly unknown[] => [
    "https://evil.example",
    `${issuer}/`,
    issuer.replace("127.0.0.1", "localhost"),
    issuer.toUpperCase(),
    `${issuer}?`,
    [issuer],
    "",
    null,
    7,
  ];
  for (const index of others("").keys()) {
    let asked = 0;
    const outcome = discover((issuer) => {
      asked++;
      const body = { ...metadataOf(issuer), issuer: others(issuer)[index] };
      return { [OIDC]: { body }, [OAUTH2]: { body: metadataOf(issuer) } };
    });
    await assert.rejects(outcome, {
      name: "OAuth2Error",
      code: "InvalidConfig",
      message:
        "Cannot discover issuer: its metadata have another issuer (a slash at the end counts)",
    });
    assert.equal(asked, 1);
  }
});

test("OAuth2Options.discover() refuses missing and invalid endpoints", async () => {
  const cases: readonly (readonly [Record<string, unknown>, string])[] = [
    [{ token_endpoint: undefined }, "Cannot discover issuer: it has no token_endpoint"],
    [{ token_endpoint: null }, "Cannot discover issuer: it has no token_endpoint"],
    [{ authorization_endpoint: null }, "Cannot discover issuer: it has no authorization_endpoint"],
    [{ token_endpoint: 7 }, "Cannot discover issuer: token_endpoint is not a string"],
    [{ jwks_uri: ["x"] }, "Cannot discover issuer: jwks_uri is not a string"],
    [{ jwks_uri: "/jwks" }, "Cannot use jwks_uri: it is not an absolute URL"],
    [
      { revocation_endpoint: "http://id.example/" },
      "Cannot use revocation_endpoint: it is neither https nor http to this machine",
    ],
    [
      { userinfo_endpoint: "https://id.example/#" },
      "Cannot use userinfo_endpoint: it has a fragment",
    ],
  ];
  for (const [wrong, message] of cases) {
    await assert.rejects(
      discover((issuer) => ({ [OIDC]: { body: metadataOf(issuer, wrong) } })),
      { code: "InvalidConfig", message },
    );
  }
});

test("OAuth2Options.discover() lets no issuer elsewhere name endpoints on this machine", async () => {
  const issuer = "https://id.example";
  const body = metadataOf(issuer, { token_endpoint: "http://127.0.0.1/token" });
  const fetch = () => Promise.resolve(Response.json(body));
  await assert.rejects(OAuth2Options.discover(issuer, { ...CLIENT, fetch }), {
    code: "InvalidConfig",
    message: "Cannot discover issuer: token_endpoint is not https",
  });
});

test("OAuth2Options.discover() fails with TokenEndpoint without metadata", async () => {
  await assert.rejects(
    discover(() => ({ [OIDC]: { status: 503, body: "Maintenance" } })),
    (error) => {
      assert.ok(error instanceof OAuth2Error && error.code === "TokenEndpoint");
      assert.deepEqual([error.status, error.body, error.message], [
        503,
        "Maintenance",
        "Cannot discover issuer: it has no metadata, the answer is 503",
      ]);
      return true;
    },
  );
});

test("OAuth2Options.discover() fails with Transport without an answer in time", async () => {
  await using server = await tokenServer((_, response) => {
    response.writeHead(200).write('{"issuer":');
  });
  await assert.rejects(OAuth2Options.discover(server.url, { ...CLIENT, timeoutMs: 50 }), {
    code: "Transport",
    message: "Cannot discover issuer: no answer in 50 ms",
  });
});

test("OAuth2Options.discover() checks the client and the issuer before it sends a request", async () => {
  const fetch = () => Promise.reject(assert.fail("it asks"));
  for (
    const [issuer, clientId] of [
      ["https://id.example", ""],
      ["http://id.example", "web"],
      ["https://id.example?x", "web"],
      ["https://id.example/#x", "web"],
      ["id.example", "web"],
      ["", "web"],
      [undefined as unknown as string, "web"],
    ] as const
  ) {
    await assert.rejects(OAuth2Options.discover(issuer, { ...CLIENT, clientId, fetch }), {
      code: "InvalidConfig",
    });
  }
});

test("OAuth2Options.discover() chooses a method of authentication that client and server have", async () => {
  const { privateKey } = await crypto.subtle.generateKey("Ed25519", false, [
    "sign",
    "verify",
  ]) as CryptoKeyPair;
  const basic = ["client_secret_basic", "private_key_jwt"];
  const both = ["client_secret_basic", "client_secret_post"];
  const none = { clientSecret: undefined };
  const cases: readonly (readonly [unknown, Partial<DiscoveryOptions>, string])[] = [
    [undefined, {}, "client_secret_post"],
    [both, {}, "client_secret_post"],
    [basic, {}, "client_secret_basic"],
    ["client_secret_basic", {}, "client_secret_post"],
    [basic, { authMethod: "client_secret_post" }, "client_secret_post"],
    [basic, none, "none"],
    [both, { ...none, privateKey }, "private_key_jwt"],
    [both, { privateKey }, "client_secret_post"],
    [both, { privateKey, authMethod: "private_key_jwt" }, "private_key_jwt"],
  ];
  for (const [methods, client, expected] of cases) {
    const { options } = await discover((issuer) => ({
      [OIDC]: { body: metadataOf(issuer, { token_endpoint_auth_methods_supported: methods }) },
    }), client);
    assert.equal(options.authMethod, expected);
  }
});

test("OAuth2Options.discover() lets the application name the algorithms of id_tokens", async () => {
  const { options } = await discover((issuer) => ({
    [OIDC]: {
      body: metadataOf(issuer, { id_token_signing_alg_values_supported: ["RS256", "ES256"] }),
    },
  }), { idTokenAlgorithms: ["ES256"] });
  assert.deepEqual(options.idTokenAlgorithms, ["ES256"]);
});
