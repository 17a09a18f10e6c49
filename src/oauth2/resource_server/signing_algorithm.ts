/**
 * The supported signature algorithms (RFC 7518 §3.1, RFC 8037, RFC 9864). All of them are
 * asymmetric: a verifier of signatures cannot create them.
 *
 * @module
 */

/** A signature algorithm, by its name in JOSE. `EdDSA` is Ed25519. */
export type SigningAlgorithm =
  | "EdDSA"
  | "Ed25519"
  | "ES256"
  | "ES384"
  | "ES512"
  | "RS256"
  | "RS384"
  | "RS512"
  | "PS256"
  | "PS384"
  | "PS512";

/** The keys and the WebCrypto parameters of an algorithm. */
export interface AlgorithmTraits {
  /** The type of its keys. */
  readonly kty: "OKP" | "EC" | "RSA";
  /** The curve of its keys. */
  readonly crv?: string;
  /** The parameters of `crypto.subtle.verify`. */
  readonly parameters: AlgorithmIdentifier | EcdsaParams | RsaPssParams;
}

/** The supported algorithms. */
export const SIGNING_ALGORITHMS: ReadonlyMap<SigningAlgorithm, AlgorithmTraits> = new Map<
  SigningAlgorithm,
  AlgorithmTraits
>([
  ["EdDSA", { kty: "OKP", crv: "Ed25519", parameters: { name: "Ed25519" } }],
  ["Ed25519", { kty: "OKP", crv: "Ed25519", parameters: { name: "Ed25519" } }],
  ["ES256", ecdsa("P-256", 256)],
  ["ES384", ecdsa("P-384", 384)],
  ["ES512", ecdsa("P-521", 512)],
  ...([256, 384, 512] as const).flatMap((bits): [SigningAlgorithm, AlgorithmTraits][] => [
    [`RS${bits}`, { kty: "RSA", parameters: { name: "RSASSA-PKCS1-v1_5" } }],
    [`PS${bits}`, { kty: "RSA", parameters: { name: "RSA-PSS", saltLength: bits / 8 } }],
  ]),
]);

/** Checks whether a value is exactly the name of a supported algorithm. */
export function isSigningAlgorithm(name: unknown): name is SigningAlgorithm {
  return typeof name === "string" && (SIGNING_ALGORITHMS as ReadonlyMap<string, unknown>).has(name);
}

function ecdsa(crv: string, bits: number): AlgorithmTraits {
  return { kty: "EC", crv, parameters: { name: "ECDSA", hash: `SHA-${bits}` } };
}
