/**
 * Verifying tokens: beside WebCrypto alone with the same key, beside `jose`, and what it costs a route.
 *
 * @module
 */
import { exportJWK, generateKeyPair, importJWK, jwtVerify, SignJWT } from "jose";
import { controller, FwFactory, module, route } from "../../mod.ts";
import { OAuth2Guard } from "../../src/oauth2/principal.ts";
import { JwksCache } from "../../src/oauth2/resource_server/jwks_cache.ts";
import { JwtVerifier } from "../../src/oauth2/resource_server/jwt_verifier.ts";
import { SIGNING_ALGORITHMS } from "../../src/oauth2/resource_server/signing_algorithm.ts";
import { ValidationConfig } from "../../src/oauth2/resource_server/validation_config.ts";
import { compare, printMachine } from "./compare.ts";

const ISSUER = "https://id.example.com";
const AUDIENCE = "https://api.example.com";
const ALGORITHMS = ["EdDSA", "ES256", "RS256", "PS256"] as const;
/** How many times faster a token is that was verified before. */
const CACHED_GOALS = { EdDSA: 20, ES256: 50 };

class PingController extends controller() {
  open = route.get("/open", () => "in");
  guarded = route.get("/guarded", { guards: [OAuth2Guard] }, () => "in");
}

printMachine(["jose", "hono"]);
for (const alg of ALGORITHMS) {
  const { token, keys, config, key } = await issue(alg);
  const verifier = new JwtVerifier(keys, config);
  const caching = verifier.cachingByDefault(1000);
  const { parameters } = SIGNING_ALGORITHMS.get(alg)!;
  const dot = token.lastIndexOf(".");
  const input = new TextEncoder().encode(token.slice(0, dot));
  const signature = Uint8Array.fromBase64(token.slice(dot + 1), { alphabet: "base64url" });
  const options = { issuer: ISSUER, audience: AUDIENCE, typ: "at+jwt", algorithms: [alg] };
  await compare({
    title: `${alg}: verify`,
    peers: [
      { name: "JwtVerifier", run: () => verifier.verify(token) },
      {
        name: "WebCrypto alone",
        run: () => crypto.subtle.verify(parameters, key, signature, input),
      },
      { name: "jose.jwtVerify", run: () => jwtVerify(token, key, options) },
    ],
    goals: { "WebCrypto alone": 1.1 },
  });
  const goal = alg in CACHED_GOALS ? CACHED_GOALS[alg as keyof typeof CACHED_GOALS] : undefined;
  await compare({
    title: `${alg}: verify again`,
    peers: [
      { name: "JwtVerifier, cached", run: () => caching.verify(token) },
      { name: "jose.jwtVerify", run: () => jwtVerify(token, key, options) },
    ],
    ...(goal && { goals: { "jose.jwtVerify": 1 / goal } }),
  });
}
await compareRoutes();

async function issue(alg: typeof ALGORITHMS[number]) {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  const jwk = { ...await exportJWK(publicKey), kid: "k1", alg };
  const token = await new SignJWT({
    iss: ISSUER,
    aud: AUDIENCE,
    sub: "8d3c0f5e-4c1a-4c8e-9d3b-2b8f4e8f6a11",
    exp: Math.floor(Date.now() / 1000) + 3600,
    client_id: "shop",
    jti: crypto.randomUUID(),
    scope: "openid email orders:read orders:write",
    realm_access: { roles: ["admin", "auditor"] },
  }).setProtectedHeader({ alg, kid: "k1", typ: "at+jwt" }).sign(privateKey);
  const keys = new JwksCache(`${ISSUER}/jwks`, {
    fetch: () => Promise.resolve(Response.json({ keys: [jwk] })),
  });
  await keys.refresh();
  const config = new ValidationConfig(alg).withIssuer(ISSUER).withAudience(AUDIENCE)
    .withTokenType("at+jwt");
  return { token, keys, config, key: await importJWK(jwk, alg) as CryptoKey };
}

async function compareRoutes(): Promise<void> {
  const { token, keys, config } = await issue("ES256");
  const PingModule = module({ controllers: [PingController] });
  const plain = await FwFactory.create(PingModule);
  const secured = await FwFactory.create(PingModule);
  secured.useOAuth2(new JwtVerifier(keys, config));
  await Promise.all([plain.ready(), secured.ready()]);
  const headers = { authorization: `Bearer ${token}` };
  const open = new Request("http://localhost/open", { headers });
  const guarded = new Request("http://localhost/guarded", { headers });
  await compare({
    title: "A route whose caller's token is cached (goal: at most 3 µs more than an open one)",
    peers: [
      { name: "guarded", run: () => secured.fetch(guarded) },
      { name: "open, no tokens verified", run: () => plain.fetch(open) },
    ],
  });
}
