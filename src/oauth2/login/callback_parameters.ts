/**
 * What a browser comes back with from a provider.
 *
 * @module
 */
import type { Context } from "../../core/http/context.ts";
import { BadRequestException } from "../../core/http/http_exception.ts";

/** A callback that has what a callback must have. */
export interface CallbackParameters {
  /** All of its parameters. */
  readonly parameters: URLSearchParams;
  /** Its state, which nothing is known of yet. */
  readonly state: string;
}

/** What comes twice may be read as two things (RFC 6749 §3.1). */
const SINGLE = ["state", "code", "error", "iss"];

/**
 * Reads a callback: the query of a GET, the form of a POST.
 *
 * @throws {BadRequestException} 400 if it lacks `state`, or both `code` and `error`, or has one of them,
 * or `iss`, twice
 */
export async function callbackParameters(c: Context): Promise<CallbackParameters> {
  const parameters = c.req.method === "POST"
    ? await formParameters(c)
    : new URL(c.req.url).searchParams;
  const repeated = SINGLE.find((name) => parameters.getAll(name).length > 1);
  if (repeated !== undefined) refuse(`The callback has ${repeated} more than once`);
  const state = parameters.get("state") || refuse("The callback has no state");
  if (!parameters.get("code") && !parameters.get("error")) refuse("The callback has no code");
  return { parameters, state };
}

async function formParameters(c: Context): Promise<URLSearchParams> {
  try {
    const fields = [...await c.req.formData()];
    return new URLSearchParams(
      fields.flatMap(([name, value]) => typeof value === "string" ? [[name, value]] : []),
    );
  } catch (cause) {
    return refuse("The callback is no form", cause);
  }
}

function refuse(message: string, cause?: unknown): never {
  throw new BadRequestException(message, { cause });
}
