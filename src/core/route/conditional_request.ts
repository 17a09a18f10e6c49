/**
 * Conditional requests (RFC 9110 §13) to routes with `etag`, by the versions of rows. Boot loads it
 * if a route has one.
 *
 * @module
 */
import { base64Of } from "../../platform/base64.ts";
import { type Context, type Slot, slot } from "../http/context.ts";
import { isKnownTag, tagsIn } from "../http/entity_tag.ts";
import {
  BadRequestException,
  HttpException,
  isHttpMapped,
  PreconditionFailedException,
} from "../http/http_exception.ts";
import { isResponse } from "../http/sendable.ts";
import { isLate } from "./responder.ts";
import type { Route } from "./route.ts";
import { demandsMatch } from "./route_options.ts";

/** What a route with `etag` does besides. */
export interface ConditionalRoute {
  /** Calls the handler if the request meets its precondition, and notes the version of the row. */
  readonly handler: Route["handler"];
  /**
   * Sets the `ETag` of a response, and checks whether the client has it.
   *
   * @throws {HttpException} 412 if `If-Match` of a safe request does not name it, 400 if it is
   * not a list
   */
  readonly isKnown: (json: string, c: Context) => boolean | Promise<boolean>;
}

/** The version of the row that a handler has returned. */
const returnedVersion: Slot<number> = slot("returnedVersion");

/** Creates what a route does besides, if it has `etag`. */
export function conditionalRoute(
  { method, options: { etag }, handler }: Route,
): ConditionalRoute | undefined {
  if (!etag) return undefined;
  const { "~version": name } = etag;
  const isSafe = method === "GET" || method === "HEAD";
  async function handle(
    input: Readonly<Record<string, unknown>>,
    c: Context,
  ): Promise<unknown> {
    const output = demandsMatch(method)
      ? await handleIfMatching(input, c)
      : await handler(input, c);
    if (method !== "DELETE") returnedVersion.set(c, versionOf(output, name));
    return output;
  }
  async function handleIfMatching(
    input: Readonly<Record<string, unknown>>,
    c: Context,
  ): Promise<unknown> {
    const version = demandedVersion(c.req.header("if-match"));
    try {
      return await handler({ ...input, version }, c);
    } catch (error) {
      throw isConflict(error)
        ? new PreconditionFailedException(error.message, { cause: error })
        : error;
    }
  }
  async function isKnown(json: string, c: Context): Promise<boolean> {
    const version = returnedVersion.get(c);
    if (version === undefined) return false;
    const tag = `"${version}-${await digestOf(json)}"`;
    if (isLate(c)) return false;
    const match = isSafe ? c.req.header("if-match") ?? "*" : "*";
    if (match !== "*" && !matchedTags(match).includes(tag)) {
      throw new PreconditionFailedException("If-Match has another tag");
    }
    c.header("etag", tag);
    return isSafe && isKnownTag(tag, c.req.header("if-none-match"));
  }
  return { handler: handle, isKnown };
}

/**
 * Reads the version that `If-Match` names; `undefined` for any, `*`. Of a list, the tags that are
 * not of a version match no row (RFC 9110 §13.1.1).
 */
function demandedVersion(header: string | undefined): number | undefined {
  if (header === undefined) {
    throw new HttpException(428, "If-Match is missing; send the ETag of what is to be changed");
  }
  if (header === "*") return undefined;
  const named = matchedTags(header).map(versionIn);
  const versions = new Set(named.filter((version) => version !== undefined));
  const [version] = versions;
  if (versions.size === 1) return version;
  const reason = versions.size > 0
    ? "tags of several versions"
    : tagsIn(header)?.every((tag) => tag.startsWith("W/"))
    ? "no strong tag"
    : "no current tag";
  throw new PreconditionFailedException(`If-Match has ${reason}`);
}

function matchedTags(ifMatch: string): readonly string[] {
  return tagsIn(ifMatch) ??
    BadRequestException.throw("If-Match is neither * nor a list of entity tags");
}

/** Checks whether a layer reports that another change came first. */
function isConflict(error: unknown): error is Error {
  return isHttpMapped(error) && error.httpStatus === 409 && error.code === "Conflict";
}

/** Returns the version of a row; `undefined` if there is no row. */
function versionOf(output: unknown, name: string): number | undefined {
  if (output === undefined || output === null || isResponse(output)) return undefined;
  const version: unknown = (output as Readonly<Record<string, unknown>>)[name];
  if (isVersion(version)) return version;
  throw new TypeError(`Cannot send the response: it has no ${name}, of which its ETag is made`);
}

function isVersion(value: unknown): value is number {
  return Number.isSafeInteger(value) && value as number > 0;
}

/** A tag of a route with `etag`: the version of the row, and a digest of the body. */
const OWN_TAG = /^"([1-9]\d{0,15})-[\w-]{16}"$/;

/** Returns the version that a tag names, unless it is weak, or none of a route with `etag`. */
function versionIn(tag: string): number | undefined {
  const version = Number(OWN_TAG.exec(tag)?.[1]);
  return isVersion(version) ? version : undefined;
}

/** Returns the first 96 bits of the SHA-256 of a text, in 16 characters. */
async function digestOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  const bytes = new Uint8Array(digest, 0, 12);
  return base64Of(bytes).replaceAll("+", "-").replaceAll("/", "_");
}
