import assert from "node:assert/strict";
import type { OAuth2Client } from "../../../src/oauth2/client/client.ts";
import { OAuth2Error } from "../../../src/oauth2/ground/errors.ts";
import { Exchange } from "../../../src/oauth2/client/exchange.ts";
import { generatePkce, PkceVerifier } from "../../../src/oauth2/client/pkce.ts";
import { TokenCache } from "../../../src/oauth2/client/token_cache.ts";
import { TokenSet } from "../../../src/oauth2/client/token_set.ts";
import { test } from "../../support/test.ts";
import { inspections, printed } from "./printed.ts";
import { type Answering, clientOf, optionsOf, SECRET, tokenServer } from "./token_server.ts";

const CODE = "SplxlOBeZQQYbYS6WxSbIA/the code";
const ACCESS = "2YotnFZFEjr1zCsicMWpAA";
const REFRESH = "tGzv3JOkF0XG5Qx2TlKWIA";
const VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const ID_TOKEN = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl";

/** Everything secret, as it is and as requests have it. */
const SECRETS = [SECRET, CODE, ACCESS, REFRESH, VERIFIER, ID_TOKEN].flatMap((secret) => [
  secret,
  encodeURIComponent(secret),
  new URLSearchParams({ it: secret }).toString().slice("it=".length),
  btoa(secret).replace(/=+$/, ""),
  btoa(`web:${secret}`).replace(/=+$/, ""),
]);

function leaksOf(texts: readonly string[]): readonly string[] {
  return texts.filter((text) => SECRETS.some((secret) => text.includes(secret)));
}

function tokens(): TokenSet {
  return new TokenSet({
    accessToken: ACCESS,
    tokenType: "bearer",
    refreshToken: REFRESH,
    idToken: ID_TOKEN,
    scope: "openid",
    expiresAt: new Date(0),
  });
}

const VALUES: Readonly<Record<string, () => object>> = {
  "OAuth2Options with a secret": () => optionsOf("https://id.example"),
  "OAuth2Options with a function": () =>
    optionsOf("https://id.example", { clientSecret: () => SECRET }),
  OAuth2Client: () => clientOf("https://id.example"),
  PkceVerifier: () => PkceVerifier.restore(VERIFIER),
  PkcePair: () => ({ challenge: "x", verifier: PkceVerifier.restore(VERIFIER) }),
  TokenSet: tokens,
  TokenCache: () => {
    const cache = new TokenCache();
    cache.store(tokens());
    return cache;
  },
  "OAuth2Client with a cache": () => {
    const cache = new TokenCache();
    cache.store(tokens());
    return clientOf("https://id.example").withCache(cache);
  },
};

for (const [name, make] of Object.entries(VALUES)) {
  test(`${name} shows no secret wherever it is printed`, () => {
    assert.deepEqual(leaksOf(printed(make())), []);
  });
}

test("TokenSetDto shows no secret where it is printed, and all of it in its JSON and its copies", () => {
  const dto = tokens().toDto();
  const texts = [dto, [dto], { dto }, new Map([[dto, dto]])].flatMap(inspections);
  assert.deepEqual(leaksOf([...texts, String(dto), `${dto}`]), []);
  for (const text of [JSON.stringify(dto), JSON.stringify({ ...dto })]) {
    assert.ok([ACCESS, REFRESH, ID_TOKEN].every((token) => text.includes(token)));
  }
});

test("Exchange does not show the secrets that it sent", async () => {
  await using server = await tokenServer(({ form }) => ({ body: String(form) }));
  const exchange = new Exchange({ action: "test", fetch, timeoutMs: 5_000 });
  const [send] = Object.getOwnPropertySymbols(exchange.transport(server.url))
    .map((symbol) => Reflect.get(exchange.transport(server.url), symbol))
    .filter((each) => typeof each === "function");
  const body = new URLSearchParams({ code: CODE, refresh_token: REFRESH });
  await send(server.url, { method: "POST", headers: {}, body });
  assert.deepEqual(leaksOf(printed(exchange)), []);
});

