/**
 * Client authentication.
 *
 * @module
 */
import {
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  None,
  PrivateKeyJwt,
} from "oauth4webapi";
import { OAuth2Error } from "../ground/errors.ts";
import { refuseOption } from "../ground/refuse_option.ts";

/**
 * How a client authenticates at the token endpoint and the revocation endpoint:
 * - `client_secret_post`: the secret is in the body (RFC 6749 §2.3.1);
 * - `client_secret_basic`: the secret is in the `Authorization` header, percent-encoded (RFC 6749
 *   §2.3.1), which some servers do not decode;
 * - `private_key_jwt`: a JWT that is valid for one minute, signed for each request (RFC 7523 §2.2);
 * - `none`: it does not authenticate; a public client.
 */
export type AuthMethod = "client_secret_post" | "client_secret_basic" | "private_key_jwt" | "none";

/** A client secret, or a function that returns the current one; it is called for each request. */
export type ClientSecret = string | (() => string | Promise<string>);

/** The credentials of a client. */
export interface ClientAuthenticationOptions {
  /** The secret. */
  readonly clientSecret?: ClientSecret | undefined;
  /** The private key that signs assertions, with the usage `sign`. */
  readonly privateKey?: CryptoKey | undefined;
  /** The `kid` of that key at the server. */
  readonly privateKeyId?: string | undefined;
}

/**
 * Returns the client authentication of `oauth4webapi` for a method.
 *
 * @throws {OAuth2Error} `InvalidConfig` if a required credential is missing or unusable; later,
 * during a request, if the function for the secret fails or the key cannot sign
 */
export function clientAuthentication(
  method: AuthMethod,
  { clientSecret, privateKey, privateKeyId }: ClientAuthenticationOptions,
): ClientAuth {
  switch (method) {
    case "none":
      if (clientSecret !== undefined) refuseOption("authMethod", "a public client has no secret");
      return None();
    case "client_secret_post":
      return bySecret(ClientSecretPost, clientSecret);
    case "client_secret_basic":
      return bySecret(ClientSecretBasic, clientSecret);
    case "private_key_jwt":
      return byPrivateKey(privateKey, privateKeyId);
    default:
      return refuseOption("authMethod", "the method is unknown");
  }
}

function bySecret(
  method: (secret: string) => ClientAuth,
  secret: ClientSecret | undefined,
): ClientAuth {
  if (typeof secret !== "function") {
    const authenticate = method(checkSecret(secret));
    return (...request) => orRefuse("clientSecret", () => authenticate(...request));
  }
  return (...request) =>
    orRefuse("clientSecret", async () => method(checkSecret(await secret()))(...request));
}

function byPrivateKey(key: CryptoKey | undefined, kid: string | undefined): ClientAuth {
  const canSign = key instanceof CryptoKey && key.type === "private" && key.usages.includes("sign");
  if (!canSign) refuseOption("privateKey", "it is not a private CryptoKey with the usage sign");
  if (kid === "") refuseOption("privateKeyId", "it is empty");
  const authenticate = PrivateKeyJwt(kid === undefined ? key : { key, kid });
  return (...request) => orRefuse("privateKey", () => authenticate(...request));
}

async function orRefuse(name: string, authenticate: () => void | Promise<void>): Promise<void> {
  try {
    await authenticate();
  } catch (error) {
    if (error instanceof OAuth2Error) throw error;
    refuseOption(name, "it fails to authenticate the client", error);
  }
}

function checkSecret(secret: unknown): string {
  return typeof secret === "string" && secret !== ""
    ? secret
    : refuseOption("clientSecret", "it is empty or missing");
}
