/**
 * The secret of an Apple client: a token of its own making.
 *
 * @module
 */
import { importPKCS8, SignJWT } from "jose";
import { OAuth2Error } from "../ground/errors.ts";

/** What the secret is made of. */
export interface AppleClientSecretOptions {
  /** The identifier of the client. */
  readonly clientId: string;
  /** The identifier of the team. */
  readonly teamId: string;
  /** The identifier of the key. */
  readonly keyId: string;
  /** The private key in PEM. */
  readonly privateKey: string;
  /** The time in milliseconds since 1970; the platform's by default. */
  readonly now?: () => number;
}

/** How long a secret holds; Apple allows six months. */
const LIFETIME_SECONDS = 3600;

const PEM = /^\s*-----BEGIN PRIVATE KEY-----[\w+/=\s]+-----END PRIVATE KEY-----\s*$/;
const NO_KEY = "it is no private key of P-256 in PKCS #8";

/**
 * Gives what makes the secret: an ES256 token that holds for an hour, made anew when half of that is
 * over.
 *
 * @throws {OAuth2Error} `InvalidConfig` if an identifier is empty or the key is no PEM; the function it
 * gives, if the key is no private key of P-256
 */
export function appleClientSecret(
  { clientId, teamId, keyId, privateKey, now = Date.now }: AppleClientSecretOptions,
): () => Promise<string> {
  for (const [name, value] of Object.entries({ teamId, keyId, privateKey })) {
    if (!value) throw invalid(name, "it is empty");
  }
  if (typeof privateKey !== "string" || !PEM.test(privateKey)) throw invalid("privateKey", NO_KEY);
  let made: { readonly secret: Promise<string>; readonly at: number } | undefined;

  async function sign(iat: number): Promise<string> {
    const key = await importPKCS8(privateKey.trim(), "ES256").catch(() => {
      throw invalid("privateKey", NO_KEY);
    });
    return await new SignJWT({
      iss: teamId,
      sub: clientId,
      aud: "https://appleid.apple.com",
      iat,
      exp: iat + LIFETIME_SECONDS,
    }).setProtectedHeader({ alg: "ES256", kid: keyId }).sign(key);
  }

  return () => {
    const seconds = Math.floor(now() / 1000);
    // a clock that was ahead and has been set right would make it one of the future
    const isFresh = made && seconds >= made.at && seconds < made.at + LIFETIME_SECONDS / 2;
    if (!made || !isFresh) made = { secret: sign(seconds), at: seconds };
    return made.secret;
  };
}

function invalid(name: string, why: string): OAuth2Error {
  return new OAuth2Error({ code: "InvalidConfig" }, `Cannot use ${name}: ${why}`);
}
