import assert from "node:assert/strict";
import {
  type ConfidentialClientOptions,
  OAuth2Options,
} from "../../../src/oauth2/client/client_options.ts";
import { test } from "../../support/test.ts";

const SOUND = {
  clientId: "web",
  clientSecret: "hunter2-hunter2",
  authorizeUrl: "https://id.example/authorize",
  tokenUrl: "https://id.example/token",
};

test("OAuth2Options has the given values and the defaults", () => {
  const { ...options } = new OAuth2Options(SOUND);
  assert.deepEqual(options, {
    clientId: "web",
    authMethod: "client_secret_post",
    authorizeUrl: "https://id.example/authorize",
    tokenUrl: "https://id.example/token",
    redirectUri: undefined,
    issuer: undefined,
    jwksUrl: undefined,
    revokeUrl: undefined,
    userinfoUrl: undefined,
    issParameterSupported: false,
    idTokenAlgorithms: ["RS256"],
    idTokenIssuer: undefined,
  });
});

test("OAuth2Options keeps redirectUri and issuer to the letter", () => {
  const { redirectUri, issuer } = new OAuth2Options({
    ...SOUND,
    redirectUri: "https://app.example",
    issuer: "https://id.example",
  });
  assert.deepEqual([redirectUri, issuer], ["https://app.example", "https://id.example"]);
});

test("OAuth2Options refuses invalid values with InvalidConfig, and does not repeat them", async () => {
  const { privateKey, publicKey } = await crypto.subtle.generateKey("Ed25519", false, [
    "sign",
    "verify",
  ]) as CryptoKeyPair;
  const cases: readonly [Record<string, unknown>, string][] = [
    [{ issParameterSuported: true }, "options: issParameterSuported is not an option"],
    [{ clientId: "" }, "clientId: it is empty"],
    [{ clientId: " " }, "clientId: it is empty"],
    [{ clientId: undefined }, "clientId: it is empty"],
    [{ clientSecret: "" }, "clientSecret: it is empty or missing"],
    [{ clientSecret: undefined }, "clientSecret: it is empty or missing"],
    [{ clientSecret: 7 }, "clientSecret: it is empty or missing"],
    [{ authorizeUrl: "/leak" }, "authorizeUrl: it is not an absolute URL"],
    [{ tokenUrl: "" }, "tokenUrl: it is not an absolute URL"],
    [{ tokenUrl: "http://leak.example" }, "tokenUrl: it is neither https nor http to this machine"],
    [{ tokenUrl: "https://id.example/#leak" }, "tokenUrl: it has a fragment"],
    [{ tokenUrl: "https://leak:leak@id.example/" }, "tokenUrl: it has a user name or password"],
    [{ jwksUrl: "leak" }, "jwksUrl: it is not an absolute URL"],
    [{ revokeUrl: "leak" }, "revokeUrl: it is not an absolute URL"],
    [{ userinfoUrl: "leak" }, "userinfoUrl: it is not an absolute URL"],
    [{ redirectUri: "leak" }, "redirectUri: it is not an absolute URL"],
    [{ issuer: "leak" }, "issuer: it is not an absolute URL"],
    [{ issuer: "https://id.example/?leak" }, "issuer: it has a query"],
    [{ issParameterSupported: true }, "issParameterSupported: issuer is missing"],
    [{ authMethod: "leak" }, "authMethod: the method is unknown"],
    [{ authMethod: "none" }, "authMethod: a public client has no secret"],
    [
      { authMethod: "private_key_jwt" },
      "privateKey: it is not a private CryptoKey with the usage sign",
    ],
    [
      { authMethod: "private_key_jwt", privateKey: publicKey },
      "privateKey: it is not a private CryptoKey with the usage sign",
    ],
    [
      { authMethod: "private_key_jwt", privateKey, privateKeyId: "" },
      "privateKeyId: it is empty",
    ],
    [{ idTokenAlgorithms: [] }, "algorithms: the list is empty"],
    [{ idTokenAlgorithms: ["none"] }, 'algorithm: "none" is not supported'],
    [{ idTokenAlgorithms: ["HS256"] }, 'algorithm: "HS256" is not supported'],
  ];
  for (const [wrong, why] of cases) {
    const options = { ...SOUND, ...wrong } as ConfidentialClientOptions;
    assert.throws(() => new OAuth2Options(options), {
      name: "OAuth2Error",
      code: "InvalidConfig",
      message: `Cannot use ${why}`,
    });
  }
});

test("OAuth2Options.publicClient() has no secret, and refuses one", () => {
  const { clientSecret, ...rest } = SOUND;
  const options = OAuth2Options.publicClient(rest);
  assert.equal(options.authMethod, "none");
  assert.doesNotMatch(String(options) + JSON.stringify(options), /clientSecret/);
  assert.throws(() => OAuth2Options.publicClient({ ...rest, ...{ clientSecret } }), {
    code: "InvalidConfig",
  });
});

test("OAuth2Options.toString() and toJSON() show that there is a secret or a key, and not which", async () => {
  const { privateKey } = await crypto.subtle.generateKey("Ed25519", true, [
    "sign",
    "verify",
  ]) as CryptoKeyPair;
  const options = new OAuth2Options({ ...SOUND, privateKey });
  assert.equal(
    String(options),
    "OAuth2Options { clientId: web, authMethod: client_secret_post, " +
      "authorizeUrl: https://id.example/authorize, tokenUrl: https://id.example/token, " +
      "issParameterSupported: false, idTokenAlgorithms: [RS256], " +
      "clientSecret: <redacted>, privateKey: <redacted> }",
  );
  assert.deepEqual(JSON.parse(JSON.stringify(options)), {
    clientId: "web",
    authMethod: "client_secret_post",
    authorizeUrl: "https://id.example/authorize",
    tokenUrl: "https://id.example/token",
    issParameterSupported: false,
    idTokenAlgorithms: ["RS256"],
    clientSecret: "<redacted>",
    privateKey: "<redacted>",
  });
});
