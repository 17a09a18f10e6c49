/**
 * What a login exchanges with the browser: a cookie, the parameters of the callback and
 * a return path.
 *
 * @module
 */
import { getCookie, setCookie } from "hono/cookie";
import * as base64url from "jose/base64url";
import type { Context } from "../../core/http/context.ts";
import { readBody } from "../../core/http/body.ts";
import {
  BadRequestException,
  MethodNotAllowedException,
  UnsupportedMediaTypeException,
} from "../../core/http/http_exception.ts";

/** Options of a {@linkcode BrowserCookie}. */
export interface BrowserCookieOptions {
  /** Whether the site is served over https. */
  readonly isSecure: boolean;
  /** The lifetime of the cookies in milliseconds. */
  readonly ttlMs: number;
}

/** What {@linkcode BrowserCookie.set} sets a cookie for. */
export interface BegunLogin {
  /** The state of the login. */
  readonly state: string;
  /** Whether the cookie must be sent with a POST from another site. */
  readonly isCrossSite: boolean;
}

/** Each reach has its own cookie, so that a login does not replace the cookie of another. */
const NAMES = { sameSite: "fw-login", crossSite: "fw-login-post" } as const;
const VALUE = /^[\w-]{22}$/;

/**
 * Cookies of 128 random bits, which only identify a browser. With https, their names begin with
 * `__Host-`, so that no other host of the domain can set them.
 */
export class BrowserCookie {
  readonly #options: BrowserCookieOptions;

  /** Creates a reader and writer of the cookies. */
  constructor(options: BrowserCookieOptions) {
    this.#options = options;
  }

  /** Sets a cookie, or keeps the current one, and returns the key of the login in the store. */
  async set(c: Context, { state, isCrossSite }: BegunLogin): Promise<string> {
    const { isSecure, ttlMs } = this.#options;
    const name = isCrossSite ? NAMES.crossSite : NAMES.sameSite;
    const value = this.#read(c, name) ?? randomValue();
    setCookie(c, name, value, {
      ...this.#prefix,
      path: "/",
      httpOnly: true,
      secure: isSecure || isCrossSite, // browsers refuse cross-site cookies without it
      sameSite: isCrossSite ? "None" : "Lax",
      maxAge: Math.ceil(ttlMs / 1000),
    });
    return await loginKey(state, value);
  }

  /** Returns the keys that a login of the browser with a state can have: none, one or two. */
  async keys(c: Context, state: string): Promise<readonly string[]> {
    const values = Object.values(NAMES).map((name) => this.#read(c, name));
    const known = values.filter((value) => value !== undefined);
    return await Promise.all(known.map((value) => loginKey(state, value)));
  }

  get #prefix(): { readonly prefix?: "host" } {
    return this.#options.isSecure ? { prefix: "host" } : {};
  }

  #read(c: Context, name: string): string | undefined {
    const value = getCookie(c, name, this.#prefix.prefix);
    return value !== undefined && VALUE.test(value) ? value : undefined;
  }
}

/** The parameters of a valid callback. */
export interface CallbackParameters {
  /** All parameters. */
  readonly parameters: URLSearchParams;
  /** The state, not yet verified. */
  readonly state: string;
}

/** The parameters that must not be repeated (RFC 6749 §3.1). */
const SINGLE = ["state", "code", "error", "iss"];

/**
 * Reads a callback: the query of a GET, or the form of a POST. A HEAD, which a route of GET answers
 * too, must not change anything (RFC 9110 §9.2.1).
 *
 * @throws {BadRequestException} 400 if `state`, or both `code` and `error`, are missing, or if one
 * of them or `iss` is repeated
 * @throws {MethodNotAllowedException} 405 for a HEAD
 */
export async function callbackParameters(c: Context): Promise<CallbackParameters> {
  if (c.req.method === "HEAD") {
    const headers = { allow: "GET" };
    throw new MethodNotAllowedException("A HEAD cannot finish a login", { headers });
  }
  const parameters = c.req.method === "POST"
    ? await formParameters(c)
    : new URL(c.req.url).searchParams;
  const repeated = SINGLE.find((name) => parameters.getAll(name).length > 1);
  if (repeated !== undefined) refuse(`The callback has ${repeated} more than once`);
  const state = parameters.get("state") || refuse("The callback has no state");
  if (!parameters.get("code") && !parameters.get("error")) refuse("The callback has no code");
  return { parameters, state };
}

/** An origin that no path has by itself. */
const SITE = "https://site.invalid";

/** The longest path in characters, which fits into a response header on every platform. */
const MAX_LENGTH = 2048;

/**
 * Normalizes a path of this site as browsers do, with its query and fragment. Paths to another
 * site, such as `//example.com` or `/\example.com`, are refused.
 *
 * @throws {BadRequestException} 400 if the path leads to another site, or is longer than 2 048
 * characters when percent-encoded
 */
export function returnPath(path: string): string {
  const url = path.startsWith("/") ? parse(path) : undefined;
  // browsers read a path that begins with two slashes as the name of another site
  if (url?.origin === SITE && !url.pathname.startsWith("//")) {
    const sent = url.pathname + url.search + url.hash;
    if (sent.length <= MAX_LENGTH) return sent;
  }
  throw new BadRequestException("The return path is not a path of this site");
}

function randomValue(): string {
  return base64url.encode(crypto.getRandomValues(new Uint8Array(16)));
}

/** A key that nobody can name without the cookie: another browser cannot use the login up. */
async function loginKey(state: string, cookie: string): Promise<string> {
  const bytes = new TextEncoder().encode(`${state}.${cookie}`);
  const digest = await crypto.subtle.digest("SHA-256", bytes);
  return base64url.encode(new Uint8Array(digest));
}

async function formParameters(c: Context): Promise<URLSearchParams> {
  try {
    const fields = Object.entries(await readBody(c, { consumes: ["form"] }) ?? {});
    return new URLSearchParams(
      fields.flatMap(([name, values]) => [values].flat().map((value) => [name, String(value)])),
    );
  } catch (cause) {
    if (cause instanceof UnsupportedMediaTypeException) refuse("The callback is not a form", cause);
    throw cause;
  }
}

function refuse(message: string, cause?: unknown): never {
  throw new BadRequestException(message, { cause });
}

function parse(path: string): URL | undefined {
  return URL.parse(path, SITE) ?? undefined;
}
