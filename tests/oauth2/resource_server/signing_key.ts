/** Keys of an issuer, and the tokens that it signs: honest ones by jose, odd ones by hand. */
import { base64url, CompactSign } from "jose";
import type { SigningAlgorithm } from "../../../src/oauth2/resource_server/signing_algorithm.ts";

/** The time of the tokens here, in seconds since 1970. */
export const NOW = 1_800_000_000;

export const ISSUER = "https://id.example.com";
export const AUDIENCE = "https://api.example.com";

/** The claims of a good token. */
export const CLAIMS = { iss: ISSUER, aud: AUDIENCE, sub: "ada", exp: NOW + 600 } as const;

interface Parameters {
  readonly name: string;
  readonly namedCurve?: string;
  readonly hash?: string;
  readonly saltLength?: number;
}

/** The algorithms in WebCrypto, independent of the tested code. */
const PARAMETERS: Readonly<Record<SigningAlgorithm, Parameters>> = {
  EdDSA: { name: "Ed25519" },
  Ed25519: { name: "Ed25519" },
  ES256: { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" },
  ES384: { name: "ECDSA", namedCurve: "P-384", hash: "SHA-384" },
  ES512: { name: "ECDSA", namedCurve: "P-521", hash: "SHA-512" },
  RS256: { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" },
  RS384: { name: "RSASSA-PKCS1-v1_5", hash: "SHA-384" },
  RS512: { name: "RSASSA-PKCS1-v1_5", hash: "SHA-512" },
  PS256: { name: "RSA-PSS", hash: "SHA-256", saltLength: 32 },
  PS384: { name: "RSA-PSS", hash: "SHA-384", saltLength: 48 },
  PS512: { name: "RSA-PSS", hash: "SHA-512", saltLength: 64 },
};

export interface SigningKeyOptions {
  readonly kid?: string;
  readonly rsaBits?: number;
}

/** A key of an issuer. */
export class SigningKey {
  readonly kid: string;
  readonly alg: SigningAlgorithm;
  /** Its public half, as a key set publishes it. */
  readonly jwk: Readonly<JsonWebKey> & { readonly kid: string };
  /** Its private half. */
  readonly privateJwk: Readonly<JsonWebKey>;
  readonly #privateKey: CryptoKey;

  private constructor(
    key: CryptoKey,
    { kid, alg, jwk }: Pick<SigningKey, "kid" | "alg"> & { readonly jwk: JsonWebKey },
  ) {
    const { kty, crv, x, y, n, e } = jwk;
    this.kid = kid;
    this.alg = alg;
    // JSON has no members that are undefined
    this.jwk = JSON.parse(JSON.stringify({ kid, alg, use: "sig", kty, crv, x, y, n, e }));
    this.privateJwk = jwk;
    this.#privateKey = key;
  }

  static async generate(
    alg: SigningAlgorithm = "ES256",
    { kid = crypto.randomUUID(), rsaBits = 2048 }: SigningKeyOptions = {},
  ): Promise<SigningKey> {
    const rsa = { modulusLength: rsaBits, publicExponent: new Uint8Array([1, 0, 1]) };
    const pair = await crypto.subtle.generateKey(
      { ...PARAMETERS[alg], ...rsa } as RsaHashedKeyGenParams & EcKeyGenParams,
      true,
      ["sign", "verify"],
    ) as CryptoKeyPair;
    const jwk = await crypto.subtle.exportKey("jwk", pair.privateKey);
    return new SigningKey(pair.privateKey, { kid, alg, jwk });
  }

  /** The public key with changed members; `undefined` removes one. */
  jwkWith(members: Readonly<Record<string, unknown>>): unknown {
    return JSON.parse(JSON.stringify({ ...this.jwk, ...members }));
  }

  /** Signs a good token, but for the claims and header parameters that are given. */
  token(
    claims: Readonly<Record<string, unknown>> = {},
    header: Readonly<Record<string, unknown>> = {},
  ): Promise<string> {
    const payload = new TextEncoder().encode(JSON.stringify({ ...CLAIMS, ...claims }));
    return new CompactSign(payload)
      .setProtectedHeader({ alg: this.alg, kid: this.kid, ...header })
      .sign(this.#privateKey as never); // to jose, a key is Node's
  }

  /** Signs whatever header and payload: text or bytes as they are, anything else as JSON. */
  forge(header: unknown, payload: unknown = CLAIMS): Promise<string> {
    return this.signText(encode(header), encode(payload));
  }

  /** Signs a good header but for some parameters, which jose may refuse to sign. */
  forgeWith(header: Readonly<Record<string, unknown>>, payload: unknown = CLAIMS): Promise<string> {
    return this.forge({ alg: this.alg, kid: this.kid, ...header }, payload);
  }

  /** Signs two parts of a token as they are, Base64url or not. */
  async signText(header: string, payload: string): Promise<string> {
    return `${header}.${payload}.${base64url.encode(await this.sign(`${header}.${payload}`))}`;
  }

  /** Signs a text. */
  async sign(input: string): Promise<Uint8Array<ArrayBuffer>> {
    const bytes = new TextEncoder().encode(input);
    const parameters = PARAMETERS[this.alg] as EcdsaParams & RsaPssParams;
    return new Uint8Array(await crypto.subtle.sign(parameters, this.#privateKey, bytes));
  }
}

/** Encodes a part of a token: text or bytes as they are, anything else as JSON. */
export function encode(part: unknown): string {
  const isAsItIs = typeof part === "string" || part instanceof Uint8Array;
  return base64url.encode(isAsItIs ? part : JSON.stringify(part));
}

/** Gives a token with another signature. */
export function withSignature(token: string, signature: Uint8Array): string {
  return token.slice(0, token.lastIndexOf(".") + 1) + base64url.encode(signature);
}

/** Gives the signature of a token. */
export function signatureOf(token: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(base64url.decode(token.slice(token.lastIndexOf(".") + 1)));
}
