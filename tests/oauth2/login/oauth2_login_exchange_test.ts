/** Exchanges that fail: 502 with the reason in the log, or 401; no secret anywhere. */
import assert from "node:assert/strict";
import { inspect } from "node:util";
import { SigningKey } from "../resource_server/signing_key.ts";
import { OAuth2Error } from "../../../src/oauth2/ground/errors.ts";
import { captureLogs } from "../../support/capture_logs.ts";
import { test } from "../../support/test.ts";
import { SECRET } from "./login_application.ts";
import { EXAMPLE, type Provider } from "./provider.ts";
import { begun, site, type Visit } from "./site.ts";

const other = await SigningKey.generate("RS256", { kid: "the key" });
const NOW = Math.floor(Date.now() / 1000);

const answers = (url: string, status: number, body: unknown = "") => (provider: Provider) => {
  provider.answers[url] = () => ({ status, body });
};
const claims = (claims: Readonly<Record<string, unknown>>) => (provider: Provider) => {
  provider.claims = claims;
};
const tokens = (tokens: Readonly<Record<string, unknown>>) => (provider: Provider) => {
  provider.tokens = tokens;
};

/** Causes of a failed exchange, and the error code in the log. */
const FAILURES: Readonly<Record<string, readonly [(provider: Provider) => unknown, string]>> = {
  "the server is down": [(provider) => provider[Symbol.asyncDispose](), "Transport"],
  "500": [answers(EXAMPLE.tokenUrl, 500, { error: "server_error" }), "TokenEndpoint"],
  "503 and HTML": [answers(EXAMPLE.tokenUrl, 503, "<h1>Sorry</h1>"), "TokenEndpoint"],
  "HTML": [answers(EXAMPLE.tokenUrl, 200, "<h1>Hello</h1>"), "TokenEndpoint"],
  "nothing": [answers(EXAMPLE.tokenUrl, 200), "TokenEndpoint"],
  "half of JSON": [answers(EXAMPLE.tokenUrl, 200, '{"access_token":"abc'), "TokenEndpoint"],
  "a list": [answers(EXAMPLE.tokenUrl, 200, []), "TokenEndpoint"],
  "404": [answers(EXAMPLE.tokenUrl, 404), "TokenEndpoint"],
  "a redirect": [(provider) => {
    provider.answers[EXAMPLE.tokenUrl] = () => ({ status: 302, headers: { location: "/" } });
  }, "TokenEndpoint"],
  "invalid_client": [answers(EXAMPLE.tokenUrl, 401, { error: "invalid_client" }), "Grant"],
  "an error with 200": [answers(EXAMPLE.tokenUrl, 200, { error: "bad_code" }), "Grant"],
  "what it was sent": [(provider) => {
    provider.answers[EXAMPLE.tokenUrl] = ({ form }) => ({ status: 500, body: `${form}` });
  }, "TokenEndpoint"],
  "what it was sent, as an error": [(provider) => {
    provider.answers[EXAMPLE.tokenUrl] = ({ form }) => ({
      status: 400,
      body: { error: form.get("code"), error_description: `${form}` },
    });
  }, "Grant"],
  "no access_token": [tokens({ access_token: undefined }), "TokenEndpoint"],
  "another token_type": [tokens({ token_type: "mac" }), "TokenEndpoint"],
  "nonsense for expires_in": [tokens({ expires_in: "soon" }), "TokenEndpoint"],
  "no id_token": [tokens({ id_token: undefined }), "Validation"],
  "null for an id_token": [tokens({ id_token: null }), "Validation"],
  "a number for an id_token": [tokens({ id_token: 1 }), "TokenEndpoint"],
  "an opaque id_token": [tokens({ id_token: "opaque" }), "Validation"],
  "an id_token of another issuer": [claims({ iss: "https://evil.example" }), "InvalidClaim iss"],
  "an id_token for another client": [claims({ aud: "another" }), "InvalidClaim aud"],
  "an id_token for several": [claims({ aud: ["shop", "another"] }), "InvalidClaim azp"],
  "an id_token for another party": [claims({ azp: "another" }), "InvalidClaim azp"],
  "an id_token that is over": [claims({ exp: NOW - 600 }), "InvalidClaim exp"],
  "an id_token that never ends": [claims({ exp: undefined }), "InvalidClaim exp"],
  "an id_token of nobody": [claims({ sub: "" }), "InvalidClaim sub"],
  "an id_token of no time": [claims({ iat: undefined }), "InvalidClaim iat"],
  "an id_token of another key": [(provider) => {
    provider.jwk = { n: other.jwk.n };
  }, "InvalidSignature"],
  "an id_token of an unknown key": [(provider) => {
    provider.jwk = { kid: "another" };
  }, "UnknownKid"],
  "no keys": [answers(EXAMPLE.jwksUrl, 500), "JwksFetch"],
  "HTML for keys": [answers(EXAMPLE.jwksUrl, 200, "<h1>Hello</h1>"), "JwksFetch"],
};

