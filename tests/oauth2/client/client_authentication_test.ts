import assert from "node:assert/strict";
import { jwtVerify } from "jose";
import { OAuth2Error } from "../../../src/oauth2/ground/errors.ts";
import { test } from "../../support/test.ts";
import { clientOf, SECRET, TOKENS, tokenServer } from "./token_server.ts";

const KEY_ALGORITHMS = {
  Ed25519: { name: "Ed25519" },
  ES256: { name: "ECDSA", namedCurve: "P-256" },
  PS256: {
    name: "RSA-PSS",
    hash: "SHA-256",
    modulusLength: 2048,
    publicExponent: new Uint8Array([1, 0, 1]),
  },
  RS256: {
    name: "RSASSA-PKCS1-v1_5",
    hash: "SHA-256",
    modulusLength: 2048,
    publicExponent: new Uint8Array([1, 0, 1]),
  },
};

async function keyPair(alg: keyof typeof KEY_ALGORITHMS): Promise<CryptoKeyPair> {
  const usages: KeyUsage[] = ["sign", "verify"];
  return await crypto.subtle.generateKey(KEY_ALGORITHMS[alg], false, usages) as CryptoKeyPair;
}

test("client_secret_post is the default: the secret is in the body, and there are no credentials", async () => {
  await using server = await tokenServer(() => ({ body: TOKENS }));
  await clientOf(server.url).clientCredentials(["a", "b:c"]);
  const [{ headers, form, method, path } = assert.fail()] = server.received;
  assert.deepEqual([method, path, headers.authorization, headers.accept], [
    "POST",
    "/token",
    undefined,
    "application/json",
  ]);
  assert.match(headers["content-type"] ?? "", /^application\/x-www-form-urlencoded/);
  assert.deepEqual(Object.fromEntries(form), {
    grant_type: "client_credentials",
    client_id: "web",
    client_secret: SECRET,
    scope: "a b:c",
  });
});

test("client_secret_basic sends percent-encoded credentials, and client_id in the body too", async () => {
  await using server = await tokenServer(() => ({ body: TOKENS }));
  const client = clientOf(server.url, { authMethod: "client_secret_basic", clientId: "a:b c" });
  await client.clientCredentials();
  await client.revoke("at-1");
  for (const { headers, form } of server.received) {
    const [, credentials = ""] = headers.authorization?.split("Basic ") ?? [];
    const [id = "", secret = "", ...rest] = atob(credentials).split(":");
    const decode = (text: string) => new URLSearchParams(`it=${text}`).get("it");
    assert.deepEqual([decode(id), decode(secret), rest], ["a:b c", SECRET, []]);
    assert.deepEqual([form.get("client_id"), form.get("client_secret")], ["a:b c", null]);
  }
  assert.equal(server.received.length, 2);
});

test("A public client sends client_id only, and cannot get client credentials", async () => {
  await using server = await tokenServer(() => ({ body: TOKENS }));
  const client = clientOf(server.url, { authMethod: "none" });
  await client.refresh("rt-1");
  await assert.rejects(client.clientCredentials(), {
    code: "InvalidConfig",
    message: "Cannot get client credentials: the client is public",
  });
  assert.deepEqual(server.received.map(({ form }) => Object.fromEntries(form)), [
    { grant_type: "refresh_token", refresh_token: "rt-1", client_id: "web" },
  ]);
});

