/**
 * The keys of a JSON Web Key Set that can verify signatures (RFC 7517).
 *
 * @module
 */
import type { JWK } from "jose";
import { importJWK } from "jose/key/import";
import { isJsonObject } from "../../platform/json_object.ts";
import {
  isSigningAlgorithm,
  SIGNING_ALGORITHMS,
  type SigningAlgorithm,
} from "./signing_algorithm.ts";

/** How a token is verified, and keys are looked up, on behalf of a request. */
export interface VerifyOptions {
  /**
   * Keeps a fetch of keys alive after the request has ended: `waitUntil` of the execution
   * context, on an edge runtime. Without it, a fetch that ends with its request there is repeated
   * when it is overdue.
   */
  readonly waitUntil?: ((work: Promise<unknown>) => void) | undefined;
}

/** Provides keys to a verifier. */
export interface KeySource {
  /** Returns the known keys of a `kid` for an algorithm: usually one, or none. */
  find(kid: string, alg: SigningAlgorithm, options?: VerifyOptions): readonly CryptoKey[];
  /**
   * Looks up the keys of an unknown `kid`.
   *
   * @throws {OAuth2Error} `UnknownKid` if no key matches, `JwksFetch` if they cannot be fetched
   */
  resolve(
    kid: string,
    alg: SigningAlgorithm,
    options?: VerifyOptions,
  ): Promise<readonly CryptoKey[]>;
}

/** A key of a set, imported once for each of its algorithms. */
interface PublicKey {
  readonly kid: string;
  /** The members that define the key, to recognize it in another set. */
  readonly material: string;
  readonly cryptoKeys: ReadonlyMap<SigningAlgorithm, CryptoKey>;
}

/** The least bits of an RSA key (RFC 7518 §3.3). */
const MIN_RSA_BITS = 2048;

/** The most keys of a set. */
const MAX_KEYS = 200;

/** Members of private and symmetric keys only (RFC 7518 §6). */
const PRIVATE_MEMBERS = ["d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"];

/** An immutable set of keys. */
export class KeySet {
  /** The set without keys. */
  static readonly EMPTY: KeySet = new KeySet([]);

  readonly #keys: readonly PublicKey[];
  /** The keys by algorithm and `kid`. */
  readonly #found = new Map<string, readonly CryptoKey[]>();

  private constructor(keys: readonly PublicKey[]) {
    this.#keys = keys;
    for (const { kid, cryptoKeys } of keys) {
      for (const [alg, key] of cryptoKeys) {
        this.#found.set(`${alg} ${kid}`, [...this.find(kid, alg), key]);
      }
    }
  }

  /**
   * Reads a key set. Keys that cannot verify signatures are skipped: those without a `kid`, of an
   * unknown type or curve, private or symmetric, for another use (`use`, `key_ops`, `alg`), RSA
   * keys of less than 2048 bits or with an invalid exponent, and points that are not on their
   * curve. Keys that are also in `previous` stay the same objects.
   *
   * @throws {TypeError} if the value is not a key set, or has more than 200 keys
   */
  static async read(json: unknown, previous: KeySet = KeySet.EMPTY): Promise<KeySet> {
    if (!isJsonObject(json) || !Array.isArray(json.keys)) {
      throw new TypeError("it is not a key set");
    }
    if (json.keys.length > MAX_KEYS) throw new TypeError(`it has more than ${MAX_KEYS} keys`);
    const known = new Map(previous.#keys.map((key) => [key.material, key]));
    const read = new Map<string, PublicKey>();
    for (const jwk of json.keys) {
      const material = materialOf(jwk);
      if (material === undefined || read.has(material)) continue;
      const key = known.get(material) ?? await importKey(jwk, material);
      if (key) read.set(material, key);
    }
    return new KeySet([...read.values()]);
  }

  /** The number of keys. */
  get size(): number {
    return this.#keys.length;
  }

  /** Checks whether there is a key for an algorithm. */
  has(alg: SigningAlgorithm): boolean {
    return this.#keys.some(({ cryptoKeys }) => cryptoKeys.has(alg));
  }

  /** Returns the keys of a `kid` for an algorithm; several only if the set repeats the `kid`. */
  find(kid: string, alg: SigningAlgorithm): readonly CryptoKey[] {
    return this.#found.get(`${alg} ${kid}`) ?? [];
  }
}

/**
 * Returns the members that define a key, or `undefined` if the key is not for verifying signatures.
 */
function materialOf(jwk: unknown): string | undefined {
  if (!isJsonObject(jwk)) return undefined;
  const { kid, kty, alg, use, key_ops: operations, crv, x, y, n, e } = jwk;
  if (typeof kid !== "string" || kid === "") return undefined;
  if (PRIVATE_MEMBERS.some((member) => Object.hasOwn(jwk, member))) return undefined;
  if (use !== undefined && use !== "sig") return undefined;
  if (operations !== undefined && !(Array.isArray(operations) && operations.includes("verify"))) {
    return undefined;
  }
  if (alg !== undefined && !isSigningAlgorithm(alg)) return undefined;
  // platforms convert other values to strings, and deep nesting overflows the stack
  if ([kty, crv, x, y, n, e].some((member) => !["string", "undefined"].includes(typeof member))) {
    return undefined;
  }
  return JSON.stringify({ kid, kty, alg, crv, x, y, n, e });
}

async function importKey(jwk: JWK, material: string): Promise<PublicKey | undefined> {
  const { kid = "", kty, alg, crv, x, y, n, e } = jwk;
  const cryptoKeys = new Map<SigningAlgorithm, CryptoKey>();
  for (const [name, traits] of SIGNING_ALGORITHMS) {
    const isFor = traits.kty === kty && traits.crv === crv &&
      (alg === undefined || alg === name || isEd25519(alg) && isEd25519(name));
    if (!isFor) continue;
    try {
      // the type of jose includes bytes, which only symmetric keys are
      const key = await importJWK({ kty, crv, x, y, n, e } as JWK, name) as CryptoKey;
      if (isWeak(key)) return undefined;
      // Deno imports any point, and checks that it is on its curve only when the key is used
      if (traits.kty === "EC") await crypto.subtle.exportKey("raw", key);
      cryptoKeys.set(name, key);
    } catch {
      return undefined; // the key is invalid
    }
  }
  return cryptoKeys.size === 0 ? undefined : { kid, material, cryptoKeys };
}

/** Checks for Ed25519 by its old or new name (RFC 9864 §2.2). */
function isEd25519(alg: string): boolean {
  return alg === "EdDSA" || alg === "Ed25519";
}

/**
 * Checks whether an RSA key is too short, or its exponent is even or 1, so that anyone could sign.
 */
function isWeak({ algorithm }: CryptoKey): boolean {
  if (!("modulusLength" in algorithm && "publicExponent" in algorithm)) return false;
  const { modulusLength, publicExponent } = algorithm as RsaHashedKeyAlgorithm;
  const exponent = publicExponent.reduce((number, byte) => number * 256 + byte, 0);
  const isOdd = (publicExponent.at(-1) ?? 0) % 2 === 1;
  return modulusLength < MIN_RSA_BITS || !isOdd || exponent < 3;
}
