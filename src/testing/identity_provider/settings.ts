/**
 * The validated options of a development identity provider, and its address.
 *
 * @module
 */
import {
  DEFAULT_USERS,
  type DevelopmentClient,
  type DevelopmentIdentityProviderOptions,
  type DevelopmentUser,
} from "./options.ts";

/** What all parts of a provider share. */
export class Settings {
  /** The clients by their ids. */
  readonly clients: ReadonlyMap<string, DevelopmentClient>;
  /** The users by their subjects. */
  readonly users: ReadonlyMap<string, DevelopmentUser>;
  /** The scopes that users can grant. */
  readonly scopes: ReadonlySet<string>;
  /** The `aud` of access tokens. */
  readonly audience: string;
  /** The lifetime of access tokens and ID tokens. */
  readonly accessTokenSeconds: number;
  /** Returns the time in milliseconds. */
  readonly now: () => number;
  /** The URL it listens at, without a trailing slash; empty before it listens. */
  issuer = "";

  /** Validates the options. */
  constructor({
    clients = [],
    users = DEFAULT_USERS,
    scopes = [],
    audience = "development",
    accessTokenSeconds = 3600,
    now = Date.now,
  }: DevelopmentIdentityProviderOptions = {}) {
    if (!Number.isSafeInteger(accessTokenSeconds) || accessTokenSeconds <= 0) {
      throw new RangeError(
        `Cannot issue tokens for ${accessTokenSeconds} seconds: it is not a positive integer`,
      );
    }
    clients.forEach(checkClient);
    this.clients = new Map(clients.map((client) => [client.clientId, client]));
    checkUnique("client", clients.map(({ clientId }) => clientId));
    if (users.some(({ subject }) => subject === "" || subject.length > 255)) {
      throw new TypeError("Cannot add a user: the subject does not have 1 to 255 characters");
    }
    this.users = new Map(users.map((user) => [user.subject, user]));
    checkUnique("user", users.map(({ subject }) => subject));
    this.scopes = new Set(["openid", "profile", "email", "offline_access", ...scopes]);
    this.audience = audience;
    this.accessTokenSeconds = accessTokenSeconds;
    this.now = now;
  }
}

function checkClient({ clientId, clientSecret, redirectUris = [] }: DevelopmentClient): void {
  const refuse = (why: string): never => {
    throw new TypeError(`Cannot add client ${JSON.stringify(clientId)}: ${why}`);
  };
  if (!/^[\x21-\x7e]+$/.test(clientId)) refuse("its id is not visible ASCII characters");
  if (clientSecret === "") refuse("its secret is empty");
  const wrong = redirectUris.find((uri) => !isRedirectUri(uri));
  if (wrong !== undefined) {
    refuse(`${wrong} is not a redirect URI (absolute; http, https or a scheme with a period)`);
  }
}

/** RFC 6749 §3.1.2 and RFC 8252 §7.1, which exclude `javascript:` and `data:`. */
function isRedirectUri(uri: string): boolean {
  const parsed = URL.parse(uri);
  if (parsed === null || uri.includes("#")) return false;
  const { protocol } = parsed;
  return protocol === "http:" || protocol === "https:" || protocol.includes(".");
}

function checkUnique(what: string, names: readonly string[]): void {
  const duplicate = names.find((name, i) => names.indexOf(name) !== i);
  if (duplicate === undefined) return;
  throw new TypeError(`Cannot add ${what} ${JSON.stringify(duplicate)}: it exists already`);
}
