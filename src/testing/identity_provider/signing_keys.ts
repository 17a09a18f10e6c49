/**
 * The keys that sign tokens.
 *
 * @module
 */
import {
  calculateJwkThumbprint,
  type CryptoKey,
  exportJWK,
  generateKeyPair,
  type JWK,
  type JWTPayload,
  SignJWT,
} from "jose";
import type { DevelopmentSigningAlgorithm } from "./options.ts";

/** One key: its private half, and its public half as it is published. */
interface SigningKey {
  readonly privateKey: CryptoKey;
  readonly publicJwk: JWK;
}

/** How many keys stay published beside the one that signs. */
const MAX_PREVIOUS = 3;

/** Signs with a key that can be replaced, and publishes it. The private halves cannot be exported. */
export class SigningKeys {
  /** The algorithm of all of them. */
  readonly algorithm: DevelopmentSigningAlgorithm;
  #current: SigningKey;
  #previous: readonly SigningKey[] = [];

  /** Creates them; use {@linkcode SigningKeys.generate}. */
  constructor(algorithm: DevelopmentSigningAlgorithm, key: SigningKey) {
    this.algorithm = algorithm;
    this.#current = key;
  }

  /** Makes the first key. */
  static async generate(algorithm: DevelopmentSigningAlgorithm): Promise<SigningKeys> {
    return new SigningKeys(algorithm, await generateKey(algorithm));
  }

  /** Signs with a new key from now on; of the old ones, the last three stay published if asked. */
  async rotate({ keepPrevious }: { readonly keepPrevious: boolean }): Promise<void> {
    const next = await generateKey(this.algorithm);
    const previous = [this.#current, ...this.#previous];
    this.#previous = keepPrevious ? previous.slice(0, MAX_PREVIOUS) : [];
    this.#current = next;
  }

  /** Gives the public keys as a JWK Set (RFC 7517 §5), the one that signs first. */
  toJwks(): { readonly keys: readonly JWK[] } {
    return { keys: [this.#current, ...this.#previous].map(({ publicJwk }) => publicJwk) };
  }

  /** Signs claims as a JWT of a type, such as `at+jwt`. */
  async sign(claims: Readonly<Record<string, unknown>>, typ: string): Promise<string> {
    const { privateKey, publicJwk: { kid } } = this.#current;
    return await new SignJWT(claims as JWTPayload) // tests may ask for claims of any shape
      .setProtectedHeader({ alg: this.algorithm, typ, kid: kid as string })
      .sign(privateKey);
  }
}

async function generateKey(alg: DevelopmentSigningAlgorithm): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg);
  const jwk = await exportJWK(publicKey);
  const kid = await calculateJwkThumbprint(jwk);
  return { privateKey, publicJwk: { ...jwk, kid, alg, use: "sig" } };
}
