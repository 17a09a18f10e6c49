/**
 * The keys with which an application signs its tokens.
 *
 * @module
 */
import type { JWK } from "jose";
import { calculateJwkThumbprint } from "jose/jwk/thumbprint";
import { CompactSign } from "jose/jws/compact/sign";
import { compactVerify } from "jose/jws/compact/verify";
import { exportJWK } from "jose/key/export";
import { generateKeyPair } from "jose/key/generate/keypair";
import { importJWK, importPKCS8 } from "jose/key/import";
import { OAuth2Error } from "../oauth2/ground/errors.ts";
import { KeySet } from "../oauth2/resource_server/key_set.ts";
import { describe, inspectedByToString } from "../platform/secret.ts";
import {
  isSigningAlgorithm,
  type SigningAlgorithm,
} from "../oauth2/resource_server/signing_algorithm.ts";

/** The public part of a key, as a JSON Web Key (RFC 7517 §4). */
export type PublicJwk = Readonly<Record<string, string>>;

const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  OKP: ["crv", "x"],
  EC: ["crv", "x", "y"],
  RSA: ["n", "e"],
};

/**
 * A private key and its public part. Printing it does not show the private part.
 *
 * @example
 * ```ts
 * import { JwtKey } from "@fw/fw/authn";
 *
 * const key = await JwtKey.generate(); // for tests: it is lost with the process
 * console.log(key.kid, key.algorithm);
 * ```
 */
export class JwtKey {
  /** The identifier in tokens and key sets. */
  readonly kid: string;
  /** The algorithm. */
  readonly algorithm: SigningAlgorithm;
  /** The public part. */
  readonly publicJwk: PublicJwk;
  readonly #pair: CryptoKeyPair;

  private constructor(publicJwk: PublicJwk, algorithm: SigningAlgorithm, pair: CryptoKeyPair) {
    this.kid = publicJwk.kid!;
    this.algorithm = algorithm;
    this.publicJwk = publicJwk;
    this.#pair = pair;
  }

  /** Generates a key, for EdDSA (Ed25519) by default. */
  static async generate(algorithm: SigningAlgorithm = "EdDSA"): Promise<JwtKey> {
    const { privateKey } = await generateKeyPair(algorithm, { extractable: true });
    return await JwtKey.fromJwk({ ...await exportJWK(privateKey), alg: algorithm });
  }

  /**
   * Reads a private JSON Web Key, or its JSON. The default `kid` is the thumbprint (RFC 7638), the
   * default `alg` is EdDSA.
   *
   * @throws {OAuth2Error} `InvalidConfig` if it is not a private key that is safe for signing
   */
  static async fromJwk(jwk: JWK | string): Promise<JwtKey> {
    try {
      const parsed: JWK = typeof jwk === "string" ? JSON.parse(jwk) : jwk;
      const { kty = "", alg = "EdDSA" } = parsed;
      const kid = parsed.kid ?? await calculateJwkThumbprint(parsed);
      if (!isSigningAlgorithm(alg) || parsed.d === undefined) throw unfit();
      const members = Object.entries(parsed).filter(([name]) => MEMBERS[kty]?.includes(name));
      const publicJwk = { kty, ...Object.fromEntries(members), kid, alg, use: "sig" };
      const [publicKey] = (await KeySet.read({ keys: [publicJwk] })).find(kid, alg);
      if (!publicKey) throw unfit();
      // the type of jose includes bytes, which only symmetric keys are
      const privateKey = await importJWK(parsed, alg) as CryptoKey;
      const probe = await new CompactSign(new Uint8Array(1)).setProtectedHeader({ alg }).sign(
        privateKey,
      );
      await compactVerify(probe, publicKey); // the parts may be of different keys
      return new JwtKey(Object.freeze(publicJwk), alg, { publicKey, privateKey });
    } catch {
      throw unfit(); // other errors may quote the key
    }
  }

  /**
   * Reads a private key in PKCS #8 and PEM, such as the output of
   * `openssl genpkey -algorithm ed25519`.
   *
   * @throws {OAuth2Error} `InvalidConfig` if it is not a private key of the algorithm
   */
  static async fromPem(pem: string, algorithm: SigningAlgorithm = "EdDSA"): Promise<JwtKey> {
    let jwk: JWK;
    try {
      // environment variables often contain `\n` in place of line ends
      const lines = pem.replaceAll("\\n", "\n");
      jwk = await exportJWK(await importPKCS8(lines, algorithm, { extractable: true }));
    } catch {
      throw unfit(
        `it is not a private key of ${algorithm} in PKCS #8 (\`openssl pkey\` converts it)`,
      );
    }
    return await JwtKey.fromJwk({ ...jwk, alg: algorithm });
  }

  /** Returns both parts. The private one can sign tokens. */
  cryptoKeys(): CryptoKeyPair {
    return this.#pair;
  }

  /** Returns the key for printing, without its private part. */
  toString(): string {
    return describe("JwtKey", { kid: this.kid, algorithm: this.algorithm });
  }
}

inspectedByToString(JwtKey);

function unfit(why = "it is not a private key that is safe for signing"): OAuth2Error {
  const message = `Cannot use key: ${why}`;
  return new OAuth2Error({ code: "InvalidConfig" }, message);
}
