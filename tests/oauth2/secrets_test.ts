import assert from "node:assert/strict";
import {
  getAnsiColorFormatter,
  getJsonLinesFormatter,
  getTextFormatter,
  type LogRecord,
} from "@logtape/logtape";
import { controller, FwFactory, module, route } from "../../mod.ts";
import { JwtKey, JwtService } from "../../src/authn/mod.ts";
import {
  JwksCache,
  JwtVerifier,
  OAuth2Client,
  OAuth2Guard,
  OAuth2Login,
  OAuth2Options,
  ValidationConfig,
} from "../../src/oauth2/mod.ts";
import { apple, github } from "../../src/oauth2/social/mod.ts";
import { captureLogs } from "../support/capture_logs.ts";
import { Subprocess } from "../support/subprocess.ts";
import { test } from "../support/test.ts";
import { JwksServer, text } from "./resource_server/jwks_server.ts";
import { printed } from "./client/printed.ts";
import { encode } from "./resource_server/signing_key.ts";
import { makeSecrets, secretHolders, secretTexts } from "./secret_holders.ts";
import { type Reply, tokenServer } from "./client/token_server.ts";

const SECRETS = await makeSecrets();
const TEXTS = secretTexts(SECRETS);

function leaksOf(texts: readonly string[], secrets: readonly string[] = TEXTS): readonly string[] {
  return texts.filter((text) => secrets.some((secret) => text.includes(secret)));
}

test("no object with a secret shows it, wherever it is printed", async () => {
  for (const [name, holder] of Object.entries(await secretHolders(SECRETS))) {
    assert.deepEqual(leaksOf(printed(holder)), [], name);
  }
});

test("no object with a secret shows it on a console", async () => {
  await using fixture = new Subprocess("tests/oauth2/secrets_fixture.ts", {
    env: { FW_SECRETS: JSON.stringify(SECRETS) },
  });
  const { code, output } = await fixture.ended;
  assert.equal(code, 0, output);
  assert.match(output, /^== all is printed$/m);
  assert.deepEqual(leaksOf(output.split("\n")), []);
});

const [header = "", payload = "", signature = ""] = SECRETS.bearerToken.split(".");

/** Verifies a token by the key that has signed that of the secrets. */
function verify(token: string, { reply = undefined as string | undefined } = {}): Promise<unknown> {
  const { d: _, ...jwk } = SECRETS.jwk;
  const body = reply ?? JSON.stringify({ keys: [jwk] });
  const keys = new JwksCache("https://id.example/jwks?key=" + SECRETS.clientSecret, {
    fetch: () => Promise.resolve(new Response(body)),
  });
  const config = new ValidationConfig().withIssuer("https://id.example");
  return new JwtVerifier(keys, config, { cacheTokens: 9 }).verify(token);
}

async function social(reply: Reply): Promise<unknown> {
  await using server = await tokenServer(() => reply);
  const { clientSecret, accessToken } = SECRETS;
  const provider = github({
    clientId: "web",
    clientSecret,
    redirectUri: "https://app.example/callback",
    fetch: (url, init) => fetch(server.url + new URL(String(url)).pathname, init),
  });
  const client = provider.client();
  const tokens = await client.refresh(SECRETS.refreshToken);
  return await provider.userinfo({ tokens }).then(() => client.userinfo(accessToken));
}

/** What fails, with secrets in all that it is given. */
const FAILURES: Readonly<Record<string, () => unknown>> = {
  "a token of another issuer": () => verify(SECRETS.bearerToken),
  "a token that is cut short": () => verify(`${header}.${payload}`),
  "a token with its parts swapped": () => verify(`${payload}.${header}.${signature}`),
  "a token with another payload": () => verify(`${header}.${SECRETS.code}.${signature}`),
  "a token of an unknown key": () => verify(SECRETS.bearerToken, { reply: '{"keys":[]}' }),
  "a key set that is no JSON": () => verify(SECRETS.bearerToken, { reply: SECRETS.accessToken }),
  "a key set that is none": () => verify(SECRETS.bearerToken, { reply: `["${SECRETS.code}"]` }),
  "a key that is no key": () => JwtKey.fromJwk({ ...SECRETS.jwk, crv: "P-256" }),
  "a key of an unsafe algorithm": () => JwtKey.fromJwk({ ...SECRETS.jwk, alg: "HS256" }),
  "a key that is no JSON": () => JwtKey.fromJwk(`${JSON.stringify(SECRETS.jwk)},`),
  "a PEM of another algorithm": () => JwtKey.fromPem(SECRETS.pem, "EdDSA"),
  "a PEM that is cut short": () => JwtKey.fromPem(SECRETS.pem.slice(0, 120), "ES256"),
  "two keys of one kid": async () => {
    const key = await JwtKey.fromJwk(SECRETS.jwk);
    new JwtService({ issuer: "https://api.example", key, acceptedKeys: [key] });
  },
  "an application's own token of others": async () =>
    await new JwtService({ issuer: "https://api.example", key: await JwtKey.fromJwk(SECRETS.jwk) })
      .verify(SECRETS.bearerToken),
  "an Apple key that is cut short": () => appleRefresh(SECRETS.pem.replace(/.{20}\n-/, "\n-")),
  "an Apple key without its last line": () => appleRefresh(SECRETS.pem.slice(0, -30)),
  "an issuer with a secret": () =>
    OAuth2Options.discover(`https://tom:${SECRETS.clientSecret}@id.example`, { clientId: "web" }),
  "an endpoint with a secret": () => new JwksCache(`http://id.example/${SECRETS.clientSecret}`),
  "a secret that cannot be had": () =>
    new OAuth2Client(
      new OAuth2Options({
        clientId: "web",
        clientSecret: () => Promise.resolve(""),
        authorizeUrl: "https://id.example",
        tokenUrl: "https://id.example",
      }),
    ).refresh(SECRETS.refreshToken),
  "a user who is none": () => social({ body: { access_token: SECRETS.accessToken } }),
  "a provider that repeats all": () => social({ status: 500, body: SECRETS }),
};

