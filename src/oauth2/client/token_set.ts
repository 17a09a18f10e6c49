/**
 * What a grant gives.
 *
 * @module
 */
import { describe, inspectedByToString, REDACTED } from "../../platform/secret.ts";
import { TokenSetDto } from "./token_set_dto.ts";

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
