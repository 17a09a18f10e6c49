/**
 * The parameters of a request to an endpoint of OAuth 2.0.
 *
 * @module
 */
import { readBody } from "../../core/http/body.ts";
import type { Context } from "../../core/http/context.ts";
import { OAuthRefusal } from "./oauth_refusal.ts";

/** The longest value of a parameter, in characters: what is remembered of a request is bounded. */
const MAX_LENGTH = 4096;

/** Extracts the parameters of the query. */
export function queryParameters(c: Context): URLSearchParams {
  return new URL(c.req.url).searchParams;
}

/**
 * Extracts the parameters of a form.
 *
 * @throws {HttpException} 400, 413 or 415 if the body is no form
 */
export async function formParameters(c: Context): Promise<URLSearchParams> {
  const body = await readBody(c, { consumes: ["form"] });
  const parameters = new URLSearchParams();
  for (const [name, values] of Object.entries(body ?? {})) {
    for (const value of [values].flat()) parameters.append(name, String(value));
  }
  return parameters;
}

/**
 * Extracts the parameters of a form in which none may occur twice (RFC 6749 §3.2).
 *
 * @throws {OAuthRefusal} if one does
 */
export async function clientParameters(c: Context): Promise<URLSearchParams> {
  const parameters = await formParameters(c);
  for (const name of parameters.keys()) parameter(parameters, name);
  return parameters;
}

/**
 * Gives the value of a parameter; one that is empty is absent (RFC 6749 §3.1).
 *
 * @throws {OAuthRefusal} if it occurs twice, or is too long
 */
export function parameter(parameters: URLSearchParams, name: string): string | undefined {
  const [value, ...others] = parameters.getAll(name);
  if (others.length > 0) throw new OAuthRefusal("invalid_request", "A parameter occurs twice");
  if (value && value.length > MAX_LENGTH) {
    throw new OAuthRefusal("invalid_request", `A parameter is over ${MAX_LENGTH} characters`);
  }
  return value || undefined;
}

/**
 * Gives the value of a parameter that has to be there.
 *
 * @throws {OAuthRefusal} if it is absent or occurs twice
 */
export function requiredParameter(parameters: URLSearchParams, name: string): string {
  const value = parameter(parameters, name);
  if (value === undefined) throw new OAuthRefusal("invalid_request", `The ${name} is missing`);
  return value;
}
