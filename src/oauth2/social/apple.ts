/**
 * The provider Apple.
 *
 * @module
 */
import { OAuth2Error } from "../ground/errors.ts";
import { refuseOption } from "../ground/refuse_option.ts";
import { type JsonObject, jsonObject } from "../../platform/json_object.ts";
import { type SocialLogin, type SocialOptions, SocialProvider } from "./social_provider.ts";
import { SignJWT } from "jose/jwt/sign";
import { importPKCS8 } from "jose/key/import";

/** The userinfo of Apple: the claims of the id_token, and the name at the first login. */
export interface AppleUserinfo {
  /** The permanent identifier of the user. */
  readonly sub: string;
  /** The e-mail address, which may be a relay address of Apple. */
  readonly email?: string;
  /** Whether Apple has verified the address. */
  readonly email_verified?: boolean;
  /** Whether the address is a relay address of Apple. */
  readonly is_private_email?: boolean;
  /** The name, only at the first login. It comes from the browser, so anyone can choose it. */
  readonly name?: { readonly firstName?: string; readonly lastName?: string };
}

/** Options of Apple. */
export interface AppleOptions extends Omit<SocialOptions, "clientSecret"> {
  /** The identifier of the team, ten characters. */
  readonly teamId: string;
  /** The identifier of the key, ten characters. */
  readonly keyId: string;
  /** The private key, as in the `.p8` file of Apple (PKCS #8 in PEM). */
  readonly privateKey: string;
  /** Returns the time in milliseconds since 1970; `Date.now` by default. */
  readonly now?: () => number;
}

/** A longer name is ignored, as anyone can send one. */
const MAX_NAME_LENGTH = 200;

/**
 * Creates the provider Apple. The client secret is a token that the key signs, and that is renewed
 * in time. The callback is a form that the browser posts from the site of Apple: declare it as a
 * POST route, and exempt its path from a protection of forms against forgery. Store the name: it is
 * sent only once.
 *
 * @throws {OAuth2Error} `InvalidConfig` if an option is invalid
 */
export function apple(options: AppleOptions): SocialProvider<AppleUserinfo> {
  const { scopes = ["name", "email"] } = options;
  // only the id_token identifies the user
  const asked = [...new Set(["openid", ...scopes])];
  return new SocialProvider<AppleUserinfo>({ ...options, scopes: asked }, {
    name: "Apple",
    scopes: asked,
    furtherOptions: ["teamId", "keyId", "privateKey", "now"],
    extra: { response_mode: "form_post" },
    identifier: { name: "sub", type: "string" },
    readProfile: readClaims,
    server: {
      clientSecret: appleClientSecret(options),
      issuer: "https://appleid.apple.com",
      authorizeUrl: "https://appleid.apple.com/auth/authorize",
      tokenUrl: "https://appleid.apple.com/auth/token",
      revokeUrl: "https://appleid.apple.com/auth/revoke",
      jwksUrl: "https://appleid.apple.com/auth/keys",
    },
  });
}

function readClaims({ claims, parameters }: SocialLogin): Readonly<Record<string, unknown>> {
  if (!claims) {
    const message = "Cannot read userinfo of Apple: there is no verified id_token";
    throw new OAuth2Error({ code: "Validation" }, message);
  }
  const { sub, email, email_verified, is_private_email } = claims;
  return {
    sub,
    ...(typeof email === "string" && { email }),
    email_verified: isTrue(email_verified),
    is_private_email: isTrue(is_private_email),
    ...readName(parameters?.get("user")),
  };
}

/** Apple sometimes sends booleans as strings. */
function isTrue(claim: unknown): boolean {
  return claim === true || claim === "true";
}

/** Reads the user of the first login, `{"name":{"firstName":"Ada","lastName":"Lovelace"}}`. */
function readName(user: string | null | undefined): Pick<AppleUserinfo, "name"> {
  // other values have neither member
  const { firstName, lastName } = (jsonObject(user ?? "")?.name ?? {}) as JsonObject;
  const name = {
    ...(isName(firstName) && { firstName }),
    ...(isName(lastName) && { lastName }),
  };
  return Object.keys(name).length > 0 ? { name } : {};
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= MAX_NAME_LENGTH;
}

/** Options of {@linkcode appleClientSecret}. */
export interface AppleClientSecretOptions {
  /** The identifier of the client. */
  readonly clientId: string;
  /** The identifier of the team. */
  readonly teamId: string;
  /** The identifier of the key. */
  readonly keyId: string;
  /** The private key in PEM. */
  readonly privateKey: string;
  /** Returns the time in milliseconds since 1970; `Date.now` by default. */
  readonly now?: () => number;
}

/** The lifetime of a secret; Apple allows six months. */
const LIFETIME_SECONDS = 3600;

const PEM = /^\s*-----BEGIN PRIVATE KEY-----[\w+/=\s]+-----END PRIVATE KEY-----\s*$/;
const NO_KEY = "it is not a private key of P-256 in PKCS #8";

/**
 * Returns a function that returns the secret: an ES256 token that is valid for an hour, and renewed
 * after half of that.
 *
 * @throws {OAuth2Error} `InvalidConfig` if an identifier is empty or the key is not PEM; the
 * function throws it if the key is not a private key of P-256
 */
function appleClientSecret(
  { clientId, teamId, keyId, privateKey, now = Date.now }: AppleClientSecretOptions,
): () => Promise<string> {
  for (const [name, value] of Object.entries({ teamId, keyId, privateKey })) {
    if (!value) refuseOption(name, "it is empty");
  }
  if (typeof privateKey !== "string" || !PEM.test(privateKey)) refuseOption("privateKey", NO_KEY);
  let made: { readonly secret: Promise<string>; readonly at: number } | undefined;

  async function sign(iat: number): Promise<string> {
    const key = await importPKCS8(privateKey.trim(), "ES256").catch(() => {
      refuseOption("privateKey", NO_KEY);
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
    // if the clock was set back, the secret would be from the future
    const isFresh = made && seconds >= made.at && seconds < made.at + LIFETIME_SECONDS / 2;
    if (!made || !isFresh) made = { secret: sign(seconds), at: seconds };
    return made.secret;
  };
}
