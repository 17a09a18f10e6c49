import assert from "node:assert/strict";
import { appModule, setUp } from "../../../examples/oauth2.ts";
import { createTestApplication } from "../../../src/testing/mod.ts";
import { captureLogs } from "../../support/capture_logs.ts";
import { test } from "../../support/test.ts";
import { oidcProvider, SKIP_OIDC_PROVIDER } from "./oidc_provider.ts";

const REDIRECT_URI = "http://localhost:3000/auth/callback";

test(
  "oidc-provider: the OAuth2 example logs in, configured with the issuer only",
  () =>
    captureLogs(["fw"], async () => {
      await using provider = await oidcProvider({
        redirectUri: REDIRECT_URI,
        idTokenAlgorithm: "ES256",
      });
      const { clients: { web, public: open }, issuer } = provider;
      for (const client of [web, { ...open, clientSecret: undefined }]) {
        const settings = {
          OAUTH2_ISSUER: issuer,
          OAUTH2_CLIENT_ID: client.clientId,
          OAUTH2_CLIENT_SECRET: client.clientSecret,
        };
        const root = await appModule(settings, REDIRECT_URI);
        await using app = await createTestApplication(root, { setUp });
        const login = await app.request("/auth/login");
        const cookie = login.headers.getSetCookie()[0]?.split(";")[0] ?? "";
        const { pathname, search } = new URL(
          await provider.authorize(login.headers.get("location") ?? ""),
        );
        const callback = await app.request(pathname + search, { headers: { cookie } });
        assert.equal(callback.status, 200);
        const { subject, scope } = await callback.json();
        assert.deepEqual([subject, scope], ["alice", "openid email"]);
      }
    }),
  { skip: SKIP_OIDC_PROVIDER },
);
