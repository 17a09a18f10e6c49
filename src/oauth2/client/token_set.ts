/**
 * The tokens of a grant, and their data for a store.
 *
 * @module
 */
import { describe, inspectedByToString, REDACTED } from "../../platform/secret.ts";

/** What is in a {@linkcode TokenSet}. */
export interface TokenSetFields {
  /** The access token. */
  readonly accessToken: string;
  /** Its type in lower case; what a client gets is always `bearer`. */
  readonly tokenType: string;
  /** What gets a new set once this one is over. */
  readonly refreshToken?: string | undefined;
  /** The id_token as it was received: nothing of it is checked before `verifyIdToken()` is called. */
  readonly idToken?: string | undefined;
  /** The scopes that were granted, as the server words them; by default those that were asked for. */
  readonly scope?: string | undefined;
  /** When the access token expires; unknown by default. */
  readonly expiresAt?: Date | undefined;
}

/**
 * The tokens that a grant gives (RFC 6749 §5.1). Nothing shows them but its properties, each on its
 * own, and {@linkcode TokenSet.toDto}: not printing, JSON, spreading or cloning.
 */
export class TokenSet implements TokenSetFields {
  readonly #fields: TokenSetFields;

  /** Creates a set. */
  constructor(
    { accessToken, tokenType, refreshToken, idToken, scope, expiresAt }: TokenSetFields,
  ) {
    this.#fields = { accessToken, tokenType, refreshToken, idToken, scope, expiresAt };
  }

  /**
   * Creates a set from what {@linkcode TokenSet.toDto} gave, or from the JSON of that once parsed.
   *
   * @throws {TypeError} if a member is not of its type
   */
  static fromDto(dto: TokenSetDto): TokenSet {
    const { expiresAtUnix, ...fields } = new TokenSetDto(dto);
    const expiresAt = expiresAtUnix === undefined ? undefined : new Date(expiresAtUnix * 1000);
    return new TokenSet({ ...fields, expiresAt });
  }

  /** The access token. */
  get accessToken(): string {
    return this.#fields.accessToken;
  }

  /** The type of the access token in lower case; what a client gets is always `bearer`. */
  get tokenType(): string {
    return this.#fields.tokenType;
  }

  /** What gets a new set once this one is over. */
  get refreshToken(): string | undefined {
    return this.#fields.refreshToken;
  }

  /** The id_token as it was received: nothing of it is checked before `verifyIdToken()` is called. */
  get idToken(): string | undefined {
    return this.#fields.idToken;
  }

  /** The scopes that were granted, as the server words them; those asked for if it says nothing. */
  get scope(): string | undefined {
    return this.#fields.scope;
  }

  /** When the access token expires; unknown if the server says nothing. */
  get expiresAt(): Date | undefined {
    return this.#fields.expiresAt && new Date(this.#fields.expiresAt);
  }

  /** Tells whether the access token expires within so many milliseconds; not, if that is unknown. */
  expiresWithin(milliseconds: number, nowMs: number = Date.now()): boolean {
    const { expiresAt } = this.#fields;
    return expiresAt !== undefined && expiresAt.getTime() - nowMs <= milliseconds;
  }

  /** Gives the set for a store of the application, where nobody else may read it. */
  toDto(): TokenSetDto {
    const { expiresAt, ...fields } = this.#fields;
    const expiresAtUnix = expiresAt && Math.floor(expiresAt.getTime() / 1000);
    return new TokenSetDto({ ...fields, expiresAtUnix });
  }

  /**
   * Refuses to become JSON, in which tokens would end up where nobody means them to be.
   *
   * @throws {TypeError} always
   */
  toJSON(): never {
    throw new TypeError("Cannot turn TokenSet into JSON: its tokens are secret, call toDto()");
  }

  /** Gives the set for printing, with `<redacted>` for the tokens. */
  toString(): string {
    const { refreshToken, idToken, scope, expiresAt, tokenType } = this.#fields;
    return describe("TokenSet", {
      accessToken: REDACTED,
      tokenType,
      refreshToken: refreshToken && REDACTED,
      idToken: idToken && REDACTED,
      scope,
      expiresAt: expiresAt?.toISOString(),
    });
  }
}

inspectedByToString(TokenSet);

/** What is in a {@linkcode TokenSetDto}. */
export interface TokenSetDtoFields {
  /** The access token. */
  readonly accessToken: string;
  /** Its type in lower case. */
  readonly tokenType: string;
  /** What gets a new set once this one is over. */
  readonly refreshToken?: string | undefined;
  /** The id_token as it was received, not verified. */
  readonly idToken?: string | undefined;
  /** The scopes that were granted. */
  readonly scope?: string | undefined;
  /** When the access token expires, in whole seconds since 1970. */
  readonly expiresAtUnix?: number | undefined;
}

/**
 * A `TokenSet` as plain data, for a store of the application where nobody else may read it. Printing
 * it does not show the tokens; its JSON, its clones and its copies have them.
 */
export class TokenSetDto implements TokenSetDtoFields {
  /** The access token. */
  declare readonly accessToken: string;
  /** Its type in lower case. */
  declare readonly tokenType: string;
  /** What gets a new set once this one is over. */
  declare readonly refreshToken?: string | undefined;
  /** The id_token as it was received, not verified. */
  declare readonly idToken?: string | undefined;
  /** The scopes that were granted. */
  declare readonly scope?: string | undefined;
  /** When the access token expires, in whole seconds since 1970. */
  declare readonly expiresAtUnix?: number | undefined;

  /**
   * Takes the data, in which `null` is as good as nothing.
   *
   * @throws {TypeError} if a member is not of its type
   */
  constructor(fields: TokenSetDtoFields) {
    if (typeof fields !== "object" || fields === null) fail("it is no object");
    const values: TokenSetDtoFields = {
      accessToken: text("accessToken", fields.accessToken),
      tokenType: text("tokenType", fields.tokenType),
      refreshToken: optional(fields.refreshToken, (it) => text("refreshToken", it)),
      idToken: optional(fields.idToken, (it) => text("idToken", it)),
      scope: optional(fields.scope, scopeText),
      expiresAtUnix: optional(fields.expiresAtUnix, seconds),
    };
    // Node's console.dir asks no class how to print, and shows all values but those of getters
    for (const name of Object.keys(values) as (keyof TokenSetDtoFields)[]) {
      Object.defineProperty(this, name, { get: () => values[name], enumerable: true });
    }
  }

  /** Gives the data for printing, with `<redacted>` for the tokens. */
  toString(): string {
    return describe("TokenSetDto", {
      accessToken: REDACTED,
      tokenType: this.tokenType,
      refreshToken: this.refreshToken && REDACTED,
      idToken: this.idToken && REDACTED,
      scope: this.scope,
      expiresAtUnix: this.expiresAtUnix?.toString(),
    });
  }
}

inspectedByToString(TokenSetDto);

function optional<T>(value: unknown, read: (value: unknown) => T): T | undefined {
  return value === undefined || value === null ? undefined : read(value);
}

function text(name: string, value: unknown): string {
  return typeof value === "string" && value !== "" ? value : fail(`${name} is no text, or empty`);
}

/** A server may grant no scope at all. */
function scopeText(value: unknown): string {
  return typeof value === "string" ? value : fail("scope is no text");
}

function seconds(value: unknown): number {
  const isTime = Number.isSafeInteger(value) &&
    !Number.isNaN(new Date(Number(value) * 1000).getTime());
  return isTime ? Number(value) : fail("expiresAtUnix is not a time in whole seconds");
}

function fail(why: string): never {
  throw new TypeError(`Cannot read token set: ${why}`);
}
