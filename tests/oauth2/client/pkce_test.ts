import assert from "node:assert/strict";
import { generatePkce, PkceVerifier } from "../../../src/oauth2/client/pkce.ts";
import { test } from "../../support/test.ts";
import { clientOf, TOKENS, tokenServer } from "./token_server.ts";

// RFC 7636, appendix B
const VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";

test("generatePkce() returns a new verifier with its S256 challenge each time", async () => {
  const [one, two] = [await generatePkce(), await generatePkce()];
  const digest = await crypto.subtle.digest(
    "SHA-256",
    new TextEncoder().encode(one.verifier.export()),
  );
  assert.equal(one.challenge, Buffer.from(digest).toString("base64url"));
  assert.match(one.verifier.export(), /^[\w-]{43}$/);
  assert.notEqual(one.verifier.export(), two.verifier.export());
});

test("PkceVerifier.restore() accepts what RFC 7636 §4.1 allows, and export() returns it", () => {
  for (const secret of [VERIFIER, "a".repeat(128), "-._~".repeat(11)]) {
    assert.equal(PkceVerifier.restore(secret).export(), secret);
  }
});

test("PkceVerifier.restore() refuses all else with Validation, and does not repeat it", () => {
  const wrong = [
    "",
    "a".repeat(42),
    "a".repeat(129),
    `${"a".repeat(43)}\n`,
    `${"a".repeat(43)}=`,
    `${"a".repeat(42)} b`,
    `${"a".repeat(42)}é`,
  ];
  for (const secret of wrong) {
    assert.throws(() => PkceVerifier.restore(secret), {
      name: "OAuth2Error",
      code: "Validation",
      message: "Cannot restore PKCE verifier: it is not 43 to 128 unreserved characters",
    });
  }
  const none = undefined as unknown as string;
  assert.throws(() => PkceVerifier.restore(none), { code: "Validation" });
});

test("PkceVerifier is used once: then export() and an exchange fail, and nothing is sent", async () => {
  await using server = await tokenServer(() => ({ body: TOKENS }));
  const client = clientOf(server.url);
  const { verifier } = await generatePkce();
  await client.exchangeCode("the-code", verifier);
  await assert.rejects(client.exchangeCode("the-code", verifier), {
    name: "OAuth2Error",
    code: "Validation",
    message: "Cannot use PKCE verifier: it has been used",
  });
  assert.throws(() => verifier.export(), {
    code: "Validation",
    message: "Cannot export PKCE verifier: it has been used",
  });
  assert.equal(server.received.length, 1);
});

test("PkceVerifier is consumed by an exchange that fails, and by the first of two at once", async () => {
  await using server = await tokenServer(() => ({ status: 400, body: { error: "invalid_grant" } }));
  const client = clientOf(server.url);
  const { verifier } = await generatePkce();
  const outcomes = await Promise.allSettled(
    [1, 2].map(() => client.exchangeCode("the-code", verifier)),
  );
  assert.deepEqual(
    outcomes.map((outcome) => outcome.status === "rejected" && outcome.reason.code),
    ["Grant", "Validation"],
  );
  assert.equal(server.received.length, 1);
});

test("an exchange requires its PkceVerifier", async () => {
  await using server = await tokenServer(() => ({ body: TOKENS }));
  await clientOf(server.url).exchangeCode("the-code", PkceVerifier.restore(VERIFIER));
  assert.deepEqual(Object.fromEntries(server.received[0]!.form), {
    grant_type: "authorization_code",
    client_id: "web",
    client_secret: "s3cret/of the=client&+",
    code: "the-code",
    code_verifier: VERIFIER,
    redirect_uri: "https://app.example/callback",
  });
});
