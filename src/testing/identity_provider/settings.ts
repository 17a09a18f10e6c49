/**
 * The checked options of a development identity provider, and its address.
 *
 * @module
 */
import {
  DEFAULT_USERS,
  type DevelopmentClient,
  type DevelopmentIdentityProviderOptions,
  type DevelopmentUser,
} from "./options.ts";

/** What all parts of a provider go by. */
export class Settings {
  /** The clients by their ids. */
  readonly clients: ReadonlyMap<string, DevelopmentClient>;
  /** The users by their subjects. */
  readonly users: ReadonlyMap<string, DevelopmentUser>;
  /** The scopes that users may grant. */
  readonly scopes: ReadonlySet<string>;
  /** The `aud` of access tokens. */
  readonly audience: string;
  /** The life of access tokens and ID tokens. */
  readonly accessTokenSeconds: number;
  /** The time in milliseconds. */
  readonly now: () => number;
  #issuer: string | undefined;

  /**
   * Checks the options.
   *
   * @throws {TypeError} if a client or user is not sound, or its name is taken
   * @throws {RangeError} if the life of tokens is not a positive integer
   */
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
    users.forEach(checkUser);
    this.clients = byName("client", clients, ({ clientId }) => clientId);
    this.users = byName("user", users, ({ subject }) => subject);
    this.scopes = new Set(["openid", "profile", "email", "offline_access", ...scopes]);
    this.audience = audience;
    this.accessTokenSeconds = accessTokenSeconds;
    this.now = now;
  }

  /**
   * The issuer: the URL it listens at, without a slash at its end.
   *
   * @throws {TypeError} before it listens
   */
  get issuer(): string {
    if (this.#issuer === undefined) throw new TypeError("Cannot tell the issuer: it starts yet");
    return this.#issuer;
  }

  /** Settles the issuer, once the provider listens. */
  listensAt(url: string): void {
    this.#issuer = url;
  }
}

function checkClient({ clientId, clientSecret, redirectUris = [] }: DevelopmentClient): void {
  if (!/^[\x21-\x7e]+$/.test(clientId)) {
    throw new TypeError(
      `Cannot add client ${JSON.stringify(clientId)}: its id is not of visible ASCII characters`,
    );
  }
  if (clientSecret === "") {
    throw new TypeError(`Cannot add client ${clientId}: its secret is empty`);
  }
  const wrong = redirectUris.find((uri) => !isRedirectUri(uri));
  if (wrong !== undefined) {
    throw new TypeError(
      `Cannot add client ${clientId}: ${wrong} is no redirect URI (http, https or a scheme with a ` +
        "period, absolute, without a fragment)",
    );
  }
}

/** RFC 6749 §3.1.2 and RFC 8252 §7.1; a `javascript:` or `data:` URI is none. */
function isRedirectUri(uri: string): boolean {
  if (!URL.canParse(uri) || uri.includes("#")) return false;
  const { protocol } = new URL(uri);
  return protocol === "http:" || protocol === "https:" || protocol.includes(".");
}

function checkUser({ subject }: DevelopmentUser): void {
  if (typeof subject !== "string" || subject === "" || subject.length > 255) {
    throw new TypeError("Cannot add a user: the subject is not of 1 to 255 characters");
  }
}

function byName<T>(what: string, list: readonly T[], nameOf: (item: T) => string): Map<string, T> {
  const map = new Map<string, T>();
  for (const item of list) {
    const name = nameOf(item);
    if (map.has(name)) throw new TypeError(`Cannot add ${what} ${name}: there is one already`);
    map.set(name, item);
  }
  return map;
}
