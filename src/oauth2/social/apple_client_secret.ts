/**
 * The secret of an Apple client: a token of its own making.
 *
 * @module
 */
import { importPKCS8, SignJWT } from "jose";
import { OAuth2Error } from "../errors.ts";

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

/**
 * Gives what makes the secret: an ES256 token that holds for an hour, made anew when half of that is
 * over.
 *
 * @throws {OAuth2Error} `InvalidConfig` if an identifier is empty; the function it gives, if the key is
 * no private key of P-256
 */
export function appleClientSecret(
  { clientId, teamId, keyId, privateKey, now = Date.now }: AppleClientSecretOptions,
): () => Promise<string> {
  for (const [name, value] of Object.entries({ teamId, keyId, privateKey })) {
    if (!value) throw invalid(name, "it is empty");
  }
  let made: { readonly secret: Promise<string>; readonly renewAt: number } | undefined;

  async function sign(iat: number): Promise<string> {
    const key = await importPKCS8(privateKey, "ES256").catch(() => {
      throw invalid("privateKey", "it is no private key of P-256 in PKCS #8");
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
    if (!made || seconds >= made.renewAt) {
      made = { secret: sign(seconds), renewAt: seconds + LIFETIME_SECONDS / 2 };
    }
    return made.secret;
  };
}

function invalid(name: string, why: string): OAuth2Error {
  return new OAuth2Error({ code: "InvalidConfig" }, `Cannot use ${name}: ${why}`);
}
