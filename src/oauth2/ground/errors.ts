/**
 * The errors of OAuth2 and their HTTP statuses.
 *
 * @module
 */

/** The error response of an authorization server (RFC 6749 §4.1.2.1 and §5.2). */
export interface GrantError {
  /** The error code, such as `invalid_grant` or `access_denied`. */
  readonly error: string;
  /** The text of the server, cut to 500 characters. */
  readonly description?: string;
  /** A page about the error. */
  readonly uri?: string;
}

/** Why an operation failed, with its details. */
export type OAuth2Failure =
  | {
    /**
     * - `InvalidConfig`: an option is invalid.
     * - `Transport`: a server could not be reached, or did not answer in time.
     * - `JwksFetch`: the key set could not be fetched.
     * - `InvalidSignature`: no key of that `kid` has signed the token.
     * - `Validation`: the token or the callback is malformed, or of a kind that is not accepted.
     * - `UnknownKid`: the key set, fetched again, has no such key.
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
    /** The authorization server refused with an error response of RFC 6749. */
    readonly code: "Grant";
    /** The error response. */
    readonly grant: GrantError;
  }
  | {
    /** A server answered in a way that no RFC specifies. */
    readonly code: "TokenEndpoint";
    /** The status of its answer. */
    readonly status: number;
    /** The beginning of its answer, at most 500 characters, without tokens or secrets. */
    readonly body: string;
  }
  | {
    /** The signature of the token is valid, but one of its claims is not. */
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

/** The members of every {@linkcode OAuth2Error}. */
export interface OAuth2ErrorBase extends Error {
  /** Always `"OAuth2Error"`. */
  readonly name: "OAuth2Error";
  /** The status of the HTTP response to it; 502 for a `Grant` that is not due to the caller. */
  readonly httpStatus: number;
}

/**
 * A failed operation: the only error of this part of the framework, except a `TypeError` or
 * `RangeError` for a programmer's mistake. Its `code` narrows it to the details of that failure. It
 * never contains a secret or a token, and `HttpException.from` maps it to its status.
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

/** The constructor of {@linkcode OAuth2Error}; clients can see the message. */
export interface OAuth2ErrorConstructor {
  /** Creates an error from the details of the failure. */
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
    this.httpStatus = isNotDueToCaller(failure) ? 502 : HTTP_STATUSES[failure.code];
    Object.assign(this, failure); // the details of its code
  }
} as OAuth2ErrorConstructor;

/** Errors that are not due to the credentials of the caller (RFC 6749 §4.1.2.1 and §5.2). */
const NOT_DUE_TO_CALLER: ReadonlySet<string> = new Set([
  "invalid_client",
  "unauthorized_client",
  "unsupported_grant_type",
  "unsupported_response_type",
  "server_error",
  "temporarily_unavailable",
  "too_many_requests",
]);

/** Checks whether the caller is not at fault: on a 401 it would discard valid credentials. */
function isNotDueToCaller(failure: OAuth2Failure): boolean {
  return failure.code === "Grant" && NOT_DUE_TO_CALLER.has(failure.grant.error);
}
