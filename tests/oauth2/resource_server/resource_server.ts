/** A verifier of the tokens of tests, at their time. */
import { JwksCache } from "../../../src/oauth2/resource_server/jwks_cache.ts";
import {
  JwtVerifier,
  type JwtVerifierOptions,
} from "../../../src/oauth2/resource_server/jwt_verifier.ts";
import type { SigningAlgorithm } from "../../../src/oauth2/resource_server/signing_algorithm.ts";
import { ValidationConfig } from "../../../src/oauth2/resource_server/validation_config.ts";
import type { JwksServer } from "./jwks_server.ts";
import { AUDIENCE, ISSUER, NOW } from "./signing_key.ts";

export const ALGORITHMS: readonly SigningAlgorithm[] = [
  "EdDSA",
  "Ed25519",
  "ES256",
  "ES384",
  "ES512",
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
];

/** Accepts good tokens of the algorithms. */
export function accepting(...algorithms: readonly SigningAlgorithm[]): ValidationConfig {
  return new ValidationConfig().withAlgorithms(algorithms).withIssuer(ISSUER)
    .withAudience(AUDIENCE);
}

/** Verifies by the keys that a server publishes, at the time of the tokens. */
export function verifierOf(
  server: JwksServer,
  config: ValidationConfig = accepting("ES256"),
  options: JwtVerifierOptions = {},
): JwtVerifier {
  return new JwtVerifier(new JwksCache(server.url), config, { now: () => NOW * 1000, ...options });
}
