/** The identity provider of the contests: a key, a token, and the address of the key. */
import { exportJWK, generateKeyPair, SignJWT } from "jose";

/** What a peer needs in order to verify tokens, and a token. */
export interface Tokens extends AsyncDisposable {
  readonly env: Readonly<Record<string, string>>;
  readonly token: string;
}

const ISSUER = "https://id.example.com";
const AUDIENCE = "https://api.example.com";

/** Makes a key and serves it. */
export async function startTokens(): Promise<Tokens> {
  const { privateKey, publicKey } = await generateKeyPair("ES256");
  const jwks = { keys: [{ ...await exportJWK(publicKey), kid: "1", alg: "ES256", use: "sig" }] };
  const token = await new SignJWT({ scope: "items:read" })
    .setProtectedHeader({ alg: "ES256", kid: "1", typ: "JWT" })
    .setIssuer(ISSUER).setAudience(AUDIENCE).setSubject("alice").setIssuedAt()
    .setJti("1").setExpirationTime("2h").sign(privateKey);
  const options = { port: 0, hostname: "127.0.0.1", onListen() {} };
  const server = Deno.serve(options, () => Response.json(jwks));
  return {
    env: {
      ISSUER,
      AUDIENCE,
      JWKS: JSON.stringify(jwks),
      JWKS_URL: `http://127.0.0.1:${server.addr.port}/jwks`,
    },
    token,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}