for (const alg of ["Ed25519", "ES256", "PS256", "RS256"] as const) {
  test(`private_key_jwt sends a fresh ${alg} assertion that the server can verify`, async () => {
    const { privateKey, publicKey } = await keyPair(alg);
    await using server = await tokenServer(() => ({ body: TOKENS }));
    const issuer = "https://id.example";
    const client = clientOf(server.url, {
      authMethod: "private_key_jwt",
      privateKey,
      privateKeyId: "key-1",
      clientSecret: undefined,
      issuer,
    });
    await client.clientCredentials();
    await client.revoke("at-1");
    const ids = new Set<unknown>();
    for (const { form } of server.received) {
      const { payload, protectedHeader } = await jwtVerify(
        form.get("client_assertion") ?? "",
        publicKey,
        { issuer: "web", subject: "web", audience: issuer, algorithms: [alg], maxTokenAge: 60 },
      );
      ids.add(payload.jti);
      assert.equal(protectedHeader.kid, "key-1");
      assert.equal(payload.exp! - payload.iat!, 60);
      assert.deepEqual([form.get("client_id"), form.get("client_assertion_type")], [
        "web",
        "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
      ]);
      assert.ok(!form.has("client_secret"));
    }
    assert.equal(ids.size, 2);
  });
}

test("private_key_jwt has the token endpoint as audience without an issuer, and the time of the client", async () => {
  const { privateKey, publicKey } = await keyPair("Ed25519");
  await using server = await tokenServer(() => ({ body: TOKENS }));
  const client = clientOf(server.url, {
    authMethod: "private_key_jwt",
    privateKey,
    clientSecret: undefined,
    now: () => Date.UTC(2020, 0, 1),
  });
  await client.clientCredentials();
  const { payload, protectedHeader } = await jwtVerify(
    server.received[0]!.form.get("client_assertion")!,
    publicKey,
    { audience: `${server.url}/token`, currentDate: new Date(Date.UTC(2020, 0, 1, 0, 0, 1)) },
  );
  assert.equal(protectedHeader.kid, undefined);
  assert.ok(Math.abs(payload.iat! - Date.UTC(2020, 0, 1) / 1000) <= 1);
});

test("private_key_jwt with a key of no known algorithm is InvalidConfig, and nothing is sent", async () => {
  const algorithm = { ...KEY_ALGORITHMS.RS256, hash: "SHA-1" };
  const { privateKey } = await crypto.subtle.generateKey(algorithm, false, [
    "sign",
    "verify",
  ]) as CryptoKeyPair;
  await using server = await tokenServer(() => ({ body: TOKENS }));
  const client = clientOf(server.url, { authMethod: "private_key_jwt", privateKey });
  await assert.rejects(client.clientCredentials(), {
    code: "InvalidConfig",
    message: "Cannot use privateKey: it fails to authenticate the client",
  });
  assert.deepEqual(server.received, []);
});

test("A function for the client secret is called for each request", async () => {
  await using server = await tokenServer(() => ({ body: TOKENS }));
  let n = 0;
  const renewed = [() => `secret-${++n}`, () => Promise.resolve(`secret-${++n}`)];
  for (const clientSecret of renewed) {
    const client = clientOf(server.url, { clientSecret });
    await client.clientCredentials();
    await client.refresh("rt-1");
    await client.revoke("at-1");
  }
  assert.deepEqual(
    server.received.map(({ form }) => form.get("client_secret")),
    [1, 2, 3, 4, 5, 6].map((each) => `secret-${each}`),
  );
});

test("A failing function for the client secret is InvalidConfig, and nothing is sent", async () => {
  await using server = await tokenServer(() => ({ body: TOKENS }));
  const failure = new Error("no key");
  const cases = [
    [() => Promise.reject(failure), "it fails to authenticate the client", failure],
    [
      () => {
        throw failure;
      },
      "it fails to authenticate the client",
      failure,
    ],
    [() => "", "it is empty or missing", undefined],
    [() => undefined as unknown as string, "it is empty or missing", undefined],
  ] as const;
  for (const [clientSecret, why, cause] of cases) {
    for (const authMethod of ["client_secret_post", "client_secret_basic"] as const) {
      await assert.rejects(
        clientOf(server.url, { clientSecret, authMethod }).clientCredentials(),
        (error) => {
          assert.ok(error instanceof OAuth2Error && error.code === "InvalidConfig");
          assert.deepEqual([error.message, error.cause], [
            `Cannot use clientSecret: ${why}`,
            cause,
          ]);
          return true;
        },
      );
    }
  }
  assert.deepEqual(server.received, []);
});