async function appleRefresh(privateKey: string): Promise<void> {
  const provider = apple({
    clientId: "web",
    teamId: "T",
    keyId: "K",
    privateKey,
    redirectUri: "https://app.example/callback",
  });
  await provider.client().refresh(SECRETS.refreshToken);
}

for (const [name, fail] of Object.entries(FAILURES)) {
  test(`no error shows a secret: ${name}`, () =>
    captureLogs([], async (records) => {
      const error = await Promise.resolve().then(fail).then(() => undefined, (error) => error);
      assert.ok(error instanceof Error, "it has not failed");
      assert.deepEqual(leaksOf([...printed(error), error.stack ?? ""]), []);
      assert.deepEqual(leaksOf([...printed(records), ...linesOf(records)]), []);
    }));
}

/** Words records as an application's log would have them. */
function linesOf(records: readonly LogRecord[]): readonly string[] {
  const formatters = [getTextFormatter(), getJsonLinesFormatter(), getAnsiColorFormatter()];
  return records.flatMap((record) =>
    formatters.flatMap((format) => {
      try {
        return [format(record)];
      } catch {
        return []; // a set of tokens refuses to become JSON
      }
    })
  );
}

test("no log shows a secret: of logins, callers and failures, at level trace", () =>
  captureLogs([], async (records) => {
    const { clientSecret, code, accessToken, refreshToken, idToken, bearerToken } = SECRETS;
    const answers: Reply[] = [
      {
        body: {
          access_token: accessToken,
          refresh_token: refreshToken,
          id_token: idToken,
          token_type: "bearer",
        },
      },
      { status: 500, body: SECRETS },
      { status: 400, body: { error: "invalid_grant", error_description: `code=${code}` } },
    ];
    await using server = await tokenServer(() => answers.shift());
    const { d: _, ...publicJwk } = SECRETS.jwk;
    await using jwks = await JwksServer.start(publicJwk);
    const client = new OAuth2Client(
      new OAuth2Options({
        clientId: "web",
        clientSecret,
        authorizeUrl: "https://id.example/authorize",
        tokenUrl: `${server.url}/token`,
        redirectUri: "http://localhost/callback",
      }),
    );
    const login = new OAuth2Login(client);
    class ProbeController extends controller() {
      login = route.get("/login", (_, c) => login.begin(c));
      callback = route.get("/callback", async (_, c) => {
        const { tokens } = await login.finish(c);
        return { isBearer: tokens.tokenType === "bearer" };
      });
      broken = route.get("/broken", async () => {
        throw new Error("a handler that shows what it should not", {
          cause: await secretHolders(SECRETS),
        });
      });
      me = route.get("/me", { guards: [OAuth2Guard] }, () => "in");
    }
    const keys = new JwksCache(`${jwks.url}?key=${clientSecret}`);
    await using app = await FwFactory.create(module({ controllers: [ProbeController] }));
    app.useRequestTracing().useOAuth2(
      new JwtVerifier(keys, new ValidationConfig().anyIssuer().anyAudience()),
    );

    const secrets = [...TEXTS];
    const bodies: string[] = [];
    const visit = async (path: string, headers: Record<string, string> = {}) => {
      const response = await app.request(path, { headers });
      bodies.push(await response.text());
      return response;
    };
    const statuses: number[] = [];
    for (let i = 0; i < 4; i++) {
      const begun = await visit("/login");
      const { searchParams } = new URL(begun.headers.get("location") ?? "");
      const state = searchParams.get("state") ?? "";
      const cookie = begun.headers.getSetCookie()[0]?.split(";")[0] ?? "";
      secrets.push(state, cookie.split("=")[1] ?? "");
      // the last one is of another browser
      const headers = { cookie: i < 3 ? cookie : "" };
      statuses.push((await visit(`/callback?state=${state}&code=${code}`, headers)).status);
    }
    assert.deepEqual(statuses, [200, 502, 401, 401]);
    secrets.push(...server.received.map(({ form }) => form.get("code_verifier") ?? ""));

    const me = async (token: string) =>
      (await visit("/me", { authorization: `Bearer ${token}` })).status;
    assert.equal(await me(bearerToken), 200);
    assert.equal(await me(idToken), 401);
    assert.equal(await me(accessToken), 401);
    jwks.reply = text(SECRETS.accessToken, { status: 500 });
    assert.equal(await me(bearerToken.replace(header, encode({ alg: "EdDSA", kid: "k2" }))), 503);
    assert.equal((await visit("/broken")).status, 500);

    assert.ok(records.length > 15, `${records.length} records`);
    assert.deepEqual(leaksOf([...printed(records), ...linesOf(records)], secrets), []);
    assert.deepEqual(leaksOf(bodies, secrets), []);
  }));
