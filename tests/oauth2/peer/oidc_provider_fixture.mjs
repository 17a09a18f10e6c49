/**
 * A certified OpenID provider in a process of its own, under Node. It takes its clients as JSON in its
 * first argument, writes `ready {"port":…}` when it listens, and ends when its stdin does.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";
import process from "node:process";
import { Provider } from "oidc-provider";

/** What a test decides; see `oidc_provider.ts`. */
const { clients, resources, clientDefaults } = JSON.parse(process.argv[2]);

const CLAIMS = { name: "Alice", email: "alice@example.com", email_verified: true };

/** What the provider remembers: it outlives the providers that a rotation of keys replaces. */
const stored = new Map();

class Adapter {
  constructor(model) {
    this.model = model;
  }
  find(id) {
    return Promise.resolve(stored.get(`${this.model}:${id}`));
  }
  findByUid(uid) {
    return Promise.resolve([...stored.values()].find((payload) => payload.uid === uid));
  }
  upsert(id, payload) {
    stored.set(`${this.model}:${id}`, payload);
    return Promise.resolve();
  }
  async consume(id) {
    (await this.find(id)).consumed = Math.floor(Date.now() / 1000);
  }
  destroy(id) {
    stored.delete(`${this.model}:${id}`);
    return Promise.resolve();
  }
  revokeByGrantId(grantId) {
    for (const [key, payload] of stored) if (payload.grantId === grantId) stored.delete(key);
    return Promise.resolve();
  }
}

function generateKeys() {
  const jwk = (alg, type, options) => {
    const { privateKey } = generateKeyPairSync(type, options);
    return { ...privateKey.export({ format: "jwk" }), alg, use: "sig" };
  };
  return [
    jwk("EdDSA", "ed25519"),
    jwk("ES256", "ec", { namedCurve: "P-256" }),
    jwk("RS256", "rsa", { modulusLength: 2048 }),
    jwk("PS256", "rsa", { modulusLength: 2048 }),
  ];
}

function resourceServer(resource) {
  const [alg] = Object.entries(resources).find(([, url]) => url === resource) ?? [];
  return {
    scope: "read write",
    audience: resource,
    accessTokenTTL: 3600,
    accessTokenFormat: "jwt",
    jwt: { sign: { alg } },
  };
}

function createProvider(issuer, keys) {
  return new Provider(issuer, {
    adapter: Adapter,
    clients,
    clientDefaults,
    jwks: { keys },
    cookies: { keys: ["a key for tests"] },
    claims: { openid: ["sub"], profile: ["name"], email: ["email", "email_verified"] },
    findAccount: (_, accountId) => ({ accountId, claims: () => ({ sub: accountId, ...CLAIMS }) }),
    extraTokenClaims: (_, { accountId }) => accountId ? { roles: ["admin"] } : undefined,
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    issueRefreshToken: (_, client) => client.grantTypeAllowed("refresh_token"),
    expiresWithSession: () => false,
    rotateRefreshToken: true,
    pkce: { required: () => true },
    ttl: { AccessToken: 3600, ClientAuthenticationOptions: 3600, Grant: 3600, IdToken: 3600 },
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        // a client that asks for itself and names no resource gets a token for the first
        defaultResource: (ctx, _, oneOf) =>
          oneOf ??
            (ctx.oidc.params.grant_type === "client_credentials" ? resources.EdDSA : undefined),
        getResourceServerInfo: (_, resource) => resourceServer(resource),
        useGrantedResource: () => true,
      },
    },
  });
}

/** Logs in and consents by itself: as `login_hint` says, or refuses where it says `refuse`. */
async function interact(provider, request, response) {
  const { prompt, params, session, grantId } = await provider.interactionDetails(request, response);
  const accountId = params.login_hint ?? "alice";
  let result;
  if (accountId === "refuse") result = { error: "access_denied", error_description: "Refused" };
  else if (prompt.name === "login") result = { login: { accountId } };
  else {
    const clientId = params.client_id;
    const grant = await provider.Grant.find(grantId ?? "") ??
      new provider.Grant({ accountId: session.accountId, clientId });
    grant.addOIDCScope(params.scope ?? "");
    for (const resource of [params.resource ?? []].flat()) {
      grant.addResourceScope(resource, "read write");
    }
    result = { consent: { grantId: await grant.save() } };
  }
  await provider.interactionFinished(request, response, result);
}

let keys = generateKeys();
let provider;
let answer;

function useKeys(issuer, next) {
  keys = next;
  provider = createProvider(issuer, keys);
  answer = provider.callback();
}

const server = createServer(async (request, response) => {
  try {
    const url = new URL(request.url, provider.issuer);
    if (request.method === "POST" && url.pathname === "/test/rotate-keys") {
      const previous = url.searchParams.has("keep") ? keys : [];
      useKeys(provider.issuer, [...generateKeys(), ...previous]);
      response.end();
    } else if (url.pathname.startsWith("/interaction/")) {
      await interact(provider, request, response);
    } else {
      await answer(request, response);
    }
  } catch (error) {
    console.error(error);
    response.writeHead(500).end(Buffer.from(String(error)));
  }
});

server.listen(0, "127.0.0.1", async () => {
  const { port } = server.address();
  useKeys(`http://127.0.0.1:${port}`, keys);
  // what is wrong with a client would be told to whoever asks as it
  for (const { client_id } of clients) await provider.Client.find(client_id);
  console.log(`ready ${JSON.stringify({ port })}`);
});
process.stdin.resume().on("end", () => process.exit());