function codeOf(error: unknown): string {
  assert(error instanceof OAuth2Error, inspect(error));
  return error.code === "InvalidClaim" ? `InvalidClaim ${error.claim}` : error.code;
}

for (const [name, [fail, code]] of Object.entries(FAILURES)) {
  test(`OAuth2Login.finish() answers 502 to ${name}`, async () => {
    await captureLogs([], async (records) => {
      await using it = await site();
      const callback = await begun(it);
      await fail(it.provider);
      const response = await it.browser.open(callback);
      const body = await response.text();
      assert.equal(response.status, 502);
      assert.equal(response.headers.get("cache-control"), "no-store");
      assert.equal(JSON.parse(body).detail, "The provider did not complete the login");
      const failures = records.filter(({ level }) => level === "error");
      assert.deepEqual(failures.map(({ properties }) => codeOf(properties.error)), [code]);
      assert.equal((await it.browser.open(callback)).status, 401, "the login is used up");
      assertNoSecret(it, body, records);
    });
  });
}

const wrong = (error: string) => answers(EXAMPLE.tokenUrl, 400, { error });

/** What a caller can send to make an exchange fail, and words of the answer. */
const REFUSALS: Readonly<Record<string, readonly [(provider: Provider) => unknown, string]>> = {
  "a code that the provider refuses": [wrong("invalid_grant"), "invalid_grant"],
  "a code that GitHub refuses": [wrong("bad_verification_code"), "bad_verification_code"],
  "a code of another login": [claims({ nonce: "another" }), "nonce does not match"],
  "a code of a login without a nonce": [claims({ nonce: undefined }), "nonce does not match"],
};

for (const [name, [change, detail]] of Object.entries(REFUSALS)) {
  test(`OAuth2Login.finish() answers 401 to ${name}, and logs no error`, async () => {
    await captureLogs([], async (records) => {
      await using it = await site();
      const callback = await begun(it);
      await change(it.provider);
      const response = await it.browser.open(callback);
      const body = await response.text();
      assert.equal(response.status, 401);
      assert(body.includes(detail), body);
      assert.deepEqual(records.filter(({ level }) => level === "error"), []);
      assert.equal((await it.browser.open(callback)).status, 401, "the login is used up");
      assertNoSecret(it, body, records);
    });
  });
}

function assertNoSecret({ provider, browser }: Visit, body: string, records: unknown): void {
  const shown = body + inspect(records, { depth: Infinity, showHidden: true }) +
    JSON.stringify(records);
  const cookies = [...browser.cookies.values()].map(({ value }) => value);
  const secrets = [...provider.secrets, SECRET, ...cookies];
  assert(secrets.length > 4);
  for (const secret of secrets) assert(!shown.includes(secret), `${secret} is shown`);
}

test("OAuth2Login shows no secret in any answer or log of a login that succeeds", async () => {
  await captureLogs([], async (records) => {
    await using it = await site();
    const begin = await it.browser.open("/auth/login");
    const callback = `/auth/callback?${it.provider.agree(begin.headers.get("location"))}`;
    const response = await it.browser.open(callback);
    assert.equal(response.status, 200);
    const again = await it.browser.open(callback);
    const shown = await begin.text() + await response.text() + await again.text() +
      inspect([...response.headers, ...again.headers]) +
      inspect(records, { depth: Infinity, showHidden: true });
    assert(it.provider.secrets.length >= 7);
    for (const secret of [...it.provider.secrets, SECRET]) {
      assert(!shown.includes(secret), `${secret} is shown`);
    }
  });
});
