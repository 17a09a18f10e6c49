import assert from "node:assert/strict";
import { OAuth2Error } from "../../../src/oauth2/ground/errors.ts";
import { microsoft, type MicrosoftUserinfo } from "../../../src/oauth2/social/microsoft.ts";
import { captureLogs } from "../../support/capture_logs.ts";
import { test } from "../../support/test.ts";
import { CALLBACK, SECRET } from "../login/login_application.ts";
import type { ProviderUrls } from "../login/provider.ts";
import { begun } from "../login/site.ts";
import { authorizationOf, type SocialSite, socialSite } from "./social_site.ts";

const HOST = "https://login.microsoftonline.com";
const TENANT = "8eaef023-2b34-4da1-9baa-8bc8c9d6a490";
const OTHER = "82229342-1101-4ab6-817b-70c0747630f3";
/** Whom personal accounts belong to, as Microsoft's documentation has it. */
const CONSUMERS = "9188040d-6c67-4c5b-b112-36a304b66dad";

const issuerOf = (tenant: string) => `${HOST}/${tenant}/v2.0`;

/** As the tenant's discovery document has them. */
function urlsOf(tenant: string): Required<ProviderUrls> {
  return {
    issuer: issuerOf(tenant),
    authorizeUrl: `${HOST}/${tenant}/oauth2/v2.0/authorize`,
    tokenUrl: `${HOST}/${tenant}/oauth2/v2.0/token`,
    jwksUrl: `${HOST}/${tenant}/discovery/v2.0/keys`,
    userinfoUrl: "https://graph.microsoft.com/oidc/userinfo",
  };
}

async function siteOf(tenant: string): Promise<SocialSite<MicrosoftUserinfo>> {
  const it = await socialSite(urlsOf(tenant), (options) => microsoft({ ...options, tenant }));
  it.provider.jwk = { alg: undefined, x5t: "x", x5c: ["x"] }; // as its keys are
  return it;
}

for (const tenant of ["common", "organizations", "consumers", TENANT]) {
  test(`microsoft() logs users of ${tenant} in`, async () => {
    const tid = { common: OTHER, organizations: OTHER, consumers: CONSUMERS }[tenant] ?? tenant;
    const urls = urlsOf(tenant);
    await using it = await siteOf(tenant);
    it.provider.claims = { iss: issuerOf(tid), tid };
    it.provider.profile = { sub: "ada", name: "Ada Lovelace" };
    assert.deepEqual(await authorizationOf(it), [urls.authorizeUrl, {
      response_type: "code",
      client_id: "shop",
      redirect_uri: CALLBACK,
      scope: "openid profile email",
      nonce: "fresh",
      code_challenge_method: "S256",
    }]);
    const response = await it.browser.open(await begun(it));
    assert.deepEqual([response.status, await response.json()], [200, {
      user: { sub: "ada", name: "Ada Lovelace" },
      scopes: ["openid", "profile", "email"],
    }]);
    assert.deepEqual(it.provider.asked, [
      `POST ${urls.tokenUrl}`,
      `GET ${urls.jwksUrl}`,
      `GET ${urls.userinfoUrl}`,
    ]);
    assert.equal(it.provider.received[0]?.form.get("client_secret"), SECRET);
  });
}

/** A tenant, claims of an id_token, and whether it is let in. */
const CLAIMS:
  readonly (readonly [tenant: string, claims: Readonly<Record<string, unknown>>, boolean])[] = [
    [TENANT, { iss: issuerOf(TENANT), tid: TENANT }, true],
    [TENANT, { iss: issuerOf(OTHER), tid: OTHER }, false],
    [TENANT, { iss: issuerOf(OTHER), tid: TENANT }, false],
    [TENANT, { iss: issuerOf("common"), tid: TENANT }, false],
    [TENANT, { iss: `https://sts.windows.net/${TENANT}/`, tid: TENANT }, false],
    [TENANT, { iss: `${HOST}/${TENANT}`, tid: TENANT }, false],
    [TENANT.toUpperCase(), { iss: issuerOf(TENANT), tid: TENANT }, true],
    ["consumers", { iss: issuerOf(CONSUMERS), tid: CONSUMERS }, true],
    ["consumers", { iss: issuerOf(TENANT), tid: TENANT }, false],
    ["consumers", { iss: issuerOf("consumers"), tid: CONSUMERS }, false],
    ["common", { iss: issuerOf(TENANT), tid: TENANT }, true],
    ["common", { iss: issuerOf(CONSUMERS), tid: CONSUMERS }, true],
    ["common", { iss: issuerOf(TENANT), tid: OTHER }, false],
    ["common", { iss: issuerOf(TENANT) }, false],
    ["common", { iss: issuerOf("common"), tid: "common" }, false],
    ["common", { iss: issuerOf("{tenantid}"), tid: "{tenantid}" }, false],
    ["common", { iss: issuerOf("../evil"), tid: "../evil" }, false],
    ["common", { iss: issuerOf(TENANT), tid: [TENANT] }, false],
    ["common", { iss: `${issuerOf(TENANT)}/`, tid: TENANT }, false],
    ["common", { iss: `https://evil.example/${TENANT}/v2.0`, tid: TENANT }, false],
    ["organizations", { iss: issuerOf(TENANT), tid: TENANT }, true],
    ["organizations", { iss: issuerOf(CONSUMERS), tid: CONSUMERS }, false],
  ];

test("microsoft() accepts only id_tokens of its tenant", async () => {
  await captureLogs([], async (records) => {
    const outcomes = [];
    for (const [tenant, claims] of CLAIMS) {
      await using it = await siteOf(tenant);
      it.provider.claims = claims;
      const response = await it.browser.open(await begun(it));
      await response.body?.cancel();
      outcomes.push([tenant, claims, response.status === 200]);
    }
    assert.deepEqual(outcomes, CLAIMS);
    for (const { properties: { error } } of records.filter(({ level }) => level === "error")) {
      assert(
        error instanceof OAuth2Error && error.code === "InvalidClaim" && error.claim === "iss",
      );
    }
  });
});

test("microsoft() refuses a tenant that is not an id, because issuers never contain a domain", () => {
  const options = { clientId: "shop", clientSecret: SECRET, redirectUri: CALLBACK };
  const tenants = [
    "contoso.onmicrosoft.com",
    "example.com",
    "",
    "Common",
    "../evil",
    "evil.example/x",
    `${TENANT}/..`,
    `${TENANT} `,
    `{${TENANT}}`,
    "{tenantid}",
  ];
  for (const tenant of tenants) {
    assert.throws(
      () => microsoft({ ...options, tenant }),
      (error) => error instanceof OAuth2Error && error.code === "InvalidConfig",
    );
  }
  const { authorizeUrl } = microsoft(options).client().options;
  assert.equal(authorizeUrl, urlsOf("common").authorizeUrl);
});

test("microsoft() refuses a tenant that is undefined, and does not use common in its place", () => {
  const options = { clientId: "shop", clientSecret: SECRET, redirectUri: CALLBACK };
  const unset: object = { tenant: undefined };
  assert.throws(() => microsoft({ ...options, ...unset }), {
    name: "OAuth2Error",
    code: "InvalidConfig",
    message: "Cannot use Microsoft: tenant is undefined; omit it for the default",
  });
});
