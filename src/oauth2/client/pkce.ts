/**
 * Proof key for code exchange (RFC 7636): who exchanges a code is who asked for it.
 *
 * @module
 */
import { calculatePKCECodeChallenge, generateRandomCodeVerifier } from "oauth4webapi";
import { OAuth2Error } from "../ground/errors.ts";
import { describe, inspectedByToString, REDACTED } from "../../platform/secret.ts";

/** The two halves of a proof. */
export interface PkcePair {
  /** What the authorization request says openly: the SHA-256 of the verifier in base64url. */
  readonly challenge: string;
  /** What the exchange of the code proves it by. */
  readonly verifier: PkceVerifier;
}

/**
 * The secret half of a proof. One use: an exchange consumes it, even one that fails. Nothing prints
 * it but {@linkcode PkceVerifier.export}.
 */
export class PkceVerifier {
  #secret: string | undefined;

  private constructor(secret: string) {
    this.#secret = secret;
  }

  /**
   * Makes a verifier of what {@linkcode PkceVerifier.export} gave, kept in a store of the application.
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
   * Gives the secret for a store of the application, where nobody else may read it.
   *
   * @throws {OAuth2Error} `Validation` if it has been used
   */
  export(): string {
    return this.#secret ?? fail("export");
  }

  /**
   * Gives the secret, once; `exchangeCode()` of a client calls it.
   *
   * @throws {OAuth2Error} `Validation` if it has been used
   */
  consume(): string {
    const secret = this.#secret ?? fail("use");
    this.#secret = undefined;
    return secret;
  }

  /** Gives the verifier for printing, without its secret. */
  toString(): string {
    return describe("PkceVerifier", { secret: this.#secret === undefined ? "<used>" : REDACTED });
  }

  /** Gives `<redacted>` for JSON. */
  toJSON(): string {
    return REDACTED;
  }
}

inspectedByToString(PkceVerifier);

/** Makes a fresh pair: 256 random bits, with the method S256 (RFC 7636 §4.2). */
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
