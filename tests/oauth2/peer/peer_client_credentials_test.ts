import assert from "node:assert/strict";
import type { DiscoveryOptions } from "../../../src/oauth2/client/client_options.ts";
import type { AuthMethod } from "../../../src/oauth2/client/client_authentication.ts";
import {
  type OidcClients,
  type OidcProvider,
  type ResourceAlgorithm,
  RESOURCES,
} from "./oidc_provider.ts";
import { outcomeOf } from "../resource_server/outcome.ts";
import { peerClient, peerVerifier, sharedPeerTest } from "./peer.ts";

const peerTest = await sharedPeerTest();

const METHODS: readonly (readonly [AuthMethod, (provider: OidcProvider) => DiscoveryOptions])[] = [
  ["client_secret_post", ({ clients }) => clients.post],
  ["client_secret_basic", ({ clients }) => clients.basic],
  ["private_key_jwt", ({ clients }) => keyCredentials(clients)],
];

function keyCredentials({ key }: OidcClients): DiscoveryOptions {
  return { ...key, privateKey: key.privateKey as CryptoKey }; // to jose, a key is Node's
}

for (const [authMethod, credentialsOf] of METHODS) {
  peerTest(
    `clientCredentials() with ${authMethod} gets tokens of each algorithm that are verified`,
    async (provider) => {
      const credentials = credentialsOf(provider);
      const { clientId } = credentials;
      const client = await peerClient(provider, { ...credentials, authMethod });
      for (const [alg, resource] of Object.entries(RESOURCES)) {
        const set = await client.clientCredentials(["read"], { extra: { resource } });
        assert.deepEqual([set.tokenType, set.scope, set.refreshToken], [
          "bearer",
          "read",
          undefined,
        ]);
        assert.ok(Math.abs(Number(set.expiresAt) - Date.now() - 3_600_000) < 60_000);
        const verifier = peerVerifier(provider, alg as ResourceAlgorithm);
        const { header, claims } = await verifier.verify(set.accessToken);
        assert.deepEqual([header.typ, header.alg, claims.aud], ["at+jwt", alg, resource]);
        assert.deepEqual([claims.sub, claims.client_id, claims.scope], [
          clientId,
          clientId,
          "read",
        ]);
      }
    },
  );
}

peerTest(
  "clientCredentials() fails with Grant invalid_client for wrong credentials",
  async (provider) => {
    const { post, basic } = provider.clients;
    const { privateKey } = await crypto.subtle.generateKey(
      { name: "ECDSA", namedCurve: "P-256" },
      false,
      ["sign", "verify"],
    );
    const wrong: readonly DiscoveryOptions[] = [
      { ...post, clientSecret: "wrong" },
      { ...post, clientId: "nobody" },
      { ...basic, clientSecret: "wrong", authMethod: "client_secret_basic" },
      { ...keyCredentials(provider.clients), privateKey },
    ];
    for (const credentials of wrong) {
      const client = await peerClient(provider, credentials);
      const refused = await client.clientCredentials().catch((error) => error);
      assert.deepEqual([refused.code, refused.grant?.error], ["Grant", "invalid_client"]);
    }
  },
);

peerTest(
  "JwtVerifier refuses a token for another audience, algorithm or issuer",
  async (provider) => {
    const client = await peerClient(provider, provider.clients.post);
    const { accessToken } = await client.clientCredentials();
    const other = { issuer: `${provider.issuer}/`, endpoints: provider.endpoints };
    const outcomes = [
      peerVerifier(provider, "EdDSA"),
      peerVerifier(provider, "EdDSA", { audience: "https://api.example/other" }),
      peerVerifier(other, "EdDSA"),
      peerVerifier(provider, "ES256"),
    ].map((verifier) => outcomeOf(verifier.verify(accessToken)));
    assert.deepEqual(await Promise.all(outcomes), [
      "accepted",
      "InvalidClaim aud",
      "InvalidClaim iss",
      "Validation",
    ]);
  },
);