/** What a hostile or careless server echoes. */
const ECHOES: Readonly<Record<string, Answering>> = {
  "an error page": ({ form, headers }) => ({
    status: 500,
    body: `<pre>${form} ${[...form.values()].join(" ")} ${headers.authorization}</pre>`,
  }),
  "JSON": ({ form, headers }) => ({
    status: 500,
    body: { sent: Object.fromEntries(form), text: `got ${[...form.values()]}`, ...headers },
  }),
  "an error object": ({ form, headers }) => ({
    status: 400,
    body: {
      error: [...form.values()].at(-1)?.replace(/[^ -~]/g, "") ?? "x",
      error_description: `${[...form.values()].join(" ")} ${headers.authorization}`,
      error_uri: `https://id.example/?${form}`,
    },
  }),
  "new tokens beside nonsense": ({ form }) => ({
    body: {
      access_token: ACCESS,
      refresh_token: REFRESH,
      id_token: ID_TOKEN,
      token_type: "bearer",
      expires_in: "soon",
      echo: [...form.values()],
    },
  }),
  "new tokens that are cut off": () => ({
    body: `{"access_token":"${ACCESS}","x":["${REFRESH}"],"id_token":"${ID_TOKEN}"`,
  }),
  "new tokens as a form": () => ({
    body: new URLSearchParams({ access_token: ACCESS, refresh_token: REFRESH }).toString(),
  }),
  "a challenge": ({ headers }) => ({
    status: 401,
    headers: {
      "www-authenticate":
        `Bearer error="invalid_token", error_description="${headers.authorization}"`,
    },
    body: String(headers.authorization),
  }),
};

const OPERATIONS: readonly ((client: OAuth2Client) => Promise<unknown>)[] = [
  (client) => client.exchangeCode(CODE, PkceVerifier.restore(VERIFIER)),
  (client) => client.clientCredentials(),
  (client) => client.refresh(REFRESH),
  (client) => client.revoke(REFRESH),
  (client) => client.userinfo(ACCESS),
];

for (const [name, answering] of Object.entries(ECHOES)) {
  test(`OAuth2Error over ${name} that repeats secrets shows none, wherever it is printed`, async () => {
    await using server = await tokenServer(answering);
    let failures = 0;
    for (const authMethod of ["client_secret_post", "client_secret_basic"] as const) {
      for (const operation of OPERATIONS) {
        const client = clientOf(server.url, { authMethod });
        const error = await operation(client).then(() => undefined, (error) => error);
        if (error === undefined) continue; // a revocation and a userinfo accept any body
        failures++;
        assert.ok(error instanceof OAuth2Error);
        assert.equal(error.cause, undefined);
        assert.deepEqual(leaksOf([...printed(error), error.stack ?? ""]), []);
      }
    }
    assert.ok(failures >= 6, `${failures} failures`);
  });
}

test("OAuth2Error of a private_key_jwt client has no assertion", async () => {
  const { privateKey } = await crypto.subtle.generateKey("Ed25519", false, [
    "sign",
    "verify",
  ]) as CryptoKeyPair;
  let assertion = "";
  await using server = await tokenServer(({ form }) => {
    assertion = form.get("client_assertion") ?? "";
    return { status: 500, body: `You sent ${assertion}, ${form}` };
  });
  const client = clientOf(server.url, { authMethod: "private_key_jwt", privateKey });
  const error = await client.clientCredentials().catch((error) => error);
  assert.ok(error instanceof OAuth2Error && error.code === "TokenEndpoint");
  assert.match(error.body, /^You sent <redacted>, client_id=web&grant_type=client_credentials/);
  const signature = assertion.split(".")[2]!;
  assert.ok(!printed(error).some((text) => text.includes(signature)));
});

test("OAuth2Error over a verifier that has been used has nothing of it", async () => {
  await using server = await tokenServer(() => ({ status: 400, body: { error: "invalid_grant" } }));
  const verifier = PkceVerifier.restore(VERIFIER);
  const client = clientOf(server.url);
  for (let i = 0; i < 2; i++) {
    const error = await client.exchangeCode(CODE, verifier).catch((error) => error);
    assert.deepEqual(leaksOf(printed(error)), []);
  }
  assert.equal(String(verifier), "PkceVerifier { secret: <used> }");
  assert.match(String((await generatePkce()).verifier), /^PkceVerifier \{ secret: <redacted> \}$/);
});
