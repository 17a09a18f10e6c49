/**
 * Refusals in the words of OAuth 2.0.
 *
 * @module
 */
import type { Context } from "../../core/http/context.ts";
import { HttpException } from "../../core/http/http_exception.ts";

/** The codes of RFC 6749 §4.1.2.1 and §5.2, RFC 6750 §3.1 and OpenID Connect Core §3.1.2.6. */
export type OAuthRefusalCode =
  | "access_denied"
  | "insufficient_scope"
  | "invalid_client"
  | "invalid_grant"
  | "invalid_request"
  | "invalid_scope"
  | "invalid_token"
  | "login_required"
  | "request_not_supported"
  | "request_uri_not_supported"
  | "unauthorized_client"
  | "unsupported_grant_type"
  | "unsupported_response_type";

const STATUSES: Readonly<Partial<Record<OAuthRefusalCode, 401 | 403>>> = {
  invalid_client: 401,
  invalid_token: 401,
  insufficient_scope: 403,
};

/** A request that is refused. Its message is the `error_description`, so it repeats no input. */
export class OAuthRefusal extends Error {
  /** The name of the class. */
  override readonly name = "OAuthRefusal";
  /** The error code. */
  readonly code: OAuthRefusalCode;

  /** Creates one. */
  constructor(code: OAuthRefusalCode, description: string) {
    super(description);
    this.code = code;
  }

  /** The status of the response where the client is answered directly. */
  get status(): 400 | 401 | 403 {
    return STATUSES[this.code] ?? 400;
  }
}

/** Gives the refusal that an error is: a request that the framework cannot read (400, 415) is invalid. */
export function asRefusal(error: unknown): OAuthRefusal | undefined {
  if (error instanceof OAuthRefusal) return error;
  const isRefused = error instanceof HttpException && error.status < 500 && error.status !== 413;
  return isRefused ? new OAuthRefusal("invalid_request", error.message) : undefined;
}

/** Answers a client as RFC 6749 §5.2 says: an exception filter. */
export function answerClient(error: unknown, c: Context): Response | undefined {
  const refusal = asRefusal(error);
  if (refusal === undefined) return undefined;
  const isBasic = c.req.header("authorization") !== undefined;
  if (refusal.status === 401 && isBasic) c.header("www-authenticate", 'Basic realm="token"');
  return answer(refusal, c);
}

/** Answers the bearer of an access token as RFC 6750 §3 says: an exception filter. */
export function answerBearer(error: unknown, c: Context): Response | undefined {
  const refusal = asRefusal(error);
  if (refusal === undefined) return undefined;
  c.header("www-authenticate", `Bearer error="${refusal.code}"`);
  return answer(refusal, c);
}

function answer({ code, message, status }: OAuthRefusal, c: Context): Response {
  c.header("cache-control", "no-store");
  return c.json({ error: code, error_description: message }, status);
}
