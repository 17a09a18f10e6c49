import assert from "node:assert/strict";
import { test } from "../../support/test.ts";
import { oidcProvider, SKIP_OIDC_PROVIDER } from "./oidc_provider.ts";

test("oidcProvider() reports the output of a provider that cannot start", async () => {
  await assert.rejects(
    () => oidcProvider({ redirectUri: "no URL" }),
    /^Error: Cannot start oidc-provider: it has ended\n[^]*redirect_uris/,
  );
}, { skip: SKIP_OIDC_PROVIDER });
