/**
 * The keys of a JSON Web Key Set that can check signatures (RFC 7517).
 *
 * @module
 */
import { importJWK, type JWK } from "jose";
import { isJsonObject } from "../../platform/json_object.ts";
import {
  isSigningAlgorithm,
  SIGNING_ALGORITHMS,
  type SigningAlgorithm,
} from "./signing_algorithm.ts";

/** How a token is verified, and keys are looked up, on behalf of a request. */
export interface VerifyOptions {
  /**
   * Keeps a fetch of keys alive after the request has ended: `waitUntil` of the execution context, on an
   * edge runtime. Without it, a fetch that ends with its request there is repeated when it is overdue.
   */
  readonly waitUntil?: ((work: Promise<unknown>) => void) | undefined;
}

/** Where a verifier finds keys. */
export interface KeySource {
  /** Gives the keys that are known of a `kid` for an algorithm: usually one, or none. */
  find(kid: string, alg: SigningAlgorithm, options?: VerifyOptions): readonly CryptoKey[];
  /**
   * Gives the keys of a `kid` that is not known yet.
   *
   * @throws {OAuth2Error} `UnknownKid` if there are none, `JwksFetch` if that cannot be told
   */
  resolve(
    kid: string,
    alg: SigningAlgorithm,
    options?: VerifyOptions,
  ): Promise<readonly CryptoKey[]>;
}

/** One key of a set, imported once for each algorithm that it may check. */
interface PublicKey {
  readonly kid: string;
  /** What the key is made of, to tell whether another set has the same. */
  readonly material: string;
  readonly cryptoKeys: ReadonlyMap<SigningAlgorithm, CryptoKey>;
}

/** RSA keys of fewer bits are not used (RFC 7518 §3.3). */
const MIN_RSA_BITS = 2048;

/** A set of more keys is refused: no provider needs as many. */
const MAX_KEYS = 200;

/** Members that only private and symmetric keys have (RFC 7518 §6). */
const PRIVATE_MEMBERS = ["d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"];

const NONE: readonly CryptoKey[] = Object.freeze([]);

/** An immutable set of keys. */
export class KeySet {
  /** The set without keys. */
  static readonly EMPTY: KeySet = new KeySet([]);

  readonly #keys: readonly PublicKey[];
  readonly #byKid: ReadonlyMap<string, ReadonlyMap<SigningAlgorithm, readonly CryptoKey[]>>;

  private constructor(keys: readonly PublicKey[]) {
    const byKid = new Map<string, Map<SigningAlgorithm, CryptoKey[]>>();
    for (const { kid, cryptoKeys } of keys) {
      const byAlgorithm = byKid.get(kid) ?? new Map<SigningAlgorithm, CryptoKey[]>();
      byKid.set(kid, byAlgorithm);
      for (const [alg, key] of cryptoKeys) {
        byAlgorithm.set(alg, [...byAlgorithm.get(alg) ?? [], key]);
      }
    }
    this.#keys = keys;
    this.#byKid = byKid;
  }

  /**
   * Reads a key set. A key that cannot check signatures is skipped: one without a `kid`, of an unknown
   * type or curve, private or symmetric, meant for something else (`use`, `key_ops`, `alg`), an RSA key
   * under 2048 bits or with an exponent that is none, or a point off its curve. Keys that `previous`
   * has as well stay the same objects.
   *
   * @throws {TypeError} if it is no key set, or has more than 200 keys
   */
  static async read(json: unknown, previous: KeySet = KeySet.EMPTY): Promise<KeySet> {
    if (!isJsonObject(json) || !Array.isArray(json.keys)) throw new TypeError("it is no key set");
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

  /** How many keys it has. */
  get size(): number {
    return this.#keys.length;
  }

  /** Gives the keys of a `kid` for an algorithm; several only where the set repeats a `kid`. */
  find(kid: string, alg: SigningAlgorithm): readonly CryptoKey[] {
    return this.#byKid.get(kid)?.get(alg) ?? NONE;
  }
}

/** Gives what makes a key what it is, if it may check signatures. */
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
  // platforms make texts of what is none, and what nests deeply overflows the stack
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
      // jose has Node's type for a key, and bytes for symmetric ones alone
      const key = await importJWK({ kty, crv, x, y, n, e } as JWK, name) as CryptoKey;
      if (isWeak(key)) return undefined;
      // Deno imports any point, and sees that it is off its curve only when the key is used
      if (traits.kty === "EC") await crypto.subtle.exportKey("raw", key);
      cryptoKeys.set(name, key);
    } catch {
      return undefined; // what no platform takes for a key
    }
  }
  return cryptoKeys.size === 0 ? undefined : { kid, material, cryptoKeys };
}

/** Its old name says less than the new one, and means the same (RFC 9864 §2.2). */
function isEd25519(alg: string): boolean {
  return alg === "EdDSA" || alg === "Ed25519";
}

/** Tells an RSA key that is too short, or whose exponent is even or 1: then anybody can sign. */
function isWeak({ algorithm }: CryptoKey): boolean {
  if (!("modulusLength" in algorithm && "publicExponent" in algorithm)) return false;
  const { modulusLength, publicExponent } = algorithm as RsaHashedKeyAlgorithm;
  const exponent = publicExponent.reduce((number, byte) => number * 256 + byte, 0);
  const isOdd = (publicExponent.at(-1) ?? 0) % 2 === 1;
  return modulusLength < MIN_RSA_BITS || !isOdd || exponent < 3;
}
