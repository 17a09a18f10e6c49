/** All objects with a secret, beside those of the tests of the client. */
import {
  CompactSign,
  type CryptoKey as JoseKey,
  exportJWK,
  exportPKCS8,
  generateKeyPair,
  importJWK,
  type JWK,
} from "jose";
import { AuthnModule, JwtKey, JwtService } from "../../src/authn/mod.ts";
import {
  generatePkce,
  JwksCache,
  JwtVerifier,
  MemoryLoginStore,
  OAuth2Client,
  OAuth2Login,
  OAuth2Module,
  OAuth2Options,
  PkceVerifier,
  RedisLoginStore,
  TokenCache,
  TokenSet,
  ValidationConfig,
} from "../../src/oauth2/mod.ts";
import { apple, github, google } from "../../src/oauth2/social/mod.ts";

/** Generates secrets. All of them are JSON values. */
export interface Secrets {
  readonly clientSecret: string;
  readonly code: string;
  readonly verifier: string;
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly idToken: string;
  /** A token that the verifier keeps. */
  readonly bearerToken: string;
  /** A private key as a JWK; it has signed that token. */
  readonly jwk: JWK;
  /** A private key of P-256 in PEM, as from Apple. */
  readonly pem: string;
}

export async function makeSecrets(): Promise<Secrets> {
  const { privateKey } = await generateKeyPair("EdDSA", { extractable: true });
  const { privateKey: appleKey } = await generateKeyPair("ES256", { extractable: true });
  const claims = JSON.stringify({ sub: "tom", exp: 4_000_000_000 });
  const sign = (payload: string): Promise<string> =>
    new CompactSign(new TextEncoder().encode(payload))
      .setProtectedHeader({ alg: "EdDSA", kid: "k1" })
      .sign(privateKey);
  return {
    clientSecret: random(),
    code: random(),
    verifier: (await generatePkce()).verifier.export(),
    accessToken: random(),
    refreshToken: random(),
    idToken: await sign('{"sub":"an id_token"}'),
    bearerToken: await sign(claims),
    jwk: { ...await exportJWK(privateKey), kid: "k1", alg: "EdDSA" },
    pem: await exportPKCS8(appleKey),
  };
}

/** Gives the texts that must not show: of tokens each part but the header, of PEM each line. */
export function secretTexts({ jwk, pem, bearerToken, idToken, ...texts }: Secrets): string[] {
  const lines = pem.split("\n").filter((line) => line !== "" && !line.startsWith("-----"));
  const parts = [bearerToken, idToken].flatMap((token) => token.split(".").slice(1));
  return [...Object.values(texts), jwk.d ?? "", ...lines, ...parts]
    .flatMap((secret) => [secret, btoa(secret).replace(/=+$/, "")]);
}

/** Makes one of everything, having used it. */
export async function secretHolders(secrets: Secrets): Promise<Readonly<Record<string, object>>> {
  const { clientSecret, code, verifier, accessToken, refreshToken, idToken, jwk, pem } = secrets;
  const redirectUri = "https://app.example/callback";
  const answer = { access_token: accessToken, refresh_token: refreshToken, id_token: idToken };
  const fetch = () => Promise.resolve(Response.json({ ...answer, token_type: "bearer" }));
  const server = {
    clientId: "web",
    authorizeUrl: "https://id.example/authorize",
    tokenUrl: "https://id.example/token",
    redirectUri,
  };
  const options = new OAuth2Options({ ...server, clientSecret });
  const renewed = new OAuth2Options({ ...server, clientSecret: () => clientSecret });
  const privateKey = await importJWK(jwk, "EdDSA", { extractable: true }) as JoseKey as CryptoKey;
  const signing = new OAuth2Options({ ...server, authMethod: "private_key_jwt", privateKey });
  const cache = new TokenCache();
  const client = new OAuth2Client(options, { fetch }).withCache(cache);
  const tokens = await client.exchangeCode(code, PkceVerifier.restore(verifier));

  const { d: _, ...publicJwk } = jwk;
  const publish = () => Promise.resolve(Response.json({ keys: [publicJwk] }));
  const keys = new JwksCache("https://id.example/jwks", { fetch: publish });
  const jwtVerifier = new JwtVerifier(keys, new ValidationConfig(), { cacheTokens: 9 });
  await jwtVerifier.verify(secrets.bearerToken);

  const pending = { verifier, nonce: code, returnTo: "/", client: "web" };
  const memory = new MemoryLoginStore();
  await memory.save(code, pending, { ttlMs: 60_000 });
  const redis = new RedisLoginStore({
    sendCommand: () => Promise.resolve(JSON.stringify(pending)),
  });
  await redis.save(code, pending, { ttlMs: 60_000 });
  const login = new OAuth2Login(client, { store: memory });

  const social = { clientId: "web", clientSecret, redirectUri, fetch };
  const appleProvider = apple({ ...social, teamId: "T", keyId: "K", privateKey: pem });
  await appleProvider.client().refresh(refreshToken);

  const key = await JwtKey.fromJwk(jwk);
  const pemKey = await JwtKey.fromPem(pem, "ES256");
  const jwtService = new JwtService({ issuer: "https://api.example", key, acceptedKeys: [pemKey] });
  await jwtService.sign({ subject: "tom" });
  const resourceServer = {
    jwksUrl: "https://id.example/jwks",
    validation: new ValidationConfig(),
    fetch: publish,
  };
  return {
    options,
    renewed,
    signing,
    client,
    signingClient: new OAuth2Client(signing),
    tokens,
    tokenSet: new TokenSet({ accessToken, refreshToken, idToken, tokenType: "bearer" }),
    cache,
    verifier: PkceVerifier.restore(verifier),
    keys,
    jwtVerifier,
    caching: jwtVerifier.cachingByDefault(9),
    memory,
    redis,
    login,
    finished: { tokens, claims: undefined, returnTo: "/", parameters: new URLSearchParams() },
    google: google(social),
    github: github(social),
    apple: appleProvider,
    appleClient: appleProvider.client(),
    appleLogin: appleProvider.login(),
    key,
    pemKey,
    jwtService,
    module: await OAuth2Module.forRoot({ client, resourceServer }),
    authnModule: AuthnModule.forRoot({ issuer: "https://api.example", key }),
  };
}

function random(): string {
  return crypto.randomUUID() + crypto.randomUUID();
}
