/**
 * How a client proves to a server who it is.
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

/**
 * How a client proves to the token and the revocation endpoint who it is:
 * - `client_secret_post`: the secret is in the body (RFC 6749 §2.3.1);
 * - `client_secret_basic`: the secret is in the `Authorization` header, percent-encoded as RFC 6749
 *   §2.3.1 says, which some servers do not decode;
 * - `private_key_jwt`: a JWT of one minute, signed anew for each request (RFC 7523 §2.2);
 * - `none`: it does not; a public client.
 */
export type AuthMethod = "client_secret_post" | "client_secret_basic" | "private_key_jwt" | "none";

/** A client secret, or what gives the current one when secrets are renewed; it is asked each time. */
export type ClientSecret = string | (() => string | Promise<string>);

/** What a client proves by who it is. */
export interface ClientAuthenticationOptions {
  /** The secret. */
  readonly clientSecret?: ClientSecret | undefined;
  /** The key that signs assertions: private, with the usage `sign`. */
  readonly privateKey?: CryptoKey | undefined;
  /** The `kid` by which the server knows that key. */
  readonly privateKeyId?: string | undefined;
}

/**
 * Gives the client authentication of `oauth4webapi` for a method.
 *
 * @throws {OAuth2Error} `InvalidConfig` if what the method needs is missing or unusable; later, in a
 * request, if the current secret cannot be had or the key cannot sign
 */
export function clientAuthentication(
  method: AuthMethod,
  { clientSecret, privateKey, privateKeyId }: ClientAuthenticationOptions,
): ClientAuth {
  switch (method) {
    case "none":
      if (clientSecret !== undefined) refuse("authMethod", "a public client has no secret");
      return None();
    case "client_secret_post":
      return bySecret(ClientSecretPost, clientSecret);
    case "client_secret_basic":
      return bySecret(ClientSecretBasic, clientSecret);
    case "private_key_jwt":
      return byPrivateKey(privateKey, privateKeyId);
    default:
      return refuse("authMethod", "there is no such method");
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
  if (!canSign) refuse("privateKey", "it is no private CryptoKey that may sign");
  if (kid === "") refuse("privateKeyId", "it is empty");
  const authenticate = PrivateKeyJwt(kid === undefined ? key : { key, kid });
  return (...request) => orRefuse("privateKey", () => authenticate(...request));
}

async function orRefuse(name: string, authenticate: () => void | Promise<void>): Promise<void> {
  try {
    await authenticate();
  } catch (error) {
    if (error instanceof OAuth2Error) throw error;
    refuse(name, "it fails to authenticate the client", error);
  }
}

function checkSecret(secret: unknown): string {
  return typeof secret === "string" && secret !== ""
    ? secret
    : refuse("clientSecret", "it is empty or missing");
}

function refuse(name: string, why: string, cause?: unknown): never {
  const options = cause === undefined ? {} : { cause };
  throw new OAuth2Error({ code: "InvalidConfig" }, `Cannot use ${name}: ${why}`, options);
}
