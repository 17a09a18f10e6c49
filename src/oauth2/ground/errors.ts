/**
 * What can go wrong with OAuth2, and the HTTP status it means.
 *
 * @module
 */

/** What an authorization server says of a request that it refuses (RFC 6749 §4.1.2.1 and §5.2). */
export interface GrantError {
  /** The error code, such as `invalid_grant` or `access_denied`. */
  readonly error: string;
  /** The server's own words, cut to 500 characters. */
  readonly description?: string;
  /** A page about the error. */
  readonly uri?: string;
}

/** Why an operation failed, with what is known of it. */
export type OAuth2Failure =
  | {
    /**
     * - `InvalidConfig`: an option is not sound.
     * - `Transport`: a server could not be reached, or did not answer in time.
     * - `JwksFetch`: the key set could not be fetched.
     * - `InvalidSignature`: no key of that `kid` has signed the token.
     * - `Validation`: the token, or the callback, is malformed or not of the kind that is accepted.
     * - `UnknownKid`: the key set, fetched anew, has no such key.
     */
    readonly code:
      | "InvalidConfig"
      | "Transport"
      | "JwksFetch"
      | "InvalidSignature"
      | "Validation"
      | "UnknownKid";
  }
  | {
    /** The authorization server refused, as RFC 6749 says it does. */
    readonly code: "Grant";
    /** What it said. */
    readonly grant: GrantError;
  }
  | {
    /** A server answered with something that no RFC foresees. */
    readonly code: "TokenEndpoint";
    /** The status of its answer. */
    readonly status: number;
    /** The beginning of its answer, at most 500 characters, without tokens and secrets. */
    readonly body: string;
  }
  | {
    /** A claim of a token, whose signature is right, does not hold. */
    readonly code: "InvalidClaim";
    /** The name of the claim, such as `exp`. */
    readonly claim: string;
  };

/** Why an operation failed. */
export type OAuth2ErrorCode = OAuth2Failure["code"];

const HTTP_STATUSES: Readonly<Record<OAuth2ErrorCode, number>> = {
  InvalidConfig: 500,
  Grant: 401,
  TokenEndpoint: 502,
  Transport: 502,
  JwksFetch: 503,
  InvalidSignature: 401,
  InvalidClaim: 401,
  Validation: 401,
  UnknownKid: 401,
};

/** What every {@linkcode OAuth2Error} has, whatever its code. */
export interface OAuth2ErrorBase extends Error {
  /** Always `"OAuth2Error"`. */
  readonly name: "OAuth2Error";
  /** The status of an HTTP response to it; 502 for a `Grant` that is not about the caller. */
  readonly httpStatus: number;
}

/**
 * A failed operation: the one error that leaves this part of the framework, but for a `TypeError` or
 * `RangeError` over a programmer's mistake. Its `code` narrows it to what is known of that failure. No
 * part of it holds a secret or a token, and `HttpException.from` gives it its status.
 *
 * @example
 * ```ts
 * import { OAuth2Error } from "@fw/fw/oauth2";
 *
 * function reasonOf(error: unknown): string {
 *   if (!(error instanceof OAuth2Error)) throw error;
 *   switch (error.code) {
 *     case "Grant":
 *       return error.grant.error;
 *     case "InvalidClaim":
 *       return error.claim;
 *     default:
 *       return error.message;
 *   }
 * }
 * ```
 */
export type OAuth2Error = OAuth2ErrorBase & OAuth2Failure;

/** Creates an {@linkcode OAuth2Error}; a client may read the message. */
export interface OAuth2ErrorConstructor {
  /** Creates one from what is known of the failure. */
  new (failure: OAuth2Failure, message: string, options?: ErrorOptions): OAuth2Error;
}

/** The class of {@linkcode OAuth2Error}s, for `instanceof`. */
export const OAuth2Error: OAuth2ErrorConstructor = class OAuth2Error extends Error
  implements OAuth2ErrorBase {
  override readonly name = "OAuth2Error";
  readonly code: OAuth2ErrorCode;
  readonly httpStatus: number;

  constructor(failure: OAuth2Failure, message: string, options?: ErrorOptions) {
    super(message, options?.cause === undefined ? undefined : options);
    this.code = failure.code;
    this.httpStatus = isNotOfCaller(failure) ? 502 : HTTP_STATUSES[failure.code];
    Object.assign(this, failure); // the data that its code narrows to
  }
} as OAuth2ErrorConstructor;

/** Errors that are not about what the caller has shown (RFC 6749 §4.1.2.1 and §5.2). */
const NOT_OF_CALLER: ReadonlySet<string> = new Set([
  "invalid_client",
  "unauthorized_client",
  "unsupported_grant_type",
  "unsupported_response_type",
  "server_error",
  "temporarily_unavailable",
  "too_many_requests",
]);

/** A caller that is told 401 for it would throw good credentials away. */
function isNotOfCaller(failure: OAuth2Failure): boolean {
  return failure.code === "Grant" && NOT_OF_CALLER.has(failure.grant.error);
}
