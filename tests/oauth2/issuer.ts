/** Issues tokens, as a provider does, and verifies them without a server. */
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";
import { JwksCache } from "../../src/oauth2/resource_server/jwks_cache.ts";
import { JwtVerifier } from "../../src/oauth2/resource_server/jwt_verifier.ts";
import { ValidationConfig } from "../../src/oauth2/resource_server/validation_config.ts";

export interface Issuer {
  readonly verifier: JwtVerifier;
  /** Whether key sets fail. */
  isDown: boolean;
  /** Signs a token that is valid for a minute by default. */
  sign(claims?: JWTPayload, kid?: string, typ?: string): Promise<string>;
}

export async function issuer(): Promise<Issuer> {
  const { publicKey, privateKey } = await generateKeyPair("EdDSA", { extractable: true });
  const jwk = { ...await exportJWK(publicKey), kid: "k1", alg: "EdDSA" };
  const self: Issuer = {
    isDown: false,
    verifier: new JwtVerifier(
      new JwksCache("https://id.example.com/jwks", {
        fetch: () =>
          Promise.resolve(
            self.isDown ? new Response("", { status: 500 }) : Response.json({ keys: [jwk] }),
          ),
      }),
      new ValidationConfig().withIssuer("https://id.example.com").anyAudience(),
    ),
    sign: (claims = {}, kid = "k1", typ) =>
      new SignJWT({
        iss: "https://id.example.com",
        sub: "tom",
        exp: Math.floor(Date.now() / 1000) + 60,
        ...claims,
      }).setProtectedHeader({ alg: "EdDSA", kid, ...typ && { typ } }).sign(privateKey),
  };
  return self;
}
