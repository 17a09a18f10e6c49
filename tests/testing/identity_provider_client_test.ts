import assert from "node:assert/strict";
import * as oauth from "oauth4webapi";
import type { DevelopmentSigningAlgorithm } from "../../src/testing/mod.ts";
import { providerTest, start, WEB } from "./identity_provider_flow.ts";

const LOOPBACK = { [oauth.allowInsecureRequests]: true };
const CLIENT: oauth.Client = { client_id: WEB.clientId };

for (
  const algorithm of ["EdDSA", "ES256", "RS256", "PS256"] satisfies DevelopmentSigningAlgorithm[]
) {
  providerTest(`oauth4webapi, a strict client, accepts tokens of ${algorithm}`, async () => {
    await using idp = await start({ algorithm });
    const client = { ...CLIENT, id_token_signed_response_alg: algorithm };
    const authentication = oauth.ClientSecretBasic(WEB.clientSecret);
    const redirectUri = WEB.redirectUris[0] ?? "";
    for (const kind of ["oidc", "oauth2"] as const) {
      const issuer = new URL(idp.issuer);
      const found = await oauth.discoveryRequest(issuer, { algorithm: kind, ...LOOPBACK });
      const server = await oauth.processDiscoveryResponse(issuer, found);

      const verifier = oauth.generateRandomCodeVerifier();
      const [state, nonce] = [oauth.generateRandomState(), oauth.generateRandomNonce()];
      const url = new URL(server.authorization_endpoint ?? "");
      url.search = new URLSearchParams({
        client_id: client.client_id,
        redirect_uri: redirectUri,
        response_type: "code",
        scope: "openid email",
        state,
        nonce,
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: "S256",
      }).toString();
      const callback = new URL(idp.signIn(url.href, "bob").url);
      const code = oauth.validateAuthResponse(server, client, callback, state);

      const exchanged = await oauth.authorizationCodeGrantRequest(
        server,
        client,
        authentication,
        code,
        redirectUri,
        verifier,
        LOOPBACK,
      );
      const tokens = await oauth.processAuthorizationCodeResponse(server, client, exchanged, {
        expectedNonce: nonce,
        requireIdToken: true,
      });
      await oauth.validateApplicationLevelSignature(server, exchanged, LOOPBACK);
      const { sub = "" } = oauth.getValidatedIdTokenClaims(tokens) ?? {};

      const refreshToken = tokens.refresh_token ?? "";
      const refreshed = await oauth.refreshTokenGrantRequest(
        server,
        client,
        authentication,
        refreshToken,
        LOOPBACK,
      );
      const renewed = await oauth.processRefreshTokenResponse(server, client, refreshed);
      const userinfo = await oauth.userInfoRequest(server, client, renewed.access_token, LOOPBACK);
      assert.deepEqual(await oauth.processUserInfoResponse(server, client, sub, userinfo), {
        sub: "bob",
        email: "bob@example.com",
        email_verified: true,
      });

      const revoked = await oauth.revocationRequest(
        server,
        client,
        authentication,
        renewed.refresh_token ?? "",
        LOOPBACK,
      );
      await oauth.processRevocationResponse(revoked);
      await revoked.body?.cancel();
      const refused = await oauth.userInfoRequest(server, client, renewed.access_token, LOOPBACK);
      await assert.rejects(
        () => oauth.processUserInfoResponse(server, client, sub, refused),
        oauth.WWWAuthenticateChallengeError,
      );
      await refused.body?.cancel();
    }
  });
}
