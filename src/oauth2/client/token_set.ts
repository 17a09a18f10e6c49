/**
 * The tokens of a grant, and their data for a store.
 *
 * @module
 */
import { describe, inspectedByToString, REDACTED } from "../../platform/secret.ts";

/** The members of a {@linkcode TokenSet}. */
export interface TokenSetFields {
  /** The access token. */
  readonly accessToken: string;
  /** Its type in lower case; `bearer` in the sets of an `OAuth2Client`. */
  readonly tokenType: string;
  /** The refresh token. */
  readonly refreshToken?: string | undefined;
  /** The id_token as it was received; `verifyIdToken()` verifies it. */
  readonly idToken?: string | undefined;
  /** The granted scopes as the server returned them; the requested scopes by default. */
  readonly scope?: string | undefined;
  /** When the access token expires; unknown by default. */
  readonly expiresAt?: Date | undefined;
}

/**
 * The tokens of a grant (RFC 6749 §5.1). Only its properties and {@linkcode TokenSet.toDto} show
 * them: not printing, JSON, spreading or cloning.
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
   * Creates a set from the result of {@linkcode TokenSet.toDto}, or from its parsed JSON.
   *
   * @throws {TypeError} if a member has the wrong type
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

  /** The type of the access token in lower case; `bearer` in the sets of an `OAuth2Client`. */
  get tokenType(): string {
    return this.#fields.tokenType;
  }

  /** The refresh token. */
  get refreshToken(): string | undefined {
    return this.#fields.refreshToken;
  }

  /** The id_token as it was received; `verifyIdToken()` verifies it. */
  get idToken(): string | undefined {
    return this.#fields.idToken;
  }

  /** The granted scopes as the server returned them; the requested scopes if it returned none. */
  get scope(): string | undefined {
    return this.#fields.scope;
  }

  /** When the access token expires, if the server returned its lifetime. */
  get expiresAt(): Date | undefined {
    return this.#fields.expiresAt && new Date(this.#fields.expiresAt);
  }

  /**
   * Checks whether the access token expires within a time in milliseconds; `false` if
   * that is unknown.
   */
  expiresWithin(milliseconds: number, nowMs: number = Date.now()): boolean {
    const { expiresAt } = this.#fields;
    return expiresAt !== undefined && expiresAt.getTime() - nowMs <= milliseconds;
  }

  /** Returns the set as data, for a store that only the application can read. */
  toDto(): TokenSetDto {
    const { expiresAt, ...fields } = this.#fields;
    const expiresAtUnix = expiresAt && Math.floor(expiresAt.getTime() / 1000);
    return new TokenSetDto({ ...fields, expiresAtUnix });
  }

  /**
   * Refuses the conversion to JSON, so that tokens are not stored or logged by accident.
   *
   * @throws {TypeError} always
   */
  toJSON(): never {
    throw new TypeError("Cannot convert TokenSet to JSON: its tokens are secret, call toDto()");
  }

  /** Returns the set for printing, with `<redacted>` for the tokens. */
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

/** The members of a {@linkcode TokenSetDto}. */
export interface TokenSetDtoFields {
  /** The access token. */
  readonly accessToken: string;
  /** Its type in lower case. */
  readonly tokenType: string;
  /** The refresh token. */
  readonly refreshToken?: string | undefined;
  /** The id_token as it was received, not verified. */
  readonly idToken?: string | undefined;
  /** The granted scopes. */
  readonly scope?: string | undefined;
  /** When the access token expires, in whole seconds since 1970. */
  readonly expiresAtUnix?: number | undefined;
}

/**
 * A `TokenSet` as plain data, for a store that only the application can read. Printing it does not
 * show the tokens; its JSON, clones and copies contain them.
 */
export class TokenSetDto implements TokenSetDtoFields {
  /** The access token. */
  declare readonly accessToken: string;
  /** Its type in lower case. */
  declare readonly tokenType: string;
  /** The refresh token. */
  declare readonly refreshToken?: string | undefined;
  /** The id_token as it was received, not verified. */
  declare readonly idToken?: string | undefined;
  /** The granted scopes. */
  declare readonly scope?: string | undefined;
  /** When the access token expires, in whole seconds since 1970. */
  declare readonly expiresAtUnix?: number | undefined;

  /**
   * Creates the data; `null` counts as `undefined`.
   *
   * @throws {TypeError} if a member has the wrong type
   */
  constructor(fields: TokenSetDtoFields) {
    if (typeof fields !== "object" || fields === null) fail("it is not an object");
    const values: TokenSetDtoFields = {
      accessToken: text("accessToken", fields.accessToken),
      tokenType: text("tokenType", fields.tokenType),
      refreshToken: optional(fields.refreshToken, (it) => text("refreshToken", it)),
      idToken: optional(fields.idToken, (it) => text("idToken", it)),
      scope: optional(fields.scope, scopeText),
      expiresAtUnix: optional(fields.expiresAtUnix, seconds),
    };
    // console.dir of Node ignores toString() and shows all values except those of getters
    for (const name of Object.keys(values) as (keyof TokenSetDtoFields)[]) {
      Object.defineProperty(this, name, { get: () => values[name], enumerable: true });
    }
  }

  /** Returns the data for printing, with `<redacted>` for the tokens. */
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
  return typeof value === "string" && value !== ""
    ? value
    : fail(`${name} is not a string or is empty`);
}

/** The scope can be empty: a server may grant none. */
function scopeText(value: unknown): string {
  return typeof value === "string" ? value : fail("scope is not a string");
}

function seconds(value: unknown): number {
  const isTime = Number.isSafeInteger(value) &&
    !Number.isNaN(new Date(Number(value) * 1000).getTime());
  return isTime ? Number(value) : fail("expiresAtUnix is not a time in whole seconds");
}

function fail(why: string): never {
  throw new TypeError(`Cannot read token set: ${why}`);
}
