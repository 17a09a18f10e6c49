/**
 * Parameters of requests, and errors as OAuth 2.0 reports them.
 *
 * @module
 */
import { readBody } from "../../core/http/body.ts";
import type { Context } from "../../core/http/context.ts";
import { HttpException } from "../../core/http/http_exception.ts";

/** The codes of RFC 6749 §4.1.2.1 and §5.2, RFC 6750 §3.1 and OpenID Connect Core §3.1.2.6. */
type OAuthRefusalCode =
  | "access_denied"
  | "insufficient_scope"
  | "invalid_client"
  | "invalid_grant"
  | "invalid_request"
  | "invalid_scope"
  | "invalid_token"
  | "login_required"
  | `${"request" | "request_uri"}_not_supported`
  | "unauthorized_client"
  | "unsupported_grant_type"
  | "unsupported_response_type";

const STATUSES: Readonly<Partial<Record<OAuthRefusalCode, 401 | 403>>> = {
  invalid_client: 401,
  invalid_token: 401,
  insufficient_scope: 403,
};

/** The longest value of a parameter, in characters. */
const MAX_LENGTH = 4096;

/** A refused request. Its message is the `error_description`, so it repeats no input. */
export class OAuthRefusal extends Error {
  override readonly name = "OAuthRefusal";
  readonly code: OAuthRefusalCode;
  /** The status of a response to the client itself. */
  readonly status: 400 | 401 | 403;

  /** Creates one. */
  constructor(code: OAuthRefusalCode, description: string) {
    super(description);
    this.code = code;
    this.status = STATUSES[code] ?? 400;
  }
}

/** Returns an error as a refusal. A request that the framework refuses (400, 415) is invalid. */
export function asRefusal(error: unknown): OAuthRefusal | undefined {
  if (error instanceof OAuthRefusal) return error;
  const isRefused = error instanceof HttpException && error.status < 500 && error.status !== 413;
  return isRefused ? new OAuthRefusal("invalid_request", error.message) : undefined;
}

/** Answers a client (RFC 6749 §5.2): an exception filter. */
export function answerClient(error: unknown, c: Context): Response | undefined {
  const refusal = asRefusal(error);
  const isBasic = c.req.header("authorization") !== undefined;
  if (refusal?.status === 401 && isBasic) c.header("www-authenticate", 'Basic realm="token"');
  return refusal && answer(refusal, c);
}

/** Answers the bearer of an access token (RFC 6750 §3): an exception filter. */
export function answerBearer(error: unknown, c: Context): Response | undefined {
  const refusal = asRefusal(error);
  if (refusal) c.header("www-authenticate", `Bearer error="${refusal.code}"`);
  return refusal && answer(refusal, c);
}

/** Extracts the parameters of the query. */
export function queryParameters(c: Context): URLSearchParams {
  return new URL(c.req.url).searchParams;
}

/** Extracts the parameters of a form. */
export async function formParameters(c: Context): Promise<URLSearchParams> {
  const body = await readBody(c, { consumes: ["form"] });
  const parameters = new URLSearchParams();
  for (const [name, values] of Object.entries(body ?? {})) {
    for (const value of [values].flat()) parameters.append(name, String(value));
  }
  return parameters;
}

/** Extracts the parameters of a form in which each occurs at most once (RFC 6749 §3.2). */
export async function clientParameters(c: Context): Promise<URLSearchParams> {
  const parameters = await formParameters(c);
  for (const name of parameters.keys()) parameter(parameters, name);
  return parameters;
}

/**
 * Returns the value of a parameter, which occurs at most once; an empty one is missing
 * (RFC 6749 §3.1).
 */
export function parameter(parameters: URLSearchParams, name: string): string | undefined {
  const [value, ...others] = parameters.getAll(name);
  if (others.length > 0) throw new OAuthRefusal("invalid_request", "A parameter occurs twice");
  if (value && value.length > MAX_LENGTH) {
    throw new OAuthRefusal("invalid_request", `A parameter is over ${MAX_LENGTH} characters`);
  }
  return value || undefined;
}

/** Returns the value of a required parameter. */
export function requiredParameter(parameters: URLSearchParams, name: string): string {
  const value = parameter(parameters, name);
  if (value === undefined) throw new OAuthRefusal("invalid_request", `The ${name} is missing`);
  return value;
}

function answer({ code, message, status }: OAuthRefusal, c: Context): Response {
  c.header("cache-control", "no-store");
  return c.json({ error: code, error_description: message }, status);
}
