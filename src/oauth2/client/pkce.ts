/**
 * Proof key for code exchange (RFC 7636): only the client that requested a code can exchange it.
 *
 * @module
 */
import { calculatePKCECodeChallenge, generateRandomCodeVerifier } from "oauth4webapi";
import { OAuth2Error } from "../ground/errors.ts";
import { describe, inspectedByToString, REDACTED } from "../../platform/secret.ts";

/** The two parts of a proof. */
export interface PkcePair {
  /** The public part, for the authorization request: the SHA-256 of the verifier in base64url. */
  readonly challenge: string;
  /** The secret part, for the exchange of the code. */
  readonly verifier: PkceVerifier;
}

/**
 * The secret part of a proof, for one exchange: even a failed one consumes it. Only
 * {@linkcode PkceVerifier.export} shows the secret.
 */
export class PkceVerifier {
  #secret: string | undefined;

  private constructor(secret: string) {
    this.#secret = secret;
  }

  /**
   * Restores a verifier from the result of {@linkcode PkceVerifier.export}, after storing it.
   *
   * @throws {OAuth2Error} `Validation` if it is not 43 to 128 unreserved characters (RFC 7636 §4.1)
   */
  static restore(secret: string): PkceVerifier {
    if (typeof secret === "string" && /^[\w.~-]{43,128}$/.test(secret)) {
      return new PkceVerifier(secret);
    }
    throw refusal("restore", "it is not 43 to 128 unreserved characters");
  }

  /**
   * Returns the secret, for a store that only the application can read.
   *
   * @throws {OAuth2Error} `Validation` if it has been used
   */
  export(): string {
    return this.#secret ?? fail("export");
  }

  /**
   * Returns the secret once; `OAuth2Client.exchangeCode()` calls it.
   *
   * @throws {OAuth2Error} `Validation` if it has been used
   */
  consume(): string {
    const secret = this.#secret ?? fail("use");
    this.#secret = undefined;
    return secret;
  }

  /** Returns the verifier for printing, without its secret. */
  toString(): string {
    return describe("PkceVerifier", { secret: this.#secret === undefined ? "<used>" : REDACTED });
  }

  /** Returns `<redacted>` for JSON. */
  toJSON(): string {
    return REDACTED;
  }
}

inspectedByToString(PkceVerifier);

/** Generates a new pair: 256 random bits, with the method S256 (RFC 7636 §4.2). */
export async function generatePkce(): Promise<PkcePair> {
  const secret = generateRandomCodeVerifier();
  const challenge = await calculatePKCECodeChallenge(secret);
  return { challenge, verifier: PkceVerifier.restore(secret) };
}

function fail(verb: string): never {
  throw refusal(verb, "it has been used");
}

function refusal(verb: string, why: string): OAuth2Error {
  return new OAuth2Error({ code: "Validation" }, `Cannot ${verb} PKCE verifier: ${why}`);
}
